"""The last look at a tree: nothing is in it that Ebbtide does not have.

sqlglot reads many dialects, and a clause of another one must not be passed over in silence.  This
pass changes nothing.  It goes by what is allowed (`allowed`), which is also what the package's
docstring promises to whoever reads the tree, and by where it is allowed, below.
"""

import re
from collections.abc import Callable
from typing import Any, NoReturn

from sqlglot import exp

from ebbtide.errors import ParseError
from ebbtide.sql import nodes, refusals
from ebbtide.sql.allowed import ALLOWED
from ebbtide.sql.spans import extent_of, span_of
from ebbtide.sql.types import data_type

__all__ = ["MAX_DEPTH", "check"]

MAX_DEPTH = 150

_SOURCES = (exp.From, exp.Join, nodes.Joined, nodes.Windowed, nodes.TableFunction)
_QUERIES = (exp.Select, exp.SetOperation, exp.Values, nodes.StreamOperator)
_HOLD_QUERIES = (exp.Subquery, exp.Exists, exp.CTE, exp.SetOperation, nodes.StreamOperator)
_TIGHTER = (exp.Binary, exp.Neg, exp.BitwiseNot, exp.Between, exp.In, exp.Bracket)
_NAME = re.compile(r"\w+")
_NO_FUNCTIONS = ("ISTREAM", "DSTREAM", "RSTREAM", "TUMBLE", "HOP", "SESSION", "CUMULATE")


def check(root: exp.Expr, source: str) -> None:
    """Refuses a tree that holds what is not in the language, or is too deep to be walked."""
    stack = [(root, 1)]
    while stack:
        node, depth = stack.pop()
        if depth > MAX_DEPTH:
            raise ParseError(
                "too-deep",
                f"an expression has more than {MAX_DEPTH} levels",
                span=span_of(root, source),
                hint="name parts of it in WITH, or use IN (...) for a long OR",
            )
        _check_node(node, source)
        stack += [(child, depth + 1) for child in node.iter_expressions()]


def _check_node(node: exp.Expr, source: str) -> None:
    allowed = ALLOWED.get(type(node))
    if allowed is None:
        refusal = refusals.NODES.get(type(node), refusals.OTHER)
        raise refusal(span_of(node, source), what=node.key.upper())
    for name, value in node.args.items():
        if name not in allowed and value not in (None, False, []):
            refusal = refusals.ARGUMENTS.get((type(node), name), refusals.OTHER)
            place = value if isinstance(value, exp.Expr) and name != "this" else node
            raise refusal(span_of(place, source), what=f"{name.strip('_').upper()} here")
    for kind, rule in _RULES.items():
        if isinstance(node, kind):
            rule(node, source)


def _wrong(node: exp.Expr, source: str, message: str, hint: str | None = None) -> NoReturn:
    raise ParseError("syntax", message, span=span_of(node, source), hint=hint)


# --- where it is allowed -----------------------------------------------------------------------


def _query(node: exp.Expr, source: str) -> None:
    parent = node.parent
    held = parent is None or isinstance(parent, _HOLD_QUERIES)
    if isinstance(node, exp.Values | nodes.StreamOperator):
        held = held or isinstance(parent, _SOURCES)
    if not held:
        span = extent_of(node, source)
        raise ParseError(
            "syntax",
            "a query in an expression stands in parentheses",
            span=span,
            hint=f"write ({span.text})",
        )
    if node.args.get("alias") and not isinstance(parent, _SOURCES):
        _wrong(node.args["alias"], source, "a query has an alias in FROM only")


def _operands(node: exp.Expr, source: str) -> None:
    for operand in (node.this, node.expression):
        for clause in ("with_", "order", "limit", "offset"):
            if not isinstance(operand, exp.Subquery) and operand.args.get(clause):
                _wrong(
                    operand.args[clause],
                    source,
                    "a query with this clause stands in parentheses next to a set operation",
                )


def _subquery(node: exp.Expr, source: str) -> None:
    if node.args.get("alias") and not isinstance(node.parent, _SOURCES):
        _wrong(node.args["alias"], source, "a query has an alias in FROM only")


def _windowed(node: exp.Expr, source: str) -> None:
    if isinstance(node.this, exp.Values | nodes.Joined | nodes.Windowed):
        _wrong(node.args["window"], source, "a window stands on one stream")


def _alias(node: exp.Expr, source: str) -> None:
    parent = node.parent
    struct = isinstance(parent, nodes.Call) and parent.this == "STRUCT"
    if not struct and not isinstance(parent, exp.Select):
        _wrong(node, source, "an alias stands in SELECT, in FROM or in STRUCT only")


def _star(node: exp.Expr, source: str) -> None:
    if node.args.get("except_") == []:
        _wrong(node, source, "EXCEPT is followed by names of columns")
    parent = node.parent
    if isinstance(parent, nodes.Call):
        allowed = parent.this == "COUNT" and not parent.args.get("distinct")
    else:
        allowed = isinstance(
            parent.parent if isinstance(parent, exp.Column) else parent, exp.Select
        )
    if not allowed:
        _wrong(node, source, "* stands in SELECT or in COUNT(*) only")


def _call(node: exp.Expr, source: str) -> None:
    if node.this in _NO_FUNCTIONS:
        _wrong(node, source, f"{node.this} stands in FROM, or is a query of its own")


def _not(node: exp.Expr, source: str) -> None:
    tight = isinstance(node.parent, _TIGHTER) and not isinstance(node.parent, exp.Connector)
    listed = isinstance(node.parent, exp.In) and node.parent.this is not node
    if tight and not listed:
        hint = f"write ({span_of(node, source).text})"
        _wrong(node, source, "NOT stands in parentheses next to an operator", hint)


def _column(node: exp.Expr, source: str) -> None:
    if not isinstance(node.this, exp.Identifier | exp.Star):
        _wrong(node, source, "a name is expected here")


def _identifier(node: exp.Expr, source: str) -> None:
    if not node.name:
        _wrong(node, source, "a name is not empty")
    if not node.args.get("quoted") and not _NAME.fullmatch(node.name):
        _wrong(node, source, f"{node.name} is not a name without quotes", f"write `{node.name}`")


def _dot(node: exp.Expr, source: str) -> None:
    if not isinstance(node.expression, exp.Identifier):
        _wrong(node, source, "a field of a struct is a name")
    if isinstance(node.this, exp.Literal | exp.Null | exp.Boolean | nodes.Duration):
        _wrong(node, source, "a literal has no fields")


def _bracket(node: exp.Expr, source: str) -> None:
    if len(node.expressions) != 1:
        _wrong(node, source, "an item of an array has one position")


def _is(node: exp.Expr, source: str) -> None:
    if not isinstance(node.expression, exp.Null | exp.Boolean):
        _wrong(node, source, "after IS stands NULL, TRUE, FALSE or DISTINCT FROM")


def _escape(node: exp.Expr, source: str) -> None:
    character = node.expression
    like = isinstance(node.this, exp.Like | exp.ILike)
    if not (like and character.is_string and len(character.name) == 1):
        _wrong(character, source, "ESCAPE is followed by one character in quotes")


def _tuple(node: exp.Expr, source: str) -> None:
    if not node.expressions:
        _wrong(node, source, "something is missing between the parentheses")
    if not isinstance(node.parent, exp.In | exp.Values):
        span = span_of(node, source)
        raise refusals.ROW_OF_VALUES(span, values=span.text)


def _in(node: exp.Expr, source: str) -> None:
    if not node.expressions and node.args.get("query") is None:
        _wrong(node, source, "IN is followed by values or a query in parentheses")


def _table_alias(node: exp.Expr, source: str) -> None:
    if node.args.get("this") is None:
        _wrong(node, source, "names of columns follow the name of their source")
    for column in node.args.get("columns") or ():
        if not isinstance(column, exp.Identifier):
            _wrong(column, source, "names of columns have no types here")


def _cast(node: exp.Expr, source: str) -> None:
    data_type(node.args["to"], source)


def _definition(node: exp.Expr, source: str) -> None:
    if not isinstance(node.parent, exp.DataType):
        _wrong(node, source, "a type is not expected here")


_Rule = Callable[[Any, str], None]

_RULES: dict[type[exp.Expr] | tuple[type[exp.Expr], ...], _Rule] = {
    _QUERIES: _query,
    exp.SetOperation: _operands,
    exp.Subquery: _subquery,
    nodes.Windowed: _windowed,
    exp.Alias: _alias,
    exp.Star: _star,
    nodes.Call: _call,
    exp.Not: _not,
    exp.Column: _column,
    exp.Identifier: _identifier,
    exp.Dot: _dot,
    exp.Bracket: _bracket,
    exp.Is: _is,
    exp.Escape: _escape,
    exp.Tuple: _tuple,
    exp.In: _in,
    exp.TableAlias: _table_alias,
    (exp.Cast, exp.TryCast): _cast,
    exp.ColumnDef: _definition,
}
