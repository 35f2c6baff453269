"""Times that NOW() is compared with inside of aggregates and keys, and on which that fails.

Law: an aggregate cannot have NOW() in it, so the binder computes comparisons with it as columns
below the groups (``compared_below``).  Where the time is an error, the error is one of the groups
all the same: the column is NULL there, and whoever reads it computes the time first.

    Aggregate(COUNT FILTER c)                Aggregate(COUNT FILTER (c, if t is no error))
      Alias phased                    =>       Alias phased
        Map(..., NOW() < t AS c)                 Map(..., TRY(NOW() < t) AS c)

The time fails at all instants alike, so NOW() is not needed to tell.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeAlias

from ebbtide.algebra.call import AggregateCall
from ebbtide.algebra.expression import Case, Comparison, Expression, IsNull, Ref, Tried
from ebbtide.algebra.failing import can_fail
from ebbtide.algebra.phases import turn_of
from ebbtide.algebra.relation import Aggregate, Alias, Map, NamedCall, Relation
from ebbtide.core.tree import rewrite

Identity: TypeAlias = tuple[str | None, str]

PHASED, AT_NOW = "phased", "at_now"
"""What the binder calls the rows below groups, and the columns that it computes of NOW()."""

_ROWS, _COLUMN = (re.compile(rf"{name}(_\d+)?") for name in (PHASED, AT_NOW))


def with_group_instants(plan: Relation) -> Relation:
    """The plan in which the groups fail where a time does that NOW() is compared with below."""
    return rewrite(plan, _carried)


def over_expressions(
    call: AggregateCall, moved: Callable[[Expression], Expression]
) -> AggregateCall:
    """A call on other expressions."""
    return replace(
        call,
        arguments=tuple(map(moved, call.arguments)),
        filter=None if call.filter is None else moved(call.filter),
        order=tuple(replace(key, expression=moved(key.expression)) for key in call.order),
    )


def _carried(node: Relation) -> Relation:
    if not isinstance(node, Aggregate):
        return node
    below = compared_below(node)
    turns = {} if below is None else _turns(below)
    if below is None or not turns:
        return node
    assert isinstance(node.input, Alias)
    tried = (
        replace(c, expression=Tried(c.expression)) if c.name in turns else c for c in below.columns
    )
    rows = Alias(Map(below.input, tuple(tried)), node.input.name)
    known = _over_rows(below, rows)
    for column in rows.schema:
        if column.name in turns:
            time = _moved(turns[column.name], known)
            known[column.identity] = Case(((IsNull(time), Ref(column)),), Ref(column))

    def read(part: Expression) -> Expression:
        return _moved(part, known)

    keys = (replace(key, expression=read(key.expression)) for key in node.keys)
    calls = (NamedCall(c.name, over_expressions(c.call, read)) for c in node.calls)
    return Aggregate(rows, tuple(keys), tuple(calls))


def compared_below(node: Aggregate) -> Map | None:
    """The rows of groups that the binder has computed comparisons with NOW() of."""
    rows = node.input
    if not (isinstance(rows, Alias) and isinstance(rows.input, Map) and _ROWS.fullmatch(rows.name)):
        return None
    passed = [c.expression for c in rows.input.columns if isinstance(c.expression, Ref)]
    every = [column.identity for column in rows.input.input.schema]
    return rows.input if [ref.column.identity for ref in passed] == every else None


def _turns(below: Map) -> dict[str, Expression]:
    """The times that may fail, by the columns that compare NOW() with them."""
    found = {}
    for named in below.columns:
        compared = named.expression
        if isinstance(compared, Comparison) and _COLUMN.fullmatch(named.name):
            turn = turn_of(compared)
            if turn is not None and can_fail(turn):
                found[named.name] = turn
    return found


def _over_rows(below: Map, rows: Alias) -> dict[Identity, Expression]:
    """The columns of what is below the rows, as they are passed on."""
    return {
        named.expression.column.identity: Ref(column)
        for named, column in zip(below.columns, rows.schema, strict=True)
        if isinstance(named.expression, Ref)
    }


def _moved(expression: Expression, known: Mapping[Identity, Expression]) -> Expression:
    """An expression that reads others in the place of columns."""

    def read(part: Expression) -> Expression:
        return known.get(part.column.identity, part) if isinstance(part, Ref) else part

    return rewrite(expression, read)
