"""Files of Parquet as rows of a source, read by Arrow in Spark's workers.

Law: a row whose values fit the declared columns is given as it is; any other is given as text, with
which it goes to the unused rows.  A value fits if it can be converted without loss.  A file that is
no Parquet, or that is damaged from some place on, is given as one such text, which names it.

Spark's own reader knows one type for a column: a file that has another stops the query for good.
Spark still finds the files and keeps account of them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import unquote, urlsplit
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ebbtide.core.schema import Schema
from ebbtide.core.time import instant, is_finite
from ebbtide.core.types import TimestampType, Type
from ebbtide.errors import QueryError, SourceError
from ebbtide.spark.file_readers import FILE_OPTIONS, declared_columns, read
from ebbtide.spark.private import is_local
from ebbtide.spark.types import border_type

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from ebbtide.core.declaration import Declaration
    from ebbtide.sql.catalog import FileSource

_FILES = "path STRING, modificationTime TIMESTAMP, length BIGINT, content BINARY"
_ROWS = 65536
_PART = re.compile(r"([^/=]+)=([^/]*)(?=/)")
_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"


class Parquet:
    """Parquet, found by Spark and read by Arrow."""

    word: ClassVar[str] = "parquet"
    options: ClassVar[frozenset[str]] = FILE_OPTIONS

    def open(
        self,
        spark: SparkSession,
        files: FileSource,
        declaration: Declaration,
        zone: str,
        streaming: bool,
    ) -> DataFrame:
        """The rows of the files."""
        found = read(spark, "binaryFile", files, _FILES, declaration, streaming, {})
        # Only a file that workers cannot open by themselves travels through Spark.
        needed = ["path"] if is_local(spark, files.path) else ["path", "content"]
        rows = ParquetRows(declaration.schema, zone)
        return found.select(*needed).mapInArrow(rows, declared_columns(declaration))


@dataclass(frozen=True, slots=True)
class ParquetRows:
    """Reads files, given by their paths and perhaps their contents, as rows of a schema."""

    schema: Schema
    zone: str

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """The rows of all files."""
        for batch in batches:
            files = batch.to_pydict()
            contents = files.get("content") or [None] * batch.num_rows
            for path, content in zip(files["path"], contents, strict=True):
                yield from self.rows(path, content)

    def rows(self, path: str, content: bytes | None = None) -> Iterator[Any]:
        """The rows of a file, batch by batch."""
        place = unquote(urlsplit(path).path)
        count = 0
        try:
            file = pq.ParquetFile(place if content is None else pa.BufferReader(content))
            known = {column.name.casefold() for column in self.schema}
            names = [name for name in file.schema_arrow.names if name.casefold() in known]
            for batch in file.iter_batches(_ROWS, columns=names):
                yield self._batch(batch, place, _old_times(file))
                count += batch.num_rows
        except FileNotFoundError as error:
            raise SourceError(
                "unreadable-source",
                f"{place} is gone before it was read",
                hint="put it back, and start the query again",
            ) from error
        except (pa.ArrowException, OSError) as error:
            reason = str(error).splitlines()[0]
            yield self._unreadable(f"{place}: unreadable after {count} rows: {reason}")

    def _batch(self, batch: Any, place: str, old: frozenset[str]) -> Any:
        given = {name.casefold(): batch.column(i) for i, name in enumerate(batch.schema.names)}
        parts = {name.casefold(): value for name, value in _PART.findall(place)}
        columns, bad = [], np.zeros(batch.num_rows, bool)
        for column in self.schema:
            name = column.name.casefold()
            found = given.get(name)
            if found is None:
                part = unquote(parts.get(name, _NO_VALUE))
                text = pa.scalar(None if part == _NO_VALUE else part, pa.string())
                found = pa.repeat(text, batch.num_rows)
            values = fitted(found, column.type, "UTC" if name in old else self.zone)
            bad |= np.asarray(pc.and_(values.is_null(), found.is_valid()))
            columns.append(values)
        texts = pa.nulls(batch.num_rows, pa.string())
        if bad.any():
            texts = pa.array([_text(batch, i) if b else None for i, b in enumerate(bad)])
        return self._made([*columns, texts])

    def _unreadable(self, text: str) -> Any:
        columns = [pa.nulls(1, border_type(column.type)) for column in self.schema]
        return self._made([*columns, pa.array([text], pa.string())])

    def _made(self, columns: list[Any]) -> Any:
        return pa.RecordBatch.from_arrays(columns, names=[*self.schema.names, "malformed"])


def fitted(values: Any, type_: Type, zone: str) -> Any:
    """The values as those of a type; NULL where one does not fit."""
    target = border_type(type_)
    if values.type == target:
        return values
    if isinstance(type_, TimestampType):
        return _times(values, zone)
    try:
        return pc.cast(values, target)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return pa.array((_one(value, target) for value in values), target)


def _one(value: Any, target: Any) -> Any:
    try:
        return value.cast(target).as_py()
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None


def _times(values: Any, zone: str) -> Any:
    """Instants: times with a zone or in ``zone``, days and texts; numbers are none."""
    target = border_type(TimestampType())
    if pa.types.is_date(values.type):
        values = values.cast(pa.timestamp("s"))
    if pa.types.is_timestamp(values.type):
        # What is finer than a microsecond is cut off, as Spark does.
        fine = values.cast(pa.timestamp("us", values.type.tz), safe=False)
        if fine.type.tz is None:
            fine = pc.assume_timezone(fine, zone, ambiguous="earliest", nonexistent="latest")
        return fine.cast(target)
    if pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
        micros = [_instant(text, zone) for text in values.to_pylist()]
        return pa.array(micros, pa.int64()).cast(target)
    return pa.nulls(len(values), target)


def _instant(text: str | None, zone: str) -> int | None:
    try:
        read = None if text is None else instant(text, ZoneInfo(zone))
    except QueryError:
        return None
    return read if read is not None and is_finite(read) else None


def _old_times(file: Any) -> frozenset[str]:
    """The columns of the old type of 96 bits: times in UTC that do not say so."""
    columns = (file.schema.column(i) for i in range(len(file.schema)))
    return frozenset(c.name.casefold() for c in columns if c.physical_type == "INT96")


def _text(batch: Any, row: int) -> str:
    values: Iterable[tuple[str, Any]] = (
        (name, batch.column(i)[row].as_py()) for i, name in enumerate(batch.schema.names)
    )
    return json.dumps(dict(values), default=str)
