"""From sources to one table of arrivals.

Law: a row of the table has the tag of its source, its declared columns in the source's slots, and
beside them what is done, its place in the source, and the text of what could not be read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ebbtide.compile.arrival import arrival_schema
from ebbtide.core.admission import KNOWN_WORDS, default_op, read_op
from ebbtide.core.declaration import Declaration
from ebbtide.core.schema import Schema
from ebbtide.core.time import INF, NEG_INF
from ebbtide.core.values import Row
from ebbtide.errors import SourceError
from ebbtide.spark.parquet import read_parquet
from ebbtide.spark.paths import check_path
from ebbtide.spark.tagged_rows import TAG, Shape
from ebbtide.spark.types import arrow_type, border_type, spark_type
from ebbtide.sql.catalog import FileSource
from ebbtide.state.batch import batch_schema
from ebbtide.store.feed_log import FedRow

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_MALFORMED = "_malformed"
_FORMATS = ("json", "csv", "parquet")


def fed_table(
    shape: Shape, source: int, declaration: Declaration, rows: Sequence[tuple[int, FedRow]]
) -> Any:
    """Rows that were fed by hand, with their places in the log, as an Arrow table."""
    columns: list[list[Any]] = [
        [row.values[i] for _, row in rows] for i in range(len(declaration.schema))
    ]
    columns.append([row.op for _, row in rows])
    columns.append([place for place, _ in rows])
    columns.append([row.malformed for _, row in rows])
    types = [arrow_type(column.type) for column in arrival_schema(declaration)]
    arrays = [
        pa.array(_plain(values, type_), type_) for values, type_ in zip(columns, types, strict=True)
    ]
    times = [pa.repeat(pa.scalar(t, pa.int64()), len(rows)) for t in (NEG_INF, INF, 1)]
    return shape.rows(source, pa.Table.from_arrays([*arrays, *times], schema=batch_schema(types)))


def given_table(schema: Schema, rows: Sequence[Row]) -> Any:
    """Rows that are written in a query, as an Arrow table that Spark takes."""
    types = [border_type(column.type) for column in schema]
    arrays = [
        pa.array(_plain([row[i] for row in rows], type_), type_) for i, type_ in enumerate(types)
    ]
    return pa.Table.from_arrays(arrays, names=list(schema.names))


def arrow_arrivals(spark: SparkSession, shape: Shape, tables: Sequence[Any]) -> DataFrame:
    """Arrow tables of arrivals as a DataFrame."""
    rows = pa.concat_tables([*tables, shape.arrow.empty_table()]).combine_chunks()
    return spark.createDataFrame(rows.select([TAG, *shape.layout.names]))


def arrivals_of(frame: DataFrame, shape: Shape, source: int, declaration: Declaration) -> DataFrame:
    """The rows of a DataFrame as arrivals of a source; columns are found by their names."""
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
        slot: f"CAST(`{names[column.name.casefold()]}` AS {spark_type(column.type)})"
        for slot, column in zip(slots, declaration.schema, strict=False)
    }
    op, offset, malformed = slots[len(declaration.schema) :]
    if declaration.op is not None:
        values[op] = _op_text(declaration, f"`{names[declaration.op.casefold()]}`")
    elif declaration.key:
        values[op] = f"'{default_op(declaration).value}'"
    if not frame.isStreaming:
        values[offset] = "monotonically_increasing_id()"
    if _MALFORMED in frame.columns:
        values[malformed] = _MALFORMED
    columns = [f"{source} AS {TAG}"]
    for slot, type_ in zip(shape.layout.names, shape.layout.slots, strict=True):
        columns.append(f"{values.get(slot, f'CAST(NULL AS {spark_type(type_)})')} AS {slot}")
    return frame.selectExpr(*columns)


def _op_text(declaration: Declaration, column: str) -> str:
    """The operation that a word in the OP column means; a word that means none stays."""
    known = ((word, read_op(declaration, word)) for word in KNOWN_WORDS)
    branches = " ".join(f"WHEN '{word}' THEN '{op.value}'" for word, op in known if op)
    word = f"lower(trim({column}))"
    return f"CASE {word} {branches} ELSE coalesce({word}, '') END"


def read_files(
    spark: SparkSession, files: FileSource, declaration: Declaration, zone: str, streaming: bool
) -> DataFrame:
    """The files of a source; text that is no row of it stands in a column of its own.

    ``zone`` is for times that are written without one.
    """
    if files.format not in _FORMATS:
        raise SourceError(
            "unknown-format",
            f'files of "{declaration.name}" cannot be read as {files.format}',
            hint=f"FORMAT {' or '.join(_FORMATS)}",
        )
    check_path(declaration.name, files.path, streaming)
    schema, options = declaration.schema, dict(files.options)
    if files.format == "parquet":
        return read_parquet(spark, files.path, schema, options, zone, _MALFORMED, streaming)
    columns = [f"`{column.name}` {spark_type(column.type)}" for column in schema]
    columns.append(f"{_MALFORMED} STRING")
    options["columnNameOfCorruptRecord"] = _MALFORMED
    options["mode"] = "PERMISSIVE"
    options.setdefault("timeZone", zone)
    if files.format == "csv":
        options.setdefault("header", "true")
        # Columns are found by their names: a file whose header has others is no file of this.
        options.setdefault("enforceSchema", "false")
    reader: Any = spark.readStream if streaming else spark.read
    frame: DataFrame = (
        reader.format(files.format).schema(", ".join(columns)).options(**options).load(files.path)
    )
    return frame


def _plain(values: list[Any], type_: Any) -> list[Any]:
    if pa.types.is_struct(type_):
        names = [type_.field(i).name for i in range(type_.num_fields)]
        return [None if v is None else dict(zip(names, v, strict=True)) for v in values]
    return [list(v) if isinstance(v, tuple) else v for v in values]
