"""What takes back all that was said after a step.

Law: the changes of a view up to the step are the sum of all its changes and of its retraction; and
so are the unused rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import pyarrow as pa

from ebbtide.core.admission import UNUSED_COLUMNS, UnusedRow
from ebbtide.state.batch import DIFF, concat, negated, net
from ebbtide.store.archive import Archive
from ebbtide.store.history import STEP, with_step
from ebbtide.store.readers import View, unused_parts


def retraction(view: View, since: int | None) -> Any:
    """The net of a view's changes after a step, or of all, negated; as revisions, where they are
    marked."""
    table = concat((table for _, table in view.steps(since)), view.layout)
    if view.marked:
        place = len(view.schema)
        marks = pa.array([True] * table.num_rows, pa.bool_())
        table = table.set_column(place, table.schema.field(place), marks)
    return net(negated(table))


def unused_retraction(root: str, since: int, added: Iterable[UnusedRow]) -> Any:
    """The rows that were not used after a step, taken back, and others that are not used now."""
    counts: Counter[UnusedRow] = Counter(added)
    for part in unused_parts(root):
        if part.last > since:
            for told in with_step(Archive(root).table(part.file), part).to_pylist():
                if told[STEP] > since:
                    counts[UnusedRow(*(told.get(name) for name in UNUSED_COLUMNS))] -= told[DIFF]
    rows = [(row, count) for row, count in counts.items() if count]
    columns = [
        pa.array([getattr(row, name) for row, _ in rows], pa.string()) for name in UNUSED_COLUMNS
    ]
    diffs = pa.array([count for _, count in rows], pa.int64())
    return pa.Table.from_arrays([*columns, diffs], names=[*UNUSED_COLUMNS, DIFF])
