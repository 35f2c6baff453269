"""Temporal facts of operators on one relation (paper 5, definitions 12 to 15).

Law: an output change of such an operator is brought about by an input change, ``y`` below, of the
same row, group or partition.  If it is still to come, so is ``y``; hence the output waits for what
``y`` waits for.  Its interval begins within that of ``y``.  Grouping, ranking and the like emit a
segment only once ``now`` has come to its begin, so they wait for that too.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ebbtide.algebra.expression import Expression, Ref
from ebbtide.algebra.kind import Kind
from ebbtide.algebra.phases import Phase, during, phases
from ebbtide.algebra.ranking import Over, TopN
from ebbtide.algebra.relation import Aggregate, Alias, Distinct, Filter, Map, Named, Unnest
from ebbtide.analysis.formula.dnf import Dnf
from ebbtide.analysis.formula.formula import Formula, Ignore, Not, both, compare, either
from ebbtide.analysis.formula.streambound import StreamBound
from ebbtide.analysis.formula.terms import Coalesce, Greatest, Least, Term, Var
from ebbtide.analysis.temporal.edge import (
    FROM,
    TO,
    Copy,
    Edge,
    allowing_nulls,
    made,
    reached,
    shown_as,
    time_columns,
)
from ebbtide.analysis.temporal.frame import reach
from ebbtide.analysis.temporal.predicates import holding, latest_of, term_of
from ebbtide.core.schema import Schema


def renamed(node: Alias, below: Edge) -> Edge:
    """The columns under other names."""
    shown = shown_as(below.columns, node.schema)
    edge = made(node.schema, below.kind, below.facts, below.bounds, shown)
    return replace(edge, always=below.always)


def filtered(node: Filter, below: Edge) -> Edge:
    """The rows of which the predicate's temporal part is true (definition 12)."""
    if node.depends_on_now:
        return united_phases(cut(phase, below) for phase in during(node.predicate))
    facts = below.facts.where(holding(node.predicate, below.schema, below.columns))
    return made(node.schema, below.kind, facts, below.bounds)


def mapped(node: Map, below: Edge) -> Edge:
    """New times are terms of old ones (definitions 13 and 14)."""
    if node.depends_on_now:
        found = phases(*(named.expression for named in node.columns))
        return united_phases(
            _mapped(_valued(node.columns, phase), node.schema, cut(phase, below)) for phase in found
        )
    return _mapped(node.columns, node.schema, below)


def _mapped(columns: tuple[Named, ...], schema: Schema, below: Edge) -> Edge:
    y = below.copy("m")
    shown = {y.valid_from: FROM, y.valid_to: TO} if below.is_snapshot else {}
    return _columns(columns, schema, y, y.facts, shown)


def unnested(node: Unnest, below: Edge) -> Edge:
    """The times of the row; nothing is known of an item."""
    y = below.copy("u")
    shown = {y.valid_from: FROM, y.valid_to: TO} if below.is_snapshot else {}
    columns = tuple(Named(column.name, Ref(column)) for column in node.input.schema)
    return _columns(columns, node.schema, y, y.facts, shown)


def distinct(node: Distinct, below: Edge) -> Edge:
    """A row comes or goes with a change of its own."""
    y = below.copy("d")
    facts = y.facts.where(begins_within(y))
    shown = shown_as(y.columns, node.schema)
    return made(node.schema, below.kind, facts, segmented(y.bounds, below), shown)


def grouped(node: Aggregate, below: Edge) -> Edge:
    """A group's row changes with a row of the group (definition 15)."""
    y = below.copy("g")
    facts = y.facts.where(begins_within(y))
    y = replace(y, bounds=segmented(y.bounds, below))
    return _columns(node.keys, node.schema, y, facts, {})


def ranked(node: TopN, below: Edge) -> Edge:
    """A row comes or goes with those of its partition that are before it in the order."""
    z, y = below.copy("z"), below.copy("y")
    partition = same_partition(node.partition_by, z, y)
    return _of_partition(node.schema, z, y, both(partition, reach(node).affects(z, y)))


def framed(node: Over, below: Edge) -> Edge:
    """A row's values change with the rows of its frame."""
    z, y = below.copy("z"), below.copy("y")
    partition = same_partition(node.partition_by, z, y)
    return _of_partition(node.schema, z, y, both(partition, reach(node).affects(z, y)))


def cut(phase: Phase, below: Edge) -> Edge:
    """The part of each row's interval that a phase of a condition on NOW() leaves."""
    y = below.copy("n")
    guards = both(*(holding(guard, below.schema, y.columns) for guard in phase.guards))
    facts = y.facts.where(guards)
    starts, ends = (
        [term_of(end, below.schema, y.columns) for end in side] for side in _sides(phase)
    )
    known = {v for term in (*starts, *ends) if term is not None for v in needed(term)}
    facts = facts.where(both(*(Not(Ignore(v)) for v in known)))
    cuts = below.is_snapshot and not below.always
    begins = [y.valid_from, *starts] if cuts else starts
    stops = [y.valid_to, *ends] if cuts else ends
    facts = _end(facts, FROM, begins, Greatest, ">=")
    facts = _end(facts, TO, stops, Least, "<=").where(compare(FROM, "<", TO))
    facts = facts.where(_at_the_latest(phase, below, y, cuts))
    shown = shown_as(y.columns, below.schema)
    return made(below.schema, Kind.SNAPSHOT, facts, y.bounds, shown)


def _sides(phase: Phase) -> tuple[tuple[Expression, ...], tuple[Expression, ...]]:
    return phase.starts, phase.ends


def _end(
    facts: Dnf,
    end: Var,
    terms: list[Term | None],
    extreme: type[Greatest] | type[Least],
    op: str,
) -> Dnf:
    """An end of an interval, the extreme of several times; of some nothing may be known."""
    known = tuple(term for term in terms if term is not None)
    if known and len(known) == len(terms):
        return facts.define(end, known[0] if len(known) == 1 else extreme(known))
    return facts.where(both(*(compare(end, op, term) for term in known)))


def _at_the_latest(phase: Phase, below: Edge, y: Copy, cuts: bool) -> Formula:
    """What is known of ends that are not terms, but not after some."""
    starts, ends = (
        [latest_of(end, below.schema, y.columns) for end in side] for side in _sides(phase)
    )
    known: list[Formula] = [compare(TO, "<=", end) for end in ends if end is not None]
    if starts and cuts and None not in starts:
        begins = (y.valid_from, *(start for start in starts if start is not None))
        known.append(compare(FROM, "<=", Greatest(begins)))
    return both(*known)


def needed(term: Term) -> frozenset[Var]:
    """The variables without which a term is NULL."""
    if isinstance(term, Greatest | Least | Coalesce):
        return frozenset()
    if isinstance(term, Var):
        return frozenset({term})
    return frozenset().union(*map(needed, term.children))


def united_phases(edges: Iterable[Edge]) -> Edge:
    """A row in any of its phases: what it waits for is the same in all of them."""
    first, *rest = edges
    facts = first.facts
    for edge in rest:
        facts = facts.either(edge.facts)
    return replace(first, facts=facts)


def _valued(columns: tuple[Named, ...], phase: Phase) -> tuple[Named, ...]:
    pairs = zip(columns, phase.values, strict=True)
    return tuple(Named(named.name, value) for named, value in pairs)


def begins_within(*copies: Copy) -> Formula:
    """That the output's interval begins within those of changes or rows that make it."""
    if not any(copy.edge.is_snapshot for copy in copies):
        return both()
    return both(compare(FROM, "<", TO), *(copy.covers(FROM) for copy in copies))


def segmented(bounds: StreamBound, *edges: Edge) -> StreamBound:
    """What an operator waits for that emits segments when ``now`` gets to where they begin."""
    return reached(bounds, FROM) if any(edge.is_snapshot for edge in edges) else bounds


def same_partition(keys: tuple[Expression, ...], a: Copy, b: Copy) -> Formula:
    """That two rows agree on expressions, as far as times go; NULLs are equal."""
    found: list[Formula] = []
    for key in keys:
        mine = term_of(key, a.edge.schema, a.columns)
        other = term_of(key, b.edge.schema, b.columns)
        if mine is None or other is None:
            continue
        equal = compare(mine, "=", other)
        if isinstance(mine, Var) and isinstance(other, Var):
            equal_or_null = either(equal, both(Ignore(mine), Ignore(other)))
            found.append(equal_or_null if _nullable(key) else equal)
        elif not _nullable(key):
            found.append(equal)
    return both(*found)


def _nullable(key: Expression) -> bool:
    return Named("key", key).column.nullable


def _of_partition(schema: Schema, z: Copy, y: Copy, together: Formula) -> Edge:
    facts = z.facts.conjoin(y.facts).where(both(together, begins_within(z, y)))
    bounds = segmented(y.bounds, y.edge)
    edge = made(schema, z.edge.kind, facts, bounds, shown_as(z.columns, schema))
    return Edge(schema, edge.kind, allowing_nulls(edge.facts, schema), edge.bounds)


def _columns(
    columns: tuple[Named, ...], schema: Schema, y: Copy, facts: Dnf, shown: dict[Var, Var]
) -> Edge:
    """Named expressions over ``y`` as the first columns of a schema.

    A column that is passed on keeps its variable; other terms are defined by theirs.
    """
    outside = time_columns(schema)
    terms: dict[Var, Term] = {}
    for place, named in enumerate(columns):
        if place not in outside:
            continue
        term = term_of(named.expression, y.edge.schema, y.columns)
        if isinstance(named.expression, Ref) and isinstance(term, Var) and term not in shown:
            shown[term] = outside[place]
        elif term is not None:
            terms[outside[place]] = term
    for variable, term in terms.items():
        facts = facts.define(variable, term)
    edge = made(schema, y.edge.kind, facts, y.bounds, shown)
    return Edge(schema, edge.kind, allowing_nulls(edge.facts, schema), edge.bounds)
