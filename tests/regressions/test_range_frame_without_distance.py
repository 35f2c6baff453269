"""RANGE frames around NULL, NaN and the infinities were empty, or left out their peers.

Such a value plus or minus an amount is itself, so a bound that lies an amount away from it is its
group of peers; subtracting them to get a distance gives nothing that can be compared.
"""

import math

import pytest

from ebbtide.algebra import AggregateCall, Frame, FrameCall, FrameUnit, Over, SortKey
from ebbtide.testing import answer, relation

T = relation("t", id="BIGINT", d="DOUBLE")
TABLE = """
    id | d
    0  | NULL
    1  | NULL
    2  | -inf
    3  | 1.0
    4  | 2.0
    5  | inf
    6  | inf
    7  | nan
    8  | nan
"""


def counts(start: int | None, end: int | None, descending: bool = False) -> dict[int, int]:
    """How many rows the frame of each row has, by the row's id."""
    count = FrameCall("n", AggregateCall("COUNT"))
    order = (SortKey(T.ref("d"), descending),)
    plan = Over(T, (count,), (), order, Frame(FrameUnit.RANGE, start, end))
    return {row[0]: row[2] for row in answer(plan, {"t": TABLE}).at(0)}


@pytest.mark.parametrize("descending", [False, True])
def test_a_bound_an_amount_away_is_the_group_of_peers(descending: bool) -> None:
    assert counts(-1, 1, descending) == {0: 2, 1: 2, 2: 1, 3: 2, 4: 2, 5: 2, 6: 2, 7: 2, 8: 2}


def test_everything_up_to_an_amount_before() -> None:
    assert counts(None, -1) == {0: 2, 1: 2, 2: 3, 3: 3, 4: 4, 5: 7, 6: 7, 7: 9, 8: 9}


def test_everything_from_an_amount_after() -> None:
    assert counts(1, None) == {0: 9, 1: 9, 2: 7, 3: 5, 4: 4, 5: 4, 6: 4, 7: 2, 8: 2}


def test_nan_is_last_and_null_first() -> None:
    assert math.isnan(answer(T, {"t": TABLE}).at(0)[-1][1])
