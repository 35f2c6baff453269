"""NOW(), the instant of a snapshot: where it may stand, and what it makes of a block.

Law: in a block with NOW() every relation of facts is read through ``[UNBOUNDED]``, so that all of
the block is a snapshot.  NOW() stands in conditions, of which filters and projections are made: see
``algebra.phases``.  A condition of a join is one of the pairs, or of the side that is not kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sqlglot import exp

from ebbtide.algebra.call import AggregateCall
from ebbtide.algebra.coercion import call
from ebbtide.algebra.expression import (
    Cast,
    Expression,
    Ref,
    SnapshotTime,
    conjunction,
    conjuncts,
    depends_on_now,
)
from ebbtide.algebra.identifiers import identifier
from ebbtide.algebra.kind import Kind
from ebbtide.algebra.operators import Matching, operator
from ebbtide.algebra.origin import default_key, default_time
from ebbtide.algebra.phases import phases
from ebbtide.algebra.ranking import Over, TopN
from ebbtide.algebra.relation import Aggregate, Alias, Filter, Map, Named, Relation
from ebbtide.algebra.window import Unbounded, Window
from ebbtide.core.tree import find
from ebbtide.core.types import DATE, IntegerType, TimestampType
from ebbtide.errors import BindError, TemporalError
from ebbtide.sql import nodes
from ebbtide.sql.binding.context import Context, Place
from ebbtide.sql.binding.scope import tables_of

__all__ = [
    "check_now",
    "checked_now",
    "in_millis",
    "mentions_now",
    "moving_of",
    "now_call",
    "read_always",
    "without_now",
]

_NAMES = ("NOW", "CURRENT_TIMESTAMP", "LOCALTIMESTAMP", "MZ_NOW")
_DAYS = ("CURRENT_DATE", "CURDATE")
BARE = ("CURRENT_TIMESTAMP", "LOCALTIMESTAMP", "CURRENT_DATE")


def now_call(node: nodes.Call, context: Context) -> Expression | None:
    """NOW() under any of its names; None for another function."""
    if node.this not in (*_NAMES, *_DAYS):
        return None
    span = context.span(node)
    if node.expressions:
        raise BindError(
            "wrong-arguments",
            f"{node.this} takes no argument",
            detail="it has microseconds",
            hint=f"write {node.this}{'' if node.this in BARE else '()'}",
            span=span,
        )
    context.places.append(Place(Kind.SNAPSHOT, span.text, span))
    return SnapshotTime() if node.this in _NAMES else Cast(SnapshotTime(), DATE)


def in_millis(node: exp.Expr, value: Expression, *others: Expression) -> Expression:
    """MZ_NOW() beside a number is one: the milliseconds since the epoch."""
    written = node.unnest()
    named = isinstance(written, nodes.Call) and written.this == "MZ_NOW"
    if named and any(isinstance(other.type, IntegerType) for other in others):
        return call("UNIX_MILLIS", (value,))
    return value


def mentions_now(select: exp.Select) -> nodes.Call | None:
    """NOW() in a SELECT or in a subquery of its conditions, but not in FROM."""
    pending: list[exp.Expr] = [select]
    while pending:
        node = pending.pop()
        if isinstance(node, nodes.Call) and node.this in (*_NAMES, *_DAYS):
            return node
        if isinstance(node, nodes.StreamOperator | exp.From | exp.With):
            continue
        if isinstance(node, exp.Join):
            pending += [part for key in ("on",) if (part := node.args.get(key)) is not None]
            continue
        pending += list(node.iter_expressions())
    return None


def read_always(relation: Relation, name: str | None, node: exp.Expr, context: Context) -> Relation:
    """Facts that a block with NOW() in it reads: each from its time on."""
    time = default_time(relation)
    if time is None:
        times = [c.name for c in relation.schema if isinstance(c.type, TimestampType)]
        raise BindError(
            "no-time",
            f'NOW() needs "{name or "a query"}" from a time on, and none of its times progresses',
            detail=f"of type TIMESTAMP are {', '.join(times)}" if times else "none is a TIMESTAMP",
            hint=_windowed(node, times, context),
        )
    return Window(relation, Unbounded(), time, default_key(relation))


def _windowed(node: exp.Expr, times: list[str], context: Context) -> str | None:
    if not times or node.args.get("alias") is not None:
        return None
    return f"write {context.span(node).text} [UNBOUNDED ON {identifier(times[0])}]"


def checked_now(expression: Expression, node: exp.Expr, context: Context) -> Expression:
    """An expression in which NOW() stands in conditions alone."""
    if depends_on_now(expression):
        with context.at(node):
            phases(expression)
    return expression


def without_now(
    left: Relation, right: Relation, predicate: Expression, node: exp.Join
) -> tuple[Relation, Relation, Expression, tuple[Expression, ...]]:
    """The sides of a join and its condition without NOW(), and what is said of the pairs."""
    terms = conjuncts(predicate)
    moving = tuple(term for term in terms if depends_on_now(term))
    if not moving or node.kind in ("SEMI", "ANTI"):
        return left, right, predicate, ()
    rest = conjunction(tuple(term for term in terms if term not in moving))
    if not node.side and node.kind != "ASOF":
        return left, right, rest, moving
    if node.side == "RIGHT" and _is_about(left, moving):
        return _chosen(left, moving), right, rest, ()
    if node.side not in ("RIGHT", "FULL") and _is_about(right, moving):
        return left, _chosen(right, moving), rest, ()
    raise _misplaced("the condition of this join", "it can only choose rows that are not kept")


def _is_about(side: Relation, terms: tuple[Expression, ...]) -> bool:
    return isinstance(side, Alias) and all(
        tables_of(term) <= {side.name.casefold()} for term in terms
    )


def _chosen(side: Relation, terms: tuple[Expression, ...]) -> Relation:
    """The rows of a side for which conditions hold, under its name."""
    assert isinstance(side, Alias)
    columns = tuple(Named(column.name, Ref(column)) for column in side.schema)
    return Alias(Map(Filter(side, conjunction(terms)), columns), side.name)


def moving_of(
    left: tuple[Expression, ...], right: tuple[Expression, ...], node: exp.Join
) -> tuple[Expression, ...]:
    """Conditions on pairs below a join as conditions on its own."""
    inner = not node.side and node.kind not in ("SEMI", "ANTI", "ASOF")
    if (left and node.side in ("RIGHT", "FULL")) or (right and not inner):
        raise _misplaced("a join below an outer one", "its pairs may be padded above")
    return left + right


def check_now(plan: Relation) -> None:
    """Refuses NOW() where no condition is made of it."""
    for relation in find(plan, Relation):
        for where, expression in _others(relation):
            if depends_on_now(expression):
                raise _misplaced(where, "it can stand in WHERE, HAVING, ON, FILTER and SELECT")


def _others(relation: Relation) -> Iterator[tuple[str, Expression]]:
    """Expressions other than those of filters and projections."""
    node = operator(relation)
    if isinstance(node, Matching):
        yield "the condition of this join", node.predicate
    if isinstance(node, Aggregate):
        yield from (("GROUP BY", named.expression) for named in node.keys)
        yield from _calls(named.call for named in node.calls)
    if isinstance(node, TopN | Over):
        yield from (("ORDER BY", key.expression) for key in node.order_by)
        yield from (("PARTITION BY", key) for key in node.partition_by)
    if isinstance(node, Over):
        yield from (("OVER", e) for framed in node.calls for e in framed.call.arguments)


def _calls(calls: Iterable[AggregateCall]) -> Iterator[tuple[str, Expression]]:
    for each in calls:
        yield from (("an aggregate", argument) for argument in each.arguments)
        yield from (("ORDER BY", key.expression) for key in each.order)
        if each.filter is not None:
            yield "FILTER", each.filter


def _misplaced(where: str, why: str) -> TemporalError:
    return TemporalError(
        "misplaced-now",
        f"NOW() cannot stand in {where}",
        detail=why,
        hint="compute the condition in a query in FROM, as a column, and use that",
    )
