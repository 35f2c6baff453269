"""Temporal facts of operators on two relations (paper 5, definitions 16 to 18).

Law: an output change is brought about by a change of either side; if it is still to come, one of
the two is.  So the bounds of both sides are conjoined; where a side has no part in a change, what
that side waits for is ignored.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import assert_never

from ebbtide.algebra.combination import (
    AntiJoin,
    AsofJoin,
    Difference,
    Intersection,
    Join,
    MaxUnion,
    Outer,
    OuterJoin,
    Product,
    SemiJoin,
    StrictDifference,
    UnionAll,
)
from ebbtide.algebra.expression import Expression
from ebbtide.algebra.operators import Joining
from ebbtide.analysis.formula.dnf import Dnf
from ebbtide.analysis.formula.formula import Formula, both, compare
from ebbtide.analysis.formula.terms import Var
from ebbtide.analysis.temporal.edge import (
    FROM,
    TO,
    Copy,
    Edge,
    conjoined,
    kind_of,
    made,
    same_row,
    shown_as,
)
from ebbtide.analysis.temporal.pointwise import begins_within, segmented
from ebbtide.analysis.temporal.predicates import holding
from ebbtide.core.schema import Schema


def matching(predicate: Expression, left: Copy, right: Copy) -> Formula:
    """What a join predicate says of the times of two rows."""
    schema = left.edge.schema + right.edge.schema
    width = len(left.edge.schema)
    columns = {**left.columns, **{place + width: v for place, v in right.columns.items()}}
    return holding(predicate, schema, columns)


def brought_together(node: Joining, left: Edge, right: Edge) -> Edge:
    """The edge of a join."""
    match node:
        case Product() | Join():
            return joined(node, left, right)
        case SemiJoin():
            return semi_joined(node, left, right)
        case AntiJoin():
            return anti_joined(node, left, right)
        case OuterJoin():
            return outer_joined(node, left, right)
        case AsofJoin():
            return asof_joined(node, left, right)
        case _:
            assert_never(node)


def joined(node: Product | Join, left: Edge, right: Edge) -> Edge:
    """A pair is a row; it holds while both do (definition 16)."""
    a, b = left.copy("l"), right.copy("r")
    match = matching(node.predicate, a, b) if isinstance(node, Join) else both()
    facts = conjoined((a, b)).where(both(match, _intersection(a, b)))
    return _paired(node.schema, a, b, facts)


def semi_joined(node: SemiJoin, left: Edge, right: Edge) -> Edge:
    """A left row comes or goes with itself or with a partner."""
    a, b = left.copy("l"), right.copy("r")
    facts = conjoined((a, b)).where(both(matching(node.predicate, a, b), begins_within(a, b)))
    return _left(node.schema, a, b, facts)


def anti_joined(node: AntiJoin, left: Edge, right: Edge) -> Edge:
    """A left row comes or goes with itself, or with a partner that ends its being alone."""
    a, b = left.copy("l"), right.copy("r")
    return _left(node.schema, a, b, _alone(a, b, matching(node.predicate, a, b)))


def subtracted(node: Difference | StrictDifference, left: Edge, right: Edge) -> Edge:
    """A left row comes or goes with itself or with an equal right row (definition 18)."""
    a, b = left.copy("l"), right.copy("r")
    return _counted(_left(node.schema, a, b, _alone(a, b, same_row(a, b))))


def intersected(node: Intersection, left: Edge, right: Edge) -> Edge:
    """A row comes or goes with an equal row on each side."""
    a, b = left.copy("l"), right.copy("r")
    facts = conjoined((a, b)).where(both(same_row(a, b), begins_within(a, b)))
    return _counted(_left(node.schema, a, b, facts))


def united(node: UnionAll | MaxUnion, left: Edge, right: Edge) -> Edge:
    """A row of either side, as if the other side were not there (definition 17)."""
    a, b = left.copy("l"), right.copy("r")
    exact = isinstance(node, UnionAll)
    kind = kind_of((left.kind, right.kind))
    snapshot = left.is_snapshot or right.is_snapshot
    facts = _branch(a, b, node.schema, exact, snapshot).either(
        _branch(b, a, node.schema, exact, snapshot)
    )
    edge = made(node.schema, kind, facts, a.bounds.conjoin(b.bounds))
    return edge if exact else _counted(edge)


def outer_joined(node: OuterJoin, left: Edge, right: Edge) -> Edge:
    """Pairs, and rows that are alone, padded with NULLs.

    A padded row comes or goes with itself (its partner is ignored) or with a partner, which it
    does not show; so the partner's own times are hidden there, and the columns are absent.
    """
    a, b = left.copy("l"), right.copy("r")
    match = matching(node.predicate, a, b)
    shown_a = shown_as(a.columns, node.schema)
    shown_b = shown_as(b.columns, node.schema, len(left.schema))
    bounds = a.bounds.conjoin(b.bounds)
    pairs = conjoined((a, b)).where(both(match, _intersection(a, b)))
    facts = _exposed(pairs, {**shown_a, **shown_b}, bounds.variables)
    if node.kept is not Outer.RIGHT:
        alone = _exposed(_alone(a, b, match), shown_a, bounds.variables)
        facts = facts.either(alone.ignoring(shown_b.values()))
    if node.kept is not Outer.LEFT:
        alone = _exposed(_alone(b, a, match), shown_b, bounds.variables)
        facts = facts.either(alone.ignoring(shown_a.values()))
    return made(node.schema, kind_of((left.kind, right.kind)), facts, bounds)


def asof_joined(node: AsofJoin, left: Edge, right: Edge) -> Edge:
    """A pair comes or goes with its left row, or with another partner of that, which is hidden."""
    a, b, y = left.copy("l"), right.copy("r"), right.copy("y")
    shown_a = shown_as(a.columns, node.schema)
    shown_b = shown_as(b.columns, node.schema, len(left.schema))
    bounds = a.bounds.conjoin(y.bounds)
    match = matching(node.predicate, a, y)
    both_match = both(matching(node.predicate, a, b), match)
    pairs = conjoined((a, b, y)).where(both(both_match, begins_within(a, b, y)))
    facts = _exposed(pairs, {**shown_a, **shown_b}, bounds.variables)
    if node.pads:
        alone = _exposed(_alone(a, y, match), shown_a, bounds.variables)
        facts = facts.either(alone.ignoring(shown_b.values()))
    return made(node.schema, kind_of((left.kind, right.kind)), facts, bounds)


def _counted(edge: Edge) -> Edge:
    """An operator that counts rows emits segments as they begin."""
    return replace(edge, bounds=segmented(edge.bounds, edge))


def _intersection(a: Copy, b: Copy) -> Formula:
    """That the output's interval lies in both."""
    sides = [copy for copy in (a, b) if copy.edge.is_snapshot]
    if not sides:
        return both()
    inside = (
        both(compare(copy.valid_from, "<=", FROM), compare(TO, "<=", copy.valid_to))
        for copy in sides
    )
    exact = []
    if len(sides) == 1:
        exact = [compare(FROM, "=", sides[0].valid_from), compare(TO, "=", sides[0].valid_to)]
    return both(compare(FROM, "<", TO), *inside, *exact)


def _alone(a: Copy, b: Copy, match: Formula) -> Dnf:
    """A left row that changes by itself, or with a partner (definition 18)."""
    itself = a.facts.where(begins_within(a)).ignoring(b.bounds.variables)
    together = conjoined((a, b)).where(both(match, begins_within(a, b)))
    if not a.edge.is_snapshot and b.edge.is_snapshot:
        itself = itself.where(compare(FROM, "<", TO))
    return itself.either(together)


def _branch(mine: Copy, other: Copy, schema: Schema, exact: bool, snapshot: bool) -> Dnf:
    facts = mine.facts
    if mine.edge.is_snapshot and exact:
        facts = facts.define(FROM, mine.valid_from).define(TO, mine.valid_to)
    elif mine.edge.is_snapshot:
        facts = facts.where(begins_within(mine))
    elif snapshot:
        facts = facts.where(compare(FROM, "<", TO))
    return _exposed(facts, shown_as(mine.columns, schema), mine.bounds.variables).ignoring(
        other.bounds.variables
    )


def _exposed(facts: Dnf, shown: dict[Var, Var], held: Iterable[Var] = ()) -> Dnf:
    """Variables under the names of columns; those that are held keep theirs beside it."""
    staying = frozenset(held)
    for variable, name in shown.items():
        if variable in staying:
            facts = facts.define(name, variable)
    return facts.rename({v: name for v, name in shown.items() if v not in staying})


def _left(schema: Schema, a: Copy, b: Copy, facts: Dnf) -> Edge:
    kind = kind_of((a.edge.kind, b.edge.kind))
    return made(schema, kind, facts, a.bounds.conjoin(b.bounds), shown_as(a.columns, schema))


def _paired(schema: Schema, a: Copy, b: Copy, facts: Dnf) -> Edge:
    kind = kind_of((a.edge.kind, b.edge.kind))
    shown = {
        **shown_as(a.columns, schema),
        **shown_as(b.columns, schema, len(a.edge.schema)),
    }
    return made(schema, kind, facts, a.bounds.conjoin(b.bounds), shown)
