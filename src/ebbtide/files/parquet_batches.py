"""The rows of a file of Parquet, no more at a time than fit into memory.

Law: what a file unpacks to is counted before it takes room, and ends with an error behind so many
bytes.  A text that many rows share is stored once, so a small file may stand for a large one: where
such texts are long, they stay in their dictionaries until they have been counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ebbtide.files.reader import unpacks_to_more_than

_ROWS = 65536
_AT_ONCE = 1 << 27
"""About so many bytes are unpacked at once."""

_ROWS_OF_PREFIXES = 512
"""Texts that begin as the one before may each be as long as all: only so many rows at once."""

_WIDTH = 8


@dataclass(frozen=True, slots=True)
class ParquetBatches:
    """The batches of some columns of a file, which may unpack to ``most`` bytes.

    ``opened`` opens the file, with the texts of some columns in their dictionaries.
    """

    opened: Callable[[list[str]], Any]
    names: list[str]
    most: int

    def read(self, file: Any) -> Iterator[Any]:
        """The batches, in order; ``file`` is the one that is opened."""
        count, left = self._rows_at_once(file), self.most
        kept = self._texts(file) if self._has_long_texts(file) else []
        with self.opened(kept) as reading:
            for batch in reading.iter_batches(count, columns=self.names):
                left -= _size(batch)
                if left < 0:
                    raise unpacks_to_more_than(self.most)
                yield from _cut(batch)

    def _leaves(self, file: Any) -> list[int]:
        """The places of what is stored of the columns, also inside of others."""
        paths = [file.schema.column(place).path for place in range(len(file.schema))]
        wanted = tuple(f"{name}." for name in self.names)
        return [place for place, path in enumerate(paths) if f"{path}.".startswith(wanted)]

    def _texts(self, file: Any) -> list[str]:
        columns = (file.schema.column(place) for place in self._leaves(file))
        return [column.path for column in columns if column.physical_type == "BYTE_ARRAY"]

    def _rows_at_once(self, file: Any) -> int:
        """How many rows are read at once, by what the file says of their size."""
        found, leaves = _ROWS, self._leaves(file)
        for group in _groups(file):
            width = 1
            for place in leaves:
                chunk, column = group.column(place), file.schema.column(place)
                each = max(_WIDTH, column.length) if column.length > 0 else _WIDTH
                size = max(chunk.total_uncompressed_size, chunk.num_values * each)
                if size > self.most:
                    raise unpacks_to_more_than(self.most)
                width += size // max(1, group.num_rows)
                if "DELTA_BYTE_ARRAY" in chunk.encodings:
                    found = min(found, _ROWS_OF_PREFIXES)
            found = min(found, _AT_ONCE // width)
        return max(1, found)

    def _has_long_texts(self, file: Any) -> bool:
        """Whether texts that rows share may be long; what is said of a file is not enough."""
        leaves, texts = self._leaves(file), frozenset(self._texts(file))
        for number, group in enumerate(_groups(file)):
            chunks = [group.column(place) for place in leaves]
            doubtful = [
                chunk.path_in_schema
                for chunk in chunks
                if chunk.path_in_schema in texts
                and chunk.has_dictionary_page
                and min(chunk.num_values, _ROWS) * chunk.total_uncompressed_size > _AT_ONCE
            ]
            if doubtful and self._longest(number, doubtful) * _ROWS > _AT_ONCE:
                return True
        return False

    def _longest(self, group: int, paths: list[str]) -> int:
        """How long texts of a group of rows are at most, all of them together."""
        with self.opened(paths) as file:
            batches = file.iter_batches(1, row_groups=[group], columns=paths)
            first = next(batches, None)
        if first is None:
            return 0
        return sum(_longest(column) for column in first.columns)


def _groups(file: Any) -> Iterator[Any]:
    return (file.metadata.row_group(number) for number in range(file.metadata.num_row_groups))


def _longest(values: Any) -> int:
    of = pa.types
    if of.is_dictionary(values.type):
        return pc.max(pc.binary_length(values.dictionary)).as_py() or 0
    if of.is_struct(values.type):
        return sum(map(_longest, values.flatten()))
    return _longest(values.flatten()) if _is_list(values.type) else 0


def _size(batch: Any) -> int:
    """How many bytes a batch has when its texts are unpacked."""
    return sum(map(_unpacked, batch.columns))


def _unpacked(values: Any) -> int:
    of = pa.types
    if of.is_dictionary(values.type):
        if not len(values.dictionary):
            return 0
        if of.is_primitive(values.dictionary.type):
            return len(values) * _WIDTH
        lengths = pc.binary_length(values.dictionary).cast(pa.int64())
        return pc.sum(lengths.take(values.indices)).as_py() or 0
    if of.is_struct(values.type):
        return len(values) + sum(map(_unpacked, values.flatten()))
    if _is_list(values.type):
        return _WIDTH * len(values) + _unpacked(values.flatten())
    return int(values.nbytes)


def _is_list(type_: Any) -> bool:
    of = pa.types
    return bool(of.is_list(type_) or of.is_large_list(type_) or of.is_fixed_size_list(type_))


def _cut(batch: Any) -> Iterator[Any]:
    if batch.num_rows < 2 or _size(batch) <= _AT_ONCE:
        yield batch
        return
    half = batch.num_rows // 2
    yield from _cut(batch.slice(0, half))
    yield from _cut(batch.slice(half))
