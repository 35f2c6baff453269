"""Names of columns in expressions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import reduce

from sqlglot import exp

from ebbtide.algebra.expression import Expression, Field
from ebbtide.errors import BindError, EbbtideError
from ebbtide.sql import refusals
from ebbtide.sql.binding.environment import Environment

__all__ = ["column"]

Bind = Callable[[exp.Expr, Environment], Expression]


def column(node: exp.Column, env: Environment, bind: Bind) -> Expression:
    """What a name stands for: a column, a field of one, or an alias of the SELECT list."""
    parts = tuple(part.name for part in node.parts)
    alias = env.aliases.get(parts[0].casefold()) if len(parts) == 1 else None
    if alias is not None and (env.aliases_first or not env.scope.knows(parts[0])):
        return bind(alias, replace(env, aliases={}))
    try:
        found = env.scope.resolve(parts)
    except BindError:
        if env.context.beyond is not None and env.context.beyond.reaches(parts):
            raise _too_far(parts) from None
        unseen = env.unseen.get(parts[0].casefold()) if len(parts) == 1 else None
        if unseen is not None and all(node is not part for part in unseen.walk()):
            raise _unseen(parts[0], unseen, env) from None
        if parts[-1].casefold() == "rowtime":
            raise _rowtime(parts, env) from None
        if parts[-1].casefold() == "window_time" and env.scope.reaches(("window_end",)):
            raise _window_time(parts) from None
        if len(parts) == 1 and env.context.span(node).text.startswith('"'):
            raise _no_text(parts[0]) from None
        raise
    if found.depth > 1 or (found.depth == 1 and not env.correlated):
        raise _too_far(parts)
    return reduce(Field, found.fields, found.expression)


def _too_far(parts: tuple[str, ...]) -> EbbtideError:
    return refusals.OUTER_COLUMN(name=".".join(parts))


def _rowtime(parts: tuple[str, ...], env: Environment) -> BindError:
    """The error of the column that ksqlDB adds to every row, its time."""
    return BindError(
        "unknown-column",
        f'there is no column "{".".join(parts)}"',
        detail="the time of a row is a column of it",
        hint=f"write {env.some_column()}",
    )


def _window_time(parts: tuple[str, ...]) -> BindError:
    """The error of the column that Flink adds to a window, the last millisecond of it."""
    end = ".".join((*parts[:-1], "window_end"))
    return BindError(
        "unknown-column",
        f'there is no column "{".".join(parts)}"',
        detail="a window has window_start and window_end",
        hint=f"write ({end} - INTERVAL 1 MILLISECOND)",
    )


def _no_text(name: str) -> BindError:
    """The error of a text in double quotes, as other systems have it."""
    written = name.replace("\\", "\\\\").replace("'", "\\'")
    return BindError(
        "unknown-column",
        f'there is no column "{name}"',
        detail="what stands in double quotes is a name; a text stands in single quotes",
        hint=f"write '{written}'",
    )


def _unseen(name: str, node: exp.Expr, env: Environment) -> BindError:
    text = env.context.span(node).text
    return BindError(
        "unseen-alias",
        f'"{name}" is named in SELECT, and is not a column that {env.clause} can use',
        hint=f"write ({text})",
    )
