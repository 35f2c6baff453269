"""The SELECT list: its columns and their names, stars included."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sqlglot import exp

from ebbtide.algebra.expression import Expression
from ebbtide.algebra.printing import identifier
from ebbtide.errors import BindError, Span
from ebbtide.sql.binding.context import Context
from ebbtide.sql.binding.naming import unique
from ebbtide.sql.binding.scope import Scope, Visible, meant
from ebbtide.sql.catalog import near

__all__ = ["SelectItem", "listed"]


@dataclass(frozen=True, slots=True)
class SelectItem:
    """A column of a SELECT list, ``named`` by AS; what a star stands for is known already."""

    name: str
    node: exp.Expr
    expression: Expression | None = None
    named: bool = False


def listed(select: exp.Select, scope: Scope, context: Context) -> list[SelectItem]:
    """The columns of a SELECT list."""
    items: list[SelectItem] = []
    for node in select.expressions:
        if isinstance(node, exp.Alias):
            items.append(SelectItem(node.alias, node.this, named=True))
        elif _is_star(node):
            shown = _expanded(node, scope, context)
            items += [SelectItem(visible.name, node, visible.expression) for visible in shown]
        else:
            items.append(SelectItem(_name(node, scope, context), node))
    _check_names(items, select, scope, context)
    return items


def _is_star(node: exp.Expr) -> bool:
    return isinstance(node, exp.Star) or (
        isinstance(node, exp.Column) and isinstance(node.this, exp.Star)
    )


def _expanded(node: exp.Expr, scope: Scope, context: Context) -> list[Visible]:
    star = node.this if isinstance(node, exp.Column) else node
    table = node.table if isinstance(node, exp.Column) and node.table else None
    shown = scope.expanded(table)
    if not shown:
        only = scope.tables[0] if len(scope.tables) == 1 else None
        close = (near(table, scope.tables) or only) if table else None
        raise BindError(
            "unknown-table" if table else "nothing-to-select",
            f'there is no table "{table}" in FROM' if table else "* needs a FROM",
            hint=f"did you mean {close}.*?" if close else None,
            span=context.span(node),
        )
    excepted = star.args.get("except_") or []
    for column in excepted:
        if all(visible.name.casefold() != column.name.casefold() for visible in shown):
            close = near(column.name, tuple(visible.name for visible in shown))
            raise BindError(
                "unknown-column",
                f'there is no column "{column.name}" to leave out',
                hint=meant(close),
                span=context.span(column),
            )
    left_out = {column.name.casefold() for column in excepted}
    return [visible for visible in shown if visible.name.casefold() not in left_out]


def _name(node: exp.Expr, scope: Scope, context: Context) -> str:
    """The name of a column that has none: the column's own, or the text as it is written."""
    if isinstance(node, exp.Column):
        parts = tuple(part.name for part in node.parts)
        found = next((v for v in scope.columns if v.name.casefold() == parts[-1].casefold()), None)
        return found.name if found is not None else parts[-1]
    if isinstance(node, exp.Dot):
        return str(node.expression.name)
    return re.sub(r"\s+", " ", context.span(node).text.strip())


def _check_names(
    items: list[SelectItem], select: exp.Select, scope: Scope, context: Context
) -> None:
    seen: set[str] = set()
    for item in items:
        if item.name.casefold() in seen:
            starred = _is_star(item.node)
            fresh = unique(item.name, [other.name for other in items])
            text = context.span(item.node).text
            hint = (
                _spelt_out(item.node, items, scope, context)
                if starred
                else (f"{text} AS {identifier(fresh)}")
            )
            raise BindError(
                "duplicate-column",
                f'there are two columns "{item.name}"',
                hint=f"write {hint}",
                span=_place(item, select, context),
            )
        seen.add(item.name.casefold())


def _place(item: SelectItem, select: exp.Select, context: Context) -> Span:
    for node in select.expressions:
        if isinstance(node, exp.Alias) and node.this is item.node:
            return context.span(node)
    return context.span(item.node)


def _spelt_out(node: exp.Expr, items: list[SelectItem], scope: Scope, context: Context) -> str:
    """A star as a list of columns with different names."""
    taken = [item.name for item in items if item.node is not node]
    texts = []
    for visible in _expanded(node, scope, context):
        name = unique(visible.name, taken)
        taken.append(name)
        parts = [part for part in (visible.table, visible.name) if part is not None]
        text = ".".join(map(identifier, parts))
        texts.append(text if name == visible.name else f"{text} AS {identifier(name)}")
    return ", ".join(texts)
