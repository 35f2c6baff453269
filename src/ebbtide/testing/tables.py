"""Changes and rows as tables of text, to write expectations down and to read failures.

    time      | diff | auction | price
    [0, 10)   | +1   | 1       | 5.0
    [5, inf)  | -1   | 1       | 5.0
    always    | +1   | 2       | NULL

A schema gives the types of the columns; ``cells`` has the form of each.  ``always`` is
``[-inf, inf)``: a fact.  A table without ``time`` holds facts, and one without ``diff`` adds each
of its rows once, so a stream is written as its rows alone.  Times are ISO or plain counts of
microseconds.  Blank lines, rules of dashes and lines that begin with ``#`` count for nothing.

Law: reading what was written gives the same changes in the same order.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ebbtide.core.change import Change, fact
from ebbtide.core.interval import ALWAYS
from ebbtide.core.schema import Column, Schema
from ebbtide.core.time import Instant
from ebbtide.core.types import TimestampType
from ebbtide.core.values import Row, row_key
from ebbtide.core.words import with_article
from ebbtide.errors import ParseError, QueryError, Span
from ebbtide.testing.cells import (
    from_text,
    in_iso,
    split,
    time_from_text,
    time_to_text,
    to_text,
)

_RULE = re.compile(r"[-+|=\s]*")
_INTERVAL = re.compile(r"\[(.+),(.+)\)")


def changes_from_text(text: str, schema: Schema) -> tuple[Change, ...]:
    """The changes that a table stands for.

    >>> from ebbtide.core.schema import schema
    >>> changes_from_text('''
    ...     time    | diff | name
    ...     [0, 10) | +1   | 'a'
    ... ''', schema(name="STRING"))
    (Change(row=('a',), valid_from=0, valid_to=10, diff=1),)
    """
    lines = list(_lines(text))
    if not lines:
        return ()
    header, *body = lines
    lead = _lead(header, schema)
    return tuple(_change(line, lead, schema) for line in body)


def changes_to_text(changes: Iterable[Change], schema: Schema) -> str:
    """The table of changes, in their order; plain counts where all times are within a second.

    >>> from ebbtide.core.schema import schema
    >>> print(changes_to_text([Change((1,), 0, 10)], schema(x="INT")))
    time    | diff | x
    [0, 10) | +1   | 1
    """
    changes = list(changes)
    iso = in_iso(_times(changes, schema))
    rows = [
        [_time(change, iso), f"{change.diff:+d}", *row_to_text(change.row, schema, iso)]
        for change in changes
    ]
    return grid([["time", "diff", *map(str, schema)], *rows])


def rows_to_text(rows: Iterable[Row] | Counter[Row], schema: Schema) -> str:
    """The table of rows, sorted, as often as they occur."""
    listed = list(rows.elements() if isinstance(rows, Counter) else rows)
    iso = in_iso(_times([fact(row) for row in listed], schema))
    body = [row_to_text(row, schema, iso) for row in sorted(listed, key=row_key)]
    return grid([list(map(str, schema)), *body])


def row_to_text(row: Row, schema: Schema, iso: bool = True) -> list[str]:
    """The cells of a row."""
    return [to_text(v, column.type, iso) for v, column in zip(row, schema, strict=True)]


def grid(rows: Sequence[Sequence[str]]) -> str:
    """Rows of cells as lines, the cells of a column below each other."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )
    return "\n".join(lines)


# --- reading -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Cell:
    """A cell and its place in the text, so that an error can underline it."""

    source: str
    start: int
    end: int

    @property
    def text(self) -> str:
        return self.source[self.start : self.end].strip()

    def wrong(self, message: str, hint: str | None = None) -> ParseError:
        raw = self.source[self.start : self.end]
        start = self.start + len(raw) - len(raw.lstrip())
        span = Span(self.source, min(start, self.end), max(start, self.start + len(raw.rstrip())))
        return ParseError("bad-table", message, hint=hint, span=span)


def _lines(text: str) -> Iterator[list[_Cell]]:
    start = 0
    for line in text.split("\n"):
        if not _RULE.fullmatch(line) and not line.lstrip().startswith("#"):
            try:
                parts = list(split(line, "|", nested=False))
            except ValueError as error:
                raise _Cell(text, start, start + len(line)).wrong(str(error)) from None
            yield [_Cell(text, start + a, start + b) for a, b in parts]
        start += len(line) + 1


def _lead(header: list[_Cell], schema: Schema) -> tuple[str, ...]:
    """Which of ``time`` and ``diff`` stand before the columns."""
    count = len(header) - len(schema)
    lead = tuple(cell.text for cell in header[:count]) if count > 0 else ()
    if count < 0 or lead not in ((), ("time",), ("diff",), ("time", "diff")):
        raise header[0].wrong(
            f"the header has {len(header)} cells, which are not those of ({schema})",
            hint=" | ".join(["time", "diff", *map(str, schema)]),
        )
    for cell, column in zip(header[count:], schema, strict=True):
        if cell.text.casefold() not in (str(column).casefold(), column.name.casefold()):
            raise cell.wrong(f'the column here is "{column}"')
    return lead


def _change(line: list[_Cell], lead: tuple[str, ...], schema: Schema) -> Change:
    if len(line) != len(lead) + len(schema):
        raise line[0].wrong(
            f"the row has {len(line)} cells, and the header {len(lead) + len(schema)}"
        )
    start, end = _interval(line[lead.index("time")]) if "time" in lead else _ALWAYS
    diff = _diff(line[lead.index("diff")]) if "diff" in lead else 1
    cells = line[len(lead) :]
    row = tuple(_value(cell, column) for cell, column in zip(cells, schema, strict=True))
    return Change(row, start, end, diff)


_ALWAYS = (ALWAYS.valid_from, ALWAYS.valid_to)


def _interval(cell: _Cell) -> tuple[Instant, Instant]:
    if cell.text == "always":
        return _ALWAYS
    if match := _INTERVAL.fullmatch(cell.text):
        try:
            start, end = time_from_text(match[1]), time_from_text(match[2])
        except QueryError as error:
            raise cell.wrong(error.message) from None
        if start < end:
            return start, end
        raise cell.wrong(f"{cell.text} is empty")
    raise cell.wrong(f'"{cell.text}" is not an interval', hint="[0, 10), [5, inf) or always")


def _diff(cell: _Cell) -> int:
    try:
        diff = int(cell.text)
    except ValueError:
        diff = 0
    if not diff:
        raise cell.wrong(f'"{cell.text}" is not a difference', hint="+1 or -1")
    return diff


def _value(cell: _Cell, column: Column) -> object:
    try:
        value = from_text(cell.text, column.type)
    except ValueError:
        raise cell.wrong(
            f'"{cell.text}" is not {with_article(column.type)}, as "{column}" is'
        ) from None
    if value is None and not column.nullable:
        raise cell.wrong(f'"{column}" is never NULL')
    return value


# --- writing -----------------------------------------------------------------------------------


def _time(change: Change, iso: bool) -> str:
    if (change.valid_from, change.valid_to) == _ALWAYS:
        return "always"
    return f"[{time_to_text(change.valid_from, iso)}, {time_to_text(change.valid_to, iso)})"


def _times(changes: list[Change], schema: Schema) -> Iterator[Instant | None]:
    at = [i for i, column in enumerate(schema) if isinstance(column.type, TimestampType)]
    for change in changes:
        yield from (change.valid_from, change.valid_to, *(change.row[i] for i in at))
