"""Expiry strategies as users say and see them: WITH, Python, EXPLAIN, what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ebbtide import Engine
from ebbtide.core.expiry import BY_INTERVAL, Expiry, Strategy
from ebbtide.engine.location import Location
from ebbtide.engine.state_report import holdings
from ebbtide.errors import EbbtideError
from ebbtide.sql.parser import parse
from ebbtide.sql.printer import sql

BIDS = "CREATE STREAM bids (item INT, price INT, at TIMESTAMP, PROGRESS FOR at AS at)"
COUNTS = "SELECT item, COUNT(*) AS n FROM bids [RANGE 5 SECONDS] GROUP BY item"
PAIRS = (
    "SELECT MAX(b.price) AS m FROM bids [RANGE 5 SECONDS] a JOIN bids [RANGE 9 SECONDS] b "
    "ON a.item = b.item"
)


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    engine = Engine(tmp_path, transport="local", shards=2)
    engine.execute(BIDS)
    return engine


@pytest.mark.parametrize(
    ("text", "expiry"),
    [
        ("", BY_INTERVAL),
        (" WITH (expiry = 'interval')", BY_INTERVAL),
        (" WITH (expiry = 'Negative')", Expiry(Strategy.NEGATIVE)),
        (" WITH (expiry = 'input')", Expiry(Strategy.INPUT)),
        (" WITH (compression = FALSE)", Expiry(compression=False)),
        (
            " WITH (encoding = 'positive-negative', join_message = TRUE, expiry = 'piggyback')",
            Expiry(Strategy.PIGGYBACK, True),
        ),
    ],
)
def test_with_says_how_rows_expire(engine: Engine, text: str, expiry: Expiry) -> None:
    query = engine.query(COUNTS + text)
    assert query.bound.expiry == query.analysis.expiry == expiry
    assert engine.query(query.sql).bound == query.bound
    (statement,) = parse(COUNTS + text)
    assert parse(sql(statement)) == (statement,)


def test_python_says_it_too(engine: Engine) -> None:
    query = engine.query(PAIRS, expiry="negative", join_message=True)
    assert query.bound.expiry == Expiry(Strategy.NEGATIVE, True)
    # It is part of what runs, so a restart under another one is refused.
    assert query.bound.asked.endswith("WITH (expiry = 'negative', join_message = TRUE)")


def test_explain_shows_it(engine: Engine) -> None:
    assert "expiry" not in engine.query(PAIRS).explain()
    query = engine.query(PAIRS, expiry="negative", join_message=True)
    assert "expiry   negative, with join messages" in query.explain()
    assert "a message for all pairs of a row in their shard" in query.explain(verbose=True)
    document = json.loads(query.explain(json=True))
    assert document["expiry"]["strategy"] == "negative"
    plain = engine.query(PAIRS, expiry="negative").explain(verbose=True)
    assert plain.count("a negative each") == 2
    late = engine.query(PAIRS, expiry="input").explain(verbose=True)
    assert late.count("when its shard gets input") == 1
    (said,) = engine.execute(f"EXPLAIN {COUNTS} WITH (expiry = 'piggyback')")
    assert "expiry   piggyback" in said


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (f"{COUNTS} WITH (expiry = 'soon')", "unknown-expiry"),
        (f"{COUNTS} WITH (join_message = TRUE)", "no-messages"),
        (f"{COUNTS} WITH (expiry = 'input', join_message = TRUE)", "no-messages"),
        (f"{COUNTS} WITH (expiry = 'input', compression = FALSE)", "expiry-compression"),
        (f"{COUNTS} EMIT FINAL WITH (expiry = 'negative')", "expiry-final"),
        (
            "SELECT * FROM ISTREAM(SELECT item FROM bids [NOW]) WITH (expiry = 'negative')",
            "expiry-strategy",
        ),
        (f"SELECT MAX(n) AS m FROM ({COUNTS}) WITH (expiry = 'input')", "unbounded-state"),
        (f"{COUNTS} WITH (expiry = 'input', expiry = 'negative')", "duplicate-clause"),
    ],
)
def test_what_cannot_run_is_refused(engine: Engine, text: str, code: str) -> None:
    with pytest.raises(EbbtideError) as caught:
        engine.query(text)
    assert caught.value.code == code


def test_a_delayed_operator_may_be_read_if_state_may_grow(engine: Engine) -> None:
    engine.query(
        f"SELECT MAX(n) AS m FROM ({COUNTS}) ALLOW UNBOUNDED STATE WITH (expiry = 'input')"
    )


def test_another_strategy_does_not_go_on_with_the_state_of_one(tmp_path: Path) -> None:
    for expiry in ("negative", "interval"):
        engine = Engine(tmp_path, transport="local", shards=2)
        engine.execute(BIDS)
        query = engine.query(COUNTS, "q", expiry=expiry)
        if expiry == "negative":
            query.start()
            engine.feed("bids", [(1, 1, 0)])
            engine.step()
            engine.stop()
        else:
            with pytest.raises(EbbtideError):
                query.start()


def rows_sent(path: Path, *, compression: bool) -> tuple[int, list[tuple[int, ...]]]:
    engine = Engine(path, transport="local", shards=2)
    engine.execute(BIDS)
    query = engine.query(COUNTS, "q", compression=compression)
    run = query.start()
    for first in (0, 4):
        engine.feed("bids", [(t % 2, 1, t * 1_000_000) for t in range(first, first + 4)])
        engine.step()
    engine.stop()
    sent = sum(step.operators["q.aggregate@0"].rows_out for step in run.metrics())
    return sent, sorted(query.view.snapshot())


def test_compression_spares_rows_and_changes_no_answer(tmp_path: Path) -> None:
    packed, answer = rows_sent(tmp_path / "packed", compression=True)
    every, same = rows_sent(tmp_path / "every", compression=False)
    assert answer == same == [(0, 2), (1, 3)]
    assert packed < every


def test_shards_cannot_be_cut_anew_under_input(engine: Engine, tmp_path: Path) -> None:
    engine.query(COUNTS, "q", expiry="input").start()
    engine.feed("bids", [(1, 1, 0)])
    engine.step()
    engine.stop()
    with pytest.raises(EbbtideError, match="shards-matter"):
        engine.rescale("q", 3)


def test_what_waits_to_expire_is_seen(engine: Engine, tmp_path: Path) -> None:
    engine.query(COUNTS, "q", expiry="negative").start()
    engine.feed("bids", [(1, 1, 0), (2, 1, 0)])
    engine.step()
    engine.stop()
    found = {h.area: h for h in holdings(Location(str(tmp_path)).query("q"))}
    assert (found["expiring"].rows, found["expiring"].keeps) == (2, "kept until it ends")
