"""Recursion: the facts up to now that follow from others of them, each later than those."""

import pytest

from ebbtide.algebra import (
    Aggregate,
    Alias,
    Arithmetic,
    Filter,
    Map,
    Named,
    Recurrence,
    Recursion,
    Relation,
    Stream,
    UnionAll,
)
from ebbtide.algebra.call import AggregateCall
from ebbtide.algebra.expression import Comparison, Literal
from ebbtide.algebra.relation import NamedCall
from ebbtide.analysis.analysis import examine
from ebbtide.core.declaration import Promise, StreamDeclaration
from ebbtide.core.schema import Column, Schema
from ebbtide.core.types import BIGINT, INTERVAL, TIMESTAMP
from ebbtide.errors import InternalError, TemporalError
from ebbtide.testing import answer

ROWS = Schema((Column("k", BIGINT), Column("at", TIMESTAMP, False)))
S = Stream(StreamDeclaration("s", ROWS, (), (Promise("at"),)))
OWN = Recurrence("r", ROWS)


def later(relation: Relation, by: int) -> Map:
    """The rows, moved in time."""
    moved = Arithmetic("+", relation.ref("at"), Literal(by, INTERVAL))
    return Map(relation, (Named("k", relation.ref("k")), Named("at", moved)))


def given(*rows: tuple[int, int]) -> str:
    """Facts, as a table."""
    cells = (f"[-inf, inf) | {k} | {at}" for k, at in rows)
    return "\n".join(["time | k | at", *cells])


CHAIN = Recursion("r", UnionAll(S, later(OWN, 3)), "at")


def test_both_sides_of_the_tick_at_which_a_fact_follows() -> None:
    """Three later each time.

    s     1
    r     1     4     7
    now            6  |7
    """
    facts = {"s": given((5, 1))}
    assert answer(CHAIN, facts, now=6).at(0) == [(5, 1), (5, 4)]
    assert answer(CHAIN, facts, now=7).at(0) == [(5, 1), (5, 4), (5, 7)]


def test_a_fact_that_is_later_than_now_is_not_followed() -> None:
    assert answer(CHAIN, {"s": given((5, 8))}, now=7).at(0) == []


def test_multiplicities_add_up() -> None:
    facts = {"s": given((5, 1), (5, 4))}
    assert answer(CHAIN, facts, now=7).at(0) == [(5, 1), (5, 4), (5, 4), (5, 7), (5, 7)]


def test_what_follows_may_be_an_aggregate() -> None:
    own = Alias(OWN, "r")
    count = NamedCall("n", AggregateCall("COUNT", ()))
    groups = Aggregate(own, (Named("at", own.ref("at")),), (count,))
    counted = Map(
        groups,
        (
            Named("k", groups.ref("n")),
            Named("at", Arithmetic("+", groups.ref("at"), Literal(2, INTERVAL))),
        ),
    )
    plan = Recursion("r", UnionAll(S, counted), "at")
    facts = {"s": given((5, 1), (6, 1), (7, 3))}
    assert answer(plan, facts, now=6).at(0) == [(2, 3), (2, 5), (5, 1), (6, 1), (7, 3)]


def test_without_an_end_there_is_no_answer() -> None:
    with pytest.raises(InternalError, match="give a now"):
        answer(CHAIN, {"s": given((5, 1))})


def test_what_it_gains_in_a_round_is_proved() -> None:
    solution = examine(CHAIN).solution
    assert solution is not None
    assert (solution.gain_us, solution.linear) == (3, True)
    assert [str(bound) for bound in solution.enters] == ["s.at"]


@pytest.mark.parametrize("by", [0, -1])
def test_what_does_not_move_forward_is_refused(by: int) -> None:
    with pytest.raises(TemporalError) as caught:
        examine(Recursion("r", UnionAll(S, later(OWN, by)), "at"))
    assert caught.value.code == "recursion-not-later"


def test_it_may_follow_from_itself_only_in_part() -> None:
    small = Filter(OWN, Comparison("<", OWN.ref("k"), Literal(6, BIGINT)))
    plan = Recursion("r", UnionAll(S, later(small, 3)), "at")
    assert answer(plan, {"s": given((5, 1), (6, 1))}, now=5).at(0) == [(5, 1), (5, 4), (6, 1)]
