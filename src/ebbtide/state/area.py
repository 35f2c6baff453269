"""The SweepArea: the rows of one operator input that later changes can still touch.

Law: an area is a value.  ``insert``, ``reorganize`` and ``compact`` give another one; what
``query`` shows is the sum of all inserted changes, as far as the rule that the area is ``under``
keeps them: that segments are dropped later than their rows is seen nowhere.  The cost of each
method follows the rows that it adds or finds, not the rows that are there (paper 4, section 4.3.1,
on the buckets of paper 3, section 4.1).

It deliberately knows no operator: what a row means, and by which rule it goes, others say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from ebbtide.core.structure import Structure
from ebbtide.core.time import INF, NEG_INF
from ebbtide.state.arrays import Hashes, Ints, distinct
from ebbtide.state.hashing import key_hash
from ebbtide.state.keep import ALWAYS, Keep
from ebbtide.state.layout import Endless, Layout
from ebbtide.state.search import (
    HASH,
    VIEWS,
    Bound,
    SegmentRows,
    greatest,
    least,
    moving,
    next_points,
    overlapping,
    rule_out,
)
from ebbtide.state.segment import Segment
from ebbtide.state.store import File, WriteScope
from ebbtide.state.table import concat, where
from ebbtide.state.tiers import bucket_width, buckets, merges
from ebbtide.state.time_order import TimeRows
from ebbtide.state.writing import by_key, merged, merged_by_time, newest, write


@dataclass(frozen=True, slots=True)
class Found:
    """Changes from a SweepArea, with the hashes of their keys."""

    changes: Any
    hashes: Hashes


@dataclass(frozen=True, slots=True)
class SweepArea:
    """Changes in immutable segments, found by key and by time.

    ``expired`` counts the stored changes that were dropped because the rule did not keep them.
    """

    layout: Layout
    scope: WriteScope = field(default_factory=WriteScope)
    segments: tuple[Segment, ...] = ()
    keep: Keep = field(default=ALWAYS, compare=False)
    expired: int = field(default=0, compare=False)

    @property
    def rows(self) -> int:
        """How many stored changes there are."""
        return sum(segment.rows for segment in self.segments)

    @property
    def bytes(self) -> int:
        """How much room the segments take."""
        return sum(segment.bytes for segment in self.segments)

    @property
    def none(self) -> Found:
        """No changes at all."""
        return Found(self.layout.schema.empty_table(), np.zeros(0, np.uint64))

    def at(self, scope: WriteScope) -> SweepArea:
        """The same area, to be continued in another scope."""
        return replace(self, scope=scope)

    def under(self, keep: Keep) -> SweepArea:
        """The same area, of which only what a rule keeps is seen."""
        return self if keep is self.keep else replace(self, keep=keep)

    def describe(self) -> list[Any]:
        """The descriptors of the segments, for JSON."""
        return [segment.describe() for segment in self.segments]

    @staticmethod
    def restore(layout: Layout, described: Iterable[list[Any]], scope: WriteScope) -> SweepArea:
        """The area that ``describe`` described."""
        return SweepArea(layout, scope, tuple(Segment.restore(values) for values in described))

    def contents(self) -> Iterator[tuple[Segment, Any]]:
        """Every segment with all the changes that are stored in it, whatever a rule says."""
        for segment in self.segments:
            yield segment, self.stored(segment)

    def everything(self) -> Any:
        """All the changes that are stored, whatever a rule says."""
        return concat((changes for _, changes in self.contents()), self.layout.schema)

    def timed(self, segment: Segment, column: int, first: int, last: int) -> Any:
        """The changes that are stored in a segment, at least those whose time in a column is from
        ``first`` to ``last``; where rows lie by that time, no others."""
        if segment.structure is Structure.BY_TIME:
            rows = self._by_time(segment)
            if rows.column == column:
                return rows.between(first, last)
        return self.stored(segment)

    def hash(self, changes: Any) -> Hashes:
        """The hashes of the keys of changes that have the area's schema."""
        return key_hash(changes, self.layout.keys)

    def insert(self, changes: Any, hashes: Hashes | None = None, keep: Keep = ALWAYS) -> SweepArea:
        """The area with more changes, as far as a rule keeps them."""
        mask = keep.mask(changes)
        if mask is not None:
            changes = where(changes, mask)
            hashes = hashes if hashes is None else hashes[mask]
        if not changes.num_rows:
            return self
        new = write(self.scope, self.layout, changes, hashes, self._bounds(keep), keep)
        return replace(self, segments=(*self.segments, *new))

    def query(self, hashes: Hashes | None, since: Bound = NEG_INF, until: Bound = INF) -> Any:
        """The keys' changes that overlap ``[since, until)``; all keys' if ``hashes`` is None.

        ``hashes`` are sorted and unique; a bound is one instant, or one per hash.
        """
        return self.probe(hashes, since, until).changes

    def probe(self, hashes: Hashes | None, since: Bound = NEG_INF, until: Bound = INF) -> Found:
        """What ``query`` gives, with the hashes."""
        earliest, latest = least(since), greatest(until)
        chosen = [
            segment
            for segment in self.segments
            if segment.to_max > earliest
            and segment.from_min < latest
            and not rule_out(segment, hashes)
        ]
        return self._found(chosen, lambda view: overlapping(view, hashes, since, until))

    def stamped(self, hashes: Hashes, times: Ints, column: int) -> Any:
        """The changes of keys that have a time in them, which is that of a column: for each, what
        has its hash in segments whose times reach from before its own to behind it."""
        zones = [(segment, *segment.zone(column)) for segment in self.segments]
        if len(times):
            first, last = int(times.min()), int(times.max())
            zones = [(s, low, high) for s, low, high in zones if low <= last and high >= first]
        found = []
        for segment, low, high in zones:
            inside = (low <= times) & (times <= high)
            asked = distinct(hashes[inside])
            if not rule_out(segment, asked):
                found.append(self._stamped(segment, asked, times[inside], column))
        return concat(found, self.layout.schema)

    def _stamped(self, segment: Segment, hashes: Hashes, times: Ints, column: int) -> Any:
        if segment.structure is not Structure.BY_TIME:
            find = partial(overlapping, hashes=hashes, since=NEG_INF, until=INF)
            return self._found([segment], find).changes
        rows = self._by_time(segment)
        same = rows.column == column
        stored = self.keep.of(rows.at(np.unique(times)) if same else rows.everything())
        return where(stored, np.isin(self.hash(stored), hashes))

    def moved(self, since: Bound, upto: Bound, hashes: Hashes | None = None) -> Found:
        """The changes that begin or end in ``[since, upto]``, of some keys or of all."""
        chosen = [s for s in self._turning(since, upto) if not rule_out(s, hashes)]
        return self._found(chosen, lambda view: moving(view, hashes, since, upto))

    def beyond(self, keep: Keep) -> Found:
        """The changes that another rule does not keep."""

        def dropped(view: SegmentRows) -> Ints | None:
            mask = keep.mask(view.batch)
            return np.zeros(0, np.int64) if mask is None else np.flatnonzero(~mask)

        return self._found([s for s in self.segments if not keep.holds(s)], dropped)

    def latest(self, hashes: Hashes | None) -> Found:
        """The rows that stand for the keys, in an area of the newest rows."""
        found = self.probe(hashes)
        places = newest(self.layout, found.changes, found.hashes)
        return Found(found.changes.take(pa.array(places)), found.hashes[places])

    def turning(self, after: int, upto: int) -> Hashes:
        """The hashes of keys with a change that begins or ends in ``(after, upto]``."""
        found = []
        for segment in self._turning(after + 1, upto):
            view = self.view(segment)
            places = self._seen(segment, view, moving(view, None, after + 1, upto))
            found.append(view.hashes if places is None else view.hashes[places])
        return distinct(np.concatenate(found)) if found else np.zeros(0, np.uint64)

    def next_end(self, hashes: Hashes, after: Bound) -> Ints:
        """For each key the first end point of its changes after ``after``; ``inf`` if none."""
        result = np.full(len(hashes), INF, np.int64)
        earliest = least(after)
        candidates = [s for s in self.segments if s.to_max > earliest or s.from_max > earliest]
        for segment in sorted(candidates, key=lambda s: (s.to_min, s.name)):
            lowest = segment.from_min if segment.from_max > earliest else segment.to_min
            open_ = np.flatnonzero(result > max(lowest, earliest + 1))
            asked = hashes[open_]
            if rule_out(segment, asked):
                continue
            bound = after[open_] if isinstance(after, np.ndarray) else after
            points = next_points(self.view(segment), asked, bound)
            result[open_] = np.minimum(result[open_], points)
        return result

    def reorganize(self, keep: Keep = ALWAYS) -> SweepArea:
        """The area without whole segments of which nothing is kept, and merged where that pays."""
        passed = [segment for segment in self.segments if keep.drops(segment)]
        gone = {*passed, *(s for s in self.segments if self._is_dropped(s, keep))}
        for segment in gone:
            self.scope.store.forget(segment.name)
        kept = replace(
            self,
            segments=tuple(s for s in self.segments if s not in gone),
            expired=self.expired + sum(segment.rows for segment in passed),
        )
        unsettled = tuple(s for s in kept.segments if self.scope.is_unsettled(s.name))
        if unsettled:
            return kept._merge([unsettled], keep)
        groups = merges(
            kept.segments,
            self.layout.newest,
            timeless=keep.is_everything,
            by=keep.cut,
            folding=self.layout.endless is not Endless.KEPT,
        )
        return kept._merge(groups, keep)

    def settled(self) -> SweepArea:
        """The area, of which no segment is staged any more."""
        unsettled = tuple(s for s in self.segments if self.scope.is_unsettled(s.name))
        return self._merge([unsettled], ALWAYS) if unsettled else self

    def compact(self, keep: Keep = ALWAYS) -> SweepArea:
        """The area with one segment for every bucket of time, and all that cancels gone."""
        area, before = self.reorganize(keep), self.rows + 1
        # What nets out may end earlier than its parts did, and meet others in another bucket.
        while area.rows < before:
            before = area.rows
            groups = buckets(area.segments, bucket_width(area._bounds(keep)), keep.cut)
            area = area._merge([tuple(g) for g in groups if _is_loose(g, keep)], keep)
        return area

    def _merge(self, groups: list[tuple[Segment, ...]], keep: Keep) -> SweepArea:
        if not groups:
            return self
        gone = {segment for group in groups for segment in group}
        segments = [segment for segment in self.segments if segment not in gone]
        expired = self.expired
        for group in groups:
            by_time, hashes = self.layout.structure is Structure.BY_TIME, None
            tables = [self.stored(s) if by_time else self._hashed(s) for s in group]
            stored = concat(tables, tables[0].schema)
            mask = keep.mask(stored)
            expired += 0 if mask is None else int((~mask).sum())
            if by_time:
                changes = merged_by_time(stored, keep)
            else:
                changes, hashes = merged(self.layout, stored, keep, whole=not segments)
            segments += write(self.scope, self.layout, changes, hashes, self._bounds(keep), keep)
            for segment in group:
                self.scope.store.forget(segment.name)
        return replace(self, segments=tuple(segments), expired=expired)

    def _found(self, segments: list[Segment], find: Callable[[SegmentRows], Ints | None]) -> Found:
        tables, hashes = [], []
        for segment in segments:
            view = self.view(segment)
            chosen = self._seen(segment, view, find(view))
            if chosen is not None and not len(chosen):
                continue
            rows = view.batch if chosen is None else view.batch.take(pa.array(chosen))
            tables.append(pa.Table.from_batches([rows]).drop_columns(["hash"]))
            hashes.append(view.hashes if chosen is None else view.hashes[chosen])
        joined = np.concatenate(hashes) if hashes else np.zeros(0, np.uint64)
        return Found(concat(tables, self.layout.schema), joined)

    def _seen(self, segment: Segment, view: SegmentRows, places: Ints | None) -> Ints | None:
        """Those of some places of a segment whose rows are kept; None means all."""
        if self.keep.holds(segment) or (places is not None and not len(places)):
            return places
        rows = view.batch if places is None else view.batch.take(pa.array(places))
        mask = self.keep.mask(rows)
        if mask is None:
            return places
        return np.flatnonzero(mask) if places is None else places[mask]

    def _turning(self, since: Bound, upto: Bound) -> list[Segment]:
        first, last = least(since), greatest(upto)
        return [
            s
            for s in self.segments
            if (s.from_max >= first and s.from_min <= last)
            or (s.to_max >= first and s.to_min <= last)
        ]

    def _is_dropped(self, segment: Segment, keep: Keep) -> bool:
        drops = self.layout.endless is Endless.DROPPED and keep.begun > NEG_INF
        return drops and segment.to_min == INF and segment.from_max <= keep.begun

    def _bounds(self, keep: Keep) -> list[tuple[int, int]]:
        return [segment.zone(keep.cut) for segment in self.segments]

    def _hashed(self, segment: Segment) -> Any:
        """The changes of a segment by key, with their hashes."""
        return pa.Table.from_batches([self.scope.store.read(_file(segment))])

    def stored(self, segment: Segment) -> Any:
        """All the changes that are stored in a segment, whatever a rule says."""
        if segment.structure is Structure.BY_TIME:
            return self._by_time(segment).everything()
        return self._hashed(segment).drop_columns([HASH.name])

    def _by_time(self, segment: Segment) -> TimeRows:
        rows: TimeRows = self.scope.store.read(_file(segment), TimeRows.of)
        return rows

    def view(self, segment: Segment) -> SegmentRows:
        """The opened rows of a segment by key; one by time is sorted for it."""
        if segment.structure is Structure.BY_TIME:
            changes = self.stored(segment)
            batch, _ = by_key(changes, self.hash(changes), Structure.BY_KEY)
            return SegmentRows.of(batch)
        view: SegmentRows = self.scope.store.read(_file(segment), VIEWS[segment.structure])
        return view


def _is_loose(group: list[Segment], keep: Keep) -> bool:
    """Whether merging a bucket's segments, or the one there is, can make them less."""
    first = group[0]
    return len(group) > 1 or first.negatives > 0 or not keep.holds(first)


def _file(segment: Segment) -> File:
    return File(segment.name, segment.checksum, segment.bytes)
