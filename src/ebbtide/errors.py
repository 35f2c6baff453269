"""The exceptions of Ebbtide: a stable code, one line that names the object, facts, and a hint.

    EbbtideError
    ├── QueryError           the user's: the query, or a declaration, is wrong
    │   ├── ParseError       it is not in the language
    │   ├── BindError        it names something that is not there, or of the wrong type
    │   ├── TemporalError    its times do not allow what it asks for
    │   └── EvaluationError  the data do not allow it: overflow, division by zero, a failed cast
    ├── UnsupportedError     valid, but not built; the message says what is
    ├── SourceError          an input or output of ours cannot be read, written or trusted
    ├── StateError           the stored state is missing, damaged or from another query
    └── InternalError        ours: a promise inside Ebbtide does not hold

Catch a family to act on it, and read `code` to tell its members apart: codes are stable, wording is
not. `str(error)` is what a person sees:

    >>> sql = "SELECT prise FROM bids"
    >>> print(BindError("unknown-column", 'there is no column "prise"',
    ...                 detail="bids has auction, price, at", hint="SELECT price FROM bids",
    ...                 span=Span(sql, 7, 12)))
    error[unknown-column]: there is no column "prise"
      SELECT prise FROM bids
             ^^^^^
    detail: bids has auction, price, at
    hint: SELECT price FROM bids

Nothing here translates foreign exceptions or prints; the edges of the package do.
"""

import copy
import re
from dataclasses import dataclass
from typing import Self

__all__ = [
    "BindError",
    "EbbtideError",
    "EvaluationError",
    "InternalError",
    "ParseError",
    "QueryError",
    "SourceError",
    "Span",
    "StateError",
    "TemporalError",
    "UnsupportedError",
]

_KEBAB_CASE = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")

_LINE_WIDTH = 76
_LEFT_CONTEXT = 20
_CUT = "..."


@dataclass(frozen=True, slots=True)
class Span:
    """The part `[start, end)` of a source text, in characters; an empty part is a place in it."""

    source: str
    start: int
    end: int

    def __post_init__(self) -> None:
        if not 0 <= self.start <= self.end <= len(self.source):
            raise ValueError(
                f"span [{self.start}, {self.end}) is not within {len(self.source)} characters"
            )

    @property
    def text(self) -> str:
        """What the span covers.

        >>> Span("SELECT price", 7, 12).text
        'price'
        """
        return self.source[self.start : self.end]

    def underlined(self) -> str:
        """The source line in which the span starts, and under it a caret for each character.

        A line that is too long is cut between words on either side of the span; a span that goes
        on to further lines is underlined to the end of its first.
        """
        line_start = self.source.rfind("\n", 0, self.start) + 1
        line_end = self.source.find("\n", self.start)
        if line_end < 0:
            line_end = len(self.source)
        # One column per character, or the carets would stand under something else.
        line = re.sub(r"\s", " ", self.source[line_start:line_end]).rstrip()
        start = min(self.start - line_start, len(line))
        end = max(start + 1, min(self.end - line_start, len(line)))
        left, right = _visible(line, start, end)
        before = f"{_CUT} " if left > 0 else ""
        after = f" {_CUT}" if right < len(line) else ""
        indent = " " * (len(before) + start - left)
        carets = "^" * (min(end, max(right, start + 1)) - start)
        return f"{before}{line[left:right].rstrip()}{after}\n{indent}{carets}"


class EbbtideError(Exception):
    """A code in kebab case, a message of one line, and what helps: facts, a hint, a place."""

    code: str
    message: str
    detail: str | None
    hint: str | None
    span: Span | None

    def __init__(
        self,
        code: str,
        message: str,
        *,
        detail: str | None = None,
        hint: str | None = None,
        span: Span | None = None,
    ) -> None:
        if not _KEBAB_CASE.fullmatch(code):
            raise ValueError(f"error code {code!r} is not in kebab case")
        # Just these two: pickling calls the class with `args` and then restores the attributes.
        super().__init__(code, message)
        self.code = code
        self.message = message
        self.detail = detail
        self.hint = hint
        self.span = span

    def __str__(self) -> str:
        lines = [f"error[{self.code}]: {self.message}"]
        if self.span is not None:
            lines += [f"  {line}" for line in self.span.underlined().splitlines()]
        if self.detail is not None:
            lines.append(f"detail: {self.detail}")
        if self.hint is not None:
            lines.append(f"hint: {self.hint}")
        return "\n".join(lines)

    def with_span(self, span: Span) -> Self:
        """This error at that place of the source; an error that has a place keeps it."""
        if self.span is not None:
            return self
        placed = copy.copy(self)
        placed.span = span
        placed.__cause__ = self.__cause__
        return placed.with_traceback(self.__traceback__)


class QueryError(EbbtideError):
    """The query, or a declaration that it uses, is wrong: the user can put it right."""


class ParseError(QueryError):
    """The text is not in the language."""


class BindError(QueryError):
    """A name stands for nothing, or for something of the wrong type."""


class TemporalError(QueryError):
    """The times of the query do not allow what it asks for, such as a final answer."""


class EvaluationError(QueryError):
    """The data do not allow the query: overflow, division by zero, a cast that fails.

    ``expression`` is the text of what failed, where that is known; the message begins with it.
    """

    expression: str | None = None

    def of(self, expression: str, hint: str | None = None) -> Self:
        """This error as one of an expression."""
        told = type(self)(self.code, f"{expression}: {self.message}", hint=hint)
        told.expression = expression
        return told

    @classmethod
    def told(cls, reason: str) -> Self:
        """The error of which ``reason`` is the reason."""
        code, _, message = reason.partition(": ")
        return cls(code, message)

    @property
    def reason(self) -> str:
        """The code and what went wrong, without the expression.

        >>> EvaluationError("overflow", "too large").of("a + b").reason
        'overflow: too large'
        """
        return f"{self.code}: {self.message.removeprefix(f'{self.expression}: ')}"


class UnsupportedError(EbbtideError):
    """Valid, but not built; the message says what is."""


class SourceError(EbbtideError):
    """An input or an output cannot be read, written or trusted."""


class StateError(EbbtideError):
    """Stored state is missing, damaged, or from another query."""


class InternalError(EbbtideError):
    """A promise inside Ebbtide does not hold: a bug of ours."""


def _visible(line: str, start: int, end: int) -> tuple[int, int]:
    """The part of the line to show, so that it and the marks for what is cut fit the width."""
    mark = len(_CUT) + 1
    if max(len(line), end) <= _LINE_WIDTH:
        return 0, len(line)
    left = 0 if end <= _LINE_WIDTH - mark else _word_start(line, start - _LEFT_CONTEXT, start)
    room = _LINE_WIDTH - (mark if left > 0 else 0)
    if len(line) - left <= room:
        return left, len(line)
    limit = left + room - mark
    space = line.rfind(" ", end, limit + 1)
    return left, space if space >= 0 else limit


def _word_start(line: str, begin: int, limit: int) -> int:
    """The first place in `[begin, limit]` at which a word begins; `limit` if there is none."""
    for place in range(max(0, begin), limit):
        if line[place] != " " and (place == 0 or line[place - 1] == " "):
            return place
    return limit
