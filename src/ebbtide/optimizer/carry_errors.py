"""Errors of subqueries that are values of a row, carried to whoever reads the value.

Law: a subquery that is a value and depends on the row is a group, joined to the row.  Where the
group is an error, so is the value, and that matters only where it is read: in a branch that is
taken, beside no term that decides.  So the group stays, with NULL for its values and a column that
says how it failed; and whoever reads a value reads a check of that column first.

    Filter(v > x)                            Filter(v > (x, if no error))
      OuterJoin                                OuterJoin
        rows                         =>          rows
        Alias(Map(Aggregate(x)))                 Alias(Map(Aggregate(x, errors)))

The columns that are added go with the rows up to the next projection or group.  What an aggregate
takes of a row of the subquery, and fails on it, is among the errors of the aggregate as well.

Before that, times that NOW() is compared with inside of aggregates are errors of their groups
(``algebra.group_instants``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, TypeAlias, cast

from ebbtide.algebra.call import AggregateCall, SortKey
from ebbtide.algebra.combination import (
    AntiJoin,
    AsofJoin,
    Join,
    OuterJoin,
    Product,
    SemiJoin,
)
from ebbtide.algebra.expression import (
    Case,
    Comparison,
    Expression,
    Fails,
    IsNull,
    Literal,
    Not,
    Or,
    Ref,
    conjunction,
)
from ebbtide.algebra.failing import call_can_fail, result_can_fail
from ebbtide.algebra.group_instants import with_group_instants
from ebbtide.algebra.quarantine import (
    HIDDEN,
    OnError,
    call_word,
    row_of,
    subquery_of,
    subquery_value,
)
from ebbtide.algebra.ranking import FrameCall, Over, TopN
from ebbtide.algebra.relation import (
    Aggregate,
    Alias,
    Filter,
    Map,
    Named,
    NamedCall,
    Relation,
    Unnest,
)
from ebbtide.core.tree import find, fold, rewrite
from ebbtide.core.types import BIGINT
from ebbtide.optimizer.sound_groups import sound_groups

Identity: TypeAlias = tuple[str | None, str]
Passing: TypeAlias = (
    Filter | Product | Join | SemiJoin | AntiJoin | OuterJoin | AsofJoin | TopN | Over | Unnest
)
"""Has the columns of its input, or those of its left one, under their names."""


@dataclass(frozen=True, slots=True)
class _Carried:
    """A plan, and what is read in the place of some of its columns."""

    plan: Relation
    values: Mapping[Identity, Expression]


def carry_errors(plan: Relation, on_error: OnError = OnError.QUARANTINE) -> Relation:
    """The plan in which values of subqueries that fail are errors of those who read them."""
    if on_error is OnError.FAIL:
        return plan
    plan = with_group_instants(plan)
    if not any(map(_can_fail, find(plan, OuterJoin))):
        return plan
    return _settled(fold(plan, _carried)).plan


def _can_fail(node: OuterJoin) -> bool:
    group = subquery_of(node)
    calls = () if group is None else group.calls
    return any(call_can_fail(c.call) or result_can_fail(c.call) for c in calls)


def _carried(node: Relation, below: tuple[_Carried, ...]) -> _Carried:
    if not isinstance(node, Passing | Map | Aggregate):
        below = tuple(map(_settled, below))
    same = all(a is b.plan for a, b in zip(node.children, below, strict=True))
    made = node if same else node.with_children(tuple(each.plan for each in below))
    known = {identity: value for each in below for identity, value in each.values.items()}
    if known:
        made = _reading(made, known)
    if isinstance(made, OuterJoin) and _can_fail(made):
        right, values = _with_errors(made)
        made, known = replace(made, right=right), {**known, **values}
    shown = {column.identity for column in made.schema}
    kept = known if isinstance(node, Passing) else {}
    return _Carried(made, {identity: kept[identity] for identity in kept.keys() & shown})


def _settled(carried: _Carried) -> _Carried:
    """A plan that has read all values that may be errors."""
    if not carried.values:
        return carried
    columns = row_of(carried.plan.schema)
    read = (carried.values.get(ref.column.identity, ref) for ref in columns)
    names = (Named(r.column.name, e, r.column.table) for r, e in zip(columns, read, strict=True))
    return _Carried(Map(carried.plan, tuple(names)), {})


def _with_errors(node: OuterJoin) -> tuple[Relation, dict[Identity, Expression]]:
    """The value of a subquery with how it fails, and what reads it."""
    group, alias = subquery_of(node), node.right
    assert group is not None
    assert isinstance(alias, Alias)
    groups = sound_groups(group, group.input, row_of(group.input.schema))
    checks = list(groups.checks)
    if groups.failing is not None:
        some = Comparison(">", groups.failing, Literal(0, BIGINT))
        checks.insert(0, subquery_value(call_word(group.calls[0].call), some))
    fails: Expression = checks[0].condition
    for check in checks[1:]:
        fails = Or(fails, check.condition)
    keys, values = groups.shown[: len(group.keys)], groups.shown[len(group.keys) :]
    without = (
        Named(v.name, Case(((fails, Literal(None, v.expression.type)),), v.expression))
        for v in values
    )
    names = (f"{HIDDEN}{i}" for i in range(len(checks)))
    told = (check.condition if check.told is None else check.told for check in checks)
    hidden = tuple(map(Named, names, told))
    right = Alias(Map(groups.plan, (*keys, *without, *hidden)), alias.name)
    columns = OuterJoin(node.left, right, node.predicate, node.kept).schema.columns
    added = [Ref(column) for column in columns[len(columns) - len(hidden) :]]
    asked = conjunction(tuple(map(_asked, checks, added)))
    read = columns[len(node.left.schema) + len(keys) : len(columns) - len(hidden)]
    return right, {c.identity: Case(((asked, Ref(c)),), Ref(c)) for c in read}


def _asked(check: Fails, column: Ref) -> Fails:
    """A check by the column that it was computed as."""
    if check.told is None:
        return replace(check, condition=column)
    return replace(check, condition=Not(IsNull(column)), told=column)


def _reading(node: Relation, known: Mapping[Identity, Expression]) -> Relation:
    """An operator that reads other expressions in the place of columns."""

    def read(part: Expression) -> Expression:
        return known.get(part.column.identity, part) if isinstance(part, Ref) else part

    given = {field.name: getattr(node, field.name) for field in fields(node) if field.init}
    return replace(node, **{name: _moved(value, read) for name, value in given.items()})


def _moved(value: Any, read: Callable[[Expression], Expression]) -> Any:
    if isinstance(value, Expression):
        return rewrite(value, read)
    if isinstance(value, tuple):
        return tuple(_moved(item, read) for item in value)
    if isinstance(value, Named | NamedCall | AggregateCall | SortKey | FrameCall):
        given = {f.name: _moved(getattr(value, f.name), read) for f in fields(value)}
        return cast(Any, replace(value, **given))
    return value
