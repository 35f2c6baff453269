"""Lines of JSON, one object each."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ebbtide.spark.file_readers import FILE_OPTIONS, read_permissively

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from ebbtide.core.declaration import Declaration
    from ebbtide.sql.catalog import FileSource


class Json:
    """Spark's JSON; an object with a value that does not fit is malformed as a whole."""

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
        defaults = {"timeZone": zone}
        return read_permissively(spark, self.word, files, declaration, streaming, defaults)
