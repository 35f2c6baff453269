"""The clauses of a SELECT, as they are written."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from ebbtide.sql.binding.calls import holds_aggregate

__all__ = ["and_parts", "is_grouped", "made_by", "without_not"]


def made_by(select: exp.Select, clause: str) -> exp.Expr:
    """The clause that makes operators, or the expression that does so without one."""
    parts = select.expressions
    if clause == "over":
        return next((part for item in parts for part in item.find_all(exp.Window)), select)
    node: exp.Expr | None = select.args.get(clause)
    if node is None and clause == "group":
        node = next((part for part in parts if holds_aggregate(part)), None)
    return node or select


def is_grouped(select: exp.Select) -> bool:
    """Whether rows are grouped, with GROUP BY or without."""
    if select.args.get("group") or select.args.get("having"):
        return True
    order = select.args.get("order")
    parts = [*select.expressions, *(order.expressions if order else [])]
    return any(holds_aggregate(part) for part in parts)


def and_parts(node: exp.Expr) -> Iterator[exp.Expr]:
    """The conditions that AND joins."""
    if isinstance(node, exp.And):
        yield from and_parts(node.this)
        yield from and_parts(node.expression)
    elif isinstance(node, exp.Paren):
        yield from and_parts(node.this)
    else:
        yield node


def without_not(node: exp.Expr) -> tuple[exp.Expr, bool]:
    """A condition without the NOTs before it, and whether they negate it."""
    negated = False
    while isinstance(node, exp.Not | exp.Paren):
        negated ^= isinstance(node, exp.Not)
        node = node.this
    return node, negated
