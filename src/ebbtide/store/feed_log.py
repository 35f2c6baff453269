"""Rows fed by hand: a log per source, which every query reads at its own pace.

Law: what was fed is in the log before any step uses it, in the order in which it was fed; a step
takes a part of the log, from where the step before it ended.

Each addition ends with a line that proves it and all before it, and a file beside the log says how
far it has come: rows that are changed, exchanged or cut off are told.  An addition counts from when
that file has it, so what a crash has left of one does not.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from decimal import Decimal
from typing import Any, TypeAlias

from ebbtide.core.admission import allowed_ops
from ebbtide.core.decimals import fit
from ebbtide.core.declaration import Declaration
from ebbtide.core.schema import Schema
from ebbtide.core.time import Instant, instant
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
from ebbtide.state.files import content_of, digest, make_directory, opened_for_update
from ebbtide.store.files import read_sealed, replace, sealed

Fed: TypeAlias = Mapping[str, Any] | Sequence[Any]

_END = re.compile(rb'(?m)^\{"end": "([0-9a-f]{32})"\}\n')
_END_BYTES = 44


@dataclass(frozen=True, slots=True)
class FedRow:
    """A row of the log: what is done, the values by the declared columns, or why they are none."""

    op: str
    values: Row
    malformed: str | None = None


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
        with opened_for_update(self.path) as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            before = self._last()
            after = _after(before, lines)
            file.truncate(before.size)
            file.seek(before.size)
            file.write(lines + _end_line(after.link))
            file.flush()
            os.fsync(file.fileno())
            replace(self._mark_path, sealed({"size": after.size, "link": after.link}))

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
            *_, (last, _) = ((_Mark(), b""), *self._additions(0))
            return last
        if self._tail(told.size) != told.link:
            raise self._damaged("its end is not what was added last")
        return told

    def _additions(self, position: int) -> Iterator[tuple[_Mark, bytes]]:
        """The additions from a position on: where each ends, and its lines."""
        told = self._mark()
        before = _Mark(position, self._tail(position))
        least = position if told is None else told.size
        try:
            content = content_of(self.path, position)
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

    def _tail(self, position: int) -> str:
        """What proves the log up to a position at which an addition ended."""
        if not position:
            return ""
        try:
            end = _END.match(content_of(self.path, position - _END_BYTES, _END_BYTES))
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
    declaration: Declaration, rows: Iterable[Fed], op: str, zone: tzinfo = UTC
) -> list[FedRow]:
    """The rows as the log keeps them; what is no row of the source is kept as text."""
    allowed = {allowed_op.value for allowed_op in allowed_ops(declaration)}
    if op not in allowed:
        raise QueryError(
            "unknown-op",
            f'"{op}" is no operation on "{declaration.name}"',
            hint=f"use one of {', '.join(sorted(allowed))}",
        )
    return [_fed_row(declaration, row, op, zone) for row in rows]


def _fed_row(declaration: Declaration, row: Fed, op: str, zone: tzinfo) -> FedRow:
    schema = declaration.schema
    given = _by_column(declaration, row)
    values = tuple(_value(given.get(c.name.casefold()), c.type, zone) for c in schema)
    fits = all(admits(column.type, v) for column, v in zip(schema, values, strict=True))
    if not fits:
        return FedRow(op, (None,) * len(schema), repr(row))
    return FedRow(op, values)


def _by_column(declaration: Declaration, row: Fed) -> dict[str, Any]:
    schema = _writable(declaration)
    if isinstance(row, Mapping):
        known = {c.name.casefold() for c in schema}
        unknown = [str(name) for name in row if str(name).casefold() not in known]
        if unknown:
            close = near(unknown[0], schema.names)
            raise QueryError(
                "unknown-column",
                f'"{declaration.name}" has no column "{unknown[0]}"',
                detail=f"there are {', '.join(schema.names)}",
                hint=f"did you mean {close}?" if close else None,
            )
        return {str(name).casefold(): value for name, value in row.items()}
    if len(row) != len(schema):
        raise QueryError(
            "column-count",
            f'a row of "{declaration.name}" has {len(schema)} columns, not {len(row)}',
            detail=str(schema),
        )
    return {c.name.casefold(): value for c, value in zip(schema, row, strict=True)}


def _writable(declaration: Declaration) -> Schema:
    """The columns that are fed: the operation is given apart."""
    return Schema(tuple(c for c in declaration.schema if c.name != declaration.op))


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
                return date.fromisoformat(value)
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
