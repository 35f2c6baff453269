"""Spark's readers of files, as formats use them.

Law: a stream of files has the name of its source in the checkpoint; so its files are known again
wherever it stands among the sources of a program.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from typing import TYPE_CHECKING

from ebbtide.core.declaration import Declaration
from ebbtide.spark.arrivals import MALFORMED
from ebbtide.spark.checkpoint import source_name
from ebbtide.spark.names import quoted
from ebbtide.spark.private import is_local, within
from ebbtide.spark.session import listing_here, source_session
from ebbtide.spark.types import spark_type

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from ebbtide.sql.catalog import FileSource

FILE_OPTIONS = frozenset(
    {
        "basePath",
        "cleanSource",
        "discardCachedInputRatio",
        "fileNameOnly",
        "ignoreCorruptFiles",
        "ignoreMissingFiles",
        "latestFirst",
        "maxBytesPerTrigger",
        "maxCachedFiles",
        "maxFileAge",
        "maxFilesPerTrigger",
        "modifiedAfter",
        "modifiedBefore",
        "pathGlobFilter",
        "recursiveFileLookup",
        "sourceArchiveDir",
    }
)
"""The options of Spark for files of any format."""

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
    local = is_local(spark, files.path)
    if streaming:
        reader = source_session(spark, local).readStream.name(source_name(declaration.name))
        found = reader.format(format_).schema(schema).options(**chosen).load(files.path)
        return within(spark, found)
    with listing_here(spark) if local else nullcontext():
        return spark.read.format(format_).schema(schema).options(**chosen).load(files.path)


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
    """The declared columns of a source and the one for malformed text, in Spark's words."""
    columns = [f"{quoted(column.name)} {spark_type(column.type)}" for column in declaration.schema]
    return ", ".join([*columns, f"{MALFORMED} STRING"])
