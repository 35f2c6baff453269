"""What `check_aggregate` finds wrong, and that it names the law."""

from dataclasses import replace

import pytest

from ebbtide.algebra.aggregates import aggregate
from ebbtide.core.types import BIGINT
from ebbtide.testing import check_aggregate

SUM = aggregate("SUM", (BIGINT,))
BAG = [(1,), (2,), (2,)]


@pytest.mark.parametrize("name", ["SUM", "AVG", "COUNT", "MAX", "MEDIAN"])
def test_the_library_obeys(name: str) -> None:
    check_aggregate(aggregate(name, (BIGINT,)), BAG)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (replace(SUM, accumulate=lambda s, row: row[0], result=lambda s: s), "another order"),
        (replace(SUM, merge=lambda a, b: a), "merging two parts is not the whole"),
        (replace(SUM, retract=lambda s, row: s), "retracting leaves a trace"),
    ],
)
def test_a_broken_law_is_named(wrong, message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        check_aggregate(wrong, BAG)


def test_a_state_that_is_changed_in_place_is_noticed() -> None:
    def accumulate(state: list[int], row: tuple[int]) -> list[int]:
        state.append(row[0])
        return state

    def merge(a: list[int], b: list[int]) -> list[int]:
        return a + b

    broken = replace(SUM, initial=[], accumulate=accumulate, merge=merge, result=sum, retract=None)
    with pytest.raises(AssertionError):
        check_aggregate(broken, BAG)


def test_what_rounds_can_be_compared_its_own_way() -> None:
    rough = replace(SUM, merge=lambda a, b: SUM.accumulate(SUM.merge(a, b), (0,)))
    check_aggregate(rough, BAG, same=lambda a, b: abs(a - b) < 1)
