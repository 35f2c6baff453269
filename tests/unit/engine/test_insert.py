"""INSERT INTO: streams that queries feed, and what is refused of them; no JVM."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import pytest

from ebbtide import Engine
from ebbtide.dataflow import cycle
from ebbtide.engine.location import Location
from ebbtide.errors import EbbtideError

SCRIPT = """
CREATE STREAM bids (auction BIGINT, price BIGINT, at TIMESTAMP NOT NULL,
  PROGRESS FOR at AS at - INTERVAL 10 SECONDS) RETAIN 1 HOUR;
CREATE STREAM asks (auction BIGINT, price BIGINT, at TIMESTAMP NOT NULL, seen TIMESTAMP,
  PROGRESS FOR at AS at);
CREATE STREAM dear (auction BIGINT, at TIMESTAMP NOT NULL, PROGRESS FOR at AS at);
CREATE STREAM filed (auction BIGINT, at TIMESTAMP NOT NULL, PROGRESS FOR at AS at)
  FROM FILES 'x' FORMAT json;
CREATE STREAM kept (auction BIGINT, at TIMESTAMP NOT NULL, PROGRESS FOR at AS at) RETAIN 1 HOUR;
CREATE TABLE shops (id BIGINT, name STRING);
CREATE STREAM timeless (auction BIGINT);
CREATE STREAM far (auction BIGINT, at TIMESTAMP NOT NULL, PROGRESS FOR at AS at);
CREATE VIEW later AS SELECT auction, at FROM far;
"""
RULES = """
INSERT INTO dear SELECT auction, at FROM bids WHERE price > 100;
INSERT INTO dear (at, auction) SELECT at, auction FROM asks WHERE price > 100;
"""
PER_MINUTE = """
SELECT window_end, COUNT(*) AS n FROM TUMBLE({}, at, 1 MINUTE) AS t
GROUP BY window_end EMIT FINAL
"""
BOTH = """(SELECT auction, at FROM bids WHERE price > 100
  UNION ALL SELECT auction, at FROM asks WHERE price > 100)"""


def made(path: Path, rules: str = RULES) -> Engine:
    engine = Engine(path, transport="local")
    engine.execute(SCRIPT + rules)
    return engine


def at(second: int) -> str:
    return f"2026-01-01 09:{second // 60:02}:{second % 60:02}"


def rows(query: Any) -> list[tuple[Any, ...]]:
    return sorted(tuple(row.values()) for row in query.snapshot().to_pylist())


def test_a_stream_that_queries_feed_is_their_union_after_every_step(tmp_path: Path) -> None:
    engine = made(tmp_path)
    pairs = [
        (engine.query(text.format("dear")), engine.query(text.format(BOTH)))
        for text in (
            "SELECT auction, at FROM {} AS d",
            "SELECT auction, COUNT(*) AS n FROM {} [RANGE 1 MINUTE ON at] AS d GROUP BY auction",
        )
    ]
    engine.start(*(query for pair in pairs for query in pair), name="all")
    random, seen = Random(3), 0
    for step in range(6):
        for name in ("bids", "asks"):
            more = () if name == "bids" else (None,)
            some = [
                (
                    random.randint(1, 3),
                    random.randint(50, 150),
                    at(20 * step + random.randint(0, 30)),
                )
                for _ in range(5)
            ]
            engine.feed(name, [(*row, *more) for row in some])
        engine.step()
        for derived, written in pairs:
            assert rows(derived) == rows(written)
            seen += len(rows(derived))
    assert seen > 10


def test_it_progresses_with_the_slowest_of_them(tmp_path: Path) -> None:
    engine = made(tmp_path)
    q = engine.query(PER_MINUTE.format("dear"), name="counts")
    assert str(q.verdict.finality) == (
        "when window_end <= min(progress(bids.at) + 1 us, progress(asks.at) + 1 us)"
    )
    q.start()
    engine.feed("bids", [(1, 200, at(10)), (1, 1, at(20)), (1, 200, at(130))])
    engine.step()
    assert rows(q) == []
    engine.feed("asks", [(2, 200, at(30), None)])
    engine.advance("asks", at(120))
    engine.step()
    assert [row[1:] for row in rows(q)] == [(2,)]


def test_a_chain_of_streams_shows_one_step(tmp_path: Path) -> None:
    engine = made(tmp_path)
    engine.execute("""
        CREATE STREAM odd (auction BIGINT, at TIMESTAMP NOT NULL, PROGRESS FOR at AS at);
        INSERT INTO odd SELECT auction, at FROM dear WHERE auction % 2 = 1;
    """)
    q = engine.query("SELECT auction FROM odd")
    q.start()
    engine.feed("bids", [(1, 200, at(10)), (2, 200, at(10)), (3, 1, at(10))])
    engine.step()
    assert rows(q) == [(1,)]
    assert "FROM odd" in Location(str(tmp_path)).query(q.name).bound.sql


def test_another_query_that_feeds_it_is_another_program(tmp_path: Path) -> None:
    text = "SELECT auction FROM dear"
    first = made(tmp_path, "INSERT INTO dear SELECT auction, at FROM bids WHERE price > 100;")
    first.query(text, name="q").start().stop()
    same = made(tmp_path, "INSERT INTO dear SELECT auction, at FROM bids WHERE price > 100;")
    same.query(text, name="q").start().stop()
    other = made(tmp_path, "INSERT INTO dear SELECT auction, at FROM bids WHERE price > 10;")
    with pytest.raises(EbbtideError) as caught:
        other.query(text, name="q").start()
    assert caught.value.code == "query-differs"


@pytest.mark.parametrize(
    ("statement", "code"),
    [
        ("INSERT INTO dear SELECT auction FROM bids", "column-count"),
        ("INSERT INTO dear SELECT 'x' AS a, at FROM bids", "type-mismatch"),
        ("INSERT INTO dear SELECT auction, seen FROM asks", "null-column"),
        ("INSERT INTO dear SELECT auction, at FROM dear", "recursion-not-later"),
        ("INSERT INTO timeless SELECT auction FROM timeless", "recursive-stream"),
        ("INSERT INTO far SELECT auction, at FROM later", "recursion-not-later"),
        (
            "INSERT INTO dear SELECT d.auction, a.at FROM dear d "
            "JOIN asks a ON a.auction = d.auction",
            "recursion-not-later",
        ),
        (
            "INSERT INTO dear SELECT auction, MAX(at) FROM dear GROUP BY auction",
            "null-column",
        ),
        (
            "INSERT INTO dear SELECT b.auction, b.at FROM bids b WHERE NOT EXISTS "
            "(SELECT 1 FROM dear d WHERE d.auction = b.auction AND d.at <= b.at)",
            "recursion-not-later",
        ),
        (
            "INSERT INTO dear SELECT auction, at + INTERVAL 1 DAY FROM dear ORDER BY at LIMIT 1",
            "recursion-not-built",
        ),
        ("INSERT INTO dear SELECT auction, at FROM bids EMIT FINAL", "insert-emit"),
        ("INSERT INTO dear SELECT auction, at FROM bids [NOW]", "facts-needed"),
        ("INSERT INTO filed SELECT auction, at FROM bids", "not-derived"),
        ("INSERT INTO kept SELECT auction, at FROM bids", "not-derived"),
        ("INSERT INTO shops SELECT auction, 'x' FROM bids", "insert-not-built"),
        (
            "INSERT INTO dear SELECT b.auction, b.at FROM bids b JOIN asks a ON a.price = b.price",
            "insert-without-progress",
        ),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path: Path, statement: str, code: str) -> None:
    engine = made(tmp_path, "")
    before = engine.catalog
    with pytest.raises(EbbtideError) as caught:
        engine.execute(statement)
    assert caught.value.code == code
    assert caught.value.span is not None
    assert engine.catalog == before


def test_a_stream_has_its_rows_from_queries_or_by_hand(tmp_path: Path) -> None:
    engine = made(tmp_path)
    for call in (lambda: engine.feed("dear", [(1, at(1))]), lambda: engine.advance("dear", at(1))):
        with pytest.raises(EbbtideError) as caught:
            call()
        assert caught.value.code == "not-fed-by-hand"
    other = made(tmp_path / "other", "")
    other.feed("dear", [(1, at(1))])
    with pytest.raises(EbbtideError) as caught:
        other.execute(RULES)
    assert caught.value.code == "not-derived"


def test_what_is_read_is_fed_no_more(tmp_path: Path) -> None:
    engine = made(tmp_path, "")
    engine.execute("CREATE VIEW v AS SELECT * FROM dear")
    with pytest.raises(EbbtideError) as caught:
        engine.execute(RULES)
    assert (caught.value.code, caught.value.hint) == ("in-use", "first DROP VIEW v")
    engine.execute("DROP VIEW v")
    engine.query("SELECT * FROM dear")
    with pytest.raises(EbbtideError) as caught:
        engine.execute(RULES)
    assert (caught.value.code, caught.value.hint) == ("in-use", "INSERT INTO it first")
    with pytest.raises(EbbtideError) as caught:
        made(tmp_path).execute("DROP STREAM bids")
    assert (caught.value.code, caught.value.hint) == ("in-use", "first DROP STREAM dear")


REMINDERS = """
CREATE STREAM reminders (auction BIGINT, at TIMESTAMP NOT NULL, PROGRESS FOR at AS at);
INSERT INTO reminders SELECT auction, at FROM bids;
INSERT INTO reminders SELECT auction, at + INTERVAL 10 SECONDS FROM reminders AS r
  WHERE NOT EXISTS (SELECT 1 FROM asks WHERE asks.auction = r.auction
    AND asks.at > r.at - INTERVAL 10 SECONDS AND asks.at <= r.at);
"""


def test_a_late_row_revises_a_chain_from_its_entry_on(tmp_path: Path) -> None:
    engine = made(tmp_path, REMINDERS)
    query = engine.query("SELECT auction, at FROM reminders", name="reminders")
    query.start()
    engine.feed("bids", [(1, 5, at(0)), (2, 5, at(4))])
    engine.advance("bids", at(41))
    engine.step()
    first = [(1, second) for second in range(0, 41, 10)] + [(2, s) for s in range(4, 41, 10)]
    assert seconds(query) == first
    engine.feed("asks", [(1, 0, at(15), None)])
    engine.step()
    assert seconds(query) == [row for row in first if row not in [(1, 30), (1, 40)]]


def test_it_goes_on_from_where_it_stopped(tmp_path: Path) -> None:
    def started() -> tuple[Engine, Any]:
        engine = made(tmp_path, REMINDERS)
        query = engine.query("SELECT auction, at FROM reminders", name="reminders")
        query.start()
        return engine, query

    for stop in range(20, 61, 20):
        engine, query = started()
        if stop == 20:
            engine.feed("bids", [(1, 5, at(3))])
        engine.advance("bids", at(stop + 1))
        engine.step()
        assert seconds(query) == [(1, second) for second in range(3, stop + 1, 10)]
        engine.stop()


def test_a_step_has_so_many_rounds_and_the_next_goes_on(tmp_path: Path) -> None:
    engine = made(tmp_path, REMINDERS)
    query = engine.query("SELECT auction, at FROM reminders", name="reminders")
    query.start()
    engine.feed("bids", [(1, 5, at(0))])
    engine.advance("bids", at(101))
    with patch.object(cycle, "ROUNDS", 4):
        for count in (4, 8, 11, 11):
            engine.step()
            assert seconds(query) == [(1, 10 * n) for n in range(count)]


def test_a_stream_on_a_cycle_can_be_read_too(tmp_path: Path) -> None:
    engine = made(
        tmp_path,
        """
        CREATE STREAM ping (auction BIGINT, at TIMESTAMP NOT NULL, PROGRESS FOR at AS at);
        CREATE STREAM pong (auction BIGINT, at TIMESTAMP NOT NULL, PROGRESS FOR at AS at);
        INSERT INTO pong SELECT auction, at + INTERVAL 5 SECONDS FROM ping;
        INSERT INTO ping SELECT auction, at + INTERVAL 5 SECONDS FROM pong;
        INSERT INTO ping SELECT auction, at FROM bids;
    """,
    )
    ping, pong = (engine.query(f"SELECT * FROM {name}", name=name) for name in ("ping", "pong"))
    engine.start(ping, pong, name="both")
    engine.feed("bids", [(1, 5, at(0))])
    engine.advance("bids", at(31))
    engine.step()
    assert seconds(ping) == [(1, 0), (1, 10), (1, 20), (1, 30)]
    assert seconds(pong) == [(1, 5), (1, 15), (1, 25), (1, 35)]


def seconds(query: Any) -> list[tuple[Any, ...]]:
    """The rows of an answer, with seconds after nine."""
    return [(auction, time.minute * 60 + time.second) for auction, time in rows(query)]
