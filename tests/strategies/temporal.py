"""Builders of random operators that deal with time: windows, and the way back to facts."""

from __future__ import annotations

from hypothesis import strategies as st

from ebbtide.algebra.kind import Kind
from ebbtide.algebra.relation import Relation
from ebbtide.algebra.window import (
    INSTANT,
    Always,
    Cumulate,
    Dstream,
    Fixed,
    Hop,
    Istream,
    Now,
    Range,
    Rows,
    Rstream,
    Session,
    Sessions,
    Tumble,
    Unbounded,
    Window,
    WindowSpec,
)
from strategies.growth import Builder, Growth, plain, timed

BOUNDS = ("window_start", "window_end")


def window_specs(names: tuple[str, ...] = ()) -> st.SearchStrategy[WindowSpec]:
    """Windows of every form, partitioned by some of the names."""
    size = st.integers(1, 12)
    partition = st.lists(st.sampled_from(names), max_size=1) if names else st.just([])
    slide = st.none() | st.integers(1, 4)
    return st.one_of(
        st.builds(Range, size, st.none() | st.integers(1, 12)),
        st.builds(Fixed, size),
        st.builds(Rows, st.integers(1, 4), slide, partition.map(tuple)),
        st.builds(Sessions, st.integers(1, 6), partition.map(tuple)),
        st.just(Now()),
        st.just(Unbounded()),
        st.just(Always()),
    )


def window(growth: Growth) -> Relation:
    below, on = timed(growth, growth.input(Kind.FACT))
    names = below.schema.names
    key = growth.draw(st.lists(st.sampled_from(names), max_size=1))
    return Window(below, growth.draw(window_specs(names)), on, tuple(key))


def tumble(growth: Growth) -> Relation:
    below, on = timed(growth, growth.input(), *BOUNDS)
    size = growth.number(1, 12)
    return Tumble(below, on, size, growth.number(0, size - 1))


def hop(growth: Growth) -> Relation:
    below, on = timed(growth, growth.input(), *BOUNDS)
    # A slide beyond the size leaves gaps; one far below it multiplies rows.
    slide = growth.number(3, 12)
    return Hop(below, on, slide, growth.number(1, 9), growth.number(0, slide - 1))


def session(growth: Growth) -> Relation:
    below, on = timed(growth, growth.input(), *BOUNDS)
    partition = growth.draw(st.lists(st.sampled_from(below.schema.names), max_size=1))
    return Session(below, on, growth.number(1, 6), tuple(partition))


def cumulate(growth: Growth) -> Relation:
    below, on = timed(growth, growth.input(), *BOUNDS)
    step = growth.number(1, 6)
    size = step * growth.number(1, 3)
    return Cumulate(below, on, step, size, growth.number(0, size - 1))


def istream(growth: Growth) -> Relation:
    return Istream(plain(growth.input(Kind.SNAPSHOT), INSTANT))


def dstream(growth: Growth) -> Relation:
    return Dstream(plain(growth.input(Kind.SNAPSHOT), INSTANT))


def rstream(growth: Growth) -> Relation:
    below = plain(growth.input(Kind.SNAPSHOT), INSTANT)
    return Rstream(below, growth.number(5, 20))


TO_SNAPSHOTS: dict[type[Relation], Builder] = {Window: window}

TO_FACTS: dict[type[Relation], Builder] = {
    Tumble: tumble,
    Session: session,
    Istream: istream,
    Dstream: dstream,
    Rstream: rstream,
}

MULTIPLYING_FACTS: dict[type[Relation], Builder] = {Hop: hop, Cumulate: cumulate}
