"""Where equations as printed do not give what SQL means, and rules that hold for few windows.

Paper 4 derives the semi join (12) by joining with the distinct rows of the right side, and the
strict difference (15) by taking a semi join away. Both count more than they should; `laws.joins`
has the forms that hold.
"""

from ebbtide.algebra import (
    Alias,
    Comparison,
    Difference,
    Distinct,
    Filter,
    Join,
    Literal,
    Map,
    Named,
    Not,
    Range,
    Ref,
    Relation,
    Rows,
    SemiJoin,
    Stream,
    StrictDifference,
    Window,
)
from ebbtide.core.declaration import StreamDeclaration
from ebbtide.core.schema import schema
from ebbtide.core.types import BIGINT
from ebbtide.testing import answer, relation

L = Alias(relation("l", x="BIGINT"), "l")
R = Alias(relation("r", x="BIGINT", y="BIGINT"), "r")


def semi_join_as_printed(left: Relation, right: Relation, predicate) -> Relation:
    """(12): the left columns of the join with the distinct rows of the right side."""
    joined = Join(left, Distinct(right), predicate)
    return Map(joined, tuple(Named(column.name, Ref(column)) for column in left.schema))


def test_12_counts_partners_that_differ_in_other_columns() -> None:
    """EXISTS has the row once, (12) once for each partner.

    l  1  |-----|
    r  1,1|-----|      two partners: distinct, because y differs
       1,2|-----|
    """
    inputs = {"l": "time | x\n[0, 5) | 1", "r": "time | x | y\n[0, 5) | 1 | 1\n[0, 5) | 1 | 2"}
    predicate = Comparison("=", L.ref("l.x"), R.ref("r.x"))
    exists = answer(SemiJoin(L, R, predicate), inputs)
    printed = answer(semi_join_as_printed(L, R, predicate), inputs)
    assert (exists.at(0), printed.at(0)) == ([(1,)], [(1,), (1,)])


def test_12_counts_partners_of_an_inequality() -> None:
    """Reducing the right side to its join attributes does not help without an equality."""
    inputs = {"l": "time | x\n[0, 5) | 1", "r": "time | x | y\n[0, 5) | 2 | 0\n[0, 5) | 3 | 0"}
    keys = Alias(Distinct(Map(R, (Named("x", R.ref("r.x")),))), "k")
    predicate = Comparison("<", L.ref("l.x"), keys.ref("k.x"))
    exists = answer(SemiJoin(L, keys, predicate), inputs)
    printed = answer(semi_join_as_printed(L, keys, predicate), inputs)
    assert (exists.at(0), printed.at(0)) == ([(1,)], [(1,), (1,)])


def test_15_keeps_duplicates() -> None:
    """EXCEPT has a row once, (15) as often as the left side does.

    l  1  2x|-----|
    r         nothing
    """
    right = Alias(relation("r", x="BIGINT"), "r")
    inputs = {"l": "time | diff | x\n[0, 5) | +2 | 1", "r": ""}
    same = Comparison("=", L.ref("l.x"), right.ref("r.x"))
    printed = Difference(L, semi_join_as_printed(L, right, same))
    assert answer(StrictDifference(L, right), inputs).at(0) == [(1,)]
    assert answer(printed, inputs).at(0) == [(1,), (1,)]


def test_15_keeps_nulls_that_are_on_both_sides() -> None:
    """EXCEPT takes NULL for a value; an equality in a join does not."""
    right = Alias(relation("r", x="BIGINT"), "r")
    inputs = {"l": "time | x\n[0, 5) | NULL", "r": "time | x\n[0, 5) | NULL"}
    same = Comparison("=", L.ref("l.x"), right.ref("r.x"))
    printed = Difference(L, semi_join_as_printed(L, right, same))
    assert answer(StrictDifference(L, right), inputs).at(0) == []
    assert answer(printed, inputs).at(0) == [(None,)]


S = Stream(StreamDeclaration("s", schema(x="BIGINT", at="TIMESTAMP")))
FACTS = {"s": "x | at\n1 | 0\n2 | 1\n1 | 2"}


def ones(below: Relation) -> Relation:
    """The rows with x = 1."""
    return Filter(below, Comparison("=", below.ref("x"), Literal(1, BIGINT)))


def test_a_filter_does_not_commute_with_a_row_window() -> None:
    """The last row is 2 for a while; of the ones, the last is a one all the time.

    x     1    2    1
    at    0    1    2
    [ROWS 1] of all, then the ones    |----|    |----...
    the ones, then [ROWS 1]           |---------|----...
    """
    outside = answer(ones(Window(S, Rows(1), on="at")), FACTS)
    inside = answer(Window(ones(S), Rows(1), on="at"), FACTS)
    assert (outside.at(0), outside.at(1), outside.at(2)) == ([(1, 0)], [], [(1, 2)])
    assert (inside.at(0), inside.at(1), inside.at(2)) == ([(1, 0)], [(1, 0)], [(1, 2)])


def test_a_distinct_does_not_commute_with_a_window() -> None:
    """A window gives each fact its own life; what has state looks at several lives at once.

    Without its time the same value twice is one row as long as one of the two is there; made one
    before the window, it dies with the first.
    """
    facts = {"s": "x | at\n1 | 0\n1 | 3"}
    shown = Window(S, Range(5), on="at")
    lives = answer(Distinct(Map(shown, (Named("x", shown.ref("x")),))), facts)
    assert (lives.at(7), lives.at(8)) == ([(1,)], [])
    first = {"s": "x | at\n1 | 0"}
    early = answer(Distinct(Map(shown, (Named("x", shown.ref("x")),))), first)
    assert early.at(5) == []


def test_what_is_unknown_keeps_nothing_and_neither_does_its_negation() -> None:
    is_one = Comparison("=", L.ref("l.x"), Literal(1, BIGINT))
    inputs = {"l": "time | x\n[0, 5) | NULL"}
    assert answer(Filter(L, is_one), inputs).at(0) == []
    assert answer(Filter(L, Not(is_one)), inputs).at(0) == []
