"""Lines of text: one column, ``value``.

Every line is a row, so nothing is malformed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ebbtide.core.declaration import given_schema
from ebbtide.core.types import StringType
from ebbtide.errors import QueryError
from ebbtide.files.options import FILE_OPTIONS
from ebbtide.spark.file_readers import read

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from ebbtide.core.declaration import Declaration
    from ebbtide.sql.catalog import FileSource

_VALUE = "value"


class Text:
    """Spark's text: a line is a row."""

    word: ClassVar[str] = "text"
    options: ClassVar[frozenset[str]] = FILE_OPTIONS | {
        "compression",
        "encoding",
        "lineSep",
        "wholetext",
    }

    def open(
        self,
        spark: SparkSession,
        files: FileSource,
        declaration: Declaration,
        zone: str,
        streaming: bool,
    ) -> DataFrame:
        """The lines of the files."""
        columns = [(column.name.casefold(), column.type) for column in given_schema(declaration)]
        if columns != [(_VALUE, StringType())]:
            raise QueryError(
                "text-columns",
                f'files of "{declaration.name}" are text, which has one column',
                detail=f"it is declared with {declaration.schema}",
                hint=f"declare ({_VALUE} STRING)",
            )
        schema = f"{_VALUE} STRING"
        return read(spark, self.word, files, schema, declaration, streaming, {})
