"""Values with commas between them, below a line with the names of the columns.

Tasks read them; Spark's own reader has more options, and reads those that have one of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ebbtide.core.declaration import given_schema
from ebbtide.files import reads
from ebbtide.files.options import FILE_OPTIONS
from ebbtide.spark.arrivals import is_enveloped
from ebbtide.spark.file_readers import read_in_tasks, read_permissively

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from ebbtide.core.declaration import Declaration
    from ebbtide.sql.catalog import FileSource


class Csv:
    """CSV, found by Spark and read by tasks, or by Spark if an option asks for it."""

    word: ClassVar[str] = "csv"
    options: ClassVar[frozenset[str]] = FILE_OPTIONS | {
        "charToEscapeQuoteEscaping",
        "charset",
        "codec",
        "columnPruning",
        "comment",
        "compression",
        "dateFormat",
        "delimiter",
        "emptyValue",
        "enableDateTimeParsingFallback",
        "encoding",
        "enforceSchema",
        "escape",
        "escapeQuotes",
        "extension",
        "header",
        "ignoreLeadingWhiteSpace",
        "ignoreTrailingWhiteSpace",
        "inferSchema",
        "inputBufferSize",
        "lineSep",
        "locale",
        "maxCharsPerColumn",
        "maxColumns",
        "multiLine",
        "nanValue",
        "negativeInf",
        "nullValue",
        "positiveInf",
        "preferDate",
        "quote",
        "quoteAll",
        "samplingRatio",
        "sep",
        "singleVariantColumn",
        "timeFormat",
        "timeZone",
        "timestampFormat",
        "timestampNTZFormat",
        "unescapedQuoteHandling",
    }

    def open(
        self,
        spark: SparkSession,
        files: FileSource,
        declaration: Declaration,
        zone: str,
        streaming: bool,
    ) -> DataFrame:
        """The rows of the files."""
        given = given_schema(declaration)
        if reads(self.word, given, dict(files.options), is_enveloped(declaration)):
            return read_in_tasks(spark, files, declaration, zone, streaming)
        # A file whose header has other names is no file of this source.
        defaults = {"timeZone": zone, "header": "true", "enforceSchema": "false"}
        return read_permissively(spark, self.word, files, declaration, streaming, defaults)
