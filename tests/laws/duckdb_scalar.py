"""Scalar expressions as SQL for DuckDB."""

import math
from typing import Any

from ebbtide.algebra import (
    And,
    Arithmetic,
    Call,
    Case,
    Comparison,
    Expression,
    FloorTo,
    InList,
    IsNull,
    Literal,
    Not,
    Or,
    Ref,
)
from ebbtide.core.schema import Schema
from ebbtide.core.types import ArrayType, Type

TYPES = {"STRING": "VARCHAR", "TIMESTAMP": "BIGINT", "INTERVAL DAY TO SECOND": "BIGINT"}


class Unjudged(Exception):
    """DuckDB has no say in this."""


def rows(schema: Schema, content: list[tuple[Any, ...]]) -> str:
    """A SELECT of given rows."""
    lines = [listed([constant(v, c.type) for v, c in zip(r, schema, strict=True)]) for r in content]
    nulls = [f"CAST(NULL AS {type_name(column.type)})" for column in schema]
    return " UNION ALL ".join(
        [f"SELECT {line}" for line in lines] or [f"SELECT {listed(nulls)} WHERE FALSE"]
    )


def listed(terms: list[str]) -> str:
    """The terms as columns, named by their positions."""
    return ", ".join(f"{term} AS c{i}" for i, term in enumerate(terms))


def type_name(type_: Type) -> str:
    """The type's name there."""
    if isinstance(type_, ArrayType):
        return f"{type_name(type_.element)}[]"
    return TYPES.get(type_.sql, type_.sql)


def constant(value: Any, type_: Type) -> str:
    """A typed constant."""
    if value is None:
        text = "NULL"
    elif isinstance(value, float):
        text = f"'{value}'" if not math.isfinite(value) else repr(value)
    elif isinstance(value, str):
        text = "'" + value.replace("'", "''") + "'"
    elif isinstance(value, tuple):
        raise Unjudged("nested constants")
    else:
        text = str(value)
    return f"CAST({text} AS {type_name(type_)})"


def scalar(node: Expression, schema: Schema, left: int | None = None) -> str:
    """An expression on the row `l`, or on the pair of `l`, which has `left` columns, and `r`."""

    def at(child: Expression) -> str:
        return scalar(child, schema, left)

    match node:
        case Ref():
            place = schema.index(node.column)
            return f"l.c{place}" if left is None or place < left else f"r.c{place - left}"
        case Literal():
            return constant(node.value, node.of)
        case Arithmetic():
            return f"({at(node.left)} {node.op} {at(node.right)})"
        case Comparison(op="<=>"):
            return f"({at(node.left)} IS NOT DISTINCT FROM {at(node.right)})"
        case Comparison():
            return f"({at(node.left)} {node.op} {at(node.right)})"
        case And():
            return f"({at(node.left)} AND {at(node.right)})"
        case Or():
            return f"({at(node.left)} OR {at(node.right)})"
        case Not():
            return f"(NOT {at(node.operand)})"
        case IsNull():
            return f"({at(node.operand)} IS NULL)"
        case InList():
            return f"({at(node.operand)} IN ({', '.join(map(at, node.options))}))"
        case Case(branches=((condition, value),)):
            return f"(CASE WHEN {at(condition)} THEN {at(value)} ELSE {at(node.otherwise)} END)"
        case Call(name="ARRAY"):
            items = ", ".join(map(at, node.arguments))
            return f"CAST([{items}] AS {type_name(node.type)})"
        case FloorTo():
            time, grid = at(node.operand), node.grid_us
            return f"({time} - (({time} % {grid}) + {grid}) % {grid})"
        case _:
            raise Unjudged(type(node).__name__)
