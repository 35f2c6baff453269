"""The schema of a DataFrame in the types of the language."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ebbtide.core.schema import Column, Schema
from ebbtide.core.types import type_from_sql
from ebbtide.errors import QueryError, SourceError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def schema_of(frame: DataFrame) -> Schema:
    """The columns of a DataFrame."""
    columns = []
    for field in frame.schema.fields:
        try:
            type_ = type_from_sql(field.dataType.simpleString())
        except QueryError as error:
            raise SourceError(
                "unknown-type",
                f'column "{field.name}" has the type {field.dataType.simpleString()}',
                hint=f"cast it: frame.withColumn({field.name!r}, ...cast(...))",
            ) from error
        columns.append(Column(field.name, type_, field.nullable))
    return Schema(tuple(columns))
