"""Keys whose one operation, an insert, is in the archive of their stream and nowhere else.

Law: a key that can still be replaced or deleted is known either by its operations, all of which are
stored, or by the one row that the archive has of it: then that row is all that was ever said of the
key, and it was said before anything that comes now.  So a row is stored once.

    archive        k1  k2  k3  k4        the rows of all keys
    operations         k2                what was said of keys that came again: insert, replace

It is so where equal keys have equal times, by which few segments of the archive are looked at, and
where the archive reaches as far as rows are accepted (``StreamDeclaration.archive_has_keys``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from ebbtide.core.admission import Op
from ebbtide.core.declaration import Declaration
from ebbtide.state.area import SweepArea
from ebbtide.state.arrays import Hashes
from ebbtide.state.batch import DIFF, FROM, TO, codes, concat, net, row_types, where
from ebbtide.state.columns import column, fixed

_BEFORE_ALL = -1
"""The place in the source of an operation that came in an earlier step."""


def archived_operations(
    declaration: Declaration,
    archives: Sequence[SweepArea],
    arrived: Any,
    hashes: Hashes,
    stored: Any,
) -> Any:
    """The inserts of keys that came, which the archive has and ``stored`` has not.

    ``hashes`` are those of the keys that arrived; without an archive there are none.
    """
    schema, rows = declaration.schema, declaration.row_schema
    if not archives or declaration.time is None:
        return arrived.slice(0, 0)
    (archive,) = archives
    times = fixed(column(arrived, schema.position(declaration.time)))
    found = archive.stamped(hashes, times, rows.position(declaration.time))
    if not found.num_rows:
        return arrived.slice(0, 0)
    found = net(found.drop_columns([f"c{len(rows)}"]))
    inserts = _as_inserts(declaration, found, arrived.schema)
    if not stored.num_rows:
        return inserts
    keys = [schema.position(name) for name in declaration.key]
    ids = codes(concat([stored, inserts], arrived.schema), keys).ids
    known = np.zeros(int(ids.max()) + 1, np.bool_)
    known[ids[: stored.num_rows]] = True
    return where(inserts, ~known[ids[stored.num_rows :]])


def _as_inserts(declaration: Declaration, found: Any, schema: Any) -> Any:
    """Archived facts as the operations that said them first."""
    count, rows = found.num_rows, declaration.row_schema
    places = {c.identity: place for place, c in enumerate(rows)}
    types = row_types(schema)
    declared = [
        found.column(places[c.identity]) if c.identity in places else pa.nulls(count, type_)
        for c, type_ in zip(declaration.schema, types, strict=False)
    ]
    said = [
        pa.array([Op.INSERT.value] * count, pa.string()),
        pa.array(np.full(count, _BEFORE_ALL, np.int64)),
        pa.nulls(count, types[-1]),
    ]
    times = [found.column(name) for name in (FROM, TO, DIFF)]
    return pa.Table.from_arrays([*declared, *said, *times], schema=schema).combine_chunks()
