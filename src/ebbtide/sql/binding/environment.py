"""What an expression may hold, by the clause that it stands in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from sqlglot import exp

from ebbtide.algebra.expression import Expression
from ebbtide.core.types import TimestampType
from ebbtide.errors import BindError
from ebbtide.sql import nodes
from ebbtide.sql.binding.context import Context
from ebbtide.sql.binding.scope import Scope

__all__ = ["Environment"]


@dataclass(frozen=True, slots=True)
class Environment:
    """A clause of a block: its names, and who deals with aggregates, OVER and subqueries.

    Where nobody does, they are refused.  ``aliases`` are the expressions that the SELECT list
    names; ``aliases_first`` says that they go before the columns of FROM, as in ORDER BY;
    ``unseen`` are those that a clause before the SELECT list cannot use.  ``correlated`` says that
    names of the block around may be used.
    """

    context: Context
    scope: Scope
    clause: str
    correlated: bool = False
    aggregate: Callable[[nodes.Call, Environment], Expression] | None = None
    window: Callable[[exp.Window, Environment], Expression] | None = None
    subquery: Callable[[exp.Expr, Environment], Expression] | None = None
    aliases: Mapping[str, exp.Expr] = field(default_factory=dict)
    aliases_first: bool = False
    unseen: Mapping[str, exp.Expr] = field(default_factory=dict)

    def within(self, clause: str) -> Environment:
        """The environment of the arguments of an aggregate: nothing of its kind inside it."""
        return replace(self, clause=clause, aggregate=None, window=None, aliases={})

    def some_column(self) -> str:
        """A column by which rows may be ordered: a time, if there is one."""
        known = self.scope.expanded()
        times = [visible for visible in known if isinstance(visible.expression.type, TimestampType)]
        return str((*times, *known, "1")[0])

    def refused(self, what: str, node: exp.Expr) -> BindError:
        """The error that an aggregate, a window function or a subquery stands where it cannot."""
        text = self.context.span(node).text
        message = f"{text} is {what}, which cannot stand in {self.clause}"
        return BindError(_CODES[what], message, hint=_hint(what, self.clause, text))


_CODES = {
    "an aggregate": "misplaced-aggregate",
    "a window function": "misplaced-window-function",
    "a subquery": "misplaced-subquery",
}


def _hint(what: str, clause: str, text: str) -> str | None:
    if what == "an aggregate" and clause == "WHERE":
        return "conditions on groups stand in HAVING, after GROUP BY"
    if what == "an aggregate" and clause == "an aggregate":
        return f"compute {text} in a subquery, and aggregate over that"
    if what == "a window function":
        return f"compute {text} in a subquery, and use its column outside"
    return None
