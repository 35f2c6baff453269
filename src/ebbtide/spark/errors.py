"""Spark's exceptions, as errors of ours: the one place where they are translated.

Law: a step that fails in Spark or in one of its workers fails with an EbbtideError, whose cause is
Spark's exception.  An error of ours that a worker raised comes out as it was raised.  The operator
is named where one was at work: a worker notes its name on whatever passes, and the note travels in
the text of the traceback, which is all that Spark keeps of a worker's exception.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ebbtide import errors
from ebbtide.errors import (
    EbbtideError,
    EvaluationError,
    InternalError,
    SourceError,
    UnsupportedError,
)

if TYPE_CHECKING:
    from pyspark.errors import PySparkException

_CODES = {
    "zero": "division-by-zero",
    "range": "overflow",
    "cast": "bad-cast",
    "place": "out-of-bounds",
    "argument": "bad-argument",
}

# What ANSI mode finds in data, by words of Spark's condition; the first that fits counts.
_FOUND = (
    (("BY_ZERO",), "zero"),
    (("OVERFLOW", "NUMERIC_VALUE_OUT_OF_RANGE", "OUT_OF_RANGE"), "range"),
    (("CAST_INVALID_INPUT", "CANNOT_PARSE", "INVALID_FORMAT"), "cast"),
    (("INVALID_ARRAY_INDEX", "INVALID_INDEX"), "place"),
    (("INVALID_PARAMETER_VALUE", "INVALID_REGEXP", "DATETIME_FIELD"), "argument"),
)
_MESSAGES = {
    "zero": ("division by zero", "divide by NULLIF(x, 0)"),
    "range": ("a result is out of the range of its type", "CAST an operand to a wider type"),
    "cast": ("a value cannot be read as the type that it is cast to", "TRY_CAST gives NULL"),
    "place": ("there is no item in that place of an array", "compare the place with SIZE first"),
    "argument": ("a function is not defined for the value that it got", None),
}
_UNREADABLE = ("FAILED_READ_FILE", "PATH_NOT_FOUND", "MALFORMED_RECORD", "CANNOT_READ")

_UNKNOWN = "step-failed"
_FULL = ("No space left on device", "Disk quota exceeded")

# A process of Spark's that ended in the middle of a task, in the words of the driver.
_LOST = re.compile(r"Python worker exited unexpectedly[^.\n]*|ExecutorLostFailure[^\n]*")
_OURS = re.compile(r"^ebbtide\.errors\.(\w+): error\[([a-z0-9-]+)\]: (.*)$", re.MULTILINE)
_PART = re.compile(r"^(detail|hint|operator): (.*)$", re.MULTILINE)
_RAISED = re.compile(r"^([A-Za-z_][\w.]*(?::.*)?)$", re.MULTILINE)
_MISSING = re.compile(r"^ModuleNotFoundError: No module named '([\w.]+)'", re.MULTILINE)


@contextmanager
def translated(query: str) -> Iterator[None]:
    """Turns what Spark raises inside into an error of ours."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    try:
        yield
    except PySparkException as error:
        raise translation(error, query) from error
    except Py4JJavaError as error:
        raise translation_of_java(error.java_exception, query) from error
    except OSError as error:
        if is_full(str(error)):
            raise disk_full(query, str(error)) from error
        raise


@contextmanager
def sinking(query: str, sink: str, step: int) -> Iterator[None]:
    """Turns what a sink raises inside into an error of ours; it has not got the step."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    try:
        yield
    except EbbtideError:
        raise
    except Exception as error:
        if is_full(str(error)):
            raise disk_full(query, str(error)) from error
        if isinstance(error, Py4JJavaError):
            said = translation_of_java(error.java_exception, query).detail
        else:
            said = _said(str(error)) if isinstance(error, PySparkException) else repr(error)
        raise SourceError(
            "sink-failed",
            f'{sink} of query "{query}" did not take step {step}',
            detail=said,
            hint="put it right: it gets the step again before the next, or at the next start",
        ) from error


def is_full(text: str) -> bool:
    """Whether an error says that a disk is full, in the words of Java, Python or Arrow."""
    return any(sign in text for sign in _FULL)


def disk_full(query: str, text: str) -> SourceError:
    """The error of a disk that is full; what is committed is not touched by it."""
    said = [line.strip() for line in text.splitlines() if is_full(line)]
    return SourceError(
        "disk-full",
        f'query "{query}" cannot write its step: the disk is full',
        detail=said[-1] if said else None,
        hint="make room, and run it again: it goes on where it stopped",
    )


def translation(error: PySparkException, query: str) -> EbbtideError:
    """The error of ours that an exception of Spark stands for."""
    return _translation(error.getCondition() or "", str(error), query)


def translation_of_java(exception: Any, query: str) -> EbbtideError:
    """The error of ours that an exception of Java stands for, which may be wrapped in others.

    Spark's Python knows some of its exceptions only; the one that says most is looked for here.
    """
    causes = list(_causes(exception))
    texts = [str(cause.getMessage() or cause.toString()) for cause in causes]
    found = [
        _translation(_condition(cause), text, query)
        for cause, text in zip(causes, texts, strict=True)
    ]
    # The innermost says it without what others have put around it.
    known = next((error for error in reversed(found) if error.code != _UNKNOWN), None)
    if known is None:
        return SourceError(
            "step-failed", f'a step of query "{query}" failed', detail=_said(texts[-1])
        )
    if known.code == "unreadable-source" and known.detail != _said(texts[-1]):
        known.detail = f"{known.detail}: {_said(texts[-1])}"
    return known


def _causes(exception: Any) -> Iterator[Any]:
    while exception is not None:
        yield exception
        exception = exception.getCause()


def _condition(exception: Any) -> str:
    """The condition of an exception of Spark's; others have none."""
    from py4j.protocol import Py4JError

    try:
        return str(exception.getCondition() or "")
    except Py4JError:
        return ""


def _translation(condition: str, text: str, query: str) -> EbbtideError:
    if is_full(text):
        return disk_full(query, text)
    if "Traceback (most recent call last)" in text:
        return _from_worker(text, query)
    if lost := _LOST.search(text):
        return SourceError(
            "worker-lost",
            f'a process that worked on a step of query "{query}" is gone',
            detail=lost[0],
            hint="start the query again: it goes on where it stopped",
        )
    for words, kind in _FOUND:
        if any(word in condition for word in words):
            message, hint = _MESSAGES[kind]
            return EvaluationError(
                _CODES[kind], f'query "{query}": {message}', detail=_said(text), hint=hint
            )
    if condition.startswith(_UNREADABLE):
        return SourceError(
            "unreadable-source",
            f'an input of query "{query}" cannot be read',
            detail=_said(text),
            hint="put the files right, and start the query again",
        )
    return SourceError("step-failed", f'a step of query "{query}" failed', detail=_said(text))


def _from_worker(text: str, query: str) -> EbbtideError:
    """What a Python worker raised, from the last lines of its traceback."""
    if missing := _MISSING.search(text):
        return UnsupportedError(
            "missing-package",
            f'Spark\'s workers have no package "{missing[1]}"',
            hint="install ebbtide in the Python of every executor, and set PYSPARK_PYTHON to it",
        )
    ours = list(_OURS.finditer(text))
    if ours:
        return _rebuilt(ours[-1], text[ours[-1].end() :])
    parts = dict(_PART.findall(text))
    raised = [line for line in _RAISED.findall(text) if not _PART.match(line)]
    return InternalError(
        "worker-failed",
        f'{parts.get("operator", "a worker")} of query "{query}" failed',
        detail=raised[-1] if raised else None,
    )


def _rebuilt(ours: re.Match[str], rest: str) -> EbbtideError:
    """An error of ours again; its operator stands with its facts."""
    kind, code, message = ours.groups()
    parts = dict(_PART.findall(rest))
    facts = [parts["detail"]] if "detail" in parts else []
    facts += [f"in {parts['operator']}"] if "operator" in parts else []
    made: EbbtideError = getattr(errors, kind)(
        code, message, detail="; ".join(facts) or None, hint=parts.get("hint")
    )
    return made


def _said(text: str) -> str:
    """The first sentence of what Spark says, without its condition."""
    line = re.sub(r"^\[[\w.]+\] ", "", text.strip().splitlines()[0] if text.strip() else "")
    return re.split(r"(?<=\w)\. (?=[A-Z])|\.\s+SQLSTATE|; line \d", line)[0]
