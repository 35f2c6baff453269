"""Paper 2, "Query Processing Using Negative Tuples in Stream Query Engines" (Nile).

One unit of time is one microsecond, `T4` is the instant 4. The drawings are not in the text, so the
streams are rebuilt from what the prose says of them; where it leaves a value open, any would do.
"""

from ebbtide.algebra import (
    Aggregate,
    AggregateCall,
    Alias,
    Comparison,
    Difference,
    Distinct,
    Dstream,
    Join,
    Map,
    Named,
    NamedCall,
    Range,
    Relation,
    StaticTable,
    Stream,
    Window,
)
from ebbtide.core.declaration import StreamDeclaration, TableDeclaration
from ebbtide.core.schema import schema
from ebbtide.testing import answer


def stream(name: str, **columns: str) -> Stream:
    """A stream with a time."""
    return Stream(StreamDeclaration(name, schema(**columns, at="TIMESTAMP")))


def values(below: Relation, name: str) -> Relation:
    """One column alone."""
    return Map(below, (Named(name, below.ref(name)),))


# --- figures 2 and 4: COUNT of favourite items sold in the last five time units -----------------

FAVORITES = Alias(StaticTable(TableDeclaration("favorites", schema(item="INT"))), "fi")
SALES = Alias(Window(stream("s", item="INT"), Range(5), on="at"), "s")
SOLD = Join(FAVORITES, SALES, Comparison("=", FAVORITES.ref("fi.item"), SALES.ref("s.item")))

# The prose: 4 at T0 and 5 at T1 are favourites, 2 at T5 is none, 5 comes again at T7. There are
# four in the window at T4, so two of T2 to T4 are favourites; at T7 there are three, so these two
# are there still and came at T3 and T4.
SALES_DATA = {
    "favorites": "item\n3\n4\n5\n6",
    "s": "item | at\n4 | 0\n5 | 1\n1 | 2\n3 | 3\n6 | 4\n2 | 5\n5 | 7",
}


def test_the_count_of_favorite_items_follows_expiry() -> None:
    """Figure 2, the line C: a count changes although nothing that joins has come.

    T          0    1    2    3    4    5    6    7    8    9
    S1         4    5    1    3    6    2         5
    4          |========================|
    5               |========================|
    3                         |========================|
    6                              |========================|
    5                                             |==========...
    COUNT   0  1    2    2    3    4    3    2    3    2    1
    """
    count = Aggregate(SOLD, (), (NamedCall("n", AggregateCall("COUNT")),))
    got = answer(count, SALES_DATA)
    assert [got.at(t) for t in range(-1, 10)] == [[(n,)] for n in (0, 1, 2, 2, 3, 4, 3, 2, 3, 2, 1)]


def test_negative_tuples_carry_the_expiry_through_the_join() -> None:
    """Figure 4: 4 leaves at T5 and 5 at T6, as negative tuples; COUNT answers 3 and 2.

    (The query printed beside the figure has another condition than the one described.)
    """
    joined = values(SOLD, "s.item")
    got = answer(joined, SALES_DATA)
    assert (got.goes(5), got.goes(6)) == ([(4,)], [(5,)])
    negatives = answer(Dstream(joined), SALES_DATA, now=7)
    assert negatives.at(0) == [(4, 5), (5, 6)]


# --- figure 5: W-Distinct ------------------------------------------------------------------------

S1 = Window(stream("s1", x="INT"), Range(6), on="at")
# 1 expires at T7 and 4 at T9, so they came at T1 and T3. At T9 the distinct values are 5, 1 and 4,
# and without repair 5 alone: 1 and 4 came again in between, 5 once.
S1_DATA = {"s1": "x | at\n1 | 1\n4 | 3\n5 | 4\n1 | 5\n4 | 7"}


def test_distinct_values_survive_the_expiry_of_one_of_their_tuples() -> None:
    """Window of six time units.

    T        1    2    3    4    5    6    7    8    9    10   11
    1        |=============================|
    4                  |=============================|
    5                       |=============================|
    1                            |=============================|
    4                                      |==================...
    """
    got = answer(Distinct(values(S1, "x")), S1_DATA)
    assert (got.at(6), got.at(7)) == ([(1,), (4,), (5,)], [(1,), (4,), (5,)])
    assert (got.at(8), got.at(9)) == ([(1,), (4,), (5,)], [(1,), (4,), (5,)])
    assert (got.at(10), got.at(11)) == ([(1,), (4,)], [(4,)])


def test_what_distinct_without_expiry_would_show() -> None:
    """Only first comers, each for its own six units: 4 and 5 at T7, 5 alone at T9."""
    first_comers = {"s1": "x | at\n1 | 1\n4 | 3\n5 | 4"}
    got = answer(values(S1, "x"), first_comers)
    assert (got.at(5), got.at(7), got.at(9)) == ([(1,), (4,), (5,)], [(4,), (5,)], [(5,)])


# --- figure 6: W-Minus ---------------------------------------------------------------------------

S = values(Window(stream("s", x="INT"), Range(6), on="at"), "x")
R = values(Window(stream("r", x="INT"), Range(6), on="at"), "x")
# 5 of R expires at T8, so it came at T2; 2, 1 and 3 are in S up to T5 and none of them leaves by
# itself before T8.
MINUS_DATA = {"s": "x | at\n2 | 3\n1 | 4\n3 | 5\n5 | 7", "r": "x | at\n5 | 2\n1 | 6"}


def test_minus_takes_back_and_gives_back() -> None:
    """Window of six time units for both.

    T        2    3    4    5    6    7    8
    S   2         |==========================...
        1              |=====================...
        3                   |================...
        5                             |======...
    R   5    |=============================|
        1                        |===========...
    S - R         2    1    3   -1         5
    """
    got = answer(Difference(S, R), MINUS_DATA)
    assert got.at(5) == [(1,), (2,), (3,)]
    assert (got.at(6), got.goes(6)) == ([(2,), (3,)], [(1,)])
    assert (got.at(7), got.comes(7)) == ([(2,), (3,)], [])
    assert (got.at(8), got.comes(8)) == ([(2,), (3,), (5,)], [(5,)])


def test_minus_preserves_duplicates() -> None:
    """Section 5.3: n duplicates less m are max(0, n - m)."""
    twice = {"s": "x | at\n7 | 0\n7 | 1\n7 | 2", "r": "x | at\n7 | 3"}
    got = answer(Difference(S, R), twice)
    assert (len(got.at(2)), len(got.at(3))) == (3, 2)
    # S loses one at 6, 7 and 8; R keeps its own until 9.
    assert [len(got.at(t)) for t in (6, 7, 8)] == [1, 0, 0]


# --- figure 7: join message ----------------------------------------------------------------------


def sales(name: str) -> Relation:
    """A stream of sales over five time units."""
    return Alias(
        Window(stream(name, item="INT", price="INT", store="INT"), Range(5), on="at"), name
    )


S_1, S_2 = sales("s1"), sales("s2")
SAME_STORE = Join(S_1, S_2, Comparison("=", S_1.ref("s1.store"), S_2.ref("s2.store")))
# Store 6 comes at T1 in S1 and joins three tuples of S2, at T2, T3 and T4. The prices are open, and
# so is what else the window holds: store 8 is there so that the maximum falls back on something.
JOIN_DATA = {
    "s1": "item | price | store | at\n1 | 1 | 6 | 1\n2 | 1 | 8 | 3",
    "s2": """
        item | price | store | at
        1    | 10    | 6     | 2
        2    | 30    | 6     | 3
        3    | 20    | 6     | 4
        4    | 15    | 8     | 5
    """,
}


def test_join_results_expire_with_the_tuple_that_expires_first() -> None:
    """All three results of 6 end at T6, when 6 leaves S1: one message is enough for them.

    T             1    2    3    4    5    6    7    8
    S1  6         |========================|
    S2  6 (10)         |===================|....
        6 (30)              |==============|.........
        6 (20)                   |=========|..............
    """
    got = answer(values(SAME_STORE, "s2.price"), JOIN_DATA)
    ends = {change.row[0]: (change.valid_from, change.valid_to) for change in got.changes}
    assert ends == {10: (2, 6), 30: (3, 6), 20: (4, 6), 15: (5, 8)}


def test_the_maximum_after_the_expiry_of_6() -> None:
    """MAX(S2.Price): 10 at T2, 30 from T3 on, and 15, of store 8, when 6 has expired at T6."""
    maximum = AggregateCall("MAX", (SAME_STORE.ref("s2.price"),))
    got = answer(Aggregate(SAME_STORE, (), (NamedCall("m", maximum),)), JOIN_DATA)
    assert [got.at(t)[0][0] for t in range(1, 9)] == [None, 10, 30, 30, 30, 15, 15, None]
