"""An aggregate of the user's own: five functions, registered, checked and used in a plan."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.algebra import Aggregate, AggregateCall, AggregateFunction, NamedCall, register
from ebbtide.algebra.aggregates import AGGREGATES, aggregate
from ebbtide.core.types import BIGINT, Type
from ebbtide.errors import QueryError
from ebbtide.testing import answer, check_aggregate, relation

T = relation("t", x="BIGINT")


def exclusive_or(types: tuple[Type, ...]) -> AggregateFunction:
    """The bits that are set in an odd number of values; NULL of nothing."""
    return AggregateFunction(
        type=BIGINT,
        initial=(0, 0),
        accumulate=lambda state, row: (state[0] ^ row[0], state[1] + 1),
        merge=lambda a, b: (a[0] ^ b[0], a[1] + b[1]),
        result=lambda state: state[0] if state[1] else None,
        retract=lambda state, row: (state[0] ^ row[0], state[1] - 1),
    )


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    register("BIT_XOR", exclusive_or)
    yield
    del AGGREGATES["BIT_XOR"]


def test_it_works_in_a_plan() -> None:
    """5 and 3 differ in two bits; NULL is skipped; what has expired counts no more.

    5     |----------|
    3          |----------|
    NULL  |----------|
    """
    plan = Aggregate(T, (), (NamedCall("bits", AggregateCall("BIT_XOR", (T.ref("x"),))),))
    got = answer(plan, {"t": "time | x\n[0, 10) | 5\n[5, 15) | 3\n[0, 10) | NULL"})
    got.shows("""
        time      | bits
        [-inf, 0) | NULL
        [0, 5)    | 5
        [5, 10)   | 6
        [10, 15)  | 3
        [15, inf) | NULL
    """)


@given(st.lists(st.tuples(st.integers(0, 7)), max_size=6))
def test_it_obeys_the_laws(bag: list[tuple[int]]) -> None:
    check_aggregate(exclusive_or((BIGINT,)), bag)


def test_distinct_and_filter_come_for_free() -> None:
    call = AggregateCall("BIT_XOR", (T.ref("x"),), distinct=True)
    got = answer(Aggregate(T, (), (NamedCall("bits", call),)), {"t": "x\n5\n5\n3"})
    assert got.at(0) == [(6,)]


def test_a_name_is_given_once() -> None:
    with pytest.raises(QueryError, match="already"):
        register("BIT_XOR", exclusive_or)
    with pytest.raises(QueryError, match="upper case"):
        register("bit_xor", exclusive_or)
    assert aggregate("BIT_XOR", (BIGINT,)).type == BIGINT
