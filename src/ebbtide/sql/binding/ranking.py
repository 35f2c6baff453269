"""Top-n: a number of rows, computed in a query in FROM and bounded outside of it.

Law: ``SELECT .. FROM (SELECT .., ROW_NUMBER() OVER (..) AS n ..) WHERE n <= 3`` keeps three rows of
each partition, so it is a TopN in the inner query, and the condition is fulfilled.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from ebbtide.algebra.combination import Join, Outer, OuterJoin, Product
from ebbtide.algebra.expression import Comparison, Expression, Literal, Ref
from ebbtide.algebra.ranking import NUMBERINGS, FrameCall, Over, Ranking, TopN
from ebbtide.algebra.relation import Alias, Map, Relation
from ebbtide.core.schema import Column

__all__ = ["top_ranks"]

_MIRRORED = {"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


@dataclass(frozen=True, slots=True)
class _Bounds:
    """The numbers that conditions leave: above ``low``, and at most ``high``."""

    low: int = 0
    high: int | None = None

    def within(self, op: str, value: int) -> _Bounds:
        low = {"=": value - 1, ">": value, ">=": value - 1}.get(op, 0)
        high = {"=": value, "<": value - 1, "<=": value}.get(op)
        known = [bound for bound in (self.high, high) if bound is not None]
        return _Bounds(max(self.low, low), min(known) if known else None)


def top_ranks(
    relation: Relation, terms: tuple[Expression, ...]
) -> tuple[Relation, tuple[Expression, ...]]:
    """FROM with its bounded numberings as TopN, and the conditions that are left."""
    bounds: dict[Column, _Bounds] = {}
    for term in terms:
        known = _bound(term)
        if known is not None:
            column, op, value = known
            bounds[column] = bounds.get(column, _Bounds()).within(op, value)
    done: set[Column] = set()
    for column, bound in bounds.items():
        if bound.high is not None:
            rewritten = _in_from(relation, column, _limit(column, bound))
            if rewritten is not None:
                relation = rewritten
                done.add(column)
    left = tuple(t for t in terms if (known := _bound(t)) is None or known[0] not in done)
    return relation, left


def _bound(term: Expression) -> tuple[Column, str, int] | None:
    match term:
        case Comparison(op=op, left=Ref(column=column), right=Literal(value=int(value))):
            return (column, op, value) if op in _MIRRORED else None
        case Comparison(op=op, left=Literal(value=int(value)), right=Ref(column=column)):
            return (column, _MIRRORED[op], value) if op in _MIRRORED else None
        case _:
            return None


Rewrite = Callable[[Relation], "Relation | None"]


def _in_from(relation: Relation, column: Column, rewrite: Rewrite) -> Relation | None:
    """FROM with the source of a column rewritten; None where conditions above do not reach it."""
    match relation:
        case Alias():
            return rewrite(relation) if relation.name == column.table else None
        case Product() | Join():
            sides: tuple[int, ...] = (0, 1)
        case OuterJoin(kept=Outer.LEFT):
            sides = (0,)
        case OuterJoin(kept=Outer.RIGHT):
            sides = (1,)
        case _:
            return None
    children: list[Relation] = list(relation.children)
    for side in sides:
        found = _in_from(children[side], column, rewrite)
        if found is not None:
            children[side] = found
            node: Relation = relation
            return node.with_children(tuple(children))
    return None


def _limit(column: Column, bound: _Bounds) -> Rewrite:
    def rewrite(relation: Relation) -> Relation | None:
        if not (isinstance(relation, Alias) and isinstance(relation.input, Map)):
            return None
        inner = relation.input
        for named in inner.columns:
            if named.name.casefold() == column.name.casefold():
                if not isinstance(named.expression, Ref):
                    return None
                rows = _top(inner.input, named.expression.column, bound)
                return None if rows is None else replace(relation, input=replace(inner, input=rows))
        return None

    return rewrite


def _top(relation: Relation, number: Column, bound: _Bounds) -> Relation | None:
    """A chain of Over without one numbering, and that as a TopN on top."""
    overs: list[Over] = []
    while isinstance(relation, Over):
        overs.append(relation)
        relation = relation.input
    found = next(((o, c) for o in overs for c in o.calls if c.name == number.name), None)
    if found is None or found[1].call.name not in NUMBERINGS:
        return None
    over, numbering = found
    for other in reversed(overs):
        calls = tuple(call for call in other.calls if call is not numbering)
        relation = replace(other, input=relation, calls=calls) if calls else relation
    return _numbered(relation, over, numbering, bound)


def _numbered(relation: Relation, over: Over, numbering: FrameCall, bound: _Bounds) -> Relation:
    high = bound.high or 0
    return TopN(
        relation,
        max(0, high - bound.low),
        over.order_by,
        over.partition_by,
        Ranking(numbering.call.name),
        bound.low,
        numbering.name,
    )
