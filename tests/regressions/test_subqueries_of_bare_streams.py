"""A subquery of a bare stream, bounded by a time of the row around it, keeps that bound.

It is joined to the different values that it reads of the row around it by ``<=>``, which says
nothing of times: such queries were refused as unbounded, or as never final.
"""

from random import Random

import pytest
from tests.final_law import ended, held_to_finality, without_late
from tests.histories import declarations_of, history, row_by_row
from tests.scenarios import plan_of

from ebbtide.algebra.emission import Emit
from ebbtide.analysis import When, analyse

NEAR = """FROM b WHERE b.k = a.k
  AND b.at BETWEEN a.at - INTERVAL 3 MICROSECONDS AND a.at"""


@pytest.mark.parametrize(
    "query",
    [
        f"SELECT a.k, a.at FROM a WHERE a.v = 1 OR NOT EXISTS (SELECT 1 {NEAR})",
        f"SELECT a.k, a.at, (SELECT MAX(b.w) {NEAR}) AS best FROM a",
        f"SELECT a.k, a.at, EXISTS (SELECT 1 {NEAR}) AS had FROM a",
    ],
)
def test_it_is_final_and_right(query: str) -> None:
    plan = plan_of(query)
    assert analyse(plan).verdict.finality.when is When.BY_PROGRESS
    declarations = declarations_of(plan)
    rows = row_by_row(history(Random(5), declarations, 3), declarations)
    steps = [*without_late(rows, declarations), *ended(declarations, 100)]
    emits = (Emit.FINAL, Emit.CHANGES_WITH_FINALITY)
    assert held_to_finality([(plan, emit) for emit in emits], steps, 2) > 0
