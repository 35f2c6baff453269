"""Approximate archives: rows that come too late change no answer, and come into an estimate."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from ebbtide import Engine
from ebbtide.cli.app import ebbtide
from ebbtide.core.time import SECOND
from ebbtide.engine.verification import verify
from ebbtide.errors import EbbtideError
from ebbtide.sql.parser import parse
from ebbtide.sql.printer import sql
from ebbtide.state.segment import Segment
from ebbtide.store.journal import Journal

SUM = (
    "SELECT shop, SUM(euros) AS total, AVG(euros) AS mean FROM sales [RANGE 100 SECONDS] "
    "GROUP BY shop"
)
PLAIN = "PROGRESS FOR at AS at"
KEYED = "PRIMARY KEY (shop, at), PROGRESS FOR at AS at"


def started(
    path: Path, archive: str, sql: str = SUM, declared: str = KEYED, shards: int = 2
) -> Engine:
    engine = Engine(path, transport="local", shards=shards)
    engine.execute(
        f"CREATE STREAM sales (shop STRING, euros DOUBLE, at TIMESTAMP, {declared}) "
        f"RETAIN 5 SECONDS ARCHIVE {archive}"
    )
    engine.query(sql, name="totals").start()
    for first in range(0, 1000, 100):
        seconds = range(first, first + 100)
        engine.feed("sales", [(s, 10.0 + t % 7, t * SECOND) for t in seconds for s in "ab"])
        engine.step()
    return engine


def approximated(engine: Engine, second: int) -> dict[str, dict[str, Any]]:
    rows = engine.definitions.query("totals").approximate(second * SECOND).to_pylist()
    return {row["shop"]: row for row in rows}


def answers(engine: Engine) -> list[Any]:
    view = engine.definitions.query("totals").view
    return [view.snapshot(t * SECOND) for t in range(50, 1000, 50)]


@pytest.mark.parametrize(
    "how", ["SAMPLE 50 PERCENT", "SAMPLE 50 PERCENT BY IMPACT", "AS HISTOGRAM"]
)
@pytest.mark.parametrize("declared", [PLAIN, KEYED])
def test_a_late_row_changes_no_answer_and_comes_into_the_estimate(
    tmp_path: Path, how: str, declared: str
) -> None:
    engine = started(tmp_path, f"1 HOUR {how}", declared=declared)
    before, said = answers(engine), approximated(engine, 450)
    engine.feed("sales", [("a", 5000.0, 420 * SECOND + 1)])
    engine.step()
    assert answers(engine) == before
    assert [row["reason"] for row in engine.late("sales").to_pylist()] == ["approximated"]
    after = approximated(engine, 450)
    assert after["a"]["total"] == pytest.approx(said["a"]["total"] + 5000)
    assert after["b"] == said["b"]
    assert not any(part.wrong for part in verify(str(tmp_path)))


def test_estimates_are_near_and_intervals_are_around_them(tmp_path: Path) -> None:
    engine = started(tmp_path, "1 HOUR SAMPLE 50 PERCENT")
    exact = {
        row[0]: row[1:] for row in engine.definitions.query("totals").view.snapshot(550 * SECOND)
    }
    for shop, row in approximated(engine, 550).items():
        total, mean = exact[shop]
        assert row["total_low"] < row["total"] < row["total_high"]
        assert row["total_low"] < total < row["total_high"]
        assert row["mean_low"] < mean < row["mean_high"]


@pytest.mark.parametrize("query", ["SUM(10 / euros)", "SUM(10 / euros) + 1"])
def test_a_group_with_a_row_that_fails_is_left_out_of_estimates_too(
    tmp_path: Path, query: str
) -> None:
    """The failure of one row was one of the question."""
    grouped = f"SELECT shop, {query} AS total FROM sales [RANGE 100 SECONDS] GROUP BY shop"
    engine = started(tmp_path, "1 HOUR SAMPLE 50 PERCENT", grouped)
    assert approximated(engine, 450).keys() == {"a", "b"}
    engine.feed("sales", [("a", 0.0, 420 * SECOND + 1)])
    engine.step()
    assert approximated(engine, 450).keys() == {"b"}


def test_no_interval_below_30_sampled_rows_and_none_for_histograms(tmp_path: Path) -> None:
    few = started(tmp_path / "few", "1 HOUR SAMPLE 10 PERCENT")
    row = approximated(few, 550)["a"]
    assert (row["total_low"], row["mean_high"]) == (None, None)
    bins = started(tmp_path / "bins", "1 HOUR AS HISTOGRAM EVERY 10 SECONDS")
    assert list(approximated(bins, 550)["a"]) == ["shop", "total", "mean"]


def test_deletes_and_replacements_take_what_the_sample_has(tmp_path: Path) -> None:
    engine = started(tmp_path, "1 HOUR SAMPLE 50 PERCENT")
    said = approximated(engine, 450)["a"]["total"]
    engine.feed("sales", [("a", None, t * SECOND) for t in range(400, 451)], op="delete")
    engine.feed("sales", [("a", 0.0, t * SECOND) for t in range(351, 400)], op="replace")
    engine.step()
    assert said > 0
    assert approximated(engine, 450)["a"]["total"] == 0.0


def test_a_delete_takes_a_row_from_the_middle_of_a_histogram(tmp_path: Path) -> None:
    engine = started(tmp_path, "1 HOUR AS HISTOGRAM EVERY 50 SECONDS")
    said = approximated(engine, 450)["a"]
    engine.feed("sales", [("a", None, 430 * SECOND)], op="delete")
    engine.step()
    assert 12 < said["total"] - approximated(engine, 450)["a"]["total"] < 14


def test_a_key_that_the_sample_has_does_not_come_twice(tmp_path: Path) -> None:
    engine = started(tmp_path, "1 HOUR SAMPLE 99 PERCENT")
    said = approximated(engine, 450)["a"]["total"]
    engine.feed("sales", [("a", 1e6, t * SECOND) for t in range(400, 440)])
    engine.step()
    assert approximated(engine, 450)["a"]["total"] < said + 5e6


@pytest.mark.parametrize("how", ["SAMPLE 40 PERCENT", "SAMPLE 40 PERCENT BY IMPACT"])
def test_a_row_that_was_deleted_in_time_is_in_no_estimate(tmp_path: Path, how: str) -> None:
    engine = started(tmp_path, f"1 HOUR {how}")
    engine.feed("sales", [("a", 9e9, 1000 * SECOND + i) for i in range(50)])
    engine.step()
    engine.feed("sales", [("a", None, 1000 * SECOND + i) for i in range(50)], op="delete")
    engine.step()
    assert approximated(engine, 1000)["a"]["total"] < 1e6


def test_less_is_stored(tmp_path: Path) -> None:
    rows = {}
    ways = ("SAMPLE 10 PERCENT", "SAMPLE 10 PERCENT BY IMPACT", "AS HISTOGRAM EVERY 50 SECONDS")
    for how in ("", *ways):
        engine = started(tmp_path / str(len(rows)), f"1 HOUR {how}", shards=1)
        latest = Journal(engine.definitions.query("totals").view.root).latest()
        assert latest is not None
        stored = (
            Segment.restore(told) for (area,) in latest.areas["archive.sales"] for told in area
        )
        rows[how] = sum(segment.rows for segment in stored)
    assert rows.pop("") == 2000
    assert max(rows.values()) < 400


def test_the_archive_forgets_what_it_has_left_behind(tmp_path: Path) -> None:
    engine = started(tmp_path, "300 SECONDS SAMPLE 50 PERCENT")
    assert approximated(engine, 900)
    with pytest.raises(EbbtideError) as caught:
        approximated(engine, 500)
    assert caught.value.code == "input-not-kept"
    engine.feed("sales", [("a", 1.0, 500 * SECOND), ("a", 1.0, 900 * SECOND + 1)])
    engine.step()
    assert [row["reason"] for row in engine.late("sales").to_pylist()] == ["approximated", "late"]


def test_joins_with_what_is_known_whole_have_intervals_and_others_have_none(tmp_path: Path) -> None:
    engine = Engine(tmp_path, transport="local")
    engine.execute(f"""
        CREATE STREAM sales (shop STRING, euros DOUBLE, at TIMESTAMP, {KEYED})
          ARCHIVE 1 HOUR SAMPLE 50 PERCENT;
        CREATE STREAM visits (shop STRING, at TIMESTAMP, {PLAIN}) ARCHIVE 1 HOUR SAMPLE 50 PERCENT;
    """)
    known = engine.query(
        "SELECT f.city, SUM(s.euros) AS total FROM sales [RANGE 100 SECONDS] s "
        "JOIN (VALUES ('a', 'Oslo')) AS f(shop, city) ON f.shop = s.shop GROUP BY f.city",
        name="known",
    )
    both = engine.query(
        "SELECT SUM(s.euros) AS total FROM sales [RANGE 100 SECONDS] s "
        "JOIN visits [RANGE 2 SECONDS] v ON v.shop = s.shop",
        name="both",
    )
    largest = engine.query("SELECT MAX(euros) AS m FROM sales [RANGE 100 SECONDS]", name="largest")
    engine.start(known, both, largest, name="all")
    for t in range(0, 400, 100):
        engine.feed("sales", [("a", 2.0, i * SECOND) for i in range(t, t + 100)])
        engine.feed("visits", [("a", i * SECOND) for i in range(t, t + 100)])
        engine.step()
    (row,) = known.approximate(300 * SECOND).to_pylist()
    assert (row["city"], set(row)) == ("Oslo", {"city", "total", "total_low", "total_high"})
    assert row["total_low"] < 200 < row["total_high"]
    assert list(both.approximate(300 * SECOND).to_pylist()[0]) == ["total"]
    assert largest.approximate(300 * SECOND).to_pylist() == [{"m": 2.0}]


def test_what_cannot_be_approximated_is_refused(tmp_path: Path) -> None:
    engine = started(tmp_path, "1 HOUR")
    query = engine.definitions.query("totals")
    for level, at, code in (
        (0.95, None, "not-approximated"),
        (2.0, None, "wrong-type"),
        (0.9, 10**12, "after-now"),
    ):
        with pytest.raises(EbbtideError) as caught:
            query.approximate(at, level=level)
        assert caught.value.code == code


def test_an_approximate_archive_answers_no_why_and_no_replay(tmp_path: Path) -> None:
    engine = Engine(tmp_path, transport="local")
    engine.execute(f"""
        CREATE STREAM sales (shop STRING, euros DOUBLE, at TIMESTAMP, {PLAIN}) ARCHIVE 1 HOUR;
        CREATE STREAM parts (shop STRING, euros DOUBLE, at TIMESTAMP, {PLAIN})
          ARCHIVE 1 HOUR SAMPLE 10 PERCENT
    """)
    joined = engine.query(
        "SELECT s.shop FROM sales [RANGE 9 SECONDS] s, parts [RANGE 9 SECONDS] p", name="j"
    )
    assert 'it meets "parts", of which only a summary is archived' in joined.explain()


@pytest.mark.parametrize(
    ("clause", "code"),
    [
        ("ARCHIVE 1 HOUR SAMPLE 100 PERCENT", "bad-sample"),
        ("ARCHIVE 1 HOUR SAMPLE 0 PERCENT", "bad-sample"),
        ("ARCHIVE 1 HOUR SAMPLE 0.00001 PERCENT", "bad-sample"),
        ("ARCHIVE 1 HOUR SAMPLE 10 PERCENT BY IMPACT OF shop", "not-a-measure"),
        ("ARCHIVE 1 HOUR SAMPLE 10 PERCENT BY IMPACT", "which-measure"),
        ("ARCHIVE 1 HOUR AS HISTOGRAM", "which-measure"),
        ("ARCHIVE 1 HOUR AS HISTOGRAM OF n EVERY 0 SECONDS", "bad-duration"),
        ("ARCHIVE 1 HOUR AS HISTOGRAM OF n REVISE EVERY 1 HOUR", "revise-needs-archive"),
        ("ARCHIVE 1 HOUR AS HISTOGRAM OF n REPLAY ALL", "replay-needs-archive"),
        ("ARCHIVE 1 HOUR SAMPLE 10 PERCENT REPLAY MINIMAL", "replay-needs-archive"),
        ("ARCHIVE 1 HOUR SAMPLE", "syntax"),
        ("ARCHIVE 1 HOUR SAMPLE 10 PERCENT SEED 1.5", "syntax"),
    ],
)
def test_wrong_declarations(tmp_path: Path, clause: str, code: str) -> None:
    engine = Engine(tmp_path, transport="local")
    with pytest.raises(EbbtideError) as caught:
        engine.execute(f"CREATE STREAM s (shop STRING, n INT, at TIMESTAMP, {PLAIN}) {clause}")
    assert caught.value.code == code


def test_declarations_print_as_they_are_read(tmp_path: Path) -> None:
    for clause in (
        "SAMPLE 10 PERCENT",
        "SAMPLE 0.5 PERCENT BY IMPACT SEED 7",
        "SAMPLE 12.25 PERCENT BY IMPACT OF x",
        "AS HISTOGRAM",
        "AS HISTOGRAM OF x, y EVERY 5 MINUTES",
    ):
        text = f"CREATE STREAM s (x DOUBLE, y DOUBLE, at TIMESTAMP) ARCHIVE 30 DAYS {clause}"
        printed = sql(parse(text)[0])
        assert printed.endswith(f"ARCHIVE 30 DAYS {clause}")
        assert parse(printed) == parse(text)


def test_the_command_shows_it(tmp_path: Path) -> None:
    started(tmp_path, "1 HOUR SAMPLE 50 PERCENT").stop()
    arguments = [
        "approximate",
        "totals",
        "--at",
        "1970-01-01 00:09:10",
        "--location",
        str(tmp_path),
    ]
    shown = CliRunner().invoke(ebbtide, [*arguments, "--format", "csv"])
    assert shown.exit_code == 0, shown.output
    head, *rows = shown.output.splitlines()
    assert head == "shop,total,mean,total_low,total_high,mean_low,mean_high"
    assert len(rows) == 2


def test_the_same_steps_keep_the_same_rows(tmp_path: Path) -> None:
    one = approximated(started(tmp_path / "1", "1 HOUR SAMPLE 30 PERCENT SEED 3"), 700)
    again = approximated(started(tmp_path / "2", "1 HOUR SAMPLE 30 PERCENT SEED 3", shards=1), 700)
    other = approximated(started(tmp_path / "3", "1 HOUR SAMPLE 30 PERCENT SEED 4"), 700)
    assert one == again != other
