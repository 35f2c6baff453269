"""Sources that are DataFrames, declared in Python with all that SQL can declare.

Law: a declaration that is made here is the one that the statement in SQL makes, and is refused for
the same reasons.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import TypeAlias

from ebbtide.core.declaration import Promise, StreamDeclaration, Summary, TableDeclaration
from ebbtide.core.schema import Column, Schema
from ebbtide.core.time import INF, Duration
from ebbtide.core.types import TIMESTAMP, StringType
from ebbtide.engine.arguments import late_of, length_of, names_of, typed, way_of
from ebbtide.engine.encoded_frames import encoded_table
from ebbtide.errors import BindError, QueryError
from ebbtide.sql.binding.declarations import summary_of
from ebbtide.sql.parser import parse
from ebbtide.sql.syntax import CreateStream

__all__ = ["Length", "Times", "stream_declaration", "table_declaration"]

_SUMMARY = re.compile(r"\b(SAMPLE|HISTOGRAM)\b", re.IGNORECASE)

Length: TypeAlias = str | int | timedelta
Times: TypeAlias = str | Sequence[str] | Mapping[str, Length]
"""One time, several, or several that are each so late at most."""


def stream_declaration(
    name: str,
    schema: Schema,
    *,
    time: Times,
    key: str | Sequence[str],
    lateness: Length,
    retain: Length,
    late: str,
    op: str | None,
    idle: Length | None,
    not_beyond: Length | None,
    arrival: str | None,
    archive: Length | None,
    revise: Length | None,
    replay: str | None,
) -> StreamDeclaration:
    """A stream: one with ``op`` also takes deletes and replaces, by its key."""
    received = () if arrival is None else names_of("arrival", arrival)
    archive_us, summary = _archive(str(name), schema, names_of("key", key), archive)
    return StreamDeclaration(
        typed("name", name, str, 'stream("bids", frame, time="at")'),
        Schema((*schema, *(Column(each, TIMESTAMP) for each in received))),
        names_of("key", key),
        (*_promises(time, lateness), *(Promise(each, arrival=True) for each in received)),
        length_of("retain", retain),
        late_of(typed("late", late, str, 'late="revise"')),
        _length("idle", idle),
        _length("not_beyond", not_beyond),
        _op(op, schema),
        append_only=op is None,
        archive_us=archive_us,
        revise_us=INF if revise == "on demand" else _length("revise", revise),
        replay=None if replay is None else way_of(typed("replay", replay, str, 'replay="minimal"')),
        summary=summary,
    )


def _archive(
    name: str, schema: Schema, key: tuple[str, ...], archive: Length | None
) -> tuple[Duration | None, Summary | None]:
    """How far an archive reaches, and what it has in the place of all rows: as ARCHIVE says it."""
    if not isinstance(archive, str) or not _SUMMARY.search(archive):
        return _length("archive", archive), None
    (statement,) = parse(f"CREATE STREAM archived (at TIMESTAMP) ARCHIVE {archive}")
    assert isinstance(statement, CreateStream)
    assert statement.archive is not None
    return statement.archive.length.us, summary_of(name, statement.archive, schema, key)


def table_declaration(
    name: str,
    schema: Schema,
    *,
    key: str | Sequence[str],
    time: str | None,
    encoding: str | None,
    op: str | None,
    sequence: str | None,
    lifetime: Length | None,
    lateness: Length | None,
    retain: Length,
    late: str,
    idle: Length | None,
    not_beyond: Length | None,
) -> TableDeclaration:
    """A table: static without a time, else changed by the operations that arrive."""
    named = typed("name", name, str, 'table("shops", frame)')
    if encoding is not None:
        return encoded_table(
            named,
            schema,
            names_of("key", key),
            typed("encoding", encoding, str, 'encoding="debezium"'),
            length_of("lateness", "0 seconds" if lateness is None else lateness),
            length_of("retain", retain),
            late_of(typed("late", late, str, 'late="revise"')),
        )
    if time is None:
        given = {"op": op, "sequence": sequence, "lifetime": lifetime, "lateness": lateness}
        _check_static({**given, "idle": idle, "not_beyond": not_beyond})
        return TableDeclaration(named, schema, names_of("key", key))
    at = typed("time", time, str, 'time="at"')
    return TableDeclaration(
        named,
        schema,
        names_of("key", key),
        schema.column(at).name,
        _op(op, schema),
        None if sequence is None else schema.column(typed("sequence", sequence, str, "")).name,
        _length("lifetime", lifetime),
        () if lateness is None else _promises(at, lateness),
        length_of("retain", retain),
        late_of(typed("late", late, str, 'late="revise"')),
        _length("idle", idle),
        _length("not_beyond", not_beyond),
    )


def _promises(time: Times, lateness: Length) -> tuple[Promise, ...]:
    if isinstance(time, Mapping):
        return tuple(Promise(name, length_of("time", each)) for name, each in time.items())
    behind = length_of("lateness", lateness)
    return tuple(Promise(name, behind) for name in names_of("time", time))


def _length(argument: str, value: Length | None) -> Duration | None:
    return None if value is None else length_of(argument, value)


def _op(op: str | None, schema: Schema) -> str | None:
    if op is None:
        return None
    column = schema.column(typed("op", op, str, 'op="op"'))
    if not isinstance(column.type, StringType):
        raise QueryError(
            "wrong-type",
            f'op: "{op}" is {column.type}, and operations are words',
            hint=f'cast it: frame.withColumn("{op}", frame["{op}"].cast("string"))',
        )
    return column.name


def _check_static(given: Mapping[str, object]) -> None:
    said = [name for name, value in given.items() if value is not None]
    if said:
        raise BindError(
            "time-needed",
            f"{said[0]} needs a table that changes, and this one has no time",
            hint='add time="..."',
        )
