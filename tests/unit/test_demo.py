"""The demonstration: what it prints is right, readable, and the same on every run."""

import itertools
import re
import subprocess
import sys

import pytest

from ebbtide import demo
from ebbtide.core.change import facts
from ebbtide.core.time import MINUTE
from ebbtide.reference import evaluate
from ebbtide.sql import parse
from ebbtide.sql.binder import bind
from ebbtide.sql.bound import BoundQuery, Declared
from ebbtide.sql.catalog import Catalog

LINE = re.compile(r"(\S+)\s+(\S+)\s+(NULL|\d+\.\d{3})")


def part(number: int) -> list[str]:
    """The lines of one part of the story."""
    text = "\n".join(demo.story())
    return re.split(r"^\d\. ", text, flags=re.M)[number].splitlines()


def rows(number: int) -> list[tuple[str, str, str]]:
    """The averages of a part: from, to, mean."""
    found = (LINE.search(line) for line in part(number))
    return [match.groups() for match in found if match and ":" in match[0]]


def average_at(t: int, readings: list) -> str:
    """The average of the readings of the last 15 minutes, by hand."""
    speeds = [speed for _, speed, at in readings if at <= t < at + 15 * MINUTE]
    return f"{sum(speeds) / len(speeds):.3f}" if speeds else "NULL"


def test_the_averages_are_right_at_both_ends_of_their_intervals() -> None:
    readings = demo.readings()
    known = {demo.clock(t): t for _, _, at in readings for t in (at, at + 15 * MINUTE)}
    for start, end, mean in rows(1) + rows(2):
        if start in known:
            assert average_at(known[start], readings) == mean
        if end in known:
            assert average_at(known[end] - 1, readings) == mean


def test_intervals_follow_each_other_from_the_first_instant_to_the_last() -> None:
    intervals = [(start, end) for start, end, _ in rows(1) + rows(2)]
    assert intervals[0][0] == "-inf"
    assert intervals[-1][1] == "inf"
    assert all(a[1] == b[0] for a, b in itertools.pairwise(intervals))


def test_an_average_expires_without_input() -> None:
    last = demo.clock(demo.readings()[-1][-1])
    assert all(start > last for start, _, _ in rows(2))
    assert rows(2)[-1][2] == "NULL"


def test_a_late_reading_revises() -> None:
    signs = [line.split()[0] for line in part(3) if LINE.search(line)]
    assert signs == ["-", "+"] * (len(signs) // 2)
    assert len(signs) >= 2


def test_it_is_the_same_on_every_run_and_fits_a_screen(capsys: pytest.CaptureFixture) -> None:
    demo.main()
    printed = capsys.readouterr().out
    assert printed == "\n".join(demo.story()) + "\n"
    assert max(map(len, printed.splitlines())) <= 100


def test_the_query_that_is_shown_is_the_query_that_runs() -> None:
    stream = "CREATE STREAM traffic (lane INT, speed DOUBLE, at TIMESTAMP, PROGRESS FOR at AS at)"
    declared = bind(parse(stream)[0], Catalog())
    assert isinstance(declared, Declared)
    shown = bind(parse(demo.SQL)[0], declared.catalog)
    assert isinstance(shown, BoundQuery)
    data = {"traffic": facts(demo.readings())}
    assert evaluate(shown.plan, data) == evaluate(demo.MEAN, data)


def test_it_runs_as_a_program() -> None:
    answer = subprocess.run(
        [sys.executable, "-m", "ebbtide.demo"], capture_output=True, text=True, check=True
    )
    assert demo.SQL in answer.stdout
    assert answer.stderr == ""
