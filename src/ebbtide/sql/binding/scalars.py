"""Scalar expressions: from a tree of names to a typed tree.

Casts are inserted by ``algebra.coercion``, as Spark does.  An error that one of its constructors
raises is placed at the innermost node that it belongs to.  Parts are bound in the order in which
they are written: aggregates get their columns in it, also when the plan is printed and read again.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

from sqlglot import exp

from ebbtide.algebra import coercion
from ebbtide.algebra.expression import (
    And,
    CeilTo,
    Expression,
    Field,
    FloorTo,
    IsNull,
    Item,
    Literal,
    Not,
    Or,
)
from ebbtide.core.types import BOOLEAN, NULL
from ebbtide.errors import BindError
from ebbtide.sql import nodes, refusals
from ebbtide.sql.binding.calls import function_call
from ebbtide.sql.binding.columns import column
from ebbtide.sql.binding.constants import constant, number
from ebbtide.sql.binding.environment import Environment
from ebbtide.sql.binding.instants import in_millis
from ebbtide.sql.types import data_type

__all__ = ["condition", "scalar"]

Handler = Callable[[Any, Environment], Expression]


def scalar(node: exp.Expr, env: Environment) -> Expression:
    """The expression that a node stands for."""
    with env.context.at(node):
        known = constant(node)
        if known is not None:
            return known
        handler = _HANDLERS.get(type(node))
        if handler is None:
            raise refusals.NOT_AN_EXPRESSION(text=env.context.span(node).text)
        return handler(node, env)


def condition(node: exp.Expr, env: Environment) -> Expression:
    """A truth value."""
    bound = scalar(node, env)
    if bound.type == NULL:
        return Literal(None, BOOLEAN)
    if bound.type != BOOLEAN:
        raise BindError(
            "type-mismatch",
            f"{env.clause} needs a BOOLEAN, and this is {bound.type}",
            span=env.context.span(node),
        )
    return bound


# --- names -------------------------------------------------------------------------------------


def _column(node: exp.Column, env: Environment) -> Expression:
    return _star(node, env) if isinstance(node.this, exp.Star) else column(node, env, scalar)


def _star(node: exp.Expr, env: Environment) -> Expression:
    raise BindError("misplaced-star", f"* cannot stand in {env.clause} here")


def _dot(node: exp.Dot, env: Environment) -> Expression:
    return Field(scalar(node.this, env), node.expression.name)


def _bracket(node: exp.Bracket, env: Environment) -> Expression:
    return Item(scalar(node.this, env), scalar(node.expressions[0], env))


# --- operators ---------------------------------------------------------------------------------


def _arithmetic(op: str) -> Handler:
    return lambda node, env: coercion.arithmetic(
        op, scalar(node.this, env), scalar(node.expression, env)
    )


def _comparison(op: str) -> Handler:
    return lambda node, env: _compared(op, node, env)


def _compared(op: str, node: exp.Binary, env: Environment) -> Expression:
    left, right = scalar(node.this, env), scalar(node.expression, env)
    return coercion.compare(
        op, in_millis(node.this, left, right), in_millis(node.expression, right, left)
    )


def _equal(node: exp.EQ, env: Environment) -> Expression:
    right = node.expression
    # x = ANY (array), where no aggregate can stand.
    quantified = isinstance(right, nodes.Call) and right.this == "ANY" and env.aggregate is None
    if quantified and len(right.expressions) == 1:
        items = env.context.extent(right.expressions[0]).text
        item = env.context.extent(node.this).text
        raise BindError(
            "misplaced-aggregate",
            f"ANY({items}) is an aggregate, which cannot stand in {env.clause}",
            hint=f"write ARRAY_CONTAINS({items}, {item})",
            span=env.context.extent(node),
        )
    return _compared("=", node, env)


def _named(name: str) -> Handler:
    return lambda node, env: coercion.call(
        name, (scalar(node.this, env), scalar(node.expression, env))
    )


def _paren(node: exp.Paren, env: Environment) -> Expression:
    return scalar(node.this, env)


def _neg(node: exp.Neg, env: Environment) -> Expression:
    operand = node.this
    if isinstance(operand, exp.Literal) and not operand.is_string:
        return number(f"-{operand.this}")
    return coercion.negate(scalar(operand, env))


def _logic(make: type[And] | type[Or]) -> Handler:
    return lambda node, env: make(condition(node.this, env), condition(node.expression, env))


def _not(node: exp.Not, env: Environment) -> Expression:
    return Not(condition(node.this, env))


def _bit_not(node: exp.BitwiseNot, env: Environment) -> Expression:
    return coercion.call("BIT_NOT", (scalar(node.this, env),))


def _null_safe_unequal(node: exp.NullSafeNEQ, env: Environment) -> Expression:
    return Not(coercion.compare("<=>", scalar(node.this, env), scalar(node.expression, env)))


def _is(node: exp.Is, env: Environment) -> Expression:
    operand = scalar(node.this, env)
    if isinstance(node.expression, exp.Null):
        return IsNull(operand)
    return coercion.compare("<=>", operand, scalar(node.expression, env))


def _between(node: exp.Between, env: Environment) -> Expression:
    operand = scalar(node.this, env)
    low, high = scalar(node.args["low"], env), scalar(node.args["high"], env)
    return coercion.between(in_millis(node.this, operand, low, high), low, high)


def _like(node: exp.Like | exp.ILike, env: Environment) -> Expression:
    return _matched(node, env, "\\")


def _escape(node: exp.Escape, env: Environment) -> Expression:
    character = node.expression
    if not isinstance(character, exp.Literal) or len(str(character.this)) != 1:
        raise BindError(
            "bad-escape", "ESCAPE needs one character", span=env.context.span(character)
        )
    return _matched(node.this, env, str(character.this))


def _matched(node: exp.Expr, env: Environment, escape: str) -> Expression:
    operand, pattern = scalar(node.this, env), scalar(node.expression, env)
    if isinstance(node, exp.ILike):
        operand, pattern = coercion.call("LOWER", (operand,)), coercion.call("LOWER", (pattern,))
    matched = coercion.like(operand, pattern, escape)
    return Not(matched) if node.args.get("negate") else matched


def _in(node: exp.In, env: Environment) -> Expression:
    if node.args.get("query") is not None:
        return _subquery(node, env)
    if isinstance(node.this, exp.Tuple):
        options = [_tuples_equal(node.this, option, env) for option in node.expressions]
        return reduce(Or, options)
    operand = scalar(node.this, env)
    options = [scalar(option, env) for option in node.expressions]
    return coercion.in_list(operand, tuple(options))


def _tuples_equal(left: exp.Tuple, right: exp.Expr, env: Environment) -> Expression:
    if not isinstance(right, exp.Tuple) or len(right.expressions) != len(left.expressions):
        raise BindError(
            "column-count",
            f"IN compares {len(left.expressions)} values with another number of them",
            span=env.context.span(right),
        )
    pairs = zip(left.expressions, right.expressions, strict=True)
    return reduce(And, [coercion.compare("=", scalar(a, env), scalar(b, env)) for a, b in pairs])


def _tuple(node: exp.Tuple, env: Environment) -> Expression:
    raise refusals.TUPLE()


def _case(node: exp.Case, env: Environment) -> Expression:
    operand = None if node.this is None else scalar(node.this, env)
    branches = []
    for branch in node.args["ifs"]:
        if operand is None:
            when = condition(branch.this, env)
        else:
            with env.context.at(branch.this):
                when = coercion.compare("=", operand, scalar(branch.this, env))
        branches.append((when, scalar(branch.args["true"], env)))
    default = node.args.get("default")
    return coercion.case(tuple(branches), None if default is None else scalar(default, env))


def _cast(node: exp.Cast | exp.TryCast, env: Environment) -> Expression:
    to = data_type(node.args["to"], env.context.source)
    return coercion.cast(scalar(node.this, env), to, safe=isinstance(node, exp.TryCast))


def _floor(node: nodes.FloorTo, env: Environment) -> Expression:
    return FloorTo(coercion.as_timestamp(scalar(node.this, env)), node.args["grid"].us)


def _ceil(node: nodes.CeilTo, env: Environment) -> Expression:
    return CeilTo(coercion.as_timestamp(scalar(node.this, env)), node.args["grid"].us)


# --- calls and subqueries ----------------------------------------------------------------------


def _call(node: nodes.Call, env: Environment) -> Expression:
    return function_call(node, env, scalar)


def _window(node: exp.Window, env: Environment) -> Expression:
    if env.window is None:
        raise env.refused("a window function", node)
    return env.window(node, env)


def _subquery(node: exp.Expr, env: Environment) -> Expression:
    if env.subquery is None:
        raise env.refused("a subquery", node)
    return env.subquery(node, env)


_HANDLERS: dict[type[exp.Expr], Handler] = {
    exp.Column: _column,
    exp.Star: _star,
    exp.Dot: _dot,
    exp.Bracket: _bracket,
    exp.Paren: _paren,
    exp.Neg: _neg,
    exp.Add: _arithmetic("+"),
    exp.Sub: _arithmetic("-"),
    exp.Mul: _arithmetic("*"),
    exp.Div: _arithmetic("/"),
    exp.Mod: _arithmetic("%"),
    exp.IntDiv: _arithmetic("DIV"),
    exp.DPipe: _named("CONCAT"),
    exp.RegexpLike: _named("RLIKE"),
    exp.BitwiseAnd: _named("BIT_AND"),
    exp.BitwiseOr: _named("BIT_OR"),
    exp.BitwiseXor: _named("BIT_XOR"),
    exp.BitwiseNot: _bit_not,
    exp.And: _logic(And),
    exp.Or: _logic(Or),
    exp.Not: _not,
    exp.EQ: _equal,
    exp.NEQ: _comparison("<>"),
    exp.LT: _comparison("<"),
    exp.LTE: _comparison("<="),
    exp.GT: _comparison(">"),
    exp.GTE: _comparison(">="),
    exp.NullSafeEQ: _comparison("<=>"),
    exp.NullSafeNEQ: _null_safe_unequal,
    exp.Is: _is,
    exp.Between: _between,
    exp.Like: _like,
    exp.ILike: _like,
    exp.Escape: _escape,
    exp.In: _in,
    exp.Tuple: _tuple,
    exp.Case: _case,
    exp.Cast: _cast,
    exp.TryCast: _cast,
    nodes.FloorTo: _floor,
    nodes.CeilTo: _ceil,
    nodes.Call: _call,
    exp.Window: _window,
    exp.Subquery: _subquery,
    exp.Exists: _subquery,
    nodes.Quantified: _subquery,
}
