"""Errors as people see them, and the exit codes that programs see.

Law: 0 if all was done; 2 if the user can put it right in what was written or typed; 1 if the run
failed.  An error is one message on the standard error, in the form of ``errors``, with the file and
line of the script where it has a place in one.  A traceback is shown only with ``--debug``.
"""

from __future__ import annotations

import traceback
from collections.abc import Sequence

import click

from ebbtide.errors import EbbtideError, EvaluationError, QueryError, Span, UnsupportedError

DONE, FAILED, USERS = 0, 1, 2
INTERRUPTED = 130

LOG = "log: "
"""The beginning of a note that says where more is to be read."""

# What can be put right before the next run, though it is no fault of the query's text.
_USERS = frozenset(
    {
        "empty-location",
        "fed-by-hand",
        "heartbeat-differs",
        "missing-column",
        "missing-path",
        "not-a-directory",
        "not-a-source",
        "nothing-came",
        "query-differs",
        "shards-differ",
        "source-renamed",
        "sources-frozen",
        "state-in-use",
        "unknown-format",
        "unreadable-path",
        "unwritable-location",
    }
)
# What the machine lacks.
_MACHINES = frozenset({"missing-java", "missing-package", "old-java"})


class ScriptError(Exception):
    """An error of ours in a script; the file is for the message."""

    def __init__(self, error: EbbtideError, file: str) -> None:
        super().__init__(str(error))
        self.error = error
        self.file = file


def told(command: click.Command, arguments: Sequence[str]) -> int:
    """Runs a command, tells what went wrong, and gives the exit code."""
    debug = "--debug" in arguments  # wherever it stands
    rest = [argument for argument in arguments if argument != "--debug"]
    try:
        answer = command.main(rest, prog_name="ebbtide", standalone_mode=False)
        return answer if isinstance(answer, int) else DONE
    except click.exceptions.Abort:
        return INTERRUPTED
    except KeyboardInterrupt:
        return INTERRUPTED
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except ScriptError as placed:
        return _shown(placed.error, debug, placed.file)
    except EbbtideError as error:
        return _shown(error, debug)
    except Exception as error:
        if debug:
            raise
        return _say(_unexpected(error), FAILED)


def exit_code(error: EbbtideError) -> int:
    """Whose error it is."""
    if error.code in _MACHINES:
        return FAILED
    if error.code in _USERS or isinstance(error, UnsupportedError):
        return USERS
    users = isinstance(error, QueryError) and not isinstance(error, EvaluationError)
    return USERS if users else FAILED


def message(error: EbbtideError, file: str | None = None) -> str:
    """The error as text; with a file, its place as ``file:line:column`` above the line."""
    lines = str(error).splitlines()
    if file is not None and error.span is not None:
        lines.insert(1, f"  {file}:{_place(error.span)}")
    lines += [note for note in getattr(error, "__notes__", ()) if note.startswith(LOG)]
    return "\n".join(lines)


def _place(span: Span) -> str:
    before = span.source[: span.start]
    return f"{before.count(chr(10)) + 1}:{len(before) - before.rfind(chr(10))}"


def say(error: EbbtideError, file: str | None = None) -> None:
    """Tells an error that does not end the command."""
    _say(message(error, file), exit_code(error))


def _shown(error: EbbtideError, debug: bool, file: str | None = None) -> int:
    if debug:
        traceback.print_exception(error)
    return _say(message(error, file), exit_code(error))


def _unexpected(error: Exception) -> str:
    first = (str(error).strip() or "no message").splitlines()[0]
    return (
        f"error[unexpected]: {type(error).__name__}: {first}\n"
        "hint: ebbtide --debug ... shows where; please report it"
    )


def _say(text: str, code: int) -> int:
    from rich.text import Text

    from ebbtide.cli.row_formats import console

    shown = Text(text)
    shown.stylize("bold red", 0, text.find(":") + 1)
    console(stderr=True).print(shown, soft_wrap=True)
    return code
