"""The demonstration: what it prints is right and readable."""

import itertools
import re
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from docs import ROOT, blocks
from ebbtide import demo
from ebbtide.core.time import MINUTE
from ebbtide.engine.engine import Engine

LINE = re.compile(r"(\S+)\s+(\S+)\s+(NULL|\d+\.\d{3})")


@pytest.fixture(scope="module")
def lines(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    location: Path = tmp_path_factory.mktemp("demo")
    return demo.story(demo.Highway(Engine(location, spark=spark)))


def part(lines: list[str], number: int) -> list[str]:
    """The lines of one part of the story."""
    return re.split(r"^\d\. ", "\n".join(lines), flags=re.M)[number].splitlines()


def rows(lines: list[str], number: int) -> list[tuple[str, str, str]]:
    """The averages of a part: from, to, mean."""
    found = (LINE.search(line) for line in part(lines, number))
    return [match.groups() for match in found if match and ":" in match[0]]


def average_at(t: int, readings: list) -> str:
    """The average of the readings of the last 15 minutes, by hand."""
    speeds = [speed for _, speed, at in readings if at <= t < at + 15 * MINUTE]
    return f"{sum(speeds) / len(speeds):.3f}" if speeds else "NULL"


def test_the_averages_are_right_at_both_ends_of_their_intervals(lines: list[str]) -> None:
    readings = demo.readings()
    known = {demo.clock(t): t for _, _, at in readings for t in (at, at + 15 * MINUTE)}
    for start, end, mean in rows(lines, 1) + rows(lines, 2):
        if start in known:
            assert average_at(known[start], readings) == mean
        if end in known:
            assert average_at(known[end] - 1, readings) == mean


def test_intervals_follow_each_other_from_the_first_instant_to_the_last(lines: list[str]) -> None:
    intervals = [(start, end) for start, end, _ in rows(lines, 1) + rows(lines, 2)]
    assert intervals[0][0] == "-inf"
    assert intervals[-1][1] == "inf"
    assert all(a[1] == b[0] for a, b in itertools.pairwise(intervals))


def test_an_average_expires_without_input(lines: list[str]) -> None:
    last = demo.clock(demo.readings()[-1][-1])
    assert all(start > last for start, _, _ in rows(lines, 2))
    assert rows(lines, 2)[-1][2] == "NULL"


def test_a_late_reading_revises(lines: list[str]) -> None:
    signs = [line.split()[0] for line in part(lines, 3) if LINE.search(line)]
    assert signs == ["-", "+"] * (len(signs) // 2)
    assert len(signs) >= 2


def test_it_fits_a_screen_and_shows_its_query(lines: list[str]) -> None:
    assert max(map(len, lines)) <= 100
    assert any(demo.SQL in line for line in lines)


def test_a_query_without_a_bound_gets_its_verdict(lines: list[str]) -> None:
    told = "\n".join(part(lines, 4))
    assert "error[unbounded-state]" in told
    assert "hint: add AND fast.at BETWEEN slow.at AND slow.at + INTERVAL 1 HOUR" in told
    assert "docs/tutorial.md" in told


def test_the_page_shows_what_it_prints(lines: list[str]) -> None:
    (shown,) = (block for block in blocks(ROOT / "docs/demo.md") if block.language == "text")
    assert shown.text.splitlines() == lines
