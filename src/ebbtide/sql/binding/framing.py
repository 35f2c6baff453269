"""OVER: one operator for each definition of a window.

Law: a call stands for the column that it will make.  Where the result depends on the order of
peers (ROW_NUMBER, LAG, LEAD, ROWS frames) the time and key of the input follow the order that is
given.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from sqlglot import exp

from ebbtide.algebra import coercion
from ebbtide.algebra.call import AggregateCall, SortKey
from ebbtide.algebra.expression import Expression, Literal, Ref
from ebbtide.algebra.origin import tie_break
from ebbtide.algebra.ranking import (
    NEIGHBOURS,
    NUMBERINGS,
    Frame,
    FrameCall,
    FrameUnit,
    Over,
    over_column,
)
from ebbtide.algebra.relation import Relation
from ebbtide.core.schema import Column
from ebbtide.core.tree import rewrite
from ebbtide.core.types import INTERVAL, IntegerType, TimestampType, is_numeric
from ebbtide.errors import BindError
from ebbtide.plan_text.call_sql import breaks_ties, given_over
from ebbtide.sql import nodes
from ebbtide.sql.binding.calls import aggregate_call, is_aggregate, sort_keys
from ebbtide.sql.binding.environment import Environment
from ebbtide.sql.binding.naming import column_text, unique
from ebbtide.sql.binding.scalars import scalar

__all__ = ["Framing"]


@dataclass(frozen=True, slots=True)
class _Framed:
    """A call and the definition of its window, as they were written."""

    call: AggregateCall
    partition_by: tuple[Expression, ...]
    order_by: tuple[SortKey, ...]
    frame: Frame | None

    def mapped(self, above: Callable[[Expression], Expression]) -> _Framed:
        """The same on other columns."""

        def keys(order: tuple[SortKey, ...]) -> tuple[SortKey, ...]:
            return tuple(replace(key, expression=above(key.expression)) for key in order)

        call = replace(
            self.call,
            arguments=tuple(map(above, self.call.arguments)),
            filter=None if self.call.filter is None else above(self.call.filter),
            order=keys(self.call.order),
        )
        return replace(
            self,
            call=call,
            partition_by=tuple(map(above, self.partition_by)),
            order_by=keys(self.order_by),
        )


@dataclass(slots=True)
class Framing:
    """The calls with OVER of a block, as its expressions are bound."""

    calls: dict[_Framed, Column] = field(default_factory=dict)
    made: dict[Column, Column] = field(default_factory=dict)

    def window(self, node: exp.Window, env: Environment) -> Expression:
        """The column that a call with OVER will make."""
        inner = replace(env, clause="OVER", window=None, subquery=None)
        framed = _Framed(
            _call(node.this, inner),
            tuple(scalar(key, inner) for key in node.args.get("partition_by") or []),
            _order(node, inner),
            _frame(node.args.get("spec"), env),
        )
        _check(framed, node, env)
        if framed not in self.calls:
            column = over_column(FrameCall(f"over {len(self.calls) + 1}", framed.call))
            self.calls[framed] = column
        return Ref(self.calls[framed])

    def on(self, relation: Relation, above: Callable[[Expression], Expression]) -> Relation:
        """The relation with a column for every call; ``above`` says what theirs stand on."""
        groups: dict[Over, list[tuple[AggregateCall, Column]]] = {}
        for framed, column in self.calls.items():
            known = framed.mapped(above)
            order, call = _completed(known, relation)
            definition = Over(relation, (), known.partition_by, order, known.frame)
            groups.setdefault(definition, []).append((call, column))
        for definition, members in groups.items():
            relation = self._over(replace(definition, input=relation), members)
        return relation

    def _over(self, bare: Over, members: list[tuple[AggregateCall, Column]]) -> Relation:
        calls: list[FrameCall] = []
        for call, column in members:
            taken = [*bare.schema.names, *(framed.name for framed in calls)]
            calls.append(FrameCall(unique(given_over(bare, call, column_text), taken), call))
            self.made[column] = over_column(calls[-1])
        return replace(bare, calls=tuple(calls))

    def above(self, expression: Expression) -> Expression:
        """An expression with the columns as they were made."""

        def step(node: Expression) -> Expression:
            if isinstance(node, Ref) and node.column in self.made:
                return Ref(self.made[node.column])
            return node

        return rewrite(expression, step)


def _completed(framed: _Framed, relation: Relation) -> tuple[tuple[SortKey, ...], AggregateCall]:
    """The order of a window and its call, with what breaks ties."""
    order, call = framed.order_by, framed.call
    if call.name not in NUMBERINGS | NEIGHBOURS and call.function.ordered:
        given = call.order or order
        call = replace(call, order=given + tie_break(relation, given))
    if breaks_ties(call, framed.frame):
        order += tie_break(relation, order)
    return order, call


# --- reading -----------------------------------------------------------------------------------


def _call(node: nodes.Call, env: Environment) -> AggregateCall:
    with env.context.at(node):
        name: str = node.this
        if is_aggregate(name):
            return aggregate_call(node, env, scalar)
        if name not in NUMBERINGS | NEIGHBOURS:
            raise BindError("no-window-function", f"{name} takes no OVER")
        for key in ("distinct", "order", "filter", "nulls"):
            if node.args.get(key):
                raise BindError("not-an-aggregate", f"{name} is not an aggregate")
        arguments = tuple(scalar(argument, env) for argument in node.expressions)
        if name in NUMBERINGS and arguments:
            raise BindError("wrong-arguments", f"{name} takes no argument")
        return AggregateCall(name, _neighbour(name, arguments) if name in NEIGHBOURS else ())


def _neighbour(name: str, arguments: tuple[Expression, ...]) -> tuple[Expression, ...]:
    if not 1 <= len(arguments) <= 3:
        raise BindError("wrong-arguments", f"{name} takes 1 to 3 arguments, not {len(arguments)}")
    value, *options = arguments
    if options and not (
        isinstance(options[0], Literal) and isinstance(options[0].type, IntegerType)
    ):
        raise BindError("bad-count", f"{name} needs a whole number of rows")
    if len(options) > 1:
        wider = coercion.common_type(value.type, options[1].type)
        if wider is None:
            raise BindError(
                "type-mismatch", f"{name} of {value.type} is not {options[1].type} by default"
            )
        return (coercion.cast(value, wider), options[0], coercion.cast(options[1], wider))
    return (value, *options)


def _order(node: exp.Window, env: Environment) -> tuple[SortKey, ...]:
    order = node.args.get("order")
    return sort_keys(order.expressions if order else [], env, scalar)


def _frame(spec: exp.WindowSpec | None, env: Environment) -> Frame | None:
    if spec is None:
        return None
    unit = FrameUnit(spec.args["kind"])
    start = _bound(spec.args.get("start"), spec.args.get("start_side"), unit, env)
    given_end = spec.args.get("end")
    end = 0 if given_end is None else _bound(given_end, spec.args.get("end_side"), unit, env)
    with env.context.at(spec):
        return Frame(unit, start, end)


def _bound(
    bound: exp.Expr | str | None, side: str | None, unit: FrameUnit, env: Environment
) -> int | None:
    if bound is None or bound == "CURRENT ROW":
        return 0
    if bound == "UNBOUNDED":
        return None
    assert isinstance(bound, exp.Expr)
    amount = scalar(bound, replace(env, aggregate=None, window=None, subquery=None))
    whole = isinstance(amount, Literal) and isinstance(amount.value, int)
    timed = unit is FrameUnit.RANGE and amount.type == INTERVAL
    if not (whole and (isinstance(amount.type, IntegerType) or timed)):
        raise BindError(
            "bad-frame",
            f"a bound of {unit.value} is a whole number"
            + (" or a duration" if unit is FrameUnit.RANGE else " of rows"),
            span=env.context.span(bound),
        )
    assert isinstance(amount, Literal)
    return -amount.value if side == "PRECEDING" else int(amount.value)


def _check(framed: _Framed, node: exp.Window, env: Environment) -> None:
    name, frame = framed.call.name, framed.frame
    if name in NUMBERINGS | NEIGHBOURS:
        if frame is not None:
            raise BindError("bad-frame", f"{name} takes no frame")
        if not framed.order_by and name != "ROW_NUMBER":
            text = env.context.span(node).text.rstrip(")").rstrip()
            space = "" if text.endswith("(") else " "
            raise BindError(
                "missing-order",
                f"{name} needs an ORDER BY in its OVER",
                hint=f"write {text}{space}ORDER BY {env.some_column()})",
            )
    if frame is None or frame.unit is FrameUnit.ROWS:
        return
    if frame.start in (None, 0) and frame.end in (None, 0):
        return
    if len(framed.order_by) != 1:
        raise BindError("bad-frame", "a RANGE frame needs exactly one ORDER BY column")
    type_ = framed.order_by[0].expression.type
    spec = node.args["spec"]
    bounds = [spec.args.get(key) for key in ("start", "end")]
    timed = any(isinstance(bound, nodes.Duration) for bound in bounds)
    fits = isinstance(type_, TimestampType) if timed else is_numeric(type_)
    if not fits:
        raise BindError(
            "bad-frame",
            f"the bounds of a RANGE frame do not go with its order, which is by {type_}",
            span=env.context.span(spec),
        )
