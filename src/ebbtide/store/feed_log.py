"""Rows fed by hand: a log per source, which every query reads at its own pace.

Law: what was fed is in the log before any step uses it, in the order in which it was fed; a step
takes a part of the log, from where the step before it ended.

Each addition ends with a line that proves it and all before it, and a file beside the log says how
far it has come: rows changed, exchanged or cut off are errors.  An addition counts from when
that file has it, so what a crash has left of one does not.

What no program needs any more is cut off at the beginning; positions stay what they were.  A first
line then says where the log begins, and proves it.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from dataclasses import replace as replace_fields
from datetime import UTC, date, datetime, timedelta, tzinfo
from decimal import Decimal
from typing import IO, Any, TypeAlias

from ebbtide.core.admission import allowed_ops, default_op, read_op
from ebbtide.core.codec.debezium import enveloped_row
from ebbtide.core.decimals import fit
from ebbtide.core.declaration import (
    Declaration,
    TableDeclaration,
    arrivals_of,
    given_schema,
)
from ebbtide.core.schema import Schema
from ebbtide.core.time import Instant, day, instant, is_in_calendar
from ebbtide.core.types import (
    ArrayType,
    DateType,
    DecimalType,
    DoubleType,
    IntervalType,
    StructType,
    TimestampType,
    Type,
    admits,
)
from ebbtide.core.values import Row, Value, normalise
from ebbtide.errors import QueryError, StateError
from ebbtide.sql.catalog import near
from ebbtide.state.files import content_of, digest, make_directory, opened_for_update, usable
from ebbtide.store.files import read_sealed, replace, sealed, unsealed

Fed: TypeAlias = Mapping[str, Any] | Sequence[Any]

_END = re.compile(rb'(?m)^\{"end": "([0-9a-f]{32})"\}\n')
_END_BYTES = 44
_FIRST_LINE = 400


@dataclass(frozen=True, slots=True)
class FedRow:
    """A row of the log: what is done, the values by the declared columns, or why they are none."""

    op: str
    values: Row
    malformed: str | None = None

    def widened(self, width: int) -> FedRow:
        """The row with NULLs in columns that were added since it was fed."""
        missing = (None,) * (width - len(self.values))
        return replace_fields(self, values=self.values + missing) if missing else self


@dataclass(frozen=True, slots=True)
class Advance:
    """A promise in the log: no row before ``to`` comes any more."""

    to: Instant


@dataclass(frozen=True, slots=True)
class _Mark:
    """A place in a log at which an addition ends, and what proves all before it."""

    size: int = 0
    link: str = ""


@dataclass(frozen=True, slots=True)
class _Beginning:
    """Where a log begins: the place up to which it was cut, and the bytes that say so."""

    mark: _Mark = _Mark()
    room: int = 0

    def place(self, position: int) -> int:
        """The place in the file of a position."""
        return position - self.mark.size + self.room


@dataclass(frozen=True, slots=True)
class FeedLog:
    """The log of one source: a file to which lines are added, below the engine's directory.

    Positions are those of bytes, so a step reads only what came after the one before it.
    """

    path: str

    def append(self, entries: Iterable[FedRow | Advance]) -> None:
        """Adds entries at the end, all of them or none."""
        lines = "".join(f"{_written(entry)}\n" for entry in entries).encode()
        if not lines:
            return
        make_directory(os.path.dirname(self.path))
        with usable(self.path), self._locked() as file:
            before = self._last()
            after = _after(before, lines)
            place = self._beginning().place(before.size)
            file.truncate(place)
            file.seek(place)
            file.write(lines + _end_line(after.link))
            file.flush()
            os.fsync(file.fileno())
            replace(self._mark_path, sealed({"size": after.size, "link": after.link}))

    @contextmanager
    def _locked(self) -> Iterator[IO[bytes]]:
        """The file, which nobody else changes meanwhile."""
        while True:
            with opened_for_update(self.path) as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                # Whoever had the lock may have put another file in its place.
                if os.fstat(file.fileno()).st_ino == os.stat(self.path).st_ino:
                    yield file
                    return

    @property
    def first(self) -> int:
        """The first position that there still is."""
        return self._beginning().mark.size

    @property
    def end(self) -> int:
        """The position at which the last addition ends."""
        return self._last().size

    @property
    def is_empty(self) -> bool:
        """Whether nothing was ever fed."""
        return not self.first and not self.read(0)[0]

    def cut(self, position: int) -> None:
        """Removes what lies before the end of an addition; what comes after stays where it is."""
        with self._locked():
            if position <= self.first:
                return
            link, beginning = self._tail(position), self._beginning()
            rest = content_of(self.path, beginning.place(position))
            replace(self.path, sealed({"cut": position, "link": link}).encode() + rest)

    def copied_to(self, path: str) -> None:
        """Copies all additions so far, and what proves them; rows may be fed meanwhile."""
        with self._locked():
            last = self._last()
            content = content_of(self.path, 0, self._beginning().place(last.size))
        copy = FeedLog(path)
        replace(path, content)
        replace(copy._mark_path, sealed({"size": last.size, "link": last.link}))

    def _beginning(self) -> _Beginning:
        """Where the log begins."""
        try:
            line, found, _ = content_of(self.path, 0, _FIRST_LINE).partition(b"\n")
        except FileNotFoundError:
            return _Beginning()
        if not found or not line.startswith(b'{"checksum": '):
            return _Beginning()
        try:
            told = unsealed(line)
            return _Beginning(_Mark(int(told["cut"]), str(told["link"])), len(line) + 1)
        except (ValueError, KeyError, TypeError) as error:
            raise self._damaged("its first line does not say where it begins") from error

    def read(self, position: int) -> tuple[list[tuple[int, FedRow | Advance]], int]:
        """The entries from a position on, with their own positions, and where they end."""
        found: list[tuple[int, FedRow | Advance]] = []
        place = position
        for mark, lines in self._additions(position):
            for line in lines.splitlines(keepends=True):
                found.append((place, self._entry(line)))
                place += len(line)
            place = mark.size
        return found, place

    def _entry(self, line: bytes) -> FedRow | Advance:
        try:
            return _read(line)
        except (ValueError, KeyError, TypeError, ArithmeticError) as error:
            raise self._damaged(f"a line cannot be read: {error!r}") from error

    def _last(self) -> _Mark:
        """Where the last addition ends."""
        told = self._mark()
        if told is None:
            first = self._beginning().mark
            *_, (last, _) = ((first, b""), *self._additions(first.size))
            return last
        if self._tail(told.size) != told.link:
            raise self._damaged("its end is not what was added last")
        return told

    def _additions(self, position: int) -> Iterator[tuple[_Mark, bytes]]:
        """The additions from a position on: where each ends, and its lines."""
        told = self._mark()
        least = position if told is None else told.size
        try:
            before, content = self._rest(position)
        except FileNotFoundError as error:
            if position or least:
                raise self._damaged("it is not there") from error
            return
        start = 0
        for end in _END.finditer(content):
            lines = content[start : end.start()]
            mark = _after(before, lines)
            if mark.link != end[1].decode():
                break
            if told is not None and mark.size > told.size:
                break
            yield mark, lines
            before, start = mark, end.end()
        if before.size != least and told is not None:
            raise self._damaged(f"what was added after its first {before.size} bytes is not there")
        if told is not None and before.link != told.link:
            raise self._damaged("its end is not what was added last")

    def _rest(self, position: int) -> tuple[_Mark, bytes]:
        """What proves the log up to a position, and what comes after it."""
        while True:
            beginning = self._beginning()
            if position < beginning.mark.size:
                raise StateError(
                    "feed-cut",
                    f'"{self.path}" has no rows from its beginning on any more',
                    detail="every program of the location has taken them, and keeps its changes "
                    "for a bounded time",
                    hint="start this program in another location, and feed its rows there",
                )
            mark = _Mark(position, self._tail(position))
            content = content_of(self.path, beginning.place(position))
            if beginning == self._beginning():  # else it was cut just now
                return mark, content

    def _tail(self, position: int) -> str:
        """What proves the log up to a position at which an addition ended."""
        beginning = self._beginning()
        if position == beginning.mark.size:
            return beginning.mark.link
        place = beginning.place(position) - _END_BYTES
        try:
            end = _END.match(content_of(self.path, max(0, place), _END_BYTES))
        except FileNotFoundError:
            raise self._damaged("it is not there") from None
        if end is None:
            raise self._damaged(f"no addition ends at its byte {position}, where a step ended")
        return end[1].decode()

    @property
    def _mark_path(self) -> str:
        return f"{self.path.removesuffix('.jsonl')}.end"

    def _mark(self) -> _Mark | None:
        """How far the log had come when rows were last added; None if nobody knows."""

        def damaged(why: str) -> StateError:
            return StateError(
                "damaged-feed",
                f'"{self._mark_path}" does not say how far its log has come',
                detail=why,
                hint=f"restore it; if {self.path} is whole, remove it: the next rows write it anew",
            )

        known = read_sealed(self._mark_path, damaged)
        if known is None:
            return None
        try:
            return _Mark(int(known["size"]), str(known["link"]))
        except (KeyError, TypeError, ValueError) as error:
            raise damaged(repr(error)) from error

    def _damaged(self, why: str) -> StateError:
        return StateError(
            "damaged-feed",
            f'the log "{self.path}" has lost rows that were fed',
            detail=why,
            hint="restore the location, or feed them again in another one",
        )


def _after(before: _Mark, lines: bytes) -> _Mark:
    link = digest(before.link.encode() + lines)
    return _Mark(before.size + len(lines) + _END_BYTES, link)


def _end_line(link: str) -> bytes:
    return b'{"end": "%s"}\n' % link.encode()


def fed_rows(
    declaration: Declaration, rows: Iterable[Fed], op: str | None, zone: tzinfo = UTC
) -> list[FedRow]:
    """The rows as the log keeps them; what is no row of the source is kept as text.

    Without an ``op``, rows of an encoding say what they do, and others do what is usual.
    """
    allowed = {allowed_op.value for allowed_op in allowed_ops(declaration)}
    summed = isinstance(declaration, TableDeclaration) and declaration.summed
    if summed and op is not None:
        raise QueryError(
            "unknown-op",
            f'rows of "{declaration.name}" are changes, and say themselves what they do',
            hint=f'engine.feed("{declaration.name}", rows), with {declaration.op} = -1',
        )
    if op is None:
        return [_fed_row(declaration, *_said(declaration, row), zone) for row in rows]
    if isinstance(declaration, TableDeclaration) and declaration.bag:
        known = read_op(declaration, op)
        op = op if known is None else known.value
    if op not in allowed:
        raise QueryError(
            "unknown-op",
            f'"{op}" is not an operation on "{declaration.name}"',
            hint=f"use one of {', '.join(sorted(allowed))}",
        )
    return [_fed_row(declaration, row, op, zone) for row in rows]


def _fed_row(declaration: Declaration, row: Fed, op: str, zone: tzinfo) -> FedRow:
    schema = declaration.schema
    given = _by_column(declaration, row)
    values = tuple(_value(given.get(c.name.casefold()), c.type, zone) for c in schema)
    fits = all(_fits(column.type, v) for column, v in zip(schema, values, strict=True))
    if not fits:
        return FedRow(op, (None,) * len(schema), repr(row))
    return FedRow(op, values)


def _said(declaration: Declaration, row: Fed) -> tuple[Fed, str]:
    """A row, and the operation that it says, or the one that it is by default."""
    usual = default_op(declaration).value
    if not isinstance(declaration, TableDeclaration) or declaration.encoding is None:
        return row, usual
    if declaration.summed and not isinstance(row, Mapping | str):
        row = _by_column(declaration, row)
    if not isinstance(row, Mapping):
        return row, usual
    folded = {str(name).casefold(): value for name, value in row.items()}
    told = _decoded(declaration, folded)
    if declaration.op is None:
        return told, usual
    name = declaration.op.casefold()
    word = told.get(name) if declaration.summed else told.pop(name, usual)
    op = read_op(declaration, word if isinstance(word, str | int) else None)
    return told, str(word) if op is None else op.value


def _decoded(declaration: TableDeclaration, told: dict[str, Any]) -> dict[str, Any]:
    """A row of an encoding, without the number of the step that it came in."""
    told.pop("step", None)
    if not declaration.enveloped:
        return told
    row, op, at = enveloped_row(told)
    known = {column.name.casefold() for column in declaration.schema}
    values = {name.casefold(): v for name, v in row.items() if name.casefold() in known}
    return {**values, str(declaration.op): op, str(declaration.time): at}


def _fits(type_: Type, value: Any) -> bool:
    """Whether a value is one of a type, and if it is a time, one that a calendar has."""
    if not admits(type_, value):
        return False
    return not isinstance(type_, TimestampType) or value is None or is_in_calendar(value)


def _by_column(declaration: Declaration, row: Fed) -> dict[str, Any]:
    schema, arrivals = _writable(declaration), arrivals_of(declaration)
    if isinstance(row, Mapping):
        known = {c.name.casefold() for c in schema}
        unknown = [str(name) for name in row if str(name).casefold() not in known]
        made = [name for name in unknown if name.casefold() in map(str.casefold, arrivals)]
        if made:
            raise QueryError(
                "arrival-given",
                f'"{made[0]}" of "{declaration.name}" is an ARRIVAL: the clock gives it, not a row',
                hint=f"leave {made[0]} out of the row, or declare it without ARRIVAL",
            )
        if unknown:
            raise QueryError(
                "unknown-column",
                f'"{declaration.name}" has no column "{unknown[0]}"',
                detail=f"there are {', '.join(schema.names)}",
                hint=_instead(declaration, unknown[0], schema),
            )
        return {str(name).casefold(): value for name, value in row.items()}
    if isinstance(row, str):
        raise QueryError(
            "wrong-type",
            f'a row of "{declaration.name}" cannot be {row!r}',
            hint='rows are tuples or dictionaries: of a DataFrame df.to_dict("records")',
        )
    if len(row) != len(schema):
        raise QueryError(
            "column-count",
            f'a row of "{declaration.name}" has {len(schema)} columns, not {len(row)}',
            detail=str(schema),
        )
    return {c.name.casefold(): value for c, value in zip(schema, row, strict=True)}


def _instead(declaration: Declaration, unknown: str, schema: Schema) -> str | None:
    """What to give in place of a column that there is not."""
    if declaration.op is not None and unknown.casefold() == declaration.op.casefold():
        return f'give it apart: engine.feed("{declaration.name}", rows, op="delete")'
    close = near(unknown, schema.names)
    return f"did you mean {close}?" if close else None


def _writable(declaration: Declaration) -> Schema:
    """The columns that are fed: the operation is given apart, and the clock tells the arrival.

    A change says itself how many more or fewer rows there are.
    """
    given = given_schema(declaration)
    if isinstance(declaration, TableDeclaration) and declaration.summed:
        return given
    return Schema(tuple(c for c in given if c.name != declaration.op))


def _value(value: Any, type_: Type, zone: tzinfo) -> Value:
    """A Python value as a value of a type, where that is exact; else it stays as it is."""
    match type_:
        case TimestampType() if isinstance(value, str | datetime):
            try:
                return instant(value, zone)
            except QueryError:
                return value
        case IntervalType() if isinstance(value, timedelta):
            return value // timedelta(microseconds=1)
        case DoubleType() if isinstance(value, int) and not isinstance(value, bool):
            return float(value)
        case DoubleType():
            return normalise(value)
        case DecimalType() if isinstance(value, int | Decimal) and not isinstance(value, bool):
            return _decimal(Decimal(value), type_)
        case DateType() if isinstance(value, str):
            try:
                return day(value)
            except ValueError:
                return value
        case ArrayType() if isinstance(value, list | tuple):
            return tuple(_value(item, type_.element, zone) for item in value)
        case StructType() if isinstance(value, Mapping):
            return tuple(_value(value.get(name), its, zone) for name, its in type_.fields)
        case _:
            return value


def _decimal(value: Decimal, type_: DecimalType) -> Value:
    fitted = fit(value, type_)
    return fitted if fitted == value else value


def _written(entry: FedRow | Advance) -> str:
    if isinstance(entry, Advance):
        return json.dumps({"advance": entry.to})
    return json.dumps(
        {"op": entry.op, "values": [_plain(v) for v in entry.values], "malformed": entry.malformed}
    )


def _read(line: bytes) -> FedRow | Advance:
    values = json.loads(line)
    if "advance" in values:
        return Advance(values["advance"])
    return FedRow(values["op"], tuple(map(_rich, values["values"])), values["malformed"])


def _plain(value: Value) -> Any:
    match value:
        case Decimal():
            return {"decimal": str(value)}
        case date():
            return {"date": value.isoformat()}
        case bytes():
            return {"binary": value.hex()}
        case float() if value != value or value in (float("inf"), float("-inf")):
            return {"double": repr(value)}
        case tuple():
            return {"items": [_plain(item) for item in value]}
        case _:
            return value


def _rich(value: Any) -> Value:
    match value:
        case {"decimal": str(text)}:
            return Decimal(text)
        case {"date": str(text)}:
            return date.fromisoformat(text)
        case {"binary": str(text)}:
            return bytes.fromhex(text)
        case {"double": str(text)}:
            return normalise(float(text))
        case {"items": list(items)}:
            return tuple(_rich(item) for item in items)
        case _:
            return value
