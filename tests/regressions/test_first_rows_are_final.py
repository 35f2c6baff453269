"""The first rows of a partition in the order of a time are final once that time has come.

Rows that a number is asked of became the first n rows of their partition, of which it was said that
any row to come may take their place; but only one that is before them in the order does.
"""

from random import Random

import pytest
from tests.final_law import ended, held_to_finality, without_late
from tests.histories import declarations_of, history, row_by_row
from tests.scenarios import plan_of

from ebbtide.algebra.emission import Emit
from ebbtide.analysis import When, analyse

NUMBERED = """SELECT k, v, at FROM (SELECT k, v, at,
  {ranking}() OVER (PARTITION BY k ORDER BY at{order}) AS n FROM a) AS x WHERE n <= 2"""


@pytest.mark.parametrize("emit", [Emit.FINAL, Emit.CHANGES_WITH_FINALITY])
@pytest.mark.parametrize("ranking", ["ROW_NUMBER", "RANK", "DENSE_RANK"])
def test_they_leave_when_their_time_has_come(ranking: str, emit: Emit) -> None:
    plan = plan_of(NUMBERED.format(ranking=ranking, order=""))
    declarations = declarations_of(plan)
    left = 0
    for seed in range(2):
        rows = row_by_row(history(Random(seed), declarations, 4), declarations)
        steps = [*without_late(rows, declarations), *ended(declarations, 100)]
        left += held_to_finality([(plan, emit)], steps, 1 + seed % 2)
    assert left > 0


def test_the_last_rows_never_are() -> None:
    plan = plan_of(NUMBERED.format(ranking="ROW_NUMBER", order=" DESC"))
    assert analyse(plan).verdict.finality.when is When.NEVER
