"""Files as Spark finds them, read by tasks or by Spark, as formats have it.

Law: a stream of files has the name of its source in the checkpoint; so its files are known again
wherever it stands among the sources of a program.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ebbtide.config import Config
from ebbtide.core.codec.debezium import envelope_schema
from ebbtide.core.declaration import Declaration, given_schema
from ebbtide.core.schema import Schema
from ebbtide.files import HowToRead
from ebbtide.files.envelopes import row_of
from ebbtide.files.options import FOLDED_FILE_OPTIONS
from ebbtide.spark.arrivals import FOUND, HOW, MALFORMED, is_enveloped
from ebbtide.spark.checkpoint import source_name
from ebbtide.spark.files_in_tasks import place_of
from ebbtide.spark.names import quoted
from ebbtide.spark.paths import spark_path
from ebbtide.spark.private import is_local, within
from ebbtide.spark.session import listing_here, source_session
from ebbtide.spark.types import border_type, spark_type

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from ebbtide.sql.catalog import FileSource

_FILES = "path STRING, modificationTime TIMESTAMP, length BIGINT, content BINARY"

_ANY_AGE = {"maxFileAge": "36500d"}
"""Spark passes over a file that is a week older than the newest, as a copy that keeps its times may
be, and says nothing."""

OWN_OPTIONS = frozenset({"columnNameOfCorruptRecord", "mode"})
"""Options of Spark by which rows would be lost or steps would fail: they are for formats to set."""


def read(
    spark: SparkSession,
    format_: str,
    files: FileSource,
    schema: str,
    declaration: Declaration,
    streaming: bool,
    options: Mapping[str, str],
) -> DataFrame:
    """What a format of Spark's reads below a path, with the options of the files and others."""
    chosen = {**dict(files.options), **options}
    local, path = is_local(spark, files.path), spark_path(files.path)
    if streaming:
        if not any(name.casefold() == "maxfileage" for name in chosen):
            chosen |= _ANY_AGE
        reader = source_session(spark, local).readStream.name(source_name(declaration.name))
        found = reader.format(format_).schema(schema).options(**chosen).load(path)
        return within(spark, found)
    with listing_here(spark) if local else nullcontext():
        return spark.read.format(format_).schema(schema).options(**chosen).load(path)


def read_in_tasks(
    spark: SparkSession,
    files: FileSource,
    declaration: Declaration,
    zone: str,
    streaming: bool,
) -> DataFrame:
    """Files that Spark finds and keeps account of, and that tasks read.

    Those that workers cannot open by themselves travel through Spark, which has the credentials.
    """
    from pyspark.sql import functions as F

    unpacked = Config.from_environment().limits.unpacked
    enveloped = is_enveloped(declaration)
    how = HowToRead(files.format, zone, files.options, enveloped, unpacked)
    finding = {
        name: value for name, value in files.options if name.casefold() in FOLDED_FILE_OPTIONS
    }
    plain = replace(files, options=tuple(finding.items()))
    found = read(spark, "binaryFile", plain, _FILES, declaration, streaming, {})
    if is_local(spark, files.path):
        file = F.struct("path", F.lit(how.text).alias("how"))
        return found.select(file.alias(FOUND, metadata={HOW: how.text}))
    given = given_schema(declaration)
    rows = ContentRows(given, how)
    return found.select("path", "content").mapInArrow(rows, columns_of(given))


@dataclass(frozen=True, slots=True)
class ContentRows:
    """Reads files whose content has come through Spark, as rows that go back to it."""

    schema: Schema
    how: HowToRead

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """The rows of all files."""
        reader = self.how.reader(self.schema)
        types = [*(border_type(column.type) for column in self.schema), pa.string()]
        names = [*self.schema.names, MALFORMED]
        for batch in batches:
            for file in batch.to_pylist():
                for rows in reader.rows(place_of(file["path"]), file["content"]):
                    columns = [c.cast(t) for c, t in zip(rows.columns, types, strict=True)]
                    yield pa.RecordBatch.from_arrays(columns, names=names)


def read_permissively(
    spark: SparkSession,
    format_: str,
    files: FileSource,
    declaration: Declaration,
    streaming: bool,
    defaults: Mapping[str, str],
) -> DataFrame:
    """Rows of a format of text; what is none stands in ``MALFORMED``.  Files may set defaults."""
    given = {option.casefold() for option, _ in files.options}
    options = {name: value for name, value in defaults.items() if name.casefold() not in given}
    options |= {"columnNameOfCorruptRecord": MALFORMED, "mode": "PERMISSIVE"}
    schema = declared_columns(declaration)
    return read(spark, format_, files, schema, declaration, streaming, options)


def declared_columns(declaration: Declaration) -> str:
    """The columns of a source as they are in its files, and the one for malformed text."""
    schema = given_schema(declaration)
    return columns_of(envelope_schema(row_of(schema)) if is_enveloped(declaration) else schema)


def columns_of(schema: Schema) -> str:
    """Columns and the one for malformed text, in Spark's words."""
    columns = [f"{quoted(column.name)} {spark_type(column.type)}" for column in schema]
    return ", ".join([*columns, f"{MALFORMED} STRING"])
