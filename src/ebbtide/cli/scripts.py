"""Scripts on the command line: read from a file, and errors placed in it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import click

from ebbtide.cli.error_display import ScriptError
from ebbtide.errors import EbbtideError

SCRIPT = click.Path(exists=True, dir_okay=False, allow_dash=True)
"""A script that is there, or ``-`` for the standard input."""


@dataclass(frozen=True, slots=True)
class Script:
    """The text of a script, and the name of its file."""

    text: str
    file: str

    @contextmanager
    def placed(self) -> Iterator[None]:
        """Errors inside are told with their place in the file."""
        try:
            yield
        except EbbtideError as error:
            if error.span is None or error.span.source != self.text:
                raise
            raise ScriptError(error, self.file) from error


def read(file: str) -> Script:
    """The script of a file."""
    if file == "-":
        return Script(sys.stdin.read(), "standard input")
    try:
        return Script(Path(file).read_text(encoding="utf-8"), file)
    except UnicodeDecodeError as error:
        raise click.BadParameter(f"'{file}' is not UTF-8 text: {error.reason}") from error
