"""Paper 3, revision processing by replay (Borealis): updates against revisions, and row windows.

The drawings are not in the text. Figure 1 is told in numbers. Figure 5 is rebuilt from this: three
tumbling windows of two rows; a late t2 leaves o1 alone, and replaces o2 and o3 by o4 and o5. So o1
holds two rows before t2, and the sequence is t0, t1, t3, t4, t5, t6. (The prose once has t2 deleted
where the caption, and the sense, have t3.)
"""

from ebbtide.algebra import (
    Aggregate,
    AggregateCall,
    Named,
    NamedCall,
    Range,
    Relation,
    Rows,
    Rstream,
    Stream,
    Tumble,
    Window,
)
from ebbtide.core.change import Change, fact, minus
from ebbtide.core.declaration import StreamDeclaration
from ebbtide.core.schema import schema
from ebbtide.core.time import MINUTE, instant
from ebbtide.testing import answer, relation

QUOTES = Stream(
    StreamDeclaration("quotes", schema(symbol="STRING", price="DOUBLE", at="TIMESTAMP"))
)


def clock(text: str) -> int:
    """A time of that afternoon."""
    return instant(f"2006-01-02 {text}")


def hourly_average(below: Relation, on: str) -> Relation:
    """The average price of each symbol in each hour."""
    hours = Tumble(below, on, 60 * MINUTE)
    keys = tuple(Named(name, hours.ref(name)) for name in ("symbol", "window_start"))
    return Aggregate(hours, keys, (NamedCall("mean", AggregateCall("AVG", (hours.ref("price"),))),))


QUOTE = fact(("IBM", 75.0, clock("02:00:00")))


def test_an_update_leaves_the_first_quote_as_it_was() -> None:
    """Figure 1a: 75 from 2:00 on, 72 from 2:30 on; the average of the two quotes is 73.50."""
    update = fact(("IBM", 72.0, clock("02:30:00")))
    got = answer(hourly_average(QUOTES, "at"), {"quotes": [QUOTE, update]})
    assert got.at(0) == [("IBM", clock("02:00:00"), 73.50)]


def test_a_revision_makes_the_first_quote_never_have_been() -> None:
    """Figure 1b: a replacement of the 2:00 quote, at 2:30, so the average is 72.00."""
    replaced = [-QUOTE, fact(("IBM", 72.0, clock("02:00:00")))]
    got = answer(hourly_average(QUOTES, "at"), {"quotes": [QUOTE, *replaced]})
    assert got.at(0) == [("IBM", clock("02:00:00"), 72.00)]


PRICES = relation("prices", symbol="STRING", price="DOUBLE")


def price(value: float, start: str, end: str = "03:00:00", diff: int = 1) -> Change:
    """A price of IBM over part of the hour."""
    return Change(("IBM", value), clock(start), clock(end), diff)


def test_updates_and_revisions_of_a_price_over_time() -> None:
    """The same as a price that holds over an interval.

                 2:00          2:30          3:00
    update        |=== 75 ======|=== 72 ======|      average over the hour 73.50
    revision      |=========== 72 ============|      average over the hour 72.00
    """
    quote = price(75.0, "02:00:00")
    update = [price(75.0, "02:30:00", diff=-1), price(72.0, "02:30:00")]
    revision = [-quote, price(72.0, "02:00:00")]
    updated = answer(PRICES, {"prices": [quote, *update]})
    revised = answer(PRICES, {"prices": [quote, *revision]})
    before, after = clock("02:30:00") - 1, clock("02:30:00")
    assert (updated.at(before), updated.at(after)) == ([("IBM", 75.0)], [("IBM", 72.0)])
    assert (revised.at(before), revised.at(after)) == ([("IBM", 72.0)], [("IBM", 72.0)])

    every_half_hour = hourly_average(Rstream(PRICES, 30 * MINUTE), "instant")
    for history, mean in ((update, 73.50), (revision, 72.00)):
        got = answer(every_half_hour, {"prices": [quote, *history]}, now=clock("02:59:00"))
        assert got.at(0) == [("IBM", clock("02:00:00"), mean)]


def test_a_revision_touches_only_the_windows_that_saw_the_tuple() -> None:
    """Section 3: a five-minute average every minute; a revision of t20 alters t20 to t24 only."""
    minutes = [fact(("IBM", float(j), j)) for j in range(1, 31)]
    window = Window(QUOTES, Range(5), on="at")
    mean = Aggregate(window, (), (NamedCall("mean", AggregateCall("AVG", (window.ref("price"),))),))
    revision = [-minutes[19], fact(("IBM", 50.0, 20))]
    old = answer(mean, {"quotes": minutes})
    new = answer(mean, {"quotes": [*minutes, *revision]})
    touched = minus(new.changes, old.changes)
    assert (min(c.valid_from for c in touched), max(c.valid_to for c in touched)) == (20, 25)
    assert (old.at(20), new.at(20)) == ([(18.0,)], [(24.0,)])


# --- figure 5: row windows of size 2 that tumble -------------------------------------------------

ORIGINAL = [fact(("t", float(j), j)) for j in (0, 1, 3, 4, 5, 6)]
PAIRS = Window(QUOTES, Rows(2, 2), on="at")


def windows(*revisions: Change) -> list[list[int]]:
    """Which rows `[ROWS 2 SLIDE 2]` shows from t0 to t6."""
    got = answer(PAIRS, {"quotes": [*ORIGINAL, *revisions]})
    return [[row[2] for row in got.at(t)] for t in range(7)]


def test_tumbling_row_windows() -> None:
    """Figure 5a: o1 = {t0, t1}, o2 = {t3, t4}, o3 = {t5, t6}, each from its second row on.

    t        0    1    2    3    4    5    6
    o1            |==============|
    o2                           |=========|
    o3                                     |====...
    """
    assert windows() == [[], [0, 1], [0, 1], [0, 1], [3, 4], [3, 4], [5, 6]]


def test_a_late_insertion_realigns_the_windows_after_it() -> None:
    """Figure 5b: o1 stays, o2 and o3 give way to o4 = {t2, t3} and o5 = {t4, t5}.

    t        0    1    2    3    4    5    6
    o1            |=========|
    o4                      |=========|
    o5                                |=========...   t6 waits for its second row
    """
    late = fact(("t", 2.0, 2))
    assert windows(late) == [[], [0, 1], [0, 1], [2, 3], [2, 3], [4, 5], [4, 5]]


def test_a_deletion_realigns_the_windows_after_it() -> None:
    """Figure 5c: without t3 the windows are {t0, t1} and {t4, t5}; t6 waits."""
    deletion = -ORIGINAL[2]
    assert windows(deletion) == [[], [0, 1], [0, 1], [0, 1], [0, 1], [4, 5], [4, 5]]


def test_the_revised_results_of_an_aggregate_over_them() -> None:
    """The sums of the windows; a late t2 takes the sums of o2 and o3 back and gives others."""
    total = Aggregate(PAIRS, (), (NamedCall("sum", AggregateCall("SUM", (PAIRS.ref("price"),))),))
    old = answer(total, {"quotes": ORIGINAL})
    new = answer(total, {"quotes": [*ORIGINAL, fact(("t", 2.0, 2))]})
    assert [old.at(t)[0][0] for t in (1, 3, 4, 6)] == [1.0, 1.0, 7.0, 11.0]
    assert [new.at(t)[0][0] for t in (1, 3, 4, 6)] == [1.0, 5.0, 5.0, 9.0]
