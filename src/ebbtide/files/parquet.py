"""Files of Parquet.

A column that a file has not is NULL, unless a directory above it is named after it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ebbtide.core.schema import Schema
from ebbtide.files.arrow_values import fitted
from ebbtide.files.reader import FileReader, parts_of

_ROWS = 65536


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
        with pq.ParquetFile(place if content is None else pa.BufferReader(content)) as file:
            names = [name for name in file.schema_arrow.names if name.casefold() in known]
            for batch in file.iter_batches(_ROWS, columns=names):
                yield self._rows(batch, parts_of(place), _old_times(file))

    def _rows(self, batch: Any, parts: Mapping[str, str | None], old: frozenset[str]) -> Any:
        given = {name.casefold(): batch.column(i) for i, name in enumerate(batch.schema.names)}
        columns, bad = [], np.zeros(batch.num_rows, bool)
        for column in self.schema:
            name = column.name.casefold()
            found = given.get(name)
            if found is None:
                found = pa.repeat(pa.scalar(parts.get(name), pa.string()), batch.num_rows)
            values = fitted(found, column.type, "UTC" if name in old else self.zone)
            bad |= np.asarray(pc.and_(values.is_null(), found.is_valid()))
            columns.append(values)
        texts = pa.nulls(batch.num_rows, pa.string())
        if bad.any():
            texts = pa.array([_text(batch, i) if b else None for i, b in enumerate(bad)])
        return self.made(columns, texts)


def _old_times(file: Any) -> frozenset[str]:
    """The columns of the old type of 96 bits: times in UTC that do not say so."""
    columns = (file.schema.column(i) for i in range(len(file.schema)))
    return frozenset(c.name.casefold() for c in columns if c.physical_type == "INT96")


def _text(batch: Any, row: int) -> str:
    values: Iterable[tuple[str, Any]] = (
        (name, batch.column(i)[row].as_py()) for i, name in enumerate(batch.schema.names)
    )
    return json.dumps(dict(values), default=str)
