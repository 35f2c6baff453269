"""The schema of a DataFrame in the types of the language, and its columns as values of them.

Law: whatever can be a value here without loss is one.  FLOAT is DOUBLE, a time without a zone is
one in UTC, texts of a length are texts, and a MAP is the array of its entries in the order of its
keys, so that equal maps are equal values.  What is left is refused, all of it at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ebbtide.core.schema import Column, Schema
from ebbtide.core.types import (
    DOUBLE,
    INTERVAL,
    STRING,
    TIMESTAMP,
    ArrayType,
    StructType,
    Type,
    type_from_sql,
)
from ebbtide.errors import QueryError, SourceError
from ebbtide.spark.names import quoted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_AS: dict[str, Type] = {
    "float": DOUBLE,
    "timestamp_ntz": TIMESTAMP,
    "char": STRING,
    "varchar": STRING,
    "daytimeinterval": INTERVAL,
}
"""Types of Spark's, by their names, that are others here."""


def schema_of(frame: DataFrame) -> Schema:
    """The columns of a DataFrame."""
    found: list[Column] = []
    unusable: list[tuple[str, str]] = []
    for field in frame.schema.fields:
        try:
            found.append(Column(field.name, _type(field.dataType), field.nullable))
        except QueryError:
            unusable.append((field.name, field.dataType.simpleString()))
    if unusable:
        raise _unusable(unusable)
    return Schema(tuple(found))


def values_of(frame: DataFrame) -> DataFrame:
    """The DataFrame with its maps as arrays of entries."""
    fields = frame.schema.fields
    if not any(_has_map(field.dataType) for field in fields):
        return frame
    return frame.selectExpr(
        *(
            f"{_entries(quoted(field.name), field.dataType)} AS {quoted(field.name)}"
            for field in fields
        )
    )


def _type(given: Any) -> Type:
    name = given.typeName().split("(")[0].split(" ")[0]
    if name in _AS:
        return _AS[name]
    if name == "interval" and given.simpleString().startswith("interval day"):
        return INTERVAL
    if name == "map":
        return ArrayType(
            StructType((("key", _type(given.keyType)), ("value", _type(given.valueType))))
        )
    if name == "array":
        return ArrayType(_type(given.elementType))
    if name == "struct":
        return StructType(tuple((field.name, _type(field.dataType)) for field in given.fields))
    return type_from_sql(given.simpleString())


def _has_map(given: Any) -> bool:
    match given.typeName():
        case "map":
            return True
        case "array":
            return _has_map(given.elementType)
        case "struct":
            return any(_has_map(field.dataType) for field in given.fields)
        case _:
            return False


def _entries(value: str, given: Any, depth: int = 0) -> str:
    """The expression of a value in which maps are arrays of their entries."""
    if not _has_map(given):
        return value
    item = f"x{depth}"
    match given.typeName():
        case "map":
            of_key = _entries(f"{value}[{item}]", given.valueType, depth + 1)
            entry = f"struct({item} AS key, {of_key} AS value)"
            return f"transform(array_sort(map_keys({value})), {item} -> {entry})"
        case "array":
            return f"transform({value}, {item} -> {_entries(item, given.elementType, depth + 1)})"
        case _:
            fields = (
                f"{_entries(f'{value}.{quoted(field.name)}', field.dataType, depth)} "
                f"AS {quoted(field.name)}"
                for field in given.fields
            )
            return f"if({value} IS NULL, NULL, struct({', '.join(fields)}))"


def _unusable(columns: list[tuple[str, str]]) -> SourceError:
    casts = ", ".join(f'"{name}": frame["{name}"].cast("string")' for name, _ in columns)
    return SourceError(
        "unknown-type",
        f"{'columns' if len(columns) > 1 else 'a column'} of the DataFrame cannot be used: "
        + ", ".join(f'"{name}" is {type_}' for name, type_ in columns),
        hint=f"frame.withColumns({{{casts}}})",
    )
