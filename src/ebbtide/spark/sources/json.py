"""Lines of JSON, one object each.

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


class Json:
    """JSON, found by Spark and read by tasks, or by Spark if an option asks for it."""

    word: ClassVar[str] = "json"
    options: ClassVar[frozenset[str]] = FILE_OPTIONS | {
        "allowBackslashEscapingAnyCharacter",
        "allowComments",
        "allowNonNumericNumbers",
        "allowNumericLeadingZeros",
        "allowSingleQuotes",
        "allowUnquotedControlChars",
        "allowUnquotedFieldNames",
        "charset",
        "compression",
        "dateFormat",
        "dropFieldIfAllNull",
        "enableDateTimeParsingFallback",
        "encoding",
        "explodeEmbeddedArray",
        "ignoreNullFields",
        "inferTimestamp",
        "lineSep",
        "locale",
        "multiLine",
        "prefersDecimal",
        "pretty",
        "primitivesAsString",
        "samplingRatio",
        "singleVariantColumn",
        "sortKeys",
        "timeFormat",
        "timeZone",
        "timestampFormat",
        "timestampNTZFormat",
        "useUnsafeRow",
        "writeNonAsciiCharacterAsCodePoint",
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
        defaults = {"timeZone": zone}
        return read_permissively(spark, self.word, files, declaration, streaming, defaults)
