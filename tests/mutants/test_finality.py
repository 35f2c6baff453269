"""Mistakes in how rows become final: each is noticed by the law of EMIT FINAL.

One program of facts and snapshots, one of them without the times by which it passes, over two
histories with late rows.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest
from tests.analysed import World
from tests.final_law import ended, held_to_finality
from tests.histories import Fed, declarations_of, history, row_by_row, without_refused

from ebbtide.algebra.emission import Emit
from ebbtide.algebra.relation import Relation
from ebbtide.compile import physical
from ebbtide.kernels.operators import final

WORLD = World("""
CREATE STREAM a (k BIGINT, at TIMESTAMP NOT NULL,
  PROGRESS FOR at AS at - INTERVAL 1 MICROSECOND) RETAIN 4 MICROSECONDS;
CREATE STREAM b (k BIGINT, at TIMESTAMP NOT NULL,
  PROGRESS FOR at AS at - INTERVAL 1 MICROSECOND) RETAIN 4 MICROSECONDS;
""")
TEXTS = (
    "SELECT window_end, COUNT(*) AS n FROM TUMBLE(a, at, 3 MICROSECONDS) GROUP BY window_end",
    "SELECT k, SUM(k) AS s FROM a [RANGE 3 MICROSECONDS] GROUP BY k",
    "SELECT a.k FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE a.k = b.k "
    "AND b.at BETWEEN a.at AND a.at + INTERVAL 2 MICROSECONDS)",
    "SELECT k, COUNT(*) AS n FROM b [RANGE 4 MICROSECONDS SLIDE 2 MICROSECONDS] GROUP BY k",
)
PLANS: list[Relation] = [WORLD.bound(text).plan for text in TEXTS]


def steps(seed: int) -> list[dict[str, Fed]]:
    """What arrives, a row in a step, and that no more comes."""
    declarations = list({d.name: d for plan in PLANS for d in declarations_of(plan)}.values())
    rows = row_by_row(history(Random(seed), declarations, 4, (1, 2, 3)), declarations)
    return [*without_refused(rows, declarations), *ended(declarations, 60)]


def judged(emit: Emit) -> int:
    queries = [(plan, emit) for plan in PLANS]
    return sum(held_to_finality(queries, steps(seed), 2) for seed in (5, 11))


@pytest.mark.parametrize("emit", [Emit.FINAL, Emit.CHANGES_WITH_FINALITY])
def test_the_law_holds_without_a_mistake(emit: Emit) -> None:
    assert judged(emit) > 8


def a_step_late(original: Any) -> Any:
    """Rows pass by the frontiers before the step."""

    def times(self: Any, progress: Any, moments: Any) -> Any:
        (before, _), (was, _) = progress, moments
        return original(self, (before, before), (was, was))

    return times


def a_tick_early(original: Any) -> Any:
    """Rows pass while one more instant is to come."""

    def at(self: Any, progress: Any, now: Any, begun: Any) -> Any:
        return original(self, {of: t + 1 for of, t in progress.items()}, now, begun)

    return at


def never_a_revision(original: Any) -> Any:
    return lambda leaving, changes, waited: np.zeros(leaving.num_rows, np.bool_)


def always_a_revision(original: Any) -> Any:
    return lambda leaving, changes, waited: np.ones(leaving.num_rows, np.bool_)


def without_due(original: Any) -> Any:
    """Only what comes is looked at, not what waits."""

    def beyond(self: Any, keep: Any) -> Any:
        return self.none

    return beyond


def what_left_stays(original: Any) -> Any:
    """What left before is looked at again."""
    return lambda self, keep: self


MISTAKES: list[tuple[str, Any, str, Callable[[Any], Any], Emit]] = [
    ("a step late", physical.Output, "times", a_step_late, Emit.FINAL),
    ("a tick early", physical.StoreRule, "at", a_tick_early, Emit.FINAL),
    ("never a revision", final, "_revised", never_a_revision, Emit.FINAL),
    ("always a revision", final, "_revised", always_a_revision, Emit.FINAL),
    ("what waits is forgotten", final.SweepArea, "beyond", without_due, Emit.FINAL),
    ("what left stays", final.SweepArea, "under", what_left_stays, Emit.FINAL),
    ("nothing cancels", final, "cancel", lambda _: lambda table: table, Emit.FINAL),
    ("segments as they came", final, "net", lambda _: lambda table: table, Emit.FINAL),
    (
        "what is told early stays",
        final,
        "negated",
        lambda original: lambda table: original(table).slice(0, 0),
        Emit.CHANGES_WITH_FINALITY,
    ),
]


@pytest.mark.parametrize(
    ("owner", "name", "wrong", "emit"),
    [mistake[1:] for mistake in MISTAKES],
    ids=[mistake[0] for mistake in MISTAKES],
)
def test_a_mistake_is_noticed(
    owner: Any,
    name: str,
    wrong: Callable[[Any], Any],
    emit: Emit,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(owner, name, wrong(vars(owner)[name]))
    with pytest.raises(AssertionError):
        judged(emit)
