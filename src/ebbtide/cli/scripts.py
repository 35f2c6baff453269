"""Scripts on the command line: read from a file, and errors placed in it."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ebbtide.cli.error_display import ScriptError, say
from ebbtide.errors import EbbtideError, Span

if TYPE_CHECKING:
    from ebbtide.sql.syntax import Statement

SCRIPT = click.Path(exists=True, dir_okay=False, allow_dash=True)
"""A script that is there, or ``-`` for the standard input."""


@dataclass(frozen=True, slots=True)
class Script:
    """The text of a script, and the name of its file."""

    text: str
    file: str

    @contextmanager
    def placed(self) -> Iterator[None]:
        """Errors inside name their place in the file."""
        try:
            yield
        except EbbtideError as error:
            if error.span is None or error.span.source != self.text:
                raise
            raise ScriptError(error, self.file) from error

    def tell(self, refused: Iterable[EbbtideError], known: Iterable[str]) -> None:
        """Tells of statements that were refused; ``known`` are the names that are declared."""
        from ebbtide.sql.parser import parse

        lost = {name for name, _ in declared(parse(self.text))} - set(map(str.casefold, known))
        for error in refused:
            missing = error.code == "unknown-name" and any(
                f'"{name}"' in error.message.casefold() for name in lost
            )
            say(_left_out(error) if missing else error, self.file)


def read(file: str) -> Script:
    """The script of a file."""
    if file == "-":
        return Script(sys.stdin.read(), "standard input")
    try:
        return Script(Path(file).read_text(encoding="utf-8"), file)
    except UnicodeDecodeError as error:
        raise click.BadParameter(f"'{file}' is not UTF-8 text: {error.reason}") from error


def _left_out(error: EbbtideError) -> EbbtideError:
    """An error about a name whose declaration was refused."""
    detail = "its declaration is refused, too"
    return type(error)(error.code, error.message, detail=detail, span=error.span)


def declared(statements: Iterable[Statement]) -> Iterator[tuple[str, Span]]:
    """Where each name is declared, by its last declaration; names in lower case."""
    from ebbtide.sql.syntax import CreateStream, CreateTable, CreateView

    for statement in statements:
        if isinstance(statement, CreateStream | CreateTable | CreateView):
            yield statement.name.text.casefold(), statement.name.span
