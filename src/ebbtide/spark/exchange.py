"""Parcels as rows of Spark's exchanges.

Law: a row of an exchange is a parcel: the tag of its route, its shard, and its rows as one stream
of Arrow's, or the name under which they are on a shelf.  Spark moves it without looking inside, so
that an exchange costs what its bytes cost, not what its rows would.  Under the tag ``DESCRIPTION``
a parcel holds what a task has to say.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeAlias

import pyarrow as pa

from ebbtide.dataflow.routing import Parcel
from ebbtide.dataflow.tags import DESCRIPTION
from ebbtide.spark.narrowing import narrowed, widened
from ebbtide.spark.shelf import Shelf, taken, write_rows
from ebbtide.spark.tagged_rows import TAG

SHARD, BODY = "shard", "body"
COLUMNS = f"{TAG} INT, {SHARD} INT, {BODY} BINARY"
_SCHEMA = pa.schema([(TAG, pa.int32()), (SHARD, pa.int32()), (BODY, pa.binary())])

_LARGEST = 1 << 25
"""About how many bytes of rows go into one parcel."""


Packed: TypeAlias = tuple[int, int, Any]
"""A parcel as Spark has it: tag, shard and body."""


def packed(parcels: Iterable[Parcel], shelf: Shelf | None) -> Iterator[Packed]:
    """Parcels with their rows written down; a large one becomes several."""
    for parcel in parcels:
        for rows in map(narrowed, _cut(parcel.rows)):
            body = _written(rows) if shelf is None or shelf.spares(rows) else shelf.put(rows)
            yield parcel.tag, parcel.shard, body


def said(texts: Sequence[str]) -> Packed:
    """What a task has to say."""
    table = pa.Table.from_arrays([pa.array(texts, pa.string())], names=["text"])
    return DESCRIPTION, 0, _written(table)


def batches_of(parcels: Iterable[Packed]) -> Iterator[Any]:
    """Parcels as Spark takes them."""
    for tag, shard, body in parcels:
        arrays = [pa.array([v], t) for v, t in zip((tag, shard, body), _SCHEMA.types, strict=True)]
        yield pa.RecordBatch.from_arrays(arrays, schema=_SCHEMA)


def unpacked(batches: Iterable[Any]) -> dict[int, list[Any]]:
    """The bodies of the parcels that Spark hands over, by their tags."""
    found: dict[int, list[Any]] = defaultdict(list)
    for batch in batches:
        tags, bodies = batch.column(TAG).to_pylist(), batch.column(BODY)
        for tag, body in zip(tags, bodies, strict=True):
            found[tag].append(body.as_buffer())
    return found


def opened(bodies: Iterable[Any]) -> Any:
    """The rows of some parcels of one tag, as one table."""
    tables = [widened(pa.ipc.open_stream(taken(body)).read_all()) for body in bodies]
    return tables[0] if len(tables) == 1 else pa.concat_tables(tables).combine_chunks()


def _cut(rows: Any) -> Iterator[Any]:
    each = max(1, _LARGEST * rows.num_rows // max(1, rows.nbytes))
    return (rows.slice(start, each) for start in range(0, rows.num_rows, each))


def _written(rows: Any) -> Any:
    sink = pa.BufferOutputStream()
    write_rows(sink, rows)
    return sink.getvalue().to_pybytes()
