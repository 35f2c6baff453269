"""Temporal facts of operators that deal with time: windows, and the way back to facts.

Law: a window's change is valid over the interval that its time and the window fix; one that counts
rows changes with rows that come before its end.  ISTREAM, DSTREAM and RSTREAM say something about
an instant once ``now`` has come to it, so they wait for an input besides: ``now`` is at or beyond
the progress of all of them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from ebbtide.algebra.kind import Kind
from ebbtide.algebra.relation import Stream
from ebbtide.algebra.window import (
    Always,
    Cumulate,
    Dstream,
    Fixed,
    Hop,
    Istream,
    LinearWindow,
    Now,
    Range,
    Rows,
    Rstream,
    Session,
    Sessions,
    Tumble,
    Unbounded,
    Window,
)
from ebbtide.analysis.formula.dnf import Dnf
from ebbtide.analysis.formula.formula import Formula, Ignore, Not, both, compare
from ebbtide.analysis.formula.progress import bounds_of
from ebbtide.analysis.formula.streambound import StreamBound, propagated
from ebbtide.analysis.formula.terms import Ceil, Floor, Term, Var
from ebbtide.analysis.temporal.edge import (
    FROM,
    TO,
    Copy,
    Edge,
    made,
    reached,
    same,
    shown_as,
)
from ebbtide.analysis.temporal.sources import bound_of
from ebbtide.core.declaration import arrivals_of
from ebbtide.core.time import Duration
from ebbtide.core.tree import find
from ebbtide.errors import TemporalError

START, END, INSTANT = Var("", "window_start"), Var("", "window_end"), Var("", "instant")


def windowed(node: Window, below: Edge) -> Edge:
    """Facts as rows of an interval."""
    _check_rows_bring_its_time(node, below)
    spec = node.spec
    if isinstance(spec, LinearWindow):
        return _each_alone(node, spec, below)
    match spec:
        case Rows():
            return _row_window(node, below)
        case Sessions():
            return _session_window(node, spec, below)
        case _:
            assert_never(spec)


def _check_rows_bring_its_time(node: Window, below: Edge) -> None:
    """Refuses a window on a time that the clock alone moves: ``now`` would never come to it."""
    on = below.columns[below.schema.position(node.on)]
    heard = set(bounds_of(propagated(on, below.facts, below.bounds)))
    declared = [stream.declaration for stream in find(node, Stream)]
    by_clock = {bound_of(source, name) for source in declared for name in arrivals_of(source)}
    if heard and heard <= by_clock:
        raise TemporalError(
            "window-on-arrival",
            f'a window cannot stand on "{node.on}", which is an ARRIVAL',
            detail="now is moved by the times of rows, and not by when they came",
            hint=f"write FROM TUMBLE(..., {node.on}, 1 MINUTE), or a window ON a time of the rows",
        )


def _each_alone(node: Window, spec: LinearWindow, below: Edge) -> Edge:
    on = below.columns[below.schema.position(node.on)]
    facts = _defined(_present(below.facts, on), spec, on).where(compare(FROM, "<", TO))
    edge = made(node.schema, Kind.SNAPSHOT, facts, below.bounds)
    return replace(edge, always=isinstance(spec, Always))


def assigned(node: Tumble | Hop | Cumulate, below: Edge) -> Edge:
    """Facts with the bounds of their windows."""
    on = below.columns[below.schema.position(node.on)]
    facts = _present(below.facts, on)
    match node:
        case Tumble(size_us=size):
            facts = facts.define(START, _section(on, size, node.offset_us))
            facts = facts.define(END, START + size)
        case Hop(size_us=size):
            facts = facts.where(both(compare(START, "<=", on), compare(on, "<", START + size)))
            facts = facts.define(END, START + size)
        case Cumulate(step_us=step, size_us=size):
            facts = facts.define(START, _section(on, size, node.offset_us)).where(
                both(
                    compare(on, "<", END),
                    compare(END, "<=", START + size),
                    compare(START + step, "<=", END),
                    compare(END, "<=", on + size),
                )
            )
        case _:
            assert_never(node)
    return made(node.schema, below.kind, facts, below.bounds)


def _section(on: Var, size: Duration, offset: Duration) -> Term:
    """Where the section of a time begins."""
    return Floor(on - offset, size) + offset if offset else Floor(on, size)


def in_session(node: Session, below: Edge) -> Edge:
    """A row's session changes with a row that touches it, before or after."""
    z, y = below.copy("z"), below.copy("y")
    place = below.schema.position(node.on)
    here, there = z.columns[place], y.columns[place]
    facts = _present(_present(z.facts, here).conjoin(y.facts), there).where(
        both(
            _same_columns(node.partition_by, z, y),
            compare(START, "<=", here),
            compare(here + node.gap_us, "<=", END),
            compare(START, "<=", there + node.gap_us),
            compare(there, "<=", END),
        )
    )
    return made(node.schema, below.kind, facts, y.bounds, shown_as(z.columns, node.schema))


def streamed(node: Istream | Dstream | Rstream, below: Edge) -> Edge:
    """The instants at which rows came, went or were there."""
    y = below.copy("s")
    facts = y.facts
    if below.is_snapshot:
        last = "<" if isinstance(node, Rstream) else "<="
        facts = facts.where(
            both(compare(y.valid_from, "<=", INSTANT), compare(INSTANT, last, y.valid_to))
        )
    # Rows that are all there from the start come and go as ``now`` does, which promises nothing.
    bounds = reached(y.bounds, INSTANT)
    if below.is_snapshot and y.bounds.is_static:
        bounds = StreamBound.of()
    return made(node.schema, Kind.FACT, facts, bounds, shown_as(y.columns, node.schema))


def _defined(facts: Dnf, spec: LinearWindow, on: Var) -> Dnf:
    match spec:
        case Range(size_us=size, slide_us=slide):
            if slide is None:
                return facts.define(FROM, on).define(TO, FROM + size)
            return facts.define(FROM, Ceil(on, slide)).define(TO, Ceil(on + size, slide))
        case Fixed(size_us=size):
            return facts.define(FROM, on).define(TO, Floor(on, size) + size)
        case Now():
            return facts.define(FROM, on).define(TO, FROM + 1)
        case Unbounded():
            return facts.define(FROM, on)
        case Always():
            return facts
        case _:
            assert_never(spec)


def _row_window(node: Window, below: Edge) -> Edge:
    """A row's interval changes with rows of its partition, from their time on."""
    z, y = below.copy("z"), below.copy("y")
    place = below.schema.position(node.on)
    here, there = z.columns[place], y.columns[place]
    facts = _present(_present(z.facts, here).conjoin(y.facts), there).where(
        both(
            _same_columns(node.spec.keys, z, y),
            compare(here, "<=", FROM),
            compare(there, "<=", FROM),
            compare(FROM, "<", TO),
        )
    )
    return made(node.schema, Kind.SNAPSHOT, facts, y.bounds, shown_as(z.columns, node.schema))


def _session_window(node: Window, spec: Sessions, below: Edge) -> Edge:
    """A row stays longer, from the old end of its session on, with a row that touches it."""
    z, y = below.copy("z"), below.copy("y")
    place = below.schema.position(node.on)
    here, there = z.columns[place], y.columns[place]
    facts = _present(_present(z.facts, here).conjoin(y.facts), there).where(
        both(
            _same_columns(spec.keys, z, y),
            compare(here, "<=", FROM),
            compare(there, "<=", FROM),
            compare(here + spec.gap_us, "<=", TO),
            compare(there + spec.gap_us, "<=", TO),
            compare(FROM, "<", TO),
        )
    )
    return made(node.schema, Kind.SNAPSHOT, facts, y.bounds, shown_as(z.columns, node.schema))


def _present(facts: Dnf, variable: Var) -> Dnf:
    return facts.where(Not(Ignore(variable)))


def _same_columns(names: tuple[str, ...], z: Copy, y: Copy) -> Formula:
    schema = z.edge.schema
    places = [schema.position(name) for name in names]
    return both(
        *(
            same(z.columns[place], y.columns[place], schema[place].nullable)
            for place in places
            if place in z.columns
        )
    )
