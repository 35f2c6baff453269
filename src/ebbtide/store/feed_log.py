"""Rows fed by hand: a log per source, which every query reads at its own pace.

Law: what was fed is in the log before any step uses it, in the order in which it was fed; a step
takes a part of the log, from where the step before it ended.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterable, Mapping, Sequence
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
from ebbtide.errors import QueryError
from ebbtide.sql.catalog import near

Fed: TypeAlias = Mapping[str, Any] | Sequence[Any]

_ENDED = b"\n\n"


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
class FeedLog:
    """The log of one source: a file to which lines are added, below the engine's directory.

    Positions are those of bytes, so a step reads only what came after the one before it.  An empty
    line ends what was added at once; what a crash has left without one does not count.
    """

    path: str

    def append(self, entries: Iterable[FedRow | Advance]) -> None:
        """Adds entries at the end, all of them or none."""
        lines = "".join(f"{_written(entry)}\n" for entry in entries)
        if not lines:
            return
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        with open(self.path, "ab") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.truncate(self._end())
            file.write(f"{lines}\n".encode())
            file.flush()
            os.fsync(file.fileno())

    def read(self, position: int) -> tuple[list[tuple[int, FedRow | Advance]], int]:
        """The entries from a position on, with their own positions, and where they end."""
        try:
            with open(self.path, "rb") as file:
                file.seek(position)
                whole, ended, _ = file.read().rpartition(_ENDED)
        except FileNotFoundError:
            return [], position
        found, place = [], position
        for line in whole.split(b"\n") if ended else ():
            if line:
                found.append((place, _read(line)))
            place += len(line) + 1
        return found, position + len(whole) + len(ended)

    def _end(self) -> int:
        """Where the last whole addition ends."""
        with open(self.path, "rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - len(_ENDED)))
            if size == 0 or file.read() == _ENDED:
                return size
            file.seek(0)
            whole, ended, _ = file.read().rpartition(_ENDED)
            return len(whole) + len(ended)


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
