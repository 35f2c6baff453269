"""Tables that are streaming DataFrames in an encoding: what a frame's columns declare."""

from __future__ import annotations

from collections.abc import Iterator

from ebbtide.core.codec.encoding import Encoding, encoding_of
from ebbtide.core.declaration import Late, Promise, TableDeclaration
from ebbtide.core.schema import Column, Schema
from ebbtide.core.time import Duration
from ebbtide.core.types import StructType
from ebbtide.errors import SourceError
from ebbtide.sql.binding.encodings import READABLE, check_key


def encoded_table(
    name: str,
    frame: Schema,
    key: tuple[str, ...],
    encoding: str,
    delay_us: Duration,
    retain_us: Duration,
    late: Late,
) -> TableDeclaration:
    """The table that a frame with such columns is; its time progresses."""
    kind = encoding_of(encoding)
    added = READABLE[kind]
    check_key(kind, bool(key))
    columns = tuple(_row(name, frame, kind))
    return TableDeclaration(
        name,
        Schema((*columns, *added.columns)),
        key or tuple(column.name for column in columns),
        added.time,
        added.op,
        added.sequence,
        promises=(Promise(added.time, delay_us),),
        retain_us=retain_us,
        late=late,
        until=added.until,
        encoding=kind,
        bag=not key,
    )


def _row(name: str, frame: Schema, kind: Encoding) -> Iterator[Column]:
    """The columns of the rows, without those of the encoding."""
    if kind is not Encoding.DEBEZIUM:
        added = {column.name for column in READABLE[kind].columns}
        for column in added:
            if not frame.matches(column):
                raise _missing(name, frame, column)
        yield from (column for column in frame if column.name.casefold() not in added)
        return
    after = frame.matches("after")
    if not after or not isinstance(after[0].type, StructType):
        raise _missing(name, frame, "after")
    yield from (Column(field, type_) for field, type_ in after[0].type.fields)


def _missing(name: str, frame: Schema, column: str) -> SourceError:
    return SourceError(
        "missing-column",
        f'the source of "{name}" has no column "{column}"',
        detail=f"it has {', '.join(frame.names)}",
    )
