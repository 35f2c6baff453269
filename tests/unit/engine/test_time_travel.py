"""What was said at earlier moments: as of steps and times, differences, and reasons."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest

from ebbtide import Engine
from ebbtide.core.time import SECOND
from ebbtide.core.values import row_key
from ebbtide.engine.query import Query
from ebbtide.errors import QueryError, StateError
from ebbtide.store.history import History
from ebbtide.testing import Clock

STREAM = """
    CREATE STREAM s (k INT, x INT, at TIMESTAMP, PROGRESS FOR at AS at) RETAIN 30 SECONDS
"""
TOTALS = "SELECT k, SUM(x) AS total FROM s [RANGE 5 SECONDS] GROUP BY k"
STEPS = 52


class Run:
    """A query in this process, fed with rows that are late now and then.

    Answers are noted after each step, of instants that are so many seconds ``back``.
    """

    back: tuple[int, ...] = (2, -1)

    def __init__(self, path: Path, sql: str = TOTALS, **options: Any) -> None:
        self.clock = Clock(1_000 * SECOND)
        self.engine = Engine(path, transport="local", clock=self.clock)
        self.engine.execute(STREAM)
        self.query: Query = self.engine.query(sql, name="q")
        self.query.start(**options)
        self.random = Random(7)
        self.said: list[dict[int, Counter[Any]]] = []

    def step(self) -> None:
        """One step, and what is said after it about some instants."""
        number = len(self.said)
        rows = [self._row(number) for _ in range(self.random.choice((0, 1, 3)))]
        self.engine.feed("s", rows)
        self.engine.advance("s", at=number * SECOND)
        self.clock.advance(2 * SECOND)
        self.engine.step()
        instants = {max(0, number - back) for back in self.back}
        self.said.append({at: self.shown(at) for at in instants})

    def _row(self, number: int) -> tuple[int, int, int]:
        late = self.random.choice((0, 0, 1, 6))
        at = max(0, number + 1 - late) * SECOND + self.random.randrange(SECOND)
        return self.random.randrange(2), self.random.randrange(9), at

    def shown(self, at: int, **options: Any) -> Counter[Any]:
        rows = self.query.snapshot(at=at * SECOND, **options).to_pylist()
        return Counter(row_key(tuple(row.values())) for row in rows)


def test_as_of_says_what_was_said_after_each_of_fifty_steps(tmp_path: Path) -> None:
    run = Run(tmp_path)
    for _ in range(STEPS):
        run.step()
    corrected = 0
    for step, said in enumerate(run.said[:50]):
        at = max(0, step - 2)
        assert run.shown(at, as_of=step) == said[at]
        taken = (1_000 + 2 * (step + 1)) * SECOND
        moment = taken if step % 2 else taken + 2 * SECOND - 1
        assert run.shown(step + 1, as_of=datetime_of(moment)) == said[step + 1]
        corrected += said[at] != run.shown(at)
    assert corrected > 10
    assert run.shown(0, as_of=datetime_of(1_001 * SECOND)) == Counter()


def datetime_of(moment: int) -> str:
    """A time as text: a number would be a step."""
    return f"{moment} us"


def test_a_difference_leads_from_one_moment_to_another(tmp_path: Path) -> None:
    run = Run(tmp_path)
    run.back = ()
    for _ in range(10):
        run.step()
    for first, last in ((0, 9), (3, 8), (8, 3), (7, 7)):
        earlier = min(first, last)
        now = run.query.view.now(earlier)
        corrected = run.query.diff(first, last).to_pylist()
        everything = run.query.diff(first, last, later=True).to_pylist()
        for at in range(0, earlier + 4, 2):
            before, after = (run.shown(at, as_of=step) for step in (first, last))
            assert after == summed(before, everything, at)
            if at * SECOND <= now:
                assert after == summed(before, corrected, at)
        assert all(row["valid_from"].timestamp() * SECOND <= now for row in corrected)


def summed(rows: Counter[Any], changes: list[dict[str, Any]], at: int) -> Counter[Any]:
    """Rows with the changes of an instant."""
    result = Counter(rows)
    for change in changes:
        *row, since, upto, diff = change.values()
        if since.timestamp() <= at < upto.timestamp():
            result[row_key(tuple(row))] += diff
    return Counter({row: count for row, count in result.items() if count})


def test_a_clock_that_goes_back_dates_no_step_before_an_earlier_one(tmp_path: Path) -> None:
    readings = iter([100, 300, 200, 400])
    engine = Engine(tmp_path, transport="local", clock=lambda: next(readings) * SECOND)
    engine.execute(STREAM)
    query = engine.query("SELECT x FROM s [UNBOUNDED]", name="q")
    query.start()
    for x in range(4):
        engine.feed("s", [(0, x, x)])
        engine.step()

    def rows(as_of: int) -> int:
        return int(query.snapshot(at=10, as_of=datetime_of(as_of * SECOND)).num_rows)

    assert [rows(t) for t in (50, 100, 250, 299, 300, 399, 400)] == [0, 1, 1, 1, 3, 3, 4]


def test_what_is_not_kept_any_more_is_refused(tmp_path: Path) -> None:
    run = Run(tmp_path, keep_changes="5 seconds")
    run.back = (-1,)
    for _ in range(STEPS):
        run.step()
    base = History.read(run.query.view.root).view("q").base
    assert base is not None
    floor = base.last
    assert 0 < floor < STEPS - 5
    for as_of in (0, floor - 1, datetime_of(1_003 * SECOND)):
        with pytest.raises(StateError) as caught:
            run.shown(STEPS, as_of=as_of)
        assert caught.value.code == "not-kept"
    taken = datetime_of((1_000 + 2 * (floor + 1)) * SECOND)
    assert run.shown(floor + 1, as_of=taken) == run.said[floor][floor + 1]
    for step in range(floor, STEPS, 4):
        assert run.shown(step + 1, as_of=step) == run.said[step][step + 1]
    assert run.query.diff(floor).num_rows >= 0
    with pytest.raises(StateError, match="keeps its changes after step"):
        run.query.diff(floor - 1)
    assert {row["reason"] for row in run.query.changes().to_pylist()} >= {None, "input"}


def test_a_step_that_was_not_taken_is_refused(tmp_path: Path) -> None:
    run = Run(tmp_path)
    with pytest.raises(QueryError, match="has taken no step 0") as none:
        run.query.snapshot(as_of=0)
    assert none.value.code == "no-step"
    run.step()
    for step in (-1, 1):
        with pytest.raises(QueryError, match=f"has taken no step {step}"):
            run.query.snapshot(as_of=step)
    with pytest.raises(QueryError, match="diff needs a step") as missing:
        run.query.diff(None)  # type: ignore[arg-type]
    assert missing.value.code == "wrong-type"


def test_changes_have_their_reasons(tmp_path: Path) -> None:
    run = Run(tmp_path)
    engine, query = run.engine, run.query

    def told(*rows: tuple[int, int, int], until: int | None = None) -> list[tuple[Any, ...]]:
        engine.feed("s", [(k, x, at * SECOND) for k, x, at in rows])
        if until is not None:
            engine.advance("s", at=until * SECOND)
        engine.step()
        last = query.view.last
        changes = query.changes(since=last - 1).to_pylist()
        return [(c["k"], c["total"], c["diff"], c["reason"]) for c in changes]

    assert told((1, 10, 1), (1, 20, 3)) == [(1, 10, 1, "input"), (1, 30, 1, "input")]
    assert told(until=7) == [(1, 20, 1, "expiry")]
    revised = told((1, 5, 2))
    assert {reason for *_, reason in revised} == {"revision"}
    assert {(total, diff) for _, total, diff, _ in revised} >= {(10, -1), (15, 1), (25, 1)}
    assert told((2, 1, 9)) == [(1, 20, 1, "expiry"), (2, 1, 1, "input")]


def test_facts_that_are_taken_back_are_revised(tmp_path: Path) -> None:
    run = Run(
        tmp_path,
        "SELECT window_end, COUNT(*) AS n FROM TUMBLE(s, at, 4 SECONDS) GROUP BY window_end",
    )
    for at in (1, 2):
        run.engine.feed("s", [(0, 0, at * SECOND)])
        run.engine.step()
    changes = run.query.changes().to_pylist()
    assert [(c["n"], c["diff"], c["reason"]) for c in changes] == [
        (1, 1, "input"),
        (1, -1, "revision"),
        (2, 1, "input"),
    ]
    corrected = run.query.diff(0).to_pylist()
    assert [(c["n"], c["diff"], c["valid_from"]) for c in corrected] == [
        (1, -1, None),
        (2, 1, None),
    ]
