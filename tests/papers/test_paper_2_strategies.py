"""Paper 2 on the engine: its expiry strategies, step by step, and what they send.

A unit of time is one second.  As in ``test_paper_2_nile``, what the drawings leave open is chosen.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest

from ebbtide import Engine
from ebbtide.program.run import Run

S = 1_000_000
COUNT_OF_FAVORITES = """
SELECT COUNT(*) AS n
FROM (VALUES (3), (4), (5), (6)) AS fi(item) JOIN s [RANGE 5 SECONDS] ON fi.item = s.item
"""
# Figure 2: the stream S1, one step for each unit of time; at T6 nothing comes.
FIGURE_2: list[int | None] = [4, 5, 1, 3, 6, 2, None, 5]


def engine_at(path: Path, *streams: str, shards: int = 1) -> Engine:
    """An engine with streams of items, prices and stores."""
    engine = Engine(path, transport="local", shards=shards)
    for name in streams:
        engine.execute(f"""
            CREATE STREAM {name} (item INT, price INT, store INT, at TIMESTAMP,
              PROGRESS FOR at AS at)
        """)
    return engine


def to(engine: Engine, stream: str, t: int, *rows: tuple[Any, ...]) -> None:
    """Feeds rows of an instant, or lets the time come to it."""
    if rows:
        engine.feed(stream, [(*row, t * S) for row in rows])
    else:
        engine.advance(stream, t * S + 1)


def counts(
    path: Path, expiry: str, items: Iterable[int | None], join_message: bool = False
) -> tuple[list[int], Run]:
    """What COUNT answers at each unit of time, as that is known then."""
    engine = engine_at(path, "s")
    query = engine.query(COUNT_OF_FAVORITES, "q", expiry=expiry, join_message=join_message)
    run = query.start()
    seen = []
    for t, item in enumerate(items):
        to(engine, "s", t, *([] if item is None else [(item, 0, 0)]))
        engine.step()
        [(n,)] = query.view.snapshot()
        seen.append(n)
    run.stop()
    return seen, run


def sent(run: Run, who: str) -> list[int]:
    """How many negatives such operators sent in each step; messages stand for negatives."""
    return [
        sum(
            counted.negatives_out
            for name, counted in step.operators.items()
            if re.search(rf"\b{who}(@[\d.]*\d)?$", name)
        )
        for step in run.metrics()
    ]


def test_figure_2_input_triggered(tmp_path: Path) -> None:
    """S3: at T5 and T6 the answer is still 4, for nothing that joins has come; at T7 it is 3.

    T          0    1    2    3    4    5    6    7
    S1         4    5    1    3    6    2         5
    S2         4    5         3    6              5
    C          1    2    2    3    4    3    2    3
    S3         1    2    2    3    4    4    4    3
    """
    seen, run = counts(tmp_path, "input", FIGURE_2)
    assert seen == [1, 2, 2, 3, 4, 4, 4, 3]
    delays = [step.delays["q"].longest_us for step in run.metrics() if "q" in step.delays]
    # At T7 two expiries appear, those of T5 and T6.
    assert delays[-1] == 2 * S


def test_once_input_comes_the_past_is_right_too(tmp_path: Path) -> None:
    counts(tmp_path, "input", FIGURE_2)
    engine = engine_at(tmp_path, "s")
    query = engine.query(COUNT_OF_FAVORITES, "q", expiry="input")
    assert [query.view.snapshot(t * S)[0][0] for t in range(8)] == [1, 2, 2, 3, 4, 3, 2, 3]


@pytest.mark.parametrize("expiry", ["interval", "negative", "piggyback"])
def test_figure_4_the_others_are_never_late(tmp_path: Path, expiry: str) -> None:
    seen, run = counts(tmp_path, expiry, FIGURE_2)
    assert seen == [1, 2, 2, 3, 4, 3, 2, 3]
    assert all(delay.longest_us == 0 for step in run.metrics() for delay in step.delays.values())


def test_figure_4_a_negative_for_each_expired_tuple(tmp_path: Path) -> None:
    """4 expires at T5 and 5 at T6; 1, at T7, is no favourite: the join stops its negative."""
    _, run = counts(tmp_path, "negative", FIGURE_2)
    assert sent(run, "expire") == [0, 0, 0, 0, 0, 1, 1, 1]
    assert sent(run, "join") == [0, 0, 0, 0, 0, 1, 1, 0]


def test_figure_9_negatives_only_where_nothing_carries_the_time(tmp_path: Path) -> None:
    """From T6 to T8 nothing joins, and negatives go out; at T10 and T11 4 and 4 carry the time."""
    items = [None, 4, 5, 5, None, 4, 2, 1, 2, None, 4, 4]
    seen, run = counts(tmp_path / "p", "piggyback", items)
    expected, other = counts(tmp_path / "n", "negative", items)
    assert seen == expected == [0, 1, 2, 3, 3, 4, 3, 2, 1, 1, 1, 2]
    assert sent(run, "messages") == [0] * 6 + [1, 1, 1, 0, 0, 0]
    # In a step only the net effect appears: 4 goes and comes at T10, so nothing is sent.
    assert sent(other, "join") == [0] * 6 + [1, 1, 1, 0, 0, 0]


MAX_OF_STORES = """
SELECT MAX(s2.price) AS m
FROM s1 [RANGE 5 SECONDS] JOIN s2 [RANGE 5 SECONDS] ON s1.store = s2.store
"""


def maxima(
    path: Path, steps: Sequence[tuple[str, int, int] | None], expiry: str, messages: bool
) -> tuple[list[Any], Run]:
    """What MAX answers after each step: a row of a stream with a price and a store, or nothing."""
    engine = engine_at(path, "s1", "s2")
    query = engine.query(MAX_OF_STORES, "q", expiry=expiry, join_message=messages)
    run = query.start()
    seen = []
    for t, step in enumerate(steps):
        if step is None:
            to(engine, "s1", t)
        else:
            stream, price, store = step
            to(engine, stream, t, (t, price, store))
        engine.step()
        seen += query.view.snapshot()[0]
    return seen, run


FIGURE_7: list[tuple[str, int, int] | None] = [
    None,
    ("s1", 0, 6),
    ("s2", 10, 6),
    ("s2", 30, 6),
    ("s2", 20, 6),
    None,
    None,
    None,
    None,
    None,
]


def test_figure_7_one_join_message_for_all_pairs_of_a_tuple(tmp_path: Path) -> None:
    """Store 6 of S1 leaves at T6, and with it three pairs: one message instead of three."""
    seen, run = maxima(tmp_path / "m", FIGURE_7, "negative", True)
    plain, other = maxima(tmp_path / "n", FIGURE_7, "negative", False)
    assert seen == plain == [None, None, 10, 30, 30, 30, None, None, None, None]
    assert sent(run, "messages") == [0] * 6 + [1, 0, 0, 0]
    assert sent(other, "join") == [0] * 6 + [3, 0, 0, 0]


def test_figure_8_a_tuple_that_no_pair_waits_for_sends_no_message(tmp_path: Path) -> None:
    """t_i of S1 comes at T1 and t_j of S2 at T3: the pair goes with t_i, and t_j says nothing."""
    steps: list[Any] = [None, ("s1", 0, 6), None, ("s2", 7, 6), *[None] * 6]
    seen, run = maxima(tmp_path, steps, "negative", True)
    assert seen == [None, None, None, 7, 7, 7, None, None, None, None]
    assert sent(run, "messages") == [0] * 6 + [1, 0, 0, 0]


# --- the two claims -------------------------------------------------------------------------------


def history(seed: int) -> list[tuple[str, int, int] | None]:
    """Random sales of few stores, so that tuples have many partners, and pauses."""
    random = Random(seed)
    return [
        None
        if random.random() < 0.3
        else (random.choice(["s1", "s2"]), random.randint(1, 9), random.randint(1, 2))
        for _ in range(30)
    ]


def referred(steps: Sequence[tuple[str, int, int] | None]) -> list[int]:
    """At each instant, the tuples that expire and were the first of some pair to do so."""
    rows = [(t, *step) for t, step in enumerate(steps) if step is not None]
    found = [0] * len(steps)
    for at, stream, _, store in rows:
        pairs = [o for o in rows if o[1] != stream and o[3] == store and abs(o[0] - at) < 5]
        if any(at < other[0] for other in pairs) and at + 5 < len(steps):
            found[at + 5] += 1
    return found


@pytest.mark.parametrize("seed", range(4))
def test_a_join_sends_one_message_for_each_expired_tuple_that_pairs_wait_for(
    tmp_path: Path, seed: int
) -> None:
    steps = history(seed)
    seen, run = maxima(tmp_path / "m", steps, "negative", True)
    plain, other = maxima(tmp_path / "i", steps, "interval", False)
    assert seen == plain
    assert sent(run, "messages") == referred(steps)
    assert sum(sent(run, "messages")) > 0
    assert sum(sent(other, "messages")) == 0


@pytest.mark.parametrize("messages", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_piggyback_sends_at_most_the_negatives_of_negative(
    tmp_path: Path, seed: int, messages: bool
) -> None:
    steps = history(seed)
    seen, run = maxima(tmp_path / "p", steps, "piggyback", messages)
    plain, other = maxima(tmp_path / "n", steps, "negative", messages)
    assert seen == plain
    carried, every = sent(run, "messages"), sent(other, "messages" if messages else "join")
    assert all(few <= many for few, many in zip(carried, every, strict=True))
    assert sum(carried) > 0


def test_a_positive_change_carries_the_time_of_many_expiries(tmp_path: Path) -> None:
    """Three tuples expire in a step that brings another: no negative."""
    engine = engine_at(tmp_path, "s")
    query = engine.query("SELECT COUNT(*) AS n FROM s [RANGE 5 SECONDS]", "q", expiry="piggyback")
    run = query.start()
    for t, count in ((0, 3), (1, 1), (5, 1)):
        to(engine, "s", t, *[(t, 0, 0)] * count)
        engine.step()
    assert query.view.snapshot() == [(2,)]
    assert sent(run, "messages") == [0, 0, 0]
