"""Windows: their rules (paper 4, 5.3.1), and their definitions, checked at every instant.

A definition is brute force: for every instant of the line it looks at all facts and says which of
them the window shows, without intervals. (9) and (10) are paper 4's equations, which take a
multiset that only grows.
"""

from collections import Counter

from hypothesis import strategies as st

from ebbtide.algebra import (
    Always,
    Comparison,
    Cumulate,
    Filter,
    Fixed,
    Hop,
    Literal,
    Now,
    Range,
    Relation,
    Rows,
    Session,
    Sessions,
    Tumble,
    Unbounded,
    UnionAll,
    Window,
    WindowSpec,
)
from ebbtide.core.change import Change, snapshot
from ebbtide.core.types import BIGINT
from ebbtide.core.values import Row, row_key
from ebbtide.reference import evaluate
from laws import Law
from laws.worlds import FACT, NOW, R, S, equation, mapped, where, worlds
from strategies import facts
from strategies.temporal import window_specs

INSTANTS = range(-2, NOW + 20)
AT = 2
TIMED: dict[str, WindowSpec] = {
    "[RANGE 7]": Range(7),
    "[RANGE 7 SLIDE 3]": Range(7, 3),
    "[RANGE 3 SLIDE 5]": Range(3, 5),
    "[FIXED 5]": Fixed(5),
    "[NOW]": Now(),
    "[UNBOUNDED]": Unbounded(),
    "[ALWAYS]": Always(),
}

STREAM, STREAMS = worlds("", "s"), worlds("", "sr")


def window(below: Relation, spec: WindowSpec) -> Relation:
    """A window on the streams' time."""
    return Window(below, spec, on="at")


def only(below: Relation, key: int) -> Relation:
    """One group of the grouping by the first column."""
    return Filter(below, Comparison("=", below.ref("x"), Literal(key, BIGINT)))


def rules(name: str, spec: WindowSpec) -> list[Law]:
    """The rules of windows on time: they commute with everything that has no state."""
    return [
        equation(
            f"filter through {name}",
            lambda w: (where(window(S, spec), w.p), window(where(S, w.p), spec)),
            STREAM,
        ),
        equation(
            f"map through {name}",
            lambda w: (
                mapped(window(S, spec), w.f, ("at",)),
                window(mapped(S, w.f, ("at",)), spec),
            ),
            STREAM,
        ),
        equation(
            f"group through {name}",
            lambda w: (only(window(S, spec), 1), window(only(S, 1), spec)),
            STREAM,
        ),
        equation(
            f"union through {name}",
            lambda w: (
                window(UnionAll(S, R), spec),
                UnionAll(window(S, spec), window(R, spec)),
            ),
            STREAMS,
        ),
    ]


SAME = [
    equation("[NOW] is [RANGE 1]", lambda w: (window(S, Now()), window(S, Range(1))), STREAM),
    equation(
        "a slide of one tick is none",
        lambda w: (window(S, Range(7, 1)), window(S, Range(7))),
        STREAM,
    ),
    equation(
        "a slide of one row is none",
        lambda w: (window(S, Rows(3, 1)), window(S, Rows(3))),
        STREAM,
    ),
    equation(
        "a group of a partitioned session window is the session window of the group",
        lambda w: (
            only(window(S, Sessions(3, ("x",))), 1),
            window(only(S, 1), Sessions(3)),
        ),
        STREAM,
    ),
    equation(
        "a group of a partitioned row window is the row window of the group",
        lambda w: (
            only(window(S, Rows(2, None, ("x",))), 1),
            window(only(S, 1), Rows(2)),
        ),
        STREAM,
    ),
    equation(
        "HOP by its size is TUMBLE",
        lambda w: (Hop(S, "at", 5, 5), Tumble(S, "at", 5)),
        STREAM,
    ),
    equation(
        "CUMULATE in one step is TUMBLE",
        lambda w: (Cumulate(S, "at", 5, 5), Tumble(S, "at", 5)),
        STREAM,
    ),
]


# --- definitions -------------------------------------------------------------------------------


def in_order(rows: list[Row]) -> list[Row]:
    """The rows by (time, all columns), NULLs first."""
    return sorted(rows, key=lambda row: row_key((row[AT], *row)))


def last_rows(rows: list[Row], spec: Rows, t: int) -> list[Row]:
    """What a row window shows of one partition: the last rows at the last full slide."""
    seen = [row for row in in_order(rows) if row[AT] <= t]
    slide = spec.slide or 1
    upto = len(seen) // slide * slide
    return seen[max(0, upto - spec.count) : upto]


def end_of(row: Row, rows: list[Row], gap: int) -> int:
    """The end of a row's session: as long as another row is reached, its gap counts, too."""
    end = row[AT] + gap
    while any(row[AT] <= other[AT] <= end < other[AT] + gap for other in rows):
        end = max(other[AT] + gap for other in rows if row[AT] <= other[AT] <= end)
    return end


def shown(spec: WindowSpec, rows: list[Row], t: int) -> list[Row]:
    """The facts that a window shows at an instant."""
    match spec:
        case Range(size_us=size, slide_us=slide):
            looked = t // slide * slide if slide else t
            return [row for row in rows if looked - size < row[AT] <= looked]
        case Fixed(size_us=size):
            return [row for row in rows if t // size * size <= row[AT] <= t]
        case Now():
            return [row for row in rows if row[AT] == t]
        case Unbounded():
            return [row for row in rows if row[AT] <= t]
        case Always():
            return rows
        case Sessions(gap_us=gap, partition_by=names):
            at = [FACT.position(name) for name in names]
            alike = {row: [r for r in rows if all(r[i] == row[i] for i in at)] for row in rows}
            return [row for row in rows if row[AT] <= t < end_of(row, alike[row], gap)]
        case Rows(partition_by=names):
            at = [FACT.position(name) for name in names]
            keys = {tuple(row[i] for i in at) for row in rows}
            groups = ([r for r in rows if tuple(r[i] for i in at) == key] for key in keys)
            return [row for group in groups for row in last_rows(group, spec, t)]


def check_definition(case: tuple[WindowSpec, tuple[Change, ...]]) -> None:
    spec, data = case
    output = evaluate(window(S, spec), {"s": data})
    rows = [change.row for change in data if change.row[AT] is not None]
    for t in INSTANTS:
        assert snapshot(output, t) == Counter(shown(spec, rows, t)), f"{spec} at {t}"


def check_sliding(case: tuple[int, tuple[Change, ...]]) -> None:
    """(9): the multiplicity at t, less the multiplicity at t - w, of what only grows."""
    size, data = case
    grows = evaluate(window(S, Unbounded()), {"s": data})
    slides = evaluate(window(S, Range(size)), {"s": data})
    for t in INSTANTS:
        assert snapshot(slides, t) == snapshot(grows, t) - snapshot(grows, t - size), t


def check_fixed(case: tuple[int, tuple[Change, ...]]) -> None:
    """(10): the multiplicity at t, less that at the last instant of the section before."""
    size, data = case
    grows = evaluate(window(S, Unbounded()), {"s": data})
    sections = evaluate(window(S, Fixed(size)), {"s": data})
    for t in INSTANTS:
        before = t // size * size - 1
        assert snapshot(sections, t) == snapshot(grows, t) - snapshot(grows, before), t


def bounds(node: type[Relation], sizes: tuple[int, int], rows: list[Row]) -> Counter[Row]:
    """Every fact with each window that holds its time, by trying all windows."""
    step, size = sizes
    found: Counter[Row] = Counter()
    for row in rows:
        for start in range(-60, 60):
            for end in range(start + 1, start + size + 1):
                if not start <= row[AT] < end:
                    continue
                fits = {
                    Tumble: start % size == 0 and end == start + size,
                    Hop: start % step == 0 and end == start + size,
                    Cumulate: start % size == 0 and (end - start) % step == 0,
                }
                found[(*row, start, end)] += fits[node]
    return +found


def check_bounds(case: tuple[int, int, tuple[Change, ...]]) -> None:
    step, times, data = case
    size = step * times
    rows = [change.row for change in data if change.row[AT] is not None]
    for plan in (
        Tumble(S, "at", size),
        Hop(S, "at", step, size),
        Cumulate(S, "at", step, size),
        Hop(S, "at", size, step),
    ):
        sizes = (size, step) if plan == Hop(S, "at", size, step) else (step, size)
        expected = bounds(type(plan), sizes, rows)
        assert snapshot(evaluate(plan, {"s": data}), 0) == expected, plan


def check_sessions(case: tuple[int, bool, tuple[Change, ...]]) -> None:
    """A session is the closure of touching: grown from a fact until no other touches it."""
    gap, partitioned, data = case
    plan = Session(S, "at", gap, ("x",) if partitioned else ())
    rows = [change.row for change in data if change.row[AT] is not None]
    expected: Counter[Row] = Counter()
    for row in rows:
        peers = [r for r in rows if not partitioned or r[0] == row[0]]
        start, end = row[AT], row[AT] + gap
        while near := [r for r in peers if r[AT] <= end and r[AT] + gap >= start]:
            grown = min(r[AT] for r in near), max(r[AT] for r in near) + gap
            if grown == (start, end):
                break
            start, end = grown
        expected[(*row, start, end)] += 1
    assert snapshot(evaluate(plan, {"s": data}), 0) == expected


DATA = facts(FACT)
SIZES = st.integers(1, 12)

DEFINITIONS = [
    Law(
        "every window shows at every instant what its definition says",
        st.tuples(window_specs(("x",)), DATA),
        check_definition,
    ),
    Law(
        "a row window shows the last rows of each partition at every instant",
        st.tuples(window_specs(("x",)).filter(lambda spec: isinstance(spec, Rows)), DATA),
        check_definition,
    ),
    Law(
        "(9) a sliding window subtracts what it has left behind",
        st.tuples(SIZES, DATA),
        check_sliding,
        0.5,
    ),
    Law(
        "(10) a fixed window subtracts what was there before its section",
        st.tuples(SIZES, DATA),
        check_fixed,
        0.5,
    ),
    Law(
        "TUMBLE, HOP and CUMULATE give all windows that hold a fact",
        st.tuples(st.integers(1, 4), st.integers(1, 3), facts(FACT, 4)),
        check_bounds,
        0.25,
    ),
    Law(
        "a session is what touches",
        st.tuples(st.integers(1, 6), st.booleans(), DATA),
        check_sessions,
    ),
]

LAWS = [*(law for name, spec in TIMED.items() for law in rules(name, spec)), *SAME, *DEFINITIONS]
