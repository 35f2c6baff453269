"""Files of Debezium's envelopes, one on each line, as rows of the table that they are about."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ebbtide.core.schema import Schema
from ebbtide.core.time import MILLISECOND
from ebbtide.files.reader import MALFORMED, FileReader
from ebbtide.state.types import arrow_type

_ADDED = 2
"""What is taken from the envelope stands behind the row: the operation and the time."""


def row_of(schema: Schema) -> Schema:
    """The columns of the rows inside of envelopes."""
    return Schema(schema.columns[:-_ADDED])


@dataclass(frozen=True, slots=True)
class EnvelopeReader:
    """Reads envelopes with a reader of their format; ``schema`` is that of the table."""

    schema: Schema
    reader: FileReader

    def rows(
        self, place: str, content: bytes | None = None, may_be_empty: bool = True
    ) -> Iterator[Any]:
        """The rows of a file: the declared columns, and the text of what is none."""
        for batch in self.reader.rows(place, content, may_be_empty):
            yield self._opened(batch)

    def _opened(self, batch: Any) -> Any:
        before, after, source, op, ms, us, malformed = batch.columns
        there = after.is_valid()
        columns = [
            pc.if_else(there, _field(after, i), _field(before, i)).cast(arrow_type(column.type))
            for i, column in enumerate(row_of(self.schema))
        ]
        source_ms, source_us = (_field(source, i) for i in (0, 1))
        at = pc.coalesce(source_us, _micros(source_ms), us, _micros(ms))
        names = [*self.schema.names, MALFORMED]
        made = pa.RecordBatch.from_arrays([*columns, op, at, malformed], names=names)
        return made.replace_schema_metadata(batch.schema.metadata)


def _field(struct: Any, place: int) -> Any:
    """A field of structs, NULL where the struct is."""
    return pc.struct_field(struct, [place])


def _micros(ms: Any) -> Any:
    return pc.multiply(ms, MILLISECOND)
