"""A sink that keeps changes in a table of SQLite."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any


@dataclass(frozen=True, slots=True)
class Sqlite:
    """Keeps the changes of every step as rows of a table in the database at ``path``.

    A step is one transaction that takes out what there is of it already, so it is there once, and
    whole or not at all.  Times, in UTC, and days are texts that sort as they do, decimals are
    texts, durations are microseconds, arrays and structs are JSON.
    """

    path: str
    table: str = "changes"

    def __str__(self) -> str:
        return f'Sqlite("{self.path}", "{self.table}")'

    def write(self, frame: Any, step: int) -> None:
        """Writes a step; what is there of it already is replaced."""
        table = frame.toArrow() if hasattr(frame, "toArrow") else frame
        rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
        with closing(sqlite3.connect(self.path)) as database, database:
            self._keep(database, table.column_names, rows, step)

    def _keep(
        self, database: sqlite3.Connection, names: list[str], rows: Iterable[Any], step: int
    ) -> None:
        table, columns = _quoted(self.table), ", ".join(map(_quoted, names))
        database.execute("BEGIN IMMEDIATE")
        database.execute(f"CREATE TABLE IF NOT EXISTS {table} ({columns})")
        index = _quoted(f"{self.table} by step")
        database.execute(f"CREATE INDEX IF NOT EXISTS {index} ON {table} (step)")
        database.execute(f"DELETE FROM {table} WHERE step = ?", (step,))
        places = ", ".join("?" for _ in names)
        database.executemany(
            f"INSERT INTO {table} ({columns}) VALUES ({places})",
            (tuple(map(_value, row)) for row in rows),
        )


def _quoted(name: str) -> str:
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


def _value(value: Any) -> Any:
    """A value as SQLite keeps it."""
    match value:
        case datetime():
            at = value if value.tzinfo is None else value.astimezone(UTC).replace(tzinfo=None)
            # All of its digits are written, so that texts sort as times do.
            return at.isoformat(" ", "microseconds")
        case date():
            return value.isoformat()
        case Decimal():
            return str(value)
        case timedelta():
            return value // timedelta(microseconds=1)
        case list() | dict():
            return json.dumps(value, default=_value)
        case _:
            return value
