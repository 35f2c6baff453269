"""What the archives of a program's sources hold, read without Spark.

Law: the changes of a source up to a step are those that it had accepted after that step, as far as
the archive reaches: all facts with a time later than the floor of that time.  An archive goes back
with its program; of steps that a rollback has undone it knows nothing any more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from ebbtide.core.change import Change, consolidate
from ebbtide.core.declaration import TAKEN, Histogram, StreamDeclaration
from ebbtide.core.time import Instant, shift
from ebbtide.core.values import Row, row_key
from ebbtide.state.area import SweepArea
from ebbtide.state.batch import batch_schema, concat, net, to_changes, where
from ebbtide.state.columns import ints
from ebbtide.state.layout import Layout
from ebbtide.state.store import DirectoryStore, WriteScope
from ebbtide.state.types import arrow_type
from ebbtide.store.manifest import Manifest


@dataclass(frozen=True, slots=True)
class ArchivedInput:
    """The archived changes of a source, each with its step.

    All facts are here whose time in some attribute is later than the floor of that attribute.
    """

    changes: tuple[tuple[int, Change], ...]
    floors: Mapping[str, Instant]

    def upto(self, step: int) -> tuple[Change, ...]:
        """What was accepted up to a step."""
        return consolidate(change for number, change in self.changes if number <= step)


def archived_input(
    root: str, manifest: Manifest, declaration: StreamDeclaration, name: str
) -> ArchivedInput | None:
    """What the archive of a source holds; ``name`` is that of its operator.  None without one."""
    shards = manifest.areas.get(name)
    if shards is None:
        return None
    types = [arrow_type(column.type) for column in declaration.row_schema]
    layout = Layout("archive", batch_schema([*types, pa.int64()]), (len(types),))
    store = DirectoryStore(f"{root}/state")
    areas = [SweepArea.restore(layout, described, WriteScope(store)) for (described,) in shards]
    try:
        table = net(concat((area.everything() for area in areas), layout.schema))
    finally:
        for segment in (segment for area in areas for segment in area.segments):
            store.forget(segment.name)
    found = tuple((c.row[-1], replace(c, row=c.row[:-1])) for c in to_changes(table))
    return ArchivedInput(found, _floors(manifest, declaration))


@dataclass(frozen=True, slots=True)
class WeighedRow:
    """A row of a summary: how often it is there, and for how many rows each of these stands."""

    row: Row
    copies: int
    weight: int


@dataclass(frozen=True, slots=True)
class SummarisedInput:
    """What an archive holds in the place of all rows, and up to when it has let rows go."""

    rows: tuple[WeighedRow, ...]
    floors: Mapping[str, Instant]


def summarised_input(
    root: str,
    manifest: Manifest,
    declaration: StreamDeclaration,
    name: str,
    since: tuple[str, Instant] | None,
) -> SummarisedInput | None:
    """What the archive of a source holds that is summarised, of rows later than ``since`` in an
    attribute; ``name`` is that of its operator."""
    shards = manifest.areas.get(name)
    if shards is None:
        return None
    types = [arrow_type(column.type) for column in declaration.row_schema]
    layout = Layout("archive", batch_schema([*types, pa.int64()]), (len(types),))
    floors, summary = _floors(manifest, declaration), declaration.summary
    reach = summary.every_us if isinstance(summary, Histogram) else 0
    found: list[Any] = []
    store = DirectoryStore(f"{root}/state")
    for (described,) in shards:
        area = SweepArea.restore(layout, described, WriteScope(store))
        table = area.everything()
        if since is not None:
            place = declaration.row_schema.position(since[0])
            table = where(table, ints(table, f"c{place}") > shift(since[1], -reach))
        found += to_changes(net(table))
        for segment in area.segments:
            store.forget(segment.name)
    # A bin may be gone of which some rows are not.
    edges = {attribute: shift(floor, reach // 2) for attribute, floor in floors.items()}
    return SummarisedInput(_weighed(found), edges)


def _weighed(changes: Sequence[Change]) -> tuple[WeighedRow, ...]:
    """Rows with their weights, without those that were taken back."""
    taken: Counter[Row] = Counter()
    for change in changes:
        if change.row[-1] == TAKEN:
            taken[change.row[:-1]] -= change.diff
    rows = []
    for change in sorted(changes, key=lambda c: row_key(c.row)):
        row, weight = change.row[:-1], change.row[-1]
        back = min(taken[row], change.diff) if weight != TAKEN else change.diff
        taken[row] -= back if weight != TAKEN else 0
        if change.diff - back > 0:
            rows.append(WeighedRow(row, change.diff - back, weight))
    return tuple(rows)


def _floors(manifest: Manifest, declaration: StreamDeclaration) -> dict[str, Instant]:
    lines: Any = manifest.frontiers.get(declaration.name, {"lines": {}})["lines"]
    length = declaration.archive_us or 0
    return {
        p.attribute.casefold(): shift(lines[p.attribute][0], -length)
        for p in declaration.promises
        if p.attribute in lines
    }
