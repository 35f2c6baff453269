"""Rows for people and for programs: as a table, as CSV or as JSON.

Law: the three say the same.  NULL is ``NULL`` in a table, nothing in CSV (an empty text is ``""``
there) and ``null`` in JSON, where numbers and truth values are JSON's own and all else is text.  A
table is never cut: on a terminal long cells are folded, elsewhere lines are as long as they need.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from typing import TYPE_CHECKING, Any

import click

from ebbtide.config import Config
from ebbtide.core.schema import Schema
from ebbtide.core.text import write
from ebbtide.core.time import format_instant
from ebbtide.core.types import (
    BIGINT,
    STRING,
    BooleanType,
    DecimalType,
    DoubleType,
    IntegerType,
    TimestampType,
    Type,
)
from ebbtide.core.values import Row, Value

if TYPE_CHECKING:
    from rich.console import Console

FORMATS = ("table", "csv", "json")
_WIDE = 10_000
_SPECIAL = frozenset(',"\r\n')

format_option: Callable[[Any], Any] = click.option(
    "--format",
    "format_",
    type=click.Choice(FORMATS),
    default="table",
    show_default=True,
    help="How rows are written.",
)


@dataclass(frozen=True, slots=True)
class ShownColumn:
    """A column of what is shown: its name, and the type of its values."""

    name: str
    type: Type

    @property
    def is_number(self) -> bool:
        """Whether its cells stand to the right."""
        return isinstance(self.type, IntegerType | DoubleType | DecimalType)


INSTANT = TimestampType()
COUNT, TEXT = BIGINT, STRING


def columns_of(schema: Schema) -> list[ShownColumn]:
    """The columns of a query's answer."""
    return [ShownColumn(column.name, column.type) for column in schema]


def console(stderr: bool = False) -> Console:
    """Where things are drawn; colours follow the terminal and NO_COLOR."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else _WIDE
    return Console(stderr=stderr, highlight=False, markup=False, emoji=False, width=width)


def zone() -> tzinfo:
    """The zone of times that are read and shown."""
    from zoneinfo import ZoneInfo

    return ZoneInfo(Config.from_environment().time_zone)


def show(columns: Sequence[ShownColumn], rows: Iterable[Row], format_: str) -> None:
    """Writes rows to the standard output."""
    {"table": _table, "csv": _csv, "json": _json}[format_](columns, rows, zone())


def cell(value: Value, type_: Type, its_zone: tzinfo) -> str:
    """A value as text; times at the ends of the line have words."""
    if value is None:
        return "NULL"
    if isinstance(type_, TimestampType):
        return format_instant(value, its_zone)
    return write(value, type_, its_zone)


def _table(columns: Sequence[ShownColumn], rows: Iterable[Row], its_zone: tzinfo) -> None:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for column in columns:
        justify = "right" if column.is_number else "left"
        table.add_column(column.name, justify=justify, overflow="fold")  # type: ignore[arg-type]
    for row in rows:
        pairs = zip(row, columns, strict=True)
        table.add_row(*(cell(value, column.type, its_zone) for value, column in pairs))
    console().print(table)
    console().print(f"{table.row_count} row{'' if table.row_count == 1 else 's'}")


def _csv(columns: Sequence[ShownColumn], rows: Iterable[Row], its_zone: tzinfo) -> None:
    sys.stdout.write(",".join(_quoted(column.name) for column in columns) + "\n")
    for row in rows:
        cells = (
            "" if value is None else _quoted(cell(value, column.type, its_zone))
            for value, column in zip(row, columns, strict=True)
        )
        sys.stdout.write(",".join(cells) + "\n")


def _quoted(text: str) -> str:
    """A cell of a CSV file; an empty text differs from one that is not there."""
    return f'"{text.replace(chr(34), chr(34) * 2)}"' if not text or _SPECIAL & {*text} else text


def _json(columns: Sequence[ShownColumn], rows: Iterable[Row], its_zone: tzinfo) -> None:
    before = "[\n"
    for row in rows:
        told = {
            column.name: _plain(value, column.type, its_zone)
            for value, column in zip(row, columns, strict=True)
        }
        sys.stdout.write(f"{before} {json.dumps(told)}")
        before = ",\n"
    sys.stdout.write("[]\n" if before == "[\n" else "\n]\n")


def _plain(value: Value, type_: Type, its_zone: tzinfo) -> Any:
    if value is None or isinstance(type_, IntegerType | BooleanType):
        return value
    if isinstance(type_, DoubleType) and math.isfinite(value):
        return value
    return cell(value, type_, its_zone)
