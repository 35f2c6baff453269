"""Calls: scalar functions, aggregates, and the functions that need OVER."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from sqlglot import exp

from ebbtide.algebra import coercion
from ebbtide.algebra.aggregates import AGGREGATES
from ebbtide.algebra.aggregates import ALIASES as AGGREGATE_ALIASES
from ebbtide.algebra.call import AggregateCall, SortKey
from ebbtide.algebra.expression import And, Expression, IsNull, Literal, Not, literal
from ebbtide.algebra.functions import ALIASES, FORMS, FUNCTIONS
from ebbtide.algebra.ranking import NEIGHBOURS, NUMBERINGS
from ebbtide.core.types import BOOLEAN, INTERVAL, NullType
from ebbtide.errors import BindError
from ebbtide.sql import nodes, refusals
from ebbtide.sql.binding.environment import Environment
from ebbtide.sql.binding.instants import now_call
from ebbtide.sql.catalog import near
from ebbtide.sql.elsewhere import INSTEAD, instead, length_in

__all__ = [
    "aggregate_call",
    "function_call",
    "holds_aggregate",
    "holds_window",
    "is_aggregate",
    "sort_key",
    "sort_keys",
]

Bind = Callable[[exp.Expr, Environment], Expression]

_COUNT_IF = "COUNT_IF"
_EXTRACTING = ("EXTRACT", "DATE_PART")
_FIELDS = ("DAY", "HOUR", "MINUTE", "SECOND")

# Aggregates that are others of different values, or of any of them.
_OF_DISTINCT = {"COLLECT_SET": "COLLECT", "APPROX_COUNT_DISTINCT": "COUNT"}
_OF_ANY = {"ANY_VALUE": "FIRST"}
_OTHERS = {_COUNT_IF, *_OF_DISTINCT, *_OF_ANY}
_SHARES = {"PERCENTILE", "PERCENTILE_DISC"}


def is_aggregate(name: str) -> bool:
    """Whether a function of that name is an aggregate."""
    return name in AGGREGATES or name in AGGREGATE_ALIASES or name in _OTHERS


def holds_aggregate(node: exp.Expr) -> bool:
    """Whether a node has an aggregate of its own block in it, not one with OVER."""
    return any(
        isinstance(part, nodes.Call) and is_aggregate(part.this) and not _is_over(part)
        for part in _own_parts(node)
    )


def _is_over(call: nodes.Call) -> bool:
    """Whether a call is the one that OVER follows, not one in the definition of the window."""
    return isinstance(call.parent, exp.Window) and call.parent.this is call


def holds_window(node: exp.Expr) -> bool:
    """Whether a node has a call with OVER of its own block in it."""
    return any(isinstance(part, exp.Window) for part in _own_parts(node))


def _own_parts(node: exp.Expr) -> Iterator[exp.Expr]:
    """The node and what is in it, but not in a subquery."""
    if not isinstance(node, exp.Query | exp.Values | nodes.StreamOperator):
        yield node
        for child in node.iter_expressions():
            yield from _own_parts(child)


def function_call(node: nodes.Call, env: Environment, bind: Bind) -> Expression:
    """A call that stands in an expression."""
    name: str = node.this
    if is_aggregate(name):
        if env.aggregate is None:
            raise env.refused("an aggregate", node)
        return env.aggregate(node, env)
    if name in NUMBERINGS | NEIGHBOURS:
        text = env.context.span(node).text
        raise BindError(
            "missing-over",
            f"{name} looks at rows in an order, and needs OVER",
            hint=f"write {text} OVER (ORDER BY {env.some_column()})",
        )
    now = now_call(node, env.context)
    if now is not None:
        return now
    _check_known(node, env)
    for key in ("distinct", "order", "filter", "nulls"):
        if node.args.get(key):
            raise BindError(
                "not-an-aggregate", f"{name} is not an aggregate, and takes no {_WORDS[key]}"
            )
    if any(isinstance(argument, exp.Alias) for argument in node.expressions):
        return _named_struct(node, env, bind)
    arguments = tuple(bind(argument, env) for argument in node.expressions)
    _check_field(node, arguments, env)
    return coercion.call(name, arguments)


def _check_field(node: nodes.Call, arguments: tuple[Expression, ...], env: Environment) -> None:
    """Refuses the epoch of a time, and fields of an INTERVAL, as the text says them."""
    if not arguments or node.this not in (*_EXTRACTING, *_FIELDS):
        return
    first, of = arguments[0], arguments[-1]
    field = str(first.value).upper() if isinstance(first, Literal) else node.this
    text = env.context.extent(node.expressions[-1]).text
    if of.type == INTERVAL:
        written = length_in(field, text)
        raise BindError(
            "unknown-field",
            "an INTERVAL has a length, and no fields",
            detail="cast to a number it is its seconds",
            hint=f"write {written or f'CAST({text} AS BIGINT)'}",
        )
    if field == "EPOCH" and node.this in _EXTRACTING:
        raise BindError(
            "unknown-field",
            "'EPOCH' is not a field of a time",
            hint=f"write (UNIX_MICROS({text}) / 1000000)",
        )


def _named_struct(node: nodes.Call, env: Environment, bind: Bind) -> Expression:
    """STRUCT(1 AS a, b): the names of fields are aliases, columns, or col1, col2 ..."""
    arguments: list[Expression] = []
    for place, argument in enumerate(node.expressions, start=1):
        inner = argument.this if isinstance(argument, exp.Alias) else argument
        plain = isinstance(argument, exp.Alias | exp.Column)
        arguments += [literal(argument.alias_or_name if plain else f"col{place}"), bind(inner, env)]
    return coercion.call("NAMED_STRUCT", tuple(arguments))


_WORDS = {"distinct": "DISTINCT", "order": "WITHIN GROUP", "filter": "FILTER", "nulls": "NULLS"}


def _check_known(node: nodes.Call, env: Environment) -> None:
    name, text = node.this, env.context.span(node).text
    scalar = (*FUNCTIONS, *FORMS, *ALIASES)
    if name in scalar and (name, len(node.expressions)) not in INSTEAD:
        return
    elsewhere = instead(name, [env.context.extent(part).text for part in node.expressions])
    if elsewhere is not None:
        written, advice = elsewhere
        raise BindError(
            "unknown-function",
            f'there is no function "{name}"'
            + (f" of {len(node.expressions)} arguments" if name in scalar else ""),
            hint=advice if written is None else f"write {written}",
        )
    everything = (*scalar, *AGGREGATES, *AGGREGATE_ALIASES, *NUMBERINGS, *NEIGHBOURS)
    close = near(name, everything)
    raise BindError(
        "unknown-function",
        f'there is no function "{name}"',
        hint=f"did you mean {close}{text[text.find('(') :]}?" if close else None,
    )


# --- aggregates --------------------------------------------------------------------------------


def aggregate_call(node: nodes.Call, inner: Environment, bind: Bind) -> AggregateCall:
    """An aggregate, its arguments bound in ``inner``, ordered by what it says itself."""
    name = (AGGREGATE_ALIASES | _OF_DISTINCT | _OF_ANY).get(node.this, node.this)
    arguments = _arguments(node, inner, bind)
    order = sort_keys(node.args.get("order") or [], inner, bind)
    condition = node.args.get("filter")
    where = None if condition is None else _truth(bind(condition, inner))
    if name == _COUNT_IF:
        counted = _truth(_only(name, arguments))
        return AggregateCall("COUNT", (), filter=_both(where, counted))
    if name in _SHARES and order:
        arguments, order = _share(name, arguments, order), ()
    if node.args.get("nulls"):
        where = _both(where, _kept(node, name, arguments))
    distinct = bool(node.args.get("distinct")) or node.this in _OF_DISTINCT
    call = AggregateCall(name, arguments, distinct, where, order)
    if call.order and not call.function.ordered:
        raise BindError("no-order-needed", f"{name} does not depend on an order of its rows")
    return call


def _arguments(node: nodes.Call, env: Environment, bind: Bind) -> tuple[Expression, ...]:
    given = node.expressions
    if len(given) == 1 and isinstance(given[0], exp.Star):
        if node.this != "COUNT" or node.args.get("distinct"):
            raise BindError(
                "misplaced-star",
                f"only COUNT takes *, and without DISTINCT, not {node.this}",
                span=env.context.span(given[0]),
            )
        return ()
    return tuple(bind(argument, env) for argument in given)


def _share(
    name: str, arguments: tuple[Expression, ...], order: tuple[SortKey, ...]
) -> tuple[Expression, ...]:
    """PERCENTILE_CONT(share) WITHIN GROUP (ORDER BY value), with the value in front."""
    if len(order) != 1 or order[0].descending:
        raise refusals.ORDER_OF_A_PERCENTILE(name=name)
    return (order[0].expression, _only(name, arguments))


def _kept(node: nodes.Call, name: str, arguments: tuple[Expression, ...]) -> Expression | None:
    """The condition that IGNORE NULLS stands for."""
    if name not in ("FIRST", "LAST"):
        raise BindError("no-nulls", f"{name} has no treatment of NULLs to choose")
    ignored = node.args["nulls"] == "IGNORE"
    return Not(IsNull(_only(name, arguments))) if ignored else None


def _only(name: str, arguments: tuple[Expression, ...]) -> Expression:
    if len(arguments) != 1:
        raise BindError("wrong-arguments", f"{name} takes 1 argument, not {len(arguments)}")
    return arguments[0]


def _both(left: Expression | None, right: Expression | None) -> Expression | None:
    if left is None or right is None:
        return right if left is None else left
    return And(left, right)


def _truth(expression: Expression) -> Expression:
    if isinstance(expression.type, NullType):
        return coercion.cast(expression, BOOLEAN)
    if expression.type != BOOLEAN:
        raise BindError("type-mismatch", f"a condition is BOOLEAN, not {expression.type}")
    return expression


def sort_keys(ordered: list[exp.Ordered], env: Environment, bind: Bind) -> tuple[SortKey, ...]:
    """The keys of an ORDER BY."""
    return tuple(sort_key(node, bind(node.this, env)) for node in ordered)


def sort_key(node: exp.Ordered, expression: Expression) -> SortKey:
    """A key of an ORDER BY, on a bound expression."""
    key = SortKey(expression, bool(node.args.get("desc")))
    nulls_first = bool(node.args.get("nulls_first"))
    return key if key.puts_nulls_first == nulls_first else replace(key, nulls_first=nulls_first)
