"""What an encoding has sent of the time after ``now``: changes that will move without a word.

Law: after every step it holds the changes sent so far that end after ``now``, as if those that have
begun had begun long ago; of changes that never end only where they are asked for, by key.  What is
there belongs to one step, whose note names its files; others are removed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ebbtide.core.change import Change
from ebbtide.core.schema import Schema
from ebbtide.core.time import INF, NEG_INF, Instant
from ebbtide.state.area import SweepArea
from ebbtide.state.arrays import distinct
from ebbtide.state.batch import (
    DIFF,
    FROM,
    TO,
    batch_schema,
    cancel,
    from_changes,
    key_hash,
    to_changes,
    where,
    with_times,
)
from ebbtide.state.columns import ints
from ebbtide.state.files import content_of
from ebbtide.state.keep import After, Keep
from ebbtide.state.layout import Layout
from ebbtide.state.segment import ENDS, Segment
from ebbtide.state.store import DirectoryStore, WriteScope
from ebbtide.state.types import arrow_type
from ebbtide.store.files import replace


@dataclass(frozen=True, slots=True)
class Told:
    """The directory of an encoding's state, the columns of its rows, and their key."""

    directory: str
    schema: Schema
    key: tuple[int, ...]
    endless: bool

    def moving(self, files: Sequence[Any], before: Instant, now: Instant) -> tuple[Change, ...]:
        """The changes that begin or end after ``before``, up to ``now``."""
        if now <= before or not files:
            return ()
        return to_changes(self._area(files).moved(before + 1, now).changes)

    def of_keys(
        self, files: Sequence[Any], emitted: Iterable[Change], before: Instant, now: Instant
    ) -> tuple[Change, ...]:
        """The changes of all keys that a step moves: by what it emits, or by their ends."""
        if not files:
            return ()
        area = self._area(files)
        touched = key_hash(from_changes(emitted, self._layout.schema), self.key)
        hashes = distinct(np.concatenate([touched, area.turning(before, now)]))
        return to_changes(area.query(hashes)) if len(hashes) else ()

    def after(
        self, files: Sequence[Any], emitted: Iterable[Change], now: Instant, step: int
    ) -> list[Any]:
        """The files of the state after a step, written and durable."""
        changes = from_changes(emitted, self._layout.schema)
        stays = ints(changes, TO) > now
        if not self.endless:
            stays &= (ints(changes, TO) < INF) | (ints(changes, FROM) > now)
        changes = where(changes, stays)
        begun = np.where(ints(changes, FROM) <= now, NEG_INF, ints(changes, FROM))
        stored = cancel(with_times(changes, begun, ints(changes, TO), ints(changes, DIFF)))
        keep = Keep(((After(ENDS, now),),))
        area = self._area(files, step).insert(stored, keep=keep).reorganize(keep)
        store = area.scope.store
        assert isinstance(store, DirectoryStore)
        store.sync_names()
        return area.describe()

    def remove_but(self, files: Sequence[Any]) -> None:
        """Removes all files but those of a state."""
        named = {segment.name for segment in self._area(files).segments}
        store = self._store()
        store.delete(store.names() - named)

    @property
    def _layout(self) -> Layout:
        types = [arrow_type(column.type) for column in self.schema]
        return Layout("told", batch_schema(types), self.key)

    def _store(self) -> DirectoryStore:
        return DirectoryStore(self.directory, sync=True)

    def _area(self, files: Sequence[Any], step: int = 0) -> SweepArea:
        return SweepArea.restore(self._layout, files, WriteScope(self._store(), "told", 0, step))


def copy_told(directory: str, target: str, files: Sequence[Any]) -> None:
    """Copies the files of a state to another directory."""
    for name in (Segment.restore(described).name for described in files):
        replace(f"{target}/{name}", content_of(f"{directory}/{name}"))
