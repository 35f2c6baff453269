"""From the rows of sources to one table of arrivals.

Law: a row of the table has the tag of its source, its declared columns in the source's slots, and
beside them what is done, its place in the source, and the text of what could not be read.  Or it
has the tag alone and names a file.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ebbtide.core.admission import KNOWN_WORDS, default_op, read_op
from ebbtide.core.declaration import Declaration
from ebbtide.errors import SourceError
from ebbtide.spark.names import quoted
from ebbtide.spark.tagged_rows import FILE, TAG, Shape
from ebbtide.spark.types import spark_type

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

MALFORMED = "_malformed"
"""The column of a DataFrame for text that is no row."""

FOUND = "_file"
"""The one column of a DataFrame of files that tasks open."""

_FILE = "STRUCT<path: STRING, how: STRING>"


def arrow_arrivals(spark: SparkSession, shape: Shape, tables: Sequence[Any]) -> DataFrame:
    """Arrow tables of arrivals as a DataFrame."""
    rows = pa.concat_tables([*tables, shape.arrow.empty_table()]).combine_chunks()
    return spark.createDataFrame(rows)


def arrivals_of(frame: DataFrame, shape: Shape, source: int, declaration: Declaration) -> DataFrame:
    """The rows of a DataFrame as arrivals of a source; columns are found by their names."""
    of_files = frame.columns == [FOUND]
    values = {FILE: FOUND} if of_files else _values(frame, shape, source, declaration)
    if not frame.isStreaming:
        _, offset, _ = shape.slots(source)[len(declaration.schema) :]
        values[offset] = "monotonically_increasing_id()"
    columns = [f"{source} AS {TAG}"]
    for slot, type_ in zip(shape.layout.names, shape.layout.slots, strict=True):
        columns.append(f"{values.get(slot, f'CAST(NULL AS {spark_type(type_)})')} AS {slot}")
    columns.append(f"{values.get(FILE, f'CAST(NULL AS {_FILE})')} AS {FILE}")
    return frame.selectExpr(*columns)


def _values(
    frame: DataFrame, shape: Shape, source: int, declaration: Declaration
) -> dict[str, str]:
    """What stands in the slots of rows."""
    names = {name.casefold(): name for name in frame.columns}
    missing = [c.name for c in declaration.schema if c.name.casefold() not in names]
    if missing:
        raise SourceError(
            "missing-column",
            f'the source of "{declaration.name}" has no column "{missing[0]}"',
            detail=f"it has {', '.join(frame.columns)}",
        )
    slots = shape.slots(source)
    values = {
        slot: f"CAST({quoted(names[column.name.casefold()])} AS {spark_type(column.type)})"
        for slot, column in zip(slots, declaration.schema, strict=False)
    }
    op, _, malformed = slots[len(declaration.schema) :]
    if declaration.op is not None:
        values[op] = _op_text(declaration, quoted(names[declaration.op.casefold()]))
    elif declaration.key:
        values[op] = f"'{default_op(declaration).value}'"
    if MALFORMED in frame.columns:
        values[malformed] = MALFORMED
    return values


def _op_text(declaration: Declaration, column: str) -> str:
    """The operation that a word in the OP column means; a word that means none stays."""
    known = ((word, read_op(declaration, word)) for word in KNOWN_WORDS)
    branches = " ".join(f"WHEN '{word}' THEN '{op.value}'" for word, op in known if op)
    word = f"lower(trim({column}))"
    return f"CASE {word} {branches} ELSE coalesce({word}, '') END"
