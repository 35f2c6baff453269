"""Functions that say what others say too: STRING_AGG and LISTAGG, PERCENT_RANK, CUME_DIST, NTILE.

Law: the tree that is left is the one of the same query without them, over the same window `w`.

    STRING_AGG(x, s ORDER BY k)     CASE WHEN COUNT(x) > 0
                                      THEN CONCAT_WS(s, COLLECT(x) WITHIN GROUP (ORDER BY k)) END
    PERCENT_RANK() OVER (p o)       CASE WHEN COUNT(*) OVER (p) = 1 THEN 0e0
                                      ELSE CAST(RANK() OVER (p o) - 1 AS DOUBLE)
                                         / (COUNT(*) OVER (p) - 1) END
    CUME_DIST() OVER (p o)          CAST(COUNT(*) OVER (p o) AS DOUBLE) / COUNT(*) OVER (p)
    NTILE(n) OVER (p o)             the number of the part, of n parts whose sizes differ by one at
                                    most, the greater ones first, from ROW_NUMBER and COUNT
"""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from ebbtide.errors import ParseError
from ebbtide.sql import nodes
from ebbtide.sql.made_nodes import placed
from ebbtide.sql.spans import marked, span_of

__all__ = ["FRAMELESS", "UNORDERED", "said_by_others"]

UNORDERED = "unordered"
"""Marks a window that takes the partition of a named one, and not its order."""
FRAMELESS = "frameless"
"""Marks a window that no frame of a named one may bound, by the name of its function."""

_JOINS = ("STRING_AGG", "LISTAGG", "GROUP_CONCAT")
_RANKS = ("PERCENT_RANK", "CUME_DIST", "NTILE")


def said_by_others(node: exp.Expr, source: str) -> exp.Expr:
    """A call, with OVER or without, by calls of the library."""
    call = node.this if isinstance(node, exp.Window) else node
    made = node
    if isinstance(call, nodes.Call) and call.this in _JOINS:
        made = _joined(call, node if isinstance(node, exp.Window) else None, source)
    elif isinstance(call, nodes.Call) and call.this in _RANKS:
        made = _ranked(call, node, source)
    if made is not node:
        placed(made, node)
        for part in made.walk():
            if marked(part) is None:
                placed(part, node)
    return made


# --- texts -------------------------------------------------------------------------------------


def _joined(call: nodes.Call, window: exp.Window | None, source: str) -> exp.Expr:
    if len(call.expressions) not in (1, 2) or call.args.get("nulls"):
        raise ParseError(
            "wrong-arguments",
            f"{call.this} takes a text and what stands between two",
            span=span_of(call, source),
            hint=f"write {call.this}(name, ', ')",
        )
    text, *rest = call.expressions
    between = rest[0] if rest else exp.Literal.string(",")
    same = {key: call.args.get(key) for key in ("distinct", "filter")}
    count = _call("COUNT", [text.copy()], **_copied(same))
    given = {"distinct": same["distinct"], "order": call.args.get("order"), **same}
    values = _call("COLLECT", [text], **given)
    some = exp.GT(this=_over(count, window), expression=exp.Literal.number(0))
    joined = _call("CONCAT_WS", [between, _over(values, window)])
    return exp.Case(ifs=[exp.If(this=some, true=joined)])


def _copied(arguments: dict[str, Any]) -> dict[str, Any]:
    return {
        key: value.copy() if isinstance(value, exp.Expr) else value
        for key, value in arguments.items()
    }


# --- ranks -------------------------------------------------------------------------------------


def _ranked(call: nodes.Call, window: exp.Expr, source: str) -> exp.Expr:
    wanted = 1 if call.this == "NTILE" else 0
    if len(call.expressions) != wanted:
        raise ParseError(
            "wrong-arguments",
            f"{call.this} takes {'one number' if wanted else 'no argument'}",
            span=span_of(call, source),
            hint=f"write {call.this}({'4' if wanted else ''})",
        )
    if not isinstance(window, exp.Window):
        raise ParseError(
            "missing-over",
            f"{call.this} looks at rows in an order, and needs OVER",
            span=span_of(call, source),
        )
    if window.args.get("spec"):
        raise ParseError("bad-frame", f"{call.this} takes no frame", span=span_of(window, source))
    window.meta[FRAMELESS] = call.this
    whole = window.copy()
    whole.set("order", None)
    whole.meta[UNORDERED] = True
    rows = _call("COUNT", [exp.Star()])
    if call.this == "CUME_DIST":
        until = _double(_over(rows.copy(), window))
        return exp.Paren(this=exp.Div(this=until, expression=_over(rows, whole), **_SAFE))
    if call.this == "PERCENT_RANK":
        before = exp.Sub(this=_over(_call("RANK", []), window), expression=_number(1))
        others = exp.Paren(this=exp.Sub(this=_over(rows.copy(), whole), expression=_number(1)))
        alone = exp.EQ(this=_over(rows, whole), expression=_number(1))
        share = exp.Div(this=_double(before), expression=others, **_SAFE)
        zero = exp.Literal(this="0e0", is_string=False)
        return exp.Case(ifs=[exp.If(this=alone, true=zero)], default=share)
    return _ntile(call, window, whole, source)


def _ntile(call: nodes.Call, window: exp.Window, whole: exp.Window, source: str) -> exp.Expr:
    parts = call.expressions[0]
    if not (isinstance(parts, exp.Literal) and parts.is_int and int(parts.name) > 0):
        raise ParseError(
            "bad-count", "NTILE needs a whole number of parts", span=span_of(parts, source)
        )

    def row() -> exp.Expr:
        return _over(_call("ROW_NUMBER", []), window)

    def rows() -> exp.Expr:
        return _over(_call("COUNT", [exp.Star()]), whole)

    def size() -> exp.Expr:
        return exp.Paren(this=exp.IntDiv(this=rows(), expression=parts.copy()))

    def greater() -> exp.Expr:
        """How many parts have a row more."""
        return exp.Paren(this=exp.Mod(this=rows(), expression=parts.copy()))

    def more() -> exp.Expr:
        return exp.Paren(this=exp.Add(this=size(), expression=_number(1)))

    def nth(rank: exp.Expr, length: exp.Expr) -> exp.Expr:
        place = exp.Paren(this=exp.Sub(this=rank, expression=_number(1)))
        number = exp.Paren(this=exp.IntDiv(this=place, expression=length))
        return exp.Add(this=number, expression=_number(1))

    early = exp.LTE(this=row(), expression=exp.Mul(this=greater(), expression=more()))
    late = exp.Paren(this=exp.Sub(this=row(), expression=greater()))
    return exp.Case(ifs=[exp.If(this=early, true=nth(row(), more()))], default=nth(late, size()))


_SAFE = {"typed": False, "safe": True}


def _number(value: int) -> exp.Expr:
    return exp.Literal(this=str(value), is_string=False)


def _double(node: exp.Expr) -> exp.Expr:
    return exp.Cast(this=node, to=exp.DataType(this=exp.DType.DOUBLE, nested=False))


def _call(name: str, arguments: list[exp.Expr], **options: Any) -> nodes.Call:
    given = {key: value for key, value in options.items() if value}
    return nodes.Call(this=name, expressions=arguments, **given)


def _over(call: nodes.Call, window: exp.Window | None) -> exp.Expr:
    """A call over a copy of a window."""
    if window is None:
        return call
    made = window.copy()
    made.set("this", call)
    return made
