"""Replay-Minimal: only what a correction has a part in is read and runs again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ebbtide import Engine
from ebbtide.core.change import Change, consolidate
from ebbtide.core.time import MINUTE, SECOND
from ebbtide.store.journal import Journal
from ebbtide.store.record import ReplayCounts

QUOTES = """
    CREATE STREAM quotes (symbol STRING, price DOUBLE, at TIMESTAMP,
      PRIMARY KEY (symbol, at), PROGRESS FOR at AS at)
      RETAIN 10 SECONDS ARCHIVE 1 HOUR{way};
    CREATE STREAM trades (symbol STRING, volume INT, at TIMESTAMP, PROGRESS FOR at AS at)
      RETAIN 10 SECONDS ARCHIVE 1 HOUR{way};
"""
VIEWS = {
    "means": "SELECT symbol, AVG(price) AS mean FROM quotes [RANGE 1 MINUTE] GROUP BY symbol",
    "slides": "SELECT symbol, MAX(price) AS top FROM quotes [RANGE 2 MINUTES SLIDE 1 MINUTE] "
    "GROUP BY symbol",
    "market": "SELECT COUNT(*) AS n FROM quotes [FIXED 1 MINUTE]",
    "pairs": "SELECT q.symbol, q.price * t.volume AS worth FROM quotes [RANGE 30 SECONDS] q "
    "JOIN trades [RANGE 30 SECONDS] t ON q.symbol = t.symbol",
    "kept": "SELECT q.symbol, t.volume FROM quotes [RANGE 20 SECONDS] q "
    "LEFT JOIN trades [NOW] t ON q.symbol = t.symbol",
    "dear": "SELECT symbol, price FROM quotes [RANGE 30 SECONDS] WHERE price > 10",
}
END = 320


def started(path: Path, way: str = "", views: dict[str, str] = VIEWS) -> Engine:
    engine = Engine(path, transport="local", shards=2)
    engine.execute(QUOTES.format(way=way))
    engine.start(*(engine.query(sql, name=name) for name, sql in views.items()), name="program")
    return engine


def fed(engine: Engine, late: bool) -> Engine:
    """Quotes and trades of 320 seconds, some of them corrected at the end or in time."""
    seconds = [s for s in range(0, END, 5) if late or s != 55]
    rows = [("abc"[s % 3], float(s % 37), s * SECOND) for s in seconds]
    rows = [(k, 99.5 if at == 60 * SECOND and not late else x, at) for k, x, at in rows]
    extra = [("a", 20.25, 121 * SECOND), ("d", 1.0, 62 * SECOND)]
    if not late:
        rows = sorted([*rows, *extra], key=lambda row: row[2])
    trades = [("abd"[s % 3], s, s * SECOND) for s in range(0, END, 7)]
    for since in range(0, END, 80):
        span = range(since * SECOND, (since + 80) * SECOND)
        engine.feed("quotes", [row for row in rows if row[2] in span])
        engine.feed("trades", [row for row in trades if row[2] in span])
        engine.step()
    if late:
        engine.feed("quotes", extra)
        engine.feed("quotes", [("abc"[55 % 3], 0.0, 55 * SECOND)], op="delete")
        engine.feed("quotes", [("abc"[60 % 3], 99.5, 60 * SECOND)], op="replace")
        engine.step()
    return engine


def answers(engine: Engine) -> dict[str, tuple[Change, ...]]:
    views = {name: engine.definitions.query(name).view for name in VIEWS}
    return {n: consolidate(change for _, change in v.changes()) for n, v in views.items()}


def replays(engine: Engine) -> dict[str, ReplayCounts]:
    latest = Journal(engine.definitions.query("means").view.root).latest()
    assert latest is not None
    return dict(latest.record.replays)


def test_all_ways_say_what_is_said_if_nothing_comes_late(tmp_path: Path) -> None:
    expected = answers(fed(started(tmp_path / "in-time"), late=False))
    for way in ("", " REPLAY ALL", " REPLAY MINIMAL", " REPLAY DIRECT"):
        engine = fed(started(tmp_path / f"late{way}", way), late=True)
        assert answers(engine) == expected, way
        assert engine.late("quotes").num_rows == 0
        ways = {name: counts.way for name, counts in replays(engine).items()}
        direct = "MINIMAL" if way == " REPLAY MINIMAL" else "DIRECT"
        if way == " REPLAY ALL":
            assert set(ways.values()) == {"ALL"}
        else:
            assert ways == dict.fromkeys(VIEWS, "MINIMAL") | {"dear": direct}
        engine.stop()


def test_the_replay_sequence_is_the_minimal_one(tmp_path: Path) -> None:
    """Section 3 of the paper: t20 is revised, and t16 to t24 are replayed."""
    engine = Engine(tmp_path, transport="local", shards=1)
    engine.execute(
        "CREATE STREAM prices (price DOUBLE, at TIMESTAMP, PRIMARY KEY (at), "
        "PROGRESS FOR at AS at) RETAIN 1 MINUTE ARCHIVE 1 DAY"
    )
    mean = engine.query(
        "SELECT AVG(price) AS mean FROM prices [RANGE 5 MINUTES SLIDE 1 MINUTE]", name="mean"
    )
    run = mean.start()
    for minute in range(1, 101):
        engine.feed("prices", [(float(minute), minute * MINUTE)])
        if minute % 10 == 0:
            engine.step()
    engine.feed("prices", [(120.0, 20 * MINUTE)], op="replace")
    engine.step()
    assert run.metrics()[-1].replays["mean"].rows_replayed == len(range(16, 25))
    assert mean.view.snapshot(24 * MINUTE) == [(22.0 + 100 / 5,)]
    assert mean.view.snapshot(25 * MINUTE) == [(23.0,)]


def test_what_the_state_still_holds_is_replayed_whole(tmp_path: Path) -> None:
    engine = started(tmp_path)
    for second in range(0, 100, 10):
        engine.feed("quotes", [("a", 1.0, second * SECOND)])
        engine.step()
    engine.feed("quotes", [("a", 4.0, 45 * SECOND)])  # its minute is not over
    engine.step()
    counts = replays(engine)
    assert counts["means"].way == "ALL"
    assert counts["dear"].way == "DIRECT"
    assert engine.definitions.query("means").view.snapshot(95 * SECOND) == [("a", 10 / 7)]


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        (VIEWS["means"], "REPLAY MINIMAL: rows with equal symbol that are valid at the same time"),
        (VIEWS["market"], "REPLAY MINIMAL: rows that are valid at the same time"),
        (VIEWS["dear"], "REPLAY DIRECT: each row changes the answer by itself"),
        (
            "SELECT symbol, SUM(price) AS s FROM quotes [UNBOUNDED] GROUP BY symbol",
            'REPLAY ALL: rows of "quotes" count without an end',
        ),
        (
            "SELECT symbol, price FROM quotes [ROWS 2 SLIDE 2]",
            "REPLAY ALL: a window of rows moves with every row before it",
        ),
        (f"{VIEWS['means']} EMIT FINAL", "REPLAY ALL: rows wait until they are final"),
    ],
)
def test_explain_says_which_way_and_why(tmp_path: Path, sql: str, said: str) -> None:
    engine = Engine(tmp_path, transport="local")
    engine.execute(QUOTES.format(way=""))
    assert f"replayed from the archive ({said})" in engine.query(sql, name="q").explain()


def test_a_way_needs_an_archive(tmp_path: Path) -> None:
    engine = Engine(tmp_path, transport="local")
    with pytest.raises(Exception, match="no archive from which it could be replayed"):
        engine.execute("CREATE STREAM s (at TIMESTAMP, PROGRESS FOR at AS at) REPLAY MINIMAL")


def test_a_base_that_a_replay_is_nothing_to_stays(tmp_path: Path) -> None:
    """So archives do not grow where old rows come again and again."""
    engine = started(tmp_path, views={"means": VIEWS["means"]})
    kept = []
    for minute in range(0, 200, 5):
        engine.feed("quotes", [("a", 1.0, minute * MINUTE)])
        if minute > 60:
            engine.feed("quotes", [("a", 2.0, (minute - 50) * MINUTE + SECOND)])
        manifest = engine.step()["program"]
        kept.append(sum(engine_rows(manifest)))
    assert max(kept[-5:]) <= 2 * max(kept[12:20])
    engine.feed("quotes", [("a", 7.0, 199 * MINUTE)])
    engine.step()
    assert engine.definitions.query("means").view.snapshot(195 * MINUTE) == [("a", 1.0)]


def engine_rows(manifest: Any) -> list[int]:
    shards = manifest.areas["archive.quotes"]
    return [segment[3] for (segments,) in shards for segment in segments]
