"""The queries of the five papers, on the reference, with answers worked out by hand.

The texts are those of ``corpus/papers.sql``; a query is known here by a part of its text.  Times
are in seconds.
"""

from collections import Counter

import pytest

from corpus import statements
from ebbtide.core.change import Change, facts
from ebbtide.core.time import INF, NEG_INF, SECOND
from ebbtide.core.values import Row
from ebbtide.reference import evaluate
from ebbtide.sql import parse, parse_query
from ebbtide.sql.binder import bind, bind_query
from ebbtide.sql.bound import BoundQuery, Declared
from ebbtide.sql.catalog import Catalog

MINUTE = 60
Answer = Counter[tuple[Row, float, float]]


def script() -> tuple[Catalog, dict[str, BoundQuery]]:
    catalog, queries = Catalog(), {}
    for text in statements("papers.sql"):
        match bind(parse(text)[0], catalog):
            case Declared(catalog=later):
                catalog = later
            case BoundQuery() as query:
                queries[text] = query
    return catalog, queries


CATALOG, QUERIES = script()


def asked(part: str, without: str = ";") -> BoundQuery:
    """The query whose text has a part, and another not."""
    (query,) = [query for text, query in QUERIES.items() if part in text and without not in text]
    return query


def run(query: BoundQuery, **inputs: list[Row]) -> Answer:
    """The answer over all time: rows with the seconds over which they hold."""
    known = {name: facts(map(in_microseconds, rows)) for name, rows in inputs.items()}
    sources = {entry.name: known.get(entry.name, ()) for entry in CATALOG}
    return Counter(
        {
            (in_seconds(change), seconds(change.valid_from), seconds(change.valid_to)): change.diff
            for change in evaluate(query.plan, sources, now=1000 * MINUTE * SECOND)
        }
    )


class At(float):
    """A time, in seconds."""


def in_microseconds(row: Row) -> Row:
    return tuple(int(value * SECOND) if isinstance(value, At) else value for value in row)


def in_seconds(change: Change) -> Row:
    """The row with its times in seconds; no other number is as large as a second here."""
    return tuple(
        value / SECOND if isinstance(value, int) and value >= SECOND else value
        for value in change.row
    )


def seconds(instant: int) -> float:
    return {NEG_INF: -ALWAYS, INF: ALWAYS}.get(instant, instant / SECOND)


ALWAYS = float("inf")


def held(*rows: tuple[Row, float, float]) -> Answer:
    return Counter(rows)


def true(*rows: Row) -> Answer:
    """An answer that is made of facts."""
    return Counter((row, -ALWAYS, ALWAYS) for row in rows)


# --- (1) StreamAPAS ----------------------------------------------------------------------------


def test_the_test_query_of_streamapas() -> None:
    """Section 4: a range window, a filter, an aggregate by group, a map."""
    answer = run(
        asked("AS doubled"),
        gen_1=[(1, 2.0, At(0)), (1, 3.0, At(10)), (2, -1.0, At(5)), (2, 4.0, At(20))],
    )
    assert answer == held(
        ((1, 4.0), 0, 10), ((1, 10.0), 10, 60), ((1, 6.0), 60, 70), ((2, 8.0), 20, 80)
    )


def test_minus() -> None:
    """Section 3.5: multiplicities subtract, and come back as the right side expires."""
    answer = run(asked("EXCEPT ALL"), s=[(1, At(0)), (1, At(2))], r=[(1, At(3))])
    assert answer == held(((1,), 0, 2), ((1,), 3, 10)) + Counter({((1,), 2, 3): 2})


# --- (2) Nile ----------------------------------------------------------------------------------

# Items sold at T0, T1, ...; 4 and 5 are favourites (figure 2).
SALES = [4, 5, 2, 5, 4, 2, 1, 5]


def test_favourite_items() -> None:
    """Figure 2: 4 up to T4, then 3 at T5, 2 at T6 and 3 at T7; nothing comes in late."""
    answer = run(
        asked("FI.ItemID", "S.Price"),
        sales=[(item, 9.0, 1, At(t)) for t, item in enumerate(SALES)],
        FavoriteItems=[(4, "four"), (5, "five")],
    )
    assert answer == held(
        ((0,), -ALWAYS, 0),
        ((1,), 0, 1),
        ((2,), 1, 3),
        ((3,), 3, 4),
        ((4,), 4, 5),
        ((3,), 5, 6),
        ((2,), 6, 7),
        ((3,), 7, 8),
        ((2,), 8, 9),
        ((1,), 9, 12),
        ((0,), 12, ALWAYS),
    )


def test_favourite_items_above_a_price() -> None:
    """Figure 4: the same, of those that cost more than 4."""
    answer = run(
        asked("S.Price > 4"),
        sales=[(item, float(t), 1, At(t)) for t, item in enumerate(SALES)],
        FavoriteItems=[(4, "four"), (5, "five")],
    )
    assert answer == held(((0,), -ALWAYS, 7), ((1,), 7, 12), ((0,), 12, ALWAYS))


def test_the_highest_price_in_a_join() -> None:
    """Figure 7: three partners of a tuple expire with it, at T6."""
    answer = run(
        asked("MAX(S2.Price)"),
        S1=[(1, 0.0, 6, At(1)), (1, 0.0, 7, At(4))],
        S2=[(2, 10.0, 6, At(2)), (3, 30.0, 6, At(3)), (4, 20.0, 6, At(4)), (5, 5.0, 7, At(5))],
    )
    assert answer == held(
        ((None,), -ALWAYS, 2),
        ((10.0,), 2, 3),
        ((30.0,), 3, 6),
        ((5.0,), 6, 9),
        ((None,), 9, ALWAYS),
    )


# --- (3) Borealis ------------------------------------------------------------------------------


def quotes(*prices: tuple[float, float]) -> list[Row]:
    return [(At(minute * MINUTE), "IBM", price) for minute, price in prices]


def test_average_price_every_five_minutes() -> None:
    """Q1 of section 4.2; and after the quote at 1 was corrected from 20 to 50."""
    query = asked("TUMBLE(quotes, time, 5 MINUTES)")
    before = run(query, quotes=quotes((0, 10.0), (1, 20.0), (4, 30.0), (6, 50.0)))
    assert before == true(("IBM", 5.0 * MINUTE, 20.0), ("IBM", 10.0 * MINUTE, 50.0))
    after = run(query, quotes=quotes((0, 10.0), (1, 50.0), (4, 30.0), (6, 50.0)))
    assert after == true(("IBM", 5.0 * MINUTE, 30.0), ("IBM", 10.0 * MINUTE, 50.0))


def test_average_price_of_five_minutes_every_minute() -> None:
    """Q2 of section 4.2."""
    answer = run(
        asked("AS average FROM quotes [RANGE 5 MINUTES SLIDE 1 MINUTE] GROUP"),
        quotes=quotes((1, 10.0), (1.5, 20.0), (4, 60.0)),
    )
    assert answer == held(
        (("IBM", 10.0), 1 * MINUTE, 2 * MINUTE),
        (("IBM", 15.0), 2 * MINUTE, 4 * MINUTE),
        (("IBM", 30.0), 4 * MINUTE, 6 * MINUTE),
        (("IBM", 40.0), 6 * MINUTE, 7 * MINUTE),
        (("IBM", 60.0), 7 * MINUTE, 9 * MINUTE),
    )


def test_buy_while_the_short_average_is_above_the_long_one() -> None:
    """Q3 of section 4.2: averages 10, 20, 5 over one minute and 10, 15, 11.7 over five."""
    answer = run(asked("'BUY'"), quotes=quotes((1, 10.0), (2, 20.0), (3, 5.0)))
    assert answer == held(
        (("SELL",), -ALWAYS, 2 * MINUTE),
        (("BUY",), 2 * MINUTE, 3 * MINUTE),
        (("SELL",), 3 * MINUTE, ALWAYS),
    )


def test_two_aggregates_over_tumbling_windows_of_two_rows() -> None:
    """Figure 4: o1 = 1 + 2 at the second quote, o2 = 3 + 4 at the fourth, and u1 = o1 + o2."""
    answer = run(asked("AS u FROM"), quotes=quotes((1, 1.0), (2, 2.0), (3, 3.0), (4, 4.0)))
    assert answer == held(((None,), -ALWAYS, 4 * MINUTE), ((10.0,), 4 * MINUTE, ALWAYS))


def test_an_archive() -> None:
    """Section 3.2.1: everything that has come so far, of one symbol."""
    rows = [*quotes((1, 1.0), (2, 2.0)), (At(90), "SUN", 9.0)]
    answer = run(asked("WHERE symbol = 'IBM' ORDER BY time"), quotes=rows)
    assert answer == held(
        ((1.0 * MINUTE, "IBM", 1.0), MINUTE, ALWAYS),
        ((2.0 * MINUTE, "IBM", 2.0), 2 * MINUTE, ALWAYS),
    )


# --- (4) PIPES ---------------------------------------------------------------------------------


def cars(*seen: tuple[int, float, float]) -> list[Row]:
    return [(lane, speed, 4.0, At(minute * MINUTE)) for lane, speed, minute in seen]


def test_where_the_traffic_is_slow() -> None:
    """Section 2.2: the average of 15 minutes is below 15 m/s."""
    answer = run(
        asked("sectionID FROM (SELECT"),
        HighwayStream1=cars((1, 10.0, 0), (2, 30.0, 5)),
        HighwayStream20=cars((1, 12.0, 1)),
    )
    assert answer == held(((1,), 0, 5 * MINUTE), ((20,), 1 * MINUTE, 16 * MINUTE))


def test_fixed_windows() -> None:
    answer = run(
        asked("[FIXED 1 HOUR]"),
        HighwayStream1=cars((1, 20.0, 10), (1, 30.0, 50), (1, 25.0, 70)),
    )
    assert answer == held(
        ((1, 20.0), 10 * MINUTE, 50 * MINUTE),
        ((1, 30.0), 50 * MINUTE, 60 * MINUTE),
        ((1, 25.0), 70 * MINUTE, 120 * MINUTE),
    )


def test_count_windows() -> None:
    lengths = [(1, 9.0, 4.0, At(0)), (1, 9.0, 8.0, At(1))]
    answer = run(asked("[ROWS 100]"), HighwayStream1=lengths)
    assert answer == held(((None,), -ALWAYS, 0), ((4.0,), 0, 1), ((6.0,), 1, ALWAYS))


def test_partitioned_windows() -> None:
    answer = run(
        asked("[PARTITION BY lane ROWS 1]"),
        HighwayStream1=cars((1, 20.0, 0), (2, 30.0, 1), (1, 25.0, 2)),
    )
    assert answer == held(
        ((1, 20.0), 0, 2 * MINUTE), ((2, 30.0), MINUTE, ALWAYS), ((1, 25.0), 2 * MINUTE, ALWAYS)
    )


def test_max_union_and_strict_difference() -> None:
    streams = {
        "HighwayStream1": [(1, 9.0, 4.0, At(0)), (1, 8.0, 4.0, At(0)), (2, 9.0, 4.0, At(0))],
        "HighwayStream20": [(1, 9.0, 4.0, At(30))],
    }
    union = run(asked("UNION MAX"), **streams)
    assert union == held(((2,), 0, 60), ((1,), 60, 90)) + Counter({((1,), 0, 60): 2})
    assert run(asked("EXCEPT SELECT lane"), **streams) == held(((1,), 0, 30), ((2,), 0, 60))


# --- (5) Temporal stream algebra ---------------------------------------------------------------


def test_a_stream_and_static_data() -> None:
    query = bind_query(parse_query("SELECT sid, time, temp, area FROM Temp"), CATALOG)
    answer = run(
        query, TRaw=[(1, At(5), 20.0), (2, At(6), 30.0), (3, At(7), 0.0)], TLoc=[(1, 7), (2, 8)]
    )
    assert answer == true((1, 5.0, 20.0, 7), (2, 6.0, 30.0, 8))


def test_tumbling_windows_of_twenty_seconds() -> None:
    rows = [(1, At(5), 2.0), (1, At(15), 4.0), (1, At(20), 6.0), (1, At(25), 8.0)]
    assert run(asked("CEIL(time TO 20 SECONDS)"), AFRaw=rows) == true(
        (1, 20.0, 4.0), (1, 40.0, 8.0)
    )


def test_frames_of_at_least_a_minute() -> None:
    answer = run(
        asked("AS maxConz"),
        FireStart=[(1, At(10)), (2, At(100))],
        FireEnd=[(1, At(90)), (2, At(130))],
        Smoke=[(At(20), 7, 0.5), (At(60), 7, 0.9), (At(95), 7, 9.0), (At(110), 7, 3.0)],
    )
    assert answer == true((10.0, 90.0, 7, 0.9))


def test_windows_aligned_to_an_event() -> None:
    smoke = [(At(89), 7, 8.0), (At(90), 7, 0.25), (At(100), 7, 0.75), (At(101), 7, 8.0)]
    answer = run(asked("AS avgConz"), FireStart=[(1, At(100))], Smoke=smoke)
    assert answer == true((7, 100.0, 0.5))


def test_a_sensor_that_says_nothing() -> None:
    """Section 2, rule 1: 30 seconds without a message after the one at 20, and after the last."""
    rows = [(1, At(0), 9.0), (1, At(20), 9.0), (1, At(80), 9.0), (2, At(0), 9.0), (2, At(30), 9.0)]
    answer = run(asked("n.sid = m.sid"), TRaw=rows)
    assert answer == true((1, 30.0), (1, 90.0), (2, 40.0))


def test_an_alarm_unless_the_warden_reports_in_time() -> None:
    """Section 2, rule 2: on two time lines."""
    answer = run(
        asked("FROM detections"),
        detections=[(1, At(10)), (2, At(10)), (3, At(10))],
        reports=[(1, At(70)), (2, At(131)), (3, At(9)), (1, At(200))],
    )
    assert answer == true((2, 10.0), (3, 10.0))


# --- all of them -------------------------------------------------------------------------------


@pytest.mark.parametrize("text", QUERIES)
def test_every_query_has_an_answer_without_input(text: str) -> None:
    assert all(row[1:] == (-ALWAYS, ALWAYS) for row in run(QUERIES[text]))


def test_all_are_here() -> None:
    assert len(QUERIES) >= 18
