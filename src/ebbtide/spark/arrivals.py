"""From the rows of sources to one table of arrivals.

Law: a row of the table has the tag of its source, its declared columns in the source's slots, and
beside them what is done, its place in the source, and the text of what could not be read.  Or it
has the tag alone and names a file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ebbtide.core.admission import KNOWN_WORDS, Op, default_op, read_op
from ebbtide.core.declaration import Declaration, TableDeclaration, given_schema
from ebbtide.core.time import FIRST_TIME, LAST_TIME
from ebbtide.core.types import TimestampType
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

HOW = "how"
"""What that column says of itself: how they are read."""

_FILE = "STRUCT<path: STRING, how: STRING>"


def arrow_arrivals(spark: SparkSession, shape: Shape, tables: Sequence[Any]) -> DataFrame:
    """Arrow tables of arrivals as a DataFrame."""
    rows = pa.concat_tables([*tables, shape.arrow.empty_table()]).combine_chunks()
    return spark.createDataFrame(rows)


def arrivals_of(frame: DataFrame, shape: Shape, source: int, declaration: Declaration) -> DataFrame:
    """The rows of a DataFrame as arrivals of a source; columns are found by their names."""
    if is_enveloped(declaration) and "after" in frame.columns:
        frame = _opened(frame, declaration)
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


def is_enveloped(declaration: Declaration) -> bool:
    """Whether rows come in Debezium's envelopes."""
    return isinstance(declaration, TableDeclaration) and declaration.enveloped


def _values(
    frame: DataFrame, shape: Shape, source: int, declaration: Declaration
) -> dict[str, str]:
    """What stands in the slots of rows."""
    names = {name.casefold(): name for name in frame.columns}
    given = given_schema(declaration)
    missing = [c.name for c in given if c.name.casefold() not in names]
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
        if column in given
    }
    op, _, malformed = slots[len(declaration.schema) :]
    if declaration.op is not None:
        values[op] = _op_text(declaration, quoted(names[declaration.op.casefold()]))
    elif declaration.key:
        values[op] = f"'{default_op(declaration).value}'"
    if MALFORMED in frame.columns:
        values[malformed] = MALFORMED
    else:
        values |= _outside_calendar(declaration, names, malformed)
    return values


def _opened(frame: DataFrame, declaration: Declaration) -> DataFrame:
    """The rows inside of envelopes, with their operation and time."""
    *row, op, at = declaration.schema.names
    known = {name: _fields(frame, name) for name in ("before", "after", "source")}
    known["envelope"] = {name.casefold(): quoted(name) for name in frame.columns}
    columns = []
    for name in row:
        old, new = (known[side].get(name.casefold(), "NULL") for side in ("before", "after"))
        columns.append(f"CASE WHEN after IS NOT NULL THEN {new} ELSE {old} END AS {quoted(name)}")
    times = [
        f"CAST({known[place][unit]} AS BIGINT){factor}"
        for place in ("source", "envelope")
        for unit, factor in (("ts_us", ""), ("ts_ms", " * 1000L"))
        if unit in known[place]
    ]
    time = f"coalesce({', '.join(times)})" if times else "CAST(NULL AS BIGINT)"
    malformed = [MALFORMED] if MALFORMED in frame.columns else []
    columns += [f"op AS {quoted(op)}", f"timestamp_micros({time}) AS {quoted(at)}", *malformed]
    return frame.selectExpr(*columns)


def _fields(frame: DataFrame, name: str) -> dict[str, str]:
    """The fields of a struct, by their folded names."""
    found = [f for f in frame.schema.fields if f.name.casefold() == name]
    inner: list[str] = getattr(found[0].dataType, "fieldNames", list)() if found else []
    return {field.casefold(): f"{quoted(found[0].name)}.{quoted(field)}" for field in inner}


def _outside_calendar(
    declaration: Declaration, names: Mapping[str, str], malformed: str
) -> dict[str, str]:
    """The text of a row with a time that no calendar has: it is no row."""
    times = [
        quoted(names[column.name.casefold()])
        for column in given_schema(declaration)
        if isinstance(column.type, TimestampType)
    ]
    if not times:
        return {}
    outside = " OR ".join(
        f"unix_micros(CAST({time} AS TIMESTAMP)) NOT BETWEEN {FIRST_TIME} AND {LAST_TIME}"
        for time in times
    )
    told = ", ".join(quoted(names[column.name.casefold()]) for column in given_schema(declaration))
    return {malformed: f"CASE WHEN {outside} THEN to_json(struct({told})) END"}


def _op_text(declaration: Declaration, column: str) -> str:
    """The operation that a word in the OP column means; a word that means none stays."""
    if isinstance(declaration, TableDeclaration) and declaration.summed:
        more, fewer = default_op(declaration).value, Op.END.value
        signs = f"WHEN 1 THEN '{more}' WHEN -1 THEN '{fewer}'"
        return f"CASE signum({column}) {signs} ELSE coalesce(CAST({column} AS STRING), '') END"
    known = ((word, read_op(declaration, word)) for word in KNOWN_WORDS)
    branches = " ".join(f"WHEN '{word}' THEN '{op.value}'" for word, op in known if op)
    word = f"lower(trim({column}))"
    return f"CASE {word} {branches} ELSE coalesce({word}, '') END"
