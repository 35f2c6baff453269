"""ENCODING of a table: what the rows of an encoding have beside those of the table.

Law: a table with an encoding is the table that declares the columns of the encoding, and says of
them what they mean: its operation, its time, the order of operations and the bound of a row.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ebbtide.core.codec.encoding import Encoding, encoding_of
from ebbtide.core.schema import Column, Schema
from ebbtide.core.types import BIGINT, STRING, TIMESTAMP
from ebbtide.errors import BindError, QueryError
from ebbtide.sql.syntax import CreateTable, Name, Period

__all__ = ["READABLE", "check_key", "known_encoding", "with_encoding"]


@dataclass(frozen=True, slots=True)
class _Added:
    """The columns of an encoding, and which of them is what."""

    columns: tuple[Column, ...]
    op: str | None
    time: str
    sequence: str | None = None
    until: str | None = None


_INTERVAL = (Column("valid_from", TIMESTAMP), Column("valid_to", TIMESTAMP))

READABLE = {
    Encoding.CHANGES: _Added(
        (*_INTERVAL, Column("diff", BIGINT)), "diff", "valid_from", until="valid_to"
    ),
    Encoding.TEMPORAL: _Added(_INTERVAL, None, "valid_from", until="valid_to"),
    Encoding.UPSERT: _Added((Column("_op", STRING), Column("_at", TIMESTAMP)), "_op", "_at"),
    Encoding.POSITIVE_NEGATIVE: _Added(
        (Column("_sign", STRING), Column("_at", TIMESTAMP)), "_sign", "_at"
    ),
    Encoding.POSITIVE_TEMPORAL: _Added(
        (Column("_sign", STRING), Column("_from", TIMESTAMP), Column("_to", TIMESTAMP)),
        "_sign",
        "_from",
        until="_to",
    ),
    Encoding.CHANGE_TYPE: _Added(
        (
            Column("_change_type", STRING),
            Column("_commit_version", BIGINT),
            Column("_commit_timestamp", TIMESTAMP),
        ),
        "_change_type",
        "_commit_timestamp",
        "_commit_version",
    ),
    Encoding.DEBEZIUM: _Added((Column("_op", STRING), Column("_at", TIMESTAMP)), "_op", "_at"),
}
"""What a table has that is read in an encoding; each can be."""


def with_encoding(statement: CreateTable, schema: Schema) -> tuple[CreateTable, Schema]:
    """A declaration, and its columns, with what its encoding says."""
    name = statement.encoding
    assert name is not None
    added = READABLE[known_encoding(name)]
    try:
        check_key(known_encoding(name), bool(statement.key))
    except BindError as error:
        raise error.with_span(name.span) from None
    said: dict[str, Name | Period | None] = {
        "TIME": statement.time,
        "OP": statement.op,
        "SEQUENCE": statement.sequence,
    }
    if added.until is not None:
        said["LIFETIME"] = statement.lifetime
    for clause, part in said.items():
        if part is not None:
            raise BindError(
                "duplicate-clause",
                f"{clause} is what the encoding {name.text} says already",
                hint=f"leave out {clause}{f' {part.text}' if isinstance(part, Name) else ''}",
                span=part.span,
            )
    for column in added.columns:
        if schema.matches(column.name):
            raise BindError(
                "duplicate-column",
                f'"{column.name}" is a column of the encoding {name.text} already',
                span=statement.span,
            )
    told = replace(
        statement,
        time=Name(added.time, name.span),
        op=None if added.op is None else Name(added.op, name.span),
        sequence=None if added.sequence is None else Name(added.sequence, name.span),
        lifetime=statement.lifetime if added.until is None else Name(added.until, name.span),
    )
    return told, Schema((*schema.columns, *added.columns))


_ALWAYS_BAGS = (Encoding.CHANGES, Encoding.TEMPORAL, Encoding.POSITIVE_NEGATIVE)
_OF_BAGS = (*_ALWAYS_BAGS, Encoding.CHANGE_TYPE)


def check_key(kind: Encoding, keyed: bool) -> None:
    """Refuses a key where tuples are matched by all their columns, and its absence elsewhere."""
    if keyed and kind in _ALWAYS_BAGS:
        raise BindError(
            "unreadable-encoding",
            f"rows of the encoding {kind.value} are told apart by all their columns",
            hint="leave out PRIMARY KEY",
        )
    if not keyed and kind not in _OF_BAGS:
        raise BindError(
            "key-needed",
            f"rows of the encoding {kind.value} are told apart by a key",
            hint="declare a PRIMARY KEY",
        )


def known_encoding(name: Name) -> Encoding:
    """The encoding of a name."""
    try:
        return encoding_of(name.text)
    except QueryError as error:
        raise BindError(error.code, error.message, hint=error.hint, span=name.span) from None
