"""Lineage that is stored beside an answer: through the engine, from outside of it, and refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ebbtide import Engine
from ebbtide.core.time import SECOND
from ebbtide.engine.location import Location
from ebbtide.engine.rollback import rollback
from ebbtide.errors import EbbtideError

SOURCES = """
    CREATE STREAM bids (auction INT, price INT, at TIMESTAMP,
      PRIMARY KEY (auction, at), PROGRESS FOR at AS at) RETAIN 10 SECONDS ARCHIVE 1 HOUR;
    CREATE STREAM asks (auction INT, price INT, at TIMESTAMP, PROGRESS FOR at AS at)
      RETAIN 10 SECONDS ARCHIVE 1 HOUR;
    CREATE TABLE names (auction INT, name STRING, PRIMARY KEY (auction));
"""
TOTALS = "SELECT auction, SUM(price) AS total FROM bids [RANGE 30 SECONDS] GROUP BY auction"


def started(path: Path, sql: str, **options: Any) -> tuple[Engine, Any]:
    engine = Engine(path, transport="local", shards=2)
    engine.execute(SOURCES)
    query = engine.query(sql, name="q", **options)
    query.start()
    return engine, query


def fed(engine: Engine, stream: str, *rows: tuple[int, int, int], op: str | None = None) -> None:
    engine.feed(stream, [(auction, price, at * SECOND) for auction, price, at in rows], op=op)


def shown(query: Any, **moment: Any) -> list[tuple[Any, ...]]:
    """The rows with their times in seconds."""
    rows = query.lineage(**moment).to_pylist()
    found = [
        tuple(v.minute * 60 + v.second if hasattr(v, "second") else v for v in row.values())
        for row in rows
    ]
    return sorted(found, key=str)


def test_late_rows_and_replays_revise_the_intervals(tmp_path: Path) -> None:
    engine, query = started(tmp_path, f"{TOTALS} WITH (lineage = TRUE)")
    fed(engine, "bids", (1, 5, 20), (1, 6, 30), (2, 7, 25))
    engine.step()
    assert shown(query) == [(1, 11, 20, 30), (2, 7, 25, 25)]
    fed(engine, "bids", (1, 1, 22))
    fed(engine, "bids", (2, 9, 24))
    engine.step()
    assert shown(query) == [(1, 12, 20, 30), (2, 16, 24, 25)]
    fed(engine, "bids", (3, 1, 500))
    engine.step()
    fed(engine, "bids", (1, 100, 10))  # behind all that operators keep: it is replayed
    engine.step()
    assert engine.late("bids").num_rows == 0
    assert shown(query, at=30 * SECOND) == [(1, 112, 10, 30), (2, 16, 24, 25)]
    assert shown(query, at=30 * SECOND, as_of=1) == [(1, 12, 20, 30), (2, 16, 24, 25)]
    fed(engine, "bids", (1, 100, 10), op="delete")
    engine.step()
    assert shown(query, at=30 * SECOND) == [(1, 12, 20, 30), (2, 16, 24, 25)]


def test_it_is_read_again_and_goes_back_with_the_answer(tmp_path: Path) -> None:
    engine, query = started(tmp_path, TOTALS, lineage=True)
    fed(engine, "bids", (1, 5, 20))
    engine.step()
    fed(engine, "bids", (1, 6, 30))
    engine.step()
    assert shown(query) == [(1, 11, 20, 30)]
    engine.stop()
    rollback(engine.location, "q", 0)
    stored = Location(engine.location).query("q")
    assert stored.lineage.snapshot() == [(1, 5, 20 * SECOND, 20 * SECOND)]
    again, query = started(tmp_path, TOTALS, lineage=True)
    fed(again, "bids", (1, 7, 31))
    again.step()
    assert shown(query)[0][:2] == (1, sum(r["total"] for r in query.snapshot().to_pylist()))


def test_what_is_left_out_is_left_out_of_both_and_counted_once(tmp_path: Path) -> None:
    sql = "SELECT auction, 6 DIV price AS share FROM bids [RANGE 1 MINUTE]"
    engine, query = started(tmp_path, sql, lineage=True)
    fed(engine, "bids", (1, 2, 20), (1, 0, 21))
    engine.step()
    assert shown(query) == [(1, 3, 20, 20)]
    assert query.errors().num_rows == 1


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        # A stream on both sides is spanned on both.
        (
            "SELECT a.auction, b.price FROM bids [RANGE 1 MINUTE] a JOIN bids [RANGE 1 MINUTE] b"
            " ON a.price = b.auction",
            [(1, 4, 20, 25), (5, 5, 21, 21)],
        ),
        # What is not there has no times; what is, has.
        (
            "SELECT auction, price FROM bids [RANGE 1 MINUTE] b WHERE NOT EXISTS"
            " (SELECT 1 FROM asks [RANGE 1 MINUTE] a WHERE a.auction = b.auction)",
            [(2, 4, 25, 25), (5, 5, 21, 21)],
        ),
        (
            "SELECT auction, price FROM bids [RANGE 1 MINUTE] b WHERE EXISTS"
            " (SELECT 1 FROM asks [RANGE 1 MINUTE] a WHERE a.auction = b.auction AND a.price > 2)",
            [(1, 2, 20, 20, 22, 26)],
        ),
        (
            "SELECT auction FROM bids [RANGE 1 MINUTE] UNION ALL"
            " SELECT auction FROM asks [RANGE 1 MINUTE] WHERE price = 3",
            [
                (1, 20, 20, None, None),
                (1, None, None, 22, 22),
                (2, 25, 25, None, None),
                (5, 21, 21, None, None),
            ],
        ),
        (
            "SELECT DISTINCT auction FROM asks [RANGE 1 MINUTE]",
            [(1, 22, 26)],
        ),
        (
            "SELECT auction, SUM(price) OVER (ORDER BY at ROWS 1 PRECEDING) AS s"
            " FROM bids [RANGE 1 MINUTE]",
            [(1, 2, 20, 20), (2, 9, 21, 25), (5, 7, 20, 21)],
        ),
        (
            "SELECT auction, LAG(price, 2) OVER (ORDER BY at) AS before FROM bids [RANGE 1 MINUTE]",
            [(1, None, 20, 20), (2, 2, 20, 25), (5, None, 21, 21)],
        ),
        (
            "SELECT auction, ROW_NUMBER() OVER (ORDER BY at) AS n FROM bids [RANGE 1 MINUTE]",
            [(1, 1, 20, 20), (2, 3, 25, 25), (5, 2, 21, 21)],
        ),
        (
            "SELECT n.name, MAX(b.price) AS price FROM bids [RANGE 1 MINUTE] b JOIN names n"
            " ON n.auction = b.auction GROUP BY n.name",
            [("one", 2, 20, 20), ("two", 4, 25, 25)],
        ),
        (
            "SELECT auction, price FROM bids [RANGE 1 MINUTE] ORDER BY price DESC LIMIT 1",
            [(5, 5, 21, 21)],
        ),
        ("SELECT COUNT(*) AS n FROM bids [RANGE 1 SECOND] WHERE price > 9", [(0, None, None)]),
    ],
)
def test_every_operator_hands_the_times_on(tmp_path: Path, sql: str, rows: list[Any]) -> None:
    engine, query = started(tmp_path, sql, lineage=True)
    engine.feed("names", [(1, "one"), (2, "two")])
    fed(engine, "bids", (1, 2, 20), (5, 5, 21), (2, 4, 25))
    fed(engine, "asks", (1, 3, 22), (1, 1, 23), (1, 5, 26))
    engine.step()
    assert shown(query) == rows


def test_a_final_answer_has_the_lineage_of_final_rows(tmp_path: Path) -> None:
    sql = (
        "SELECT window_end, COUNT(*) AS n FROM TUMBLE(bids, at, 10 SECONDS)"
        " GROUP BY window_start, window_end EMIT FINAL"
    )
    engine, query = started(tmp_path, sql, lineage=True)
    fed(engine, "bids", (1, 2, 11), (1, 2, 14), (1, 2, 25))
    engine.step()
    assert shown(query) == [(20, 2, 11, 14)]


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("SELECT auction FROM bids [NOW] EXCEPT ALL SELECT auction FROM asks [NOW]", "difference"),
        ("SELECT auction FROM bids [NOW] EXCEPT SELECT auction FROM asks [NOW]", "strictdiff"),
        ("SELECT auction FROM bids [NOW] INTERSECT SELECT auction FROM asks [NOW]", "intersection"),
        ("SELECT auction FROM bids [NOW] UNION MAX SELECT auction FROM asks [NOW]", "maxunion"),
        ("ISTREAM(SELECT auction FROM bids [NOW])", "istream"),
        ("RSTREAM(SELECT auction FROM bids [NOW] EVERY 1 SECOND)", "rstream"),
        (
            "SELECT auction FROM bids [NOW] b WHERE EXISTS"
            " (SELECT 1 FROM asks [NOW] a WHERE a.price < b.price)",
            "semijoin",
        ),
        ("SELECT name FROM names", "reads no stream"),
    ],
)
def test_what_cannot_be_stated_is_refused_by_name(tmp_path: Path, sql: str, code: str) -> None:
    engine = Engine(tmp_path, transport="local")
    engine.execute(SOURCES)
    with pytest.raises(EbbtideError) as refused:
        engine.query(sql, lineage=True)
    assert refused.value.code == "lineage-unknown"
    assert code in refused.value.message
    assert engine.query(sql)  # it runs without


def test_what_was_not_asked_for_is_not_there(tmp_path: Path) -> None:
    engine, query = started(tmp_path, TOTALS)
    with pytest.raises(EbbtideError) as refused:
        query.lineage()
    assert refused.value.code == "no-lineage"
    with pytest.raises(EbbtideError) as refused:
        engine.execute(
            "CREATE STREAM out (auction INT, at TIMESTAMP, PROGRESS FOR at AS at);"
            "INSERT INTO out SELECT auction, at FROM bids WITH (lineage = TRUE)"
        )
    assert refused.value.code == "insert-emit"


def test_the_query_says_that_it_keeps_it(tmp_path: Path) -> None:
    _, query = started(tmp_path, TOTALS, lineage=True)
    assert query.sql.endswith("WITH (lineage = TRUE)")
    assert "lineage  bids_first, bids_last of every row" in query.explain()
