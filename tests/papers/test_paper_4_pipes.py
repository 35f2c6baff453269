"""Paper 4, "A Temporal Foundation for Continuous Queries over Data Streams" (PIPES).

The highway of sections 2 to 4, the window operator (2.6, 4.3.2.4), the functions on intervals of
figure 3 and the difference of figure 4. The drawings are not in the text: figure 4 is rebuilt from
the description of the loop, three qualifying elements taken one by one from the incoming element.
"""

from decimal import ROUND_DOWN, Decimal

import pytest

from ebbtide.algebra import (
    Aggregate,
    AggregateCall,
    Comparison,
    Difference,
    Filter,
    Fixed,
    Literal,
    Map,
    Named,
    NamedCall,
    Now,
    Range,
    Relation,
    Rows,
    Stream,
    Unbounded,
    UnionAll,
    Window,
    WindowSpec,
)
from ebbtide.core.declaration import StreamDeclaration
from ebbtide.core.interval import Interval
from ebbtide.core.schema import schema
from ebbtide.core.time import INF, MINUTE, NEG_INF, SECOND, instant
from ebbtide.core.types import INT, DecimalType
from ebbtide.testing import answer, relation

# Speeds are decimal, so that the averages are those of the printed digits.
READING = schema(lane="SMALLINT", speed="DECIMAL(5, 2)", length="DOUBLE", at="TIMESTAMP")


def station(number: int) -> Stream:
    """The detectors of one measuring station."""
    return Stream(StreamDeclaration(f"station{number}", READING))


READINGS = """
    lane | speed | length | at
    5    | 18.28 | 5.27   | 1993-11-03 05:00:08
    2    | 21.33 | 4.62   | 1993-11-03 05:01:32
    4    | 19.69 | 9.97   | 1993-11-03 05:02:16
"""


def clock(text: str) -> int:
    """A time of that morning."""
    return instant(f"1993-11-03 {text}")


def last_quarter(stream: Stream) -> Relation:
    """[RANGE 15 MINUTES]."""
    return Window(stream, Range(15 * MINUTE), on="at")


def average(below: Relation) -> Relation:
    """SELECT AVG(speed)."""
    return Aggregate(
        below, (), (NamedCall("avgSpeed", AggregateCall("AVG", (below.ref("speed"),))),)
    )


def test_raw_elements_are_valid_for_ever() -> None:
    """Section 2.5: each element is mapped to `[ts, inf)`."""
    got = answer(Window(station(1), Unbounded(), on="at"), {"station1": READINGS})
    assert [(c.valid_from, c.valid_to) for c in got.changes] == [
        (clock("05:00:08"), INF),
        (clock("05:01:32"), INF),
        (clock("05:02:16"), INF),
    ]


def test_a_sliding_window_of_15_minutes() -> None:
    """Section 2.6, the example."""
    answer(last_quarter(station(1)), {"station1": READINGS}).shows("""
        time                                       | lane | speed | length | at
        [1993-11-03 05:00:08, 1993-11-03 05:15:08) | 5    | 18.28 | 5.27   | 1993-11-03 05:00:08
        [1993-11-03 05:01:32, 1993-11-03 05:16:32) | 2    | 21.33 | 4.62   | 1993-11-03 05:01:32
        [1993-11-03 05:02:16, 1993-11-03 05:17:16) | 4    | 19.69 | 9.97   | 1993-11-03 05:02:16
    """)


def test_the_average_speed() -> None:
    """Section 4.3.2.8, the listing; the paper cuts after three digits.

    18.28  |==========================|               05:00:08 to 05:15:08
    21.33      |==========================|           05:01:32 to 05:16:32
    19.69          |==========================|       05:02:16 to 05:17:16
    AVG   N|18.280|19.805|   19.766   |20.510|19.690|NULL
    """
    got = answer(average(last_quarter(station(1))), {"station1": READINGS})
    cut = [
        (change.row[0].quantize(Decimal("0.001"), ROUND_DOWN), change.interval)
        for change in got.changes
        if change.row[0] is not None
    ]
    assert cut == [
        (Decimal("18.280"), Interval(clock("05:00:08"), clock("05:01:32"))),
        (Decimal("19.805"), Interval(clock("05:01:32"), clock("05:02:16"))),
        (Decimal("19.766"), Interval(clock("05:02:16"), clock("05:15:08"))),
        (Decimal("20.510"), Interval(clock("05:15:08"), clock("05:16:32"))),
        (Decimal("19.690"), Interval(clock("05:16:32"), clock("05:17:16"))),
    ]


def test_sql_decides_where_there_is_no_input() -> None:
    """The paper's average has no element there; SQL's has one row, NULL."""
    got = answer(average(last_quarter(station(1))), {"station1": READINGS})
    assert (got.at(NEG_INF), got.at(clock("05:00:08") - 1)) == ([(None,)], [(None,)])
    assert (got.at(clock("05:17:16") - 1), got.at(clock("05:17:16"))) == (
        [(Decimal("19.690000"),)],
        [(None,)],
    )


def section(number: int) -> Relation:
    """SELECT AVG(speed) AS avgSpeed, n AS sectionID."""
    mean = average(last_quarter(station(number)))
    columns = (Named("avgSpeed", mean.ref("avgSpeed")), Named("sectionID", Literal(number, INT)))
    return Map(mean, columns)


def slow(below: Relation) -> Relation:
    """WHERE avgSpeed < 15."""
    return Filter(
        below,
        Comparison("<", below.ref("avgSpeed"), Literal(Decimal("15.000000"), DecimalType(9, 6))),
    )


JAM = """
    lane | speed | length | at
    1    | 20.0  | 4.0    | 1993-11-03 05:00:00
    1    | 8.0   | 4.0    | 1993-11-03 05:04:00
"""


def test_congested_sections_and_the_optimized_plan() -> None:
    """Figure 2: the plan of section 2.2, and the same with the filter below the union.

    station 2   20.0  |===============|                 05:00 to 05:15
                 8.0      |===============|             05:04 to 05:19
    AVG               |20.0|  14.0    |8.0|
    congested              |==============|             05:04 to 05:19
    """
    inputs = {"station1": READINGS, "station2": JAM}
    plan = slow(UnionAll(section(1), section(2)))
    pushed = UnionAll(slow(section(1)), slow(section(2)))
    got, optimized = (
        answer(Map(p, (Named("sectionID", p.ref("sectionID")),)), inputs) for p in (plan, pushed)
    )
    assert got == optimized
    assert (got.at(clock("05:04:00") - 1), got.at(clock("05:04:00"))) == ([], [(2,)])
    assert (got.at(clock("05:19:00") - 1), got.at(clock("05:19:00"))) == ([(2,)], [])


@pytest.mark.parametrize(
    ("spec", "shown"),
    [
        # facts at 12 and 15 seconds; grids start at the epoch
        (Range(10 * SECOND), [(12, 22), (15, 25)]),
        (Range(10 * SECOND, 4 * SECOND), [(12, 24), (16, 28)]),
        (Range(SECOND, 4 * SECOND), [(12, 16)]),
        (Fixed(10 * SECOND), [(12, 20), (15, 20)]),
        (Fixed(5 * SECOND), [(12, 15), (15, 20)]),
        (Rows(1), [(12, 15), (15, None)]),
        (Rows(2), [(12, None), (15, None)]),
        (Rows(2, 2), [(15, None), (15, None)]),
        (Unbounded(), [(12, None), (15, None)]),
    ],
)
def test_the_table_of_windows(spec: WindowSpec, shown: list[tuple[int, int | None]]) -> None:
    """Section 2.6 and figure 1 for sliding and fixed windows; the others by `algebra.window`.

    seconds       12  15 16    20   22 24 25     28
    RANGE 10       |===================|             of 12
    RANGE 10 S 4   |======================|          of 12: seen at 12, 16, 20
                         |=====================|     of 15: seen at 16, 20, 24
    FIXED 10       |============|
                       |========|
    """
    stream = Stream(StreamDeclaration("s", schema(at="TIMESTAMP")))
    facts = "at\n1970-01-01 00:00:12\n1970-01-01 00:00:15"
    got = answer(Window(stream, spec, on="at"), {"s": facts})
    assert sorted((c.valid_from, c.valid_to) for c in got.changes) == [
        (start * SECOND, INF if end is None else end * SECOND) for start, end in shown
    ]


def test_the_window_of_now() -> None:
    stream = Stream(StreamDeclaration("s", schema(at="TIMESTAMP")))
    got = answer(Window(stream, Now(), on="at"), {"s": "at\n12"})
    assert (got.at(11), got.at(12), got.at(13)) == ([], [(12,)], [])


def test_fixed_windows_end_where_the_next_section_starts() -> None:
    """Algorithm 4: the closest multiple of w that is larger than ts, also when ts is one."""
    stream = Stream(StreamDeclaration("s", schema(at="TIMESTAMP")))
    got = answer(Window(stream, Fixed(5), on="at"), {"s": "at\n4\n5"})
    assert (got.at(4), got.at(5), got.at(9), got.at(10)) == ([(4,)], [(5,)], [(5,)], [])


@pytest.mark.parametrize(
    ("other", "common", "rest"),
    [
        # figure 3, with the interval [10, 20)
        ((5, 15), (10, 15), [(15, 20)]),
        ((15, 25), (15, 20), [(10, 15)]),
        ((12, 18), (12, 18), [(10, 12), (18, 20)]),
        ((5, 25), (10, 20), []),
        ((10, 20), (10, 20), []),
        # disjoint: the paper's inverse is empty, here nothing was taken away
        ((0, 10), None, [(10, 20)]),
        ((20, 30), None, [(10, 20)]),
    ],
)
def test_intersect_and_its_inverse(
    other: tuple[int, int], common: tuple[int, int] | None, rest: list[tuple[int, int]]
) -> None:
    mine = Interval(10, 20)
    assert mine.intersect(Interval(*other)) == (None if common is None else Interval(*common))
    assert mine.without(Interval(*other)) == tuple(Interval(*part) for part in rest)
    assert mine.overlaps(Interval(*other)) is (common is not None)


L, R = relation("l", e="STRING"), relation("r", e="STRING")


def test_the_difference_on_intervals() -> None:
    """Figure 4, rebuilt: three qualifying elements are subtracted one after the other.

    s          |=======================================|      [0, 20)
    1st           |=====|                                     [2, 5)
    2nd                     |========|                        [8, 12)
    3rd                                    |=====================|   [15, 25)
    s - them   |==|     |===|        |=====|                  [0, 2) [5, 8) [12, 15)
    them - s                                           |=========|   [20, 25)
    """
    s = Interval(0, 20)
    step1 = s.without(Interval(2, 5))
    assert step1 == (Interval(0, 2), Interval(5, 20))
    step2 = step1[1].without(Interval(8, 12))
    assert step2 == (Interval(5, 8), Interval(12, 20))
    step3 = step2[1].without(Interval(15, 25))
    assert step3 == (Interval(12, 15),)
    assert Interval(15, 25).without(step2[1]) == (Interval(20, 25),)

    inputs = {
        "l": "time | e\n[0, 20) | a",
        "r": "time | e\n[2, 5) | a\n[8, 12) | a\n[15, 25) | a",
    }
    answer(Difference(L, R), inputs).shows("time | e\n[0, 2) | a\n[5, 8) | a\n[12, 15) | a")
    answer(Difference(R, L), inputs).shows("time | e\n[20, 25) | a")


def test_each_overlap_is_removed_exactly_once() -> None:
    """Two elements on the right cover [5, 8), and one on the left: one of the two is left over.

    left       |===========================|   [0, 20)
    right         |=========|                  [2, 8)
                       |=========|             [5, 12)
    left - right  |==|           |=========|   [0, 2) [12, 20)
    right - left       |====|                  [5, 8)
    """
    inputs = {"l": "time | e\n[0, 20) | a", "r": "time | e\n[2, 8) | a\n[5, 12) | a"}
    answer(Difference(L, R), inputs).shows("time | e\n[0, 2) | a\n[12, 20) | a")
    answer(Difference(R, L), inputs).shows("time | e\n[5, 8) | a")
