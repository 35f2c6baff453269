"""A query that feeds a stream on a cycle that another stream has closed.

The cycle was built around itself once more, so that a recursion stood inside of itself: what the
new query brought was lost, and starting ended in a KeyError.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ebbtide import Engine
from ebbtide.errors import EbbtideError

STREAMS = """
CREATE STREAM bids (auction BIGINT, at TIMESTAMP NOT NULL, PROGRESS FOR at AS at);
CREATE STREAM asks (auction BIGINT NOT NULL, at TIMESTAMP NOT NULL, PROGRESS FOR at AS at);
CREATE STREAM there (auction BIGINT, at TIMESTAMP NOT NULL, PROGRESS FOR at AS at);
CREATE STREAM back (auction BIGINT, at TIMESTAMP NOT NULL, PROGRESS FOR at AS at);
CREATE STREAM aside (auction BIGINT, at TIMESTAMP NOT NULL, PROGRESS FOR at AS at);
"""
CYCLE = """
INSERT INTO there SELECT auction, at + INTERVAL 20 SECONDS FROM back;
CREATE VIEW midway AS SELECT auction, at FROM there;
INSERT INTO back SELECT auction, at FROM midway;
"""


def engine_with(path: Path, script: str) -> Engine:
    engine = Engine(path, transport="local")
    engine.execute(STREAMS + script)
    return engine


def at(second: int) -> str:
    return f"2026-01-01 09:{second // 60:02}:{second % 60:02}"


def seconds(query: Any) -> list[tuple[int, int]]:
    rows = (tuple(row.values()) for row in query.snapshot().to_pylist())
    return sorted((auction, time.minute * 60 + time.second) for auction, time in rows)


def test_rows_enter_a_cycle_at_every_stream_on_it(tmp_path: Path) -> None:
    engine = engine_with(
        tmp_path,
        CYCLE + "INSERT INTO there SELECT auction, at FROM bids;"
        "INSERT INTO back SELECT auction, at FROM asks;"
        "INSERT INTO there SELECT auction + 10, at + INTERVAL 50 SECONDS FROM back"
        "  WHERE auction < 10;",
    )
    names = ("there", "back", "midway")
    queries = [engine.query(f"SELECT * FROM {name}", name=f"q_{name}") for name in names]
    engine.start(*queries, name="all")
    engine.feed("bids", [(1, at(0))])
    engine.feed("asks", [(2, at(10))])
    engine.advance("bids", at(61))
    engine.advance("asks", at(61))
    engine.step()
    entered = {"back": [(1, 0), (2, 10)], "there": [(1, 0)]}
    later = [(1, 20), (1, 40), (1, 60), (2, 30), (2, 50), (11, 50), (12, 60)]
    assert seconds(queries[1]) == sorted(entered["back"] + later)
    ahead = [(1, 80), (2, 70), (11, 70), (11, 70), (11, 90), (11, 110), (12, 80), (12, 80)]
    ahead += [(12, 100)]
    assert seconds(queries[0]) == seconds(queries[2]) == sorted(entered["there"] + later + ahead)


@pytest.mark.parametrize(
    ("script", "code", "hint"),
    [
        (
            CYCLE + "INSERT INTO there SELECT auction, at + INTERVAL 1 SECOND FROM there",
            "recursion-not-built",
            None,
        ),
        (
            CYCLE + "INSERT INTO aside SELECT auction, at FROM there;"
            "INSERT INTO there SELECT auction, at + INTERVAL 1 SECOND FROM aside",
            "recursion-not-built",
            None,
        ),
        (
            CYCLE + "INSERT INTO there SELECT auction, at - INTERVAL 1 SECOND FROM back",
            "recursion-not-later",
            None,
        ),
        (
            "INSERT INTO there SELECT 1L, at + INTERVAL 20 SECONDS FROM back;"
            "INSERT INTO back SELECT auction, at FROM there;"
            "INSERT INTO there SELECT auction, at FROM bids",
            "in-use",
            "put it, and what it reads, before all else that is inserted into there",
        ),
        (
            "INSERT INTO there SELECT auction, at FROM asks;"
            "INSERT INTO back SELECT auction, at FROM there;"
            "INSERT INTO there SELECT auction, at + INTERVAL 20 SECONDS FROM back",
            "in-use",
            "declare auction NOT NULL in CREATE STREAM there",
        ),
    ],
)
def test_what_is_refused_says_why(tmp_path: Path, script: str, code: str, hint: str | None) -> None:
    with pytest.raises(EbbtideError) as caught:
        engine_with(tmp_path, script)
    assert caught.value.code == code
    assert caught.value.span is not None
    assert caught.value.hint == hint if hint else caught.value.hint


def test_the_hints_about_nulls_can_be_followed(tmp_path: Path) -> None:
    earlier = (
        "INSERT INTO there SELECT auction, at FROM bids;"
        "INSERT INTO there SELECT 1L, at + INTERVAL 20 SECONDS FROM back;"
        "INSERT INTO back SELECT auction, at FROM there;"
    )
    assert engine_with(tmp_path / "earlier", earlier).query("SELECT * FROM back").start()
    engine = Engine(tmp_path / "declared", transport="local")
    engine.execute(STREAMS.replace("there (auction BIGINT", "there (auction BIGINT NOT NULL"))
    engine.execute("INSERT INTO there SELECT auction, at FROM asks")
    engine.execute("INSERT INTO back SELECT auction, at FROM there")
    engine.execute("INSERT INTO there SELECT auction, at + INTERVAL 20 SECONDS FROM back")
    assert engine.query("SELECT * FROM back").start()


def test_a_stream_with_operations_is_not_derived(tmp_path: Path) -> None:
    engine = engine_with(
        tmp_path,
        "CREATE STREAM marked (auction BIGINT, at TIMESTAMP NOT NULL, op STRING,"
        " PRIMARY KEY (auction), PROGRESS FOR at AS at) OP op;",
    )
    with pytest.raises(EbbtideError) as caught:
        engine.execute("INSERT INTO marked SELECT auction, at FROM bids")
    assert caught.value.code == "not-derived"
    assert caught.value.span is not None
