"""Files as rows, by their format: a file for each format.

Law: a format gives the declared columns of a source by their names, and beside them the text of
whatever is no row of it (``MALFORMED``); it never drops a row and never fails for one.

A module here is a format: its name is the word that stands behind FORMAT, and it has a class with
that ``word`` which is a ``Source``.  Nothing else has to know of it.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, ClassVar, Protocol

from ebbtide.errors import QueryError
from ebbtide.spark.paths import check_path
from ebbtide.sql.catalog import FileSource, near

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from ebbtide.core.declaration import Declaration


class FileFormat(Protocol):
    """A format of files."""

    word: ClassVar[str]
    """What stands behind FORMAT."""

    options: ClassVar[frozenset[str]]
    """What may stand in OPTIONS; case does not matter."""

    def open(
        self,
        spark: SparkSession,
        files: FileSource,
        declaration: Declaration,
        zone: str,
        streaming: bool,
    ) -> DataFrame:
        """The rows of the files, as a stream or as the table that they are now.

        ``zone`` is for times that are written without one.
        """
        ...


def formats() -> tuple[str, ...]:
    """The words of all formats; none of them is loaded."""
    return tuple(sorted(found.name for found in iter_modules(__path__)))


def check_files(name: str, files: FileSource) -> None:
    """Refuses a format that there is not, or an option that it has not, for a source."""
    if files.format not in formats():
        raise QueryError(
            "unknown-format",
            f'files of "{name}" cannot be read as {files.format}',
            hint=f"the formats are {', '.join(formats())}",
        )
    known = source_of(files.format).options if files.options else frozenset()
    folded = {option.casefold() for option in known}
    unknown = [option for option, _ in files.options if option.casefold() not in folded]
    if unknown:
        close = near(unknown[0], tuple(known))
        raise QueryError(
            "unknown-option",
            f'files of "{name}" have no option "{unknown[0]}" as {files.format}',
            detail=f"the options are {', '.join(sorted(known, key=str.casefold))}",
            hint=f"did you mean {close}?" if close else None,
        )


def source_of(word: str) -> FileFormat:
    """The format of a word that is known."""
    module = import_module(f"{__name__}.{word}")
    (source,) = (c for c in vars(module).values() if getattr(c, "word", None) == word)
    made: FileFormat = source()
    return made


def open_files(
    spark: SparkSession, files: FileSource, declaration: Declaration, zone: str, streaming: bool
) -> DataFrame:
    """The files of a source; text that is no row of it stands in a column of its own."""
    check_files(declaration.name, files)
    check_path(declaration.name, files.path, streaming)
    return source_of(files.format).open(spark, files, declaration, zone, streaming)
