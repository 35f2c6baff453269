"""What a user promises about an input: keys, progress, retention, and what to do with late rows.

These are values; ``frontier`` and ``admission`` act on them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import TypeAlias

from ebbtide.core.schema import Schema
from ebbtide.core.time import Duration
from ebbtide.core.types import TimestampType
from ebbtide.errors import QueryError


class Late(Enum):
    """What becomes of a row that comes after its promise."""

    REVISE = "REVISE"
    QUARANTINE = "QUARANTINE"


@dataclass(frozen=True, slots=True)
class Promise:
    """``PROGRESS FOR attribute AS attribute - delay``: no later row is older than that."""

    attribute: str
    delay_us: Duration = 0


@dataclass(frozen=True, slots=True)
class StreamDeclaration:
    """A stream of facts.

    ``op`` names the column that says insert, delete or replace, where the source has one.
    A stream is ``append_only`` if no fact of it can be deleted or replaced.
    """

    name: str
    schema: Schema
    key: tuple[str, ...] = ()
    promises: tuple[Promise, ...] = ()
    retain_us: Duration = 0
    late: Late = Late.REVISE
    idle_after_us: Duration | None = None
    not_beyond_us: Duration | None = None
    op: str | None = None
    append_only: bool = True

    def __post_init__(self) -> None:
        _check(self.name, self.schema, self.key, self.promises)
        if not self.key and not self.append_only:
            raise QueryError(
                "key-needed",
                f'stream "{self.name}" has no key to delete or replace facts by',
                hint="declare a PRIMARY KEY",
            )

    @property
    def row_schema(self) -> Schema:
        """The columns of a fact: what arrives, without its operation; keys and times are there."""
        times = tuple(promise.attribute for promise in self.promises)
        return _rows(self.schema, self.key + times, self.op)

    @property
    def time(self) -> str | None:
        """The attribute that windows stand on by default: the first that progresses."""
        return self.promises[0].attribute if self.promises else None


@dataclass(frozen=True, slots=True)
class TableDeclaration:
    """A table: static if it has no ``time``, else changed by keyed operations.

    ``time``, ``op`` and ``sequence`` name columns of what arrives: when a version begins, what
    is done, and the order of operations at one instant.  No version lives past ``lifetime_us``.
    """

    name: str
    schema: Schema
    key: tuple[str, ...] = ()
    time: str | None = None
    op: str | None = None
    sequence: str | None = None
    lifetime_us: Duration | None = None
    promises: tuple[Promise, ...] = ()
    retain_us: Duration = 0
    late: Late = Late.REVISE
    idle_after_us: Duration | None = None
    not_beyond_us: Duration | None = None

    def __post_init__(self) -> None:
        _check(self.name, self.schema, self.key, self.promises)
        if self.time is not None:
            _check_time(self.name, self.schema, self.time)
            if not self.key:
                raise QueryError(
                    "key-needed",
                    f'changing table "{self.name}" needs a key',
                    hint="declare a PRIMARY KEY",
                )

    @property
    def row_schema(self) -> Schema:
        """The columns of a row: what arrives, without operation and sequence; keys are there."""
        times = () if self.time is None else (self.time,)
        return _rows(self.schema, self.key + times, self.op, self.sequence)

    @property
    def static(self) -> bool:
        """Whether the table holds at every instant as it is."""
        return self.time is None


Declaration: TypeAlias = StreamDeclaration | TableDeclaration


def _rows(schema: Schema, required: tuple[str, ...], *left_out: str | None) -> Schema:
    never_null = {schema.column(name) for name in required}
    hidden = {schema.column(name) for name in left_out if name is not None}
    return Schema(
        tuple(
            replace(column, nullable=False) if column in never_null else column
            for column in schema
            if column not in hidden
        )
    )


def _check(name: str, schema: Schema, key: tuple[str, ...], promises: tuple[Promise, ...]) -> None:
    for column in key:
        schema.column(column)
    for promise in promises:
        _check_time(name, schema, promise.attribute)
        if promise.delay_us < 0:
            raise QueryError(
                "negative-delay",
                f'the promise for "{promise.attribute}" of "{name}" lies in the future',
                hint=f"write {promise.attribute} - INTERVAL 0 SECONDS or more",
            )


def _check_time(name: str, schema: Schema, attribute: str) -> None:
    column = schema.column(attribute)
    if not isinstance(column.type, TimestampType):
        raise QueryError(
            "not-a-time",
            f'"{attribute}" of "{name}" is {column.type}, not TIMESTAMP',
            hint=f"declare {attribute} TIMESTAMP",
        )
