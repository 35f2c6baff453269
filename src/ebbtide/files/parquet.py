"""Files of Parquet.

A column that a file has not is NULL, unless a directory above it is named after it.  Names, also
those of fields, are found whatever their case.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ebbtide.core.schema import Schema
from ebbtide.files.arrow_values import fitted, misfits
from ebbtide.files.parquet_batches import ParquetBatches
from ebbtide.files.reader import FileReader, Unreadable, parts_of


@dataclass(frozen=True, slots=True)
class ParquetReader(FileReader):
    """Reads files of Parquet."""

    @staticmethod
    def knows(schema: Schema, options: Mapping[str, str]) -> bool:
        """All types and options."""
        return True

    def batches(self, place: str, content: bytes | None) -> Iterator[Any]:
        """The rows of a file."""
        known = {column.name.casefold() for column in self.schema}

        def opened(in_dictionaries: list[str]) -> Any:
            source = place if content is None else pa.BufferReader(content)
            return pq.ParquetFile(source, read_dictionary=in_dictionaries)

        with opened([]) as file:
            names = [name for name in file.schema_arrow.names if name.casefold() in known]
            folded = [name.casefold() for name in names]
            twice = [name for name in folded if folded.count(name) > 1]
            if twice:
                raise Unreadable(f"it has the column {twice[0]} twice")
            old = _old_times(file)
            for batch in ParquetBatches(opened, names, self.unpacked).read(file):
                yield self._rows(batch, parts_of(place), old)

    def _rows(self, batch: Any, parts: Mapping[str, str | None], old: frozenset[str]) -> Any:
        given = {name.casefold(): batch.column(i) for i, name in enumerate(batch.schema.names)}
        columns, bad = [], np.zeros(batch.num_rows, bool)
        for column in self.schema:
            name = column.name.casefold()
            found = given.get(name)
            if found is None:
                found = pa.repeat(pa.scalar(parts.get(name), pa.string()), batch.num_rows)
            if name in old:
                found = found.cast(_in_utc(found.type))
            values = fitted(found, column.type, self.zone)
            bad |= misfits(found, values)
            columns.append(values)
        texts = pa.nulls(batch.num_rows, pa.string())
        if bad.any():
            texts = pa.array([_text(batch, i) if b else None for i, b in enumerate(bad)])
        return self.made(columns, texts)


def _old_times(file: Any) -> frozenset[str]:
    """The columns of the old type of 96 bits: times in UTC that do not say so."""
    columns = (file.schema.column(i) for i in range(len(file.schema)))
    old = (c for c in columns if c.physical_type == "INT96")
    return frozenset(c.path.partition(".")[0].casefold() for c in old)


def _in_utc(type_: Any) -> Any:
    """A type with the zone that its times do not name."""
    of = pa.types
    if of.is_timestamp(type_):
        return pa.timestamp(type_.unit, "UTC")
    if of.is_list(type_):
        return pa.list_(_in_utc(type_.value_type))
    if of.is_struct(type_):
        return pa.struct([(field.name, _in_utc(field.type)) for field in type_])
    return type_


def _text(batch: Any, row: int) -> str:
    values = {name: _shown(batch.column(i)[row]) for i, name in enumerate(batch.schema.names)}
    return json.dumps(values, default=str)


def _shown(value: Any) -> Any:
    """A value of Arrow's for people; also one that Python has no value for."""
    of = pa.types
    if not value.is_valid:
        return None
    if of.is_dictionary(value.type) or isinstance(value.type, pa.BaseExtensionType):
        return _shown(value.value)
    if isinstance(value, pa.ListScalar):
        return [_shown(one) for one in value.values]
    if of.is_struct(value.type):
        return {field.name: _shown(value[i]) for i, field in enumerate(value.type)}
    try:
        return value.as_py()
    except UnicodeDecodeError:
        return value.as_buffer().to_pybytes().decode(errors="replace")
    except (OverflowError, ValueError):
        return f"{getattr(value, 'value', 'a value')} as {value.type}"
