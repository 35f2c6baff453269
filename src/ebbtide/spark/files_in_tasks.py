"""Files as arrivals of their sources, read by the task that judges the rows.

Law: the rows of a file arrive as if they had come one by one; their places follow each other, from
that of the first file of the source in the task.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa

from ebbtide.core.admission import FILE, default_op, read_op
from ebbtide.core.declaration import Declaration, TableDeclaration, arrivals_of, given_schema
from ebbtide.files import FileReader, HowToRead, is_whole_file
from ebbtide.files.envelopes import EnvelopeReader


def place_of(path: str) -> str:
    """The place of a file in the file system, by how Spark names it.

    >>> place_of("file:/in/a b%41.csv"), place_of("file:///in/a"), place_of("hdfs://n/a")
    ('/in/a b%41.csv', '/in/a', 'hdfs://n/a')
    """
    return path.removeprefix("file:").removeprefix("//") if path.startswith("file:") else path


@dataclass(slots=True)
class FilesOfTask:
    """Reads the files that come to a task."""

    declarations: tuple[Declaration, ...]
    _next: dict[int, int] = field(default_factory=dict)
    """The place of the next row of each source that counts places."""

    def rows(self, source: int, path: str, how: str, first: int | None) -> Iterator[Any]:
        """The rows of a file in the columns of arrivals; ``first`` is the place of the first."""
        declaration, place = self.declarations[source], place_of(path)
        static = isinstance(declaration, TableDeclaration) and declaration.static
        for batch in _reader(declaration, how).rows(place, may_be_empty=static):
            *given, malformed = batch.columns
            places = self._places(source, first, batch.num_rows)
            columns = _with_arrivals(declaration, given, batch.num_rows)
            arrays = [*columns, _operations(declaration, batch), places, malformed]
            yield pa.Table.from_arrays(arrays, names=[f"c{i}" for i in range(len(arrays))])

    def _places(self, source: int, first: int | None, count: int) -> Any:
        if first is None:
            return pa.nulls(count, pa.int64())
        begin = self._next.setdefault(source, first)
        self._next[source] = begin + count
        return pa.array(np.arange(begin, begin + count))


@cache
def _reader(declaration: Declaration, how: str) -> FileReader | EnvelopeReader:
    return HowToRead.of(how).reader(given_schema(declaration))


def _with_arrivals(declaration: Declaration, given: list[Any], count: int) -> list[Any]:
    """The declared columns; those of arrival are filled when the rows are judged."""
    columns = list(given)
    made = sorted(declaration.schema.position(name) for name in arrivals_of(declaration))
    for place in made:
        columns.insert(place, pa.nulls(count, pa.int64()))
    return columns


def _operations(declaration: Declaration, batch: Any) -> Any:
    """What the rows do: by the words in the OP column, or what all rows of the source do."""
    if is_whole_file(batch):
        return pa.array([FILE], pa.string())
    if declaration.op is None:
        op = default_op(declaration).value if declaration.key else None
        return pa.repeat(pa.scalar(op, pa.string()), batch.num_rows)
    words = batch.column(given_schema(declaration).position(declaration.op)).dictionary_encode()
    known = [_operation(declaration, word) for word in words.dictionary.to_pylist()]
    coded = pa.DictionaryArray.from_arrays(words.indices, pa.array(known, pa.string()))
    return coded.cast(pa.string()).fill_null("")


def _operation(declaration: Declaration, word: str | int) -> str:
    """The operation that a word means; a word that means none stays."""
    op = read_op(declaration, word)
    return str(word).strip().lower() if op is None else op.value
