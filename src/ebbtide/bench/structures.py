"""What the structures of stored rows save, against the most general one.

A store holds a window of many rows of few keys, and steps of a few rows follow: each asks what has
begun and ended since, and when each key ends next, as an aggregate does, adds its rows, and drops
what is over.  The rows are of a class, and lie as it picks, and then by key.  All that is found
is compared with a plain computation.

Measured are the processor's time to find the answers of a step, and the memory that opened segments
take beside their rows.  Edges of which nothing is held are not here: they save all of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

import numpy as np
import pyarrow as pa

from ebbtide.core.structure import Structure
from ebbtide.core.time import MILLISECOND, SECOND
from ebbtide.state.area import SweepArea
from ebbtide.state.arrays import Hashes, Ints
from ebbtide.state.batch import FROM, TO, batch_schema
from ebbtide.state.columns import ints
from ebbtide.state.keep import ended_by
from ebbtide.state.layout import Layout
from ebbtide.state.store import DirectoryStore, WriteScope

WINDOW = 100 * SECOND
STEP = 20 * MILLISECOND
ROWS_A_STEP = 20
SCHEMA = batch_schema([pa.int64(), pa.int64()])


@dataclass(frozen=True)
class Measured:
    """What a store took: the structure that the class picks, the one that held the rows, and the
    milliseconds of a step."""

    picked: str
    held: str
    rows: int
    file_bytes: int
    index_bytes: int
    milliseconds: float

    @property
    def values(self) -> dict[str, Any]:
        """This, as JSON has it."""
        return asdict(self)


def measured(
    rows: int, say: Callable[[str], None], keys: int = 10, steps: int = 30
) -> Iterator[Measured]:
    """A store of each class, as its class picks and by key."""
    for picked in (Structure.FIFO, Structure.BY_END):
        changes = _changes(rows + steps * ROWS_A_STEP, rows, keys, picked)
        for held in (picked, Structure.BY_KEY):
            say(f"{picked.value}, held {held.value}")
            yield _run(changes, rows, steps, picked, held)


def as_table(found: list[Measured]) -> str:
    """All measures as a table in Markdown."""
    lines = [
        "| the class picks | held | stored rows | bytes a row in files | bytes a row beside them "
        "| ms to find, a step |",
        "|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {one.picked} | {one.held} | {one.rows:,} | {one.file_bytes / one.rows:.1f} "
        f"| {one.index_bytes / one.rows:.1f} | {one.milliseconds:.2f} |"
        for one in found
    ]
    return "\n".join(lines)


def _changes(count: int, window: int, keys: int, picked: Structure) -> Any:
    """Rows of few keys, one after the other, that stay equally long or as long as they say."""
    random = np.random.default_rng(1)
    starts = np.arange(count, dtype=np.int64) * WINDOW // window
    starts[window:] = WINDOW + (np.arange(count - window) * STEP) // ROWS_A_STEP
    stays = np.full(count, WINDOW, np.int64)
    if picked is Structure.BY_END:
        stays = random.integers(WINDOW // 2, WINDOW, count)
    columns = [random.integers(0, keys, count), np.arange(count), starts, starts + stays]
    arrays = [pa.array(values) for values in (*columns, np.ones(count, np.int64))]
    return pa.Table.from_arrays(arrays, schema=SCHEMA)


def _run(changes: Any, rows: int, steps: int, picked: Structure, held: Structure) -> Measured:
    layout = Layout("input", SCHEMA, (0,), structure=held)
    with TemporaryDirectory() as root:
        store = DirectoryStore(root)
        area = SweepArea(layout, WriteScope(store, "structures"))
        for part in range(8):
            first, last = part * rows // 8, (part + 1) * rows // 8
            area = area.insert(changes.slice(first, last - first)).reorganize(ended_by(-1))
        hashes = np.unique(area.hash(changes.slice(0, rows)))
        seconds = []
        for step in range(steps + 1):
            now = WINDOW + step * STEP
            began = process_time()
            ended = area.moved(now - STEP + 1, now)
            following = area.next_end(hashes, now)
            seconds.append(process_time() - began)
            known = changes.slice(0, rows + step * ROWS_A_STEP)
            _check(area, known, now, hashes, ended.changes, following)
            arrived = changes.slice(rows + step * ROWS_A_STEP, ROWS_A_STEP)
            area = area.insert(arrived).reorganize(ended_by(now - WINDOW // 50))
        return Measured(
            picked.value,
            held.value,
            area.rows,
            area.bytes,
            sum(area.view(segment).nbytes for segment in area.segments),
            # The first step opens the segments.
            1000 * float(np.median(seconds[1:])),
        )


def _check(
    area: SweepArea, known: Any, now: int, hashes: Hashes, ended: Any, following: Ints
) -> None:
    """Compares what was found with what a look at every row finds."""
    starts, ends = ints(known, FROM), ints(known, TO)
    own = area.hash(known)
    turned = (ends > now - STEP) & (ends <= now) | (starts > now - STEP) & (starts <= now)
    later = [int(ends[(own == one) & (ends > now)].min()) for one in hashes]
    if (ended.num_rows, following.tolist()) != (int(turned.sum()), later):
        raise AssertionError(f"held {area.layout.structure.value}: wrong rows at {now}")
