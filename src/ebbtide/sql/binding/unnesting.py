"""UNNEST in FROM: the names under which the items of an array stand beside their row.

Law: the array may use the columns of everything before it in FROM.  An item is one column, which
has the name of its source unless it is given another; of a struct the fields may be named instead,
all of them.
"""

from __future__ import annotations

from sqlglot import exp

from ebbtide.algebra.expression import Expression, Field, Ref
from ebbtide.algebra.relation import Unnest
from ebbtide.core.types import ArrayType, StructType
from ebbtide.errors import BindError
from ebbtide.sql import nodes
from ebbtide.sql.binding.context import Context
from ebbtide.sql.binding.environment import Environment
from ebbtide.sql.binding.scalars import scalar
from ebbtide.sql.binding.scope import Scope, Visible
from ebbtide.sql.binding.sources import BoundSource

__all__ = ["unnested"]


def unnested(
    left: BoundSource, node: nodes.Unnest, context: Context, *, pads: bool = False
) -> BoundSource:
    """UNNEST(array) WITH ORDINALITY AS t (item, place), beside what stands before it."""
    array = scalar(node.this, Environment(context, left.scope, "UNNEST"))
    alias: exp.TableAlias | None = node.args.get("alias")
    table = alias.this.name if alias is not None and alias.this else "unnest"
    if table.casefold() in {known.casefold() for known in left.scope.tables}:
        raise BindError(
            "duplicate-alias", f'"{table}" stands twice in FROM', span=context.span(node)
        )
    names = [column.name for column in alias.columns] if alias is not None else []
    places = 1 if node.args.get("place") else 0
    fields = _named_fields(array, len(names), places)
    width = len(fields) or 1
    if len(names) > width + places:
        raise BindError(
            "column-count",
            f"{len(names)} columns are named, and there are {width + places}",
            span=context.span(node),
        )
    item = names[0] if names and not fields else table
    place = (names[width:] or ["ordinality"])[0] if places else None
    relation = Unnest(left.relation, array, context.alias(table), item, place, pads)
    whole, *numbers = (Ref(column) for column in relation.schema.columns[-1 - places :])
    shown: list[tuple[str, Expression]] = [
        (name, Field(whole, field)) for name, field in zip(names, fields, strict=False)
    ]
    shown = shown or [(item, whole)]
    shown += [(number.column.name, number) for number in numbers]
    visible = tuple(Visible(name, table, expression) for name, expression in shown)
    return BoundSource(relation, left.scope.beside(Scope(visible)))


def _named_fields(array: Expression, names: int, places: int) -> tuple[str, ...]:
    """The fields of the structs in an array, if so many names are given."""
    element = array.type.element if isinstance(array.type, ArrayType) else None
    fields = element.fields if isinstance(element, StructType) else ()
    wanted = len(fields) > 1 and names in (len(fields), len(fields) + places)
    return tuple(name for name, _ in fields) if wanted else ()
