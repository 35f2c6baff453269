"""Elements of XML: those with the name ``rowTag``, wherever they stand in a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ebbtide.errors import QueryError
from ebbtide.files.options import FILE_OPTIONS
from ebbtide.spark.file_readers import read_permissively

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from ebbtide.core.declaration import Declaration
    from ebbtide.sql.catalog import FileSource

_ROW_TAG = "rowTag"


class Xml:
    """Spark's XML; an element with a value that does not fit is malformed as a whole."""

    word: ClassVar[str] = "xml"
    options: ClassVar[frozenset[str]] = FILE_OPTIONS | {
        "arrayElementName",
        "attributePrefix",
        "charset",
        "compression",
        "dateFormat",
        "declaration",
        "encoding",
        "excludeAttribute",
        "ignoreNamespace",
        "ignoreSurroundingSpaces",
        "indent",
        "inferSchema",
        "locale",
        "multiLine",
        "nullValue",
        "preferDate",
        "prefersDecimal",
        "rootTag",
        _ROW_TAG,
        "rowValidationXSDPath",
        "samplingRatio",
        "singleVariantColumn",
        "timeFormat",
        "timeZone",
        "timestampFormat",
        "timestampNTZFormat",
        "useLegacyXMLParser",
        "validateName",
        "valueTag",
        "wildcardColName",
    }

    def open(
        self,
        spark: SparkSession,
        files: FileSource,
        declaration: Declaration,
        zone: str,
        streaming: bool,
    ) -> DataFrame:
        """The elements of the files."""
        if _ROW_TAG.casefold() not in {option.casefold() for option, _ in files.options}:
            raise QueryError(
                "missing-option",
                f'files of "{declaration.name}" are XML, of which no element is said to be a row',
                hint=f"add OPTIONS ({_ROW_TAG} 'name')",
            )
        # The other parser gives the whole file as the text of each element that is no row.
        defaults = {"timeZone": zone, "useLegacyXMLParser": "true"}
        return read_permissively(spark, self.word, files, declaration, streaming, defaults)
