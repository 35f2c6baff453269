"""Parquet: tasks read it, for Spark's own reader knows one type for a column, and a file that has
another stops the query for good."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ebbtide.files.options import FILE_OPTIONS
from ebbtide.spark.file_readers import read_in_tasks

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from ebbtide.core.declaration import Declaration
    from ebbtide.sql.catalog import FileSource


class Parquet:
    """Parquet, found by Spark and read by tasks."""

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
        return read_in_tasks(spark, files, declaration, zone, streaming)
