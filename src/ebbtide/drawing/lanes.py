"""Changes as lanes: what of each row holds in the end, and what was taken back.

Law: a lane has a label, and rows of the same label that differ in their value share it.  The pieces
that hold are the net multiplicities of a row, as in its snapshots; those taken back are the
instants that a negative change names and at which nothing of the row is left.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from ebbtide.core.change import Change, consolidate, restrict
from ebbtide.core.interval import Interval
from ebbtide.core.time import NEG_INF, Instant


class Bar(NamedTuple):
    """A row that is there over ``[valid_from, valid_to)``, or a mark if the two are equal.

    A negative ``diff`` takes it back.  Bars of one ``group`` stand together below its name.  The
    ``value`` is written into the bar.
    """

    label: str
    valid_from: Instant
    valid_to: Instant
    diff: int = 1
    group: str = ""
    value: str = ""


@dataclass(frozen=True, slots=True)
class Piece:
    """One bar of a lane: ``count`` rows over an interval; none if they were taken back."""

    valid_from: Instant
    valid_to: Instant
    count: int
    value: str = ""


@dataclass(frozen=True, slots=True)
class Mark:
    """A fact at an instant; ``count`` is none if it was taken back."""

    at: Instant
    count: int
    value: str = ""


@dataclass(frozen=True, slots=True)
class Lane:
    """What is drawn on one line."""

    group: str
    label: str
    pieces: tuple[Piece, ...]
    marks: tuple[Mark, ...]

    @property
    def begins(self) -> Instant:
        """The first instant of the lane."""
        pieces = (piece.valid_from for piece in self.pieces)
        return min((*pieces, *(mark.at for mark in self.marks)))

    @property
    def is_stacked(self) -> bool:
        """Whether something that was taken back may lie where another value holds."""
        gone = any(not piece.count for piece in self.pieces)
        return gone and len({piece.value for piece in self.pieces}) > 1

    @property
    def is_revised(self) -> bool:
        """Whether something of it was taken back."""
        counts = [*(piece.count for piece in self.pieces), *(mark.count for mark in self.marks)]
        return 0 in counts


Given: TypeAlias = Bar | tuple[str, Instant, Instant, int]
_Rows: TypeAlias = dict[tuple[str, str], list[Bar]]


def lanes_of(bars: Iterable[Given], *, sort: bool = True) -> list[Lane]:
    """A lane for every label of a group, by group and by where it begins, or as they come."""
    return _lanes(_rows(bars), sort)


def last_lanes(bars: Iterable[Given], most: int, sort: bool = True) -> tuple[list[Lane], int]:
    """The lanes that begin last, at most so many, and the number of those left out."""
    rows = _rows(bars)
    begins = {key: min(bar.valid_from for bar in found) for key, found in rows.items()}
    last = set(sorted(rows, key=begins.__getitem__)[-most:])
    return _lanes({key: rows[key] for key in rows if key in last}, sort), len(rows) - len(last)


def _rows(bars: Iterable[Given]) -> _Rows:
    rows: _Rows = {}
    for given in bars:
        bar = Bar(*given)
        if bar.diff:
            rows.setdefault((bar.group, bar.label), []).append(bar)
    return rows


def _lanes(rows: _Rows, sort: bool) -> list[Lane]:
    groups = list(dict.fromkeys(group for group, _ in rows))
    lanes = [_lane(group, label, found) for (group, label), found in rows.items()]
    if not sort:
        return sorted(lanes, key=lambda lane: groups.index(lane.group))
    return sorted(lanes, key=lambda lane: (groups.index(lane.group), lane.begins))


def _lane(group: str, label: str, bars: list[Bar]) -> Lane:
    values: dict[str, list[Bar]] = {}
    for bar in bars:
        values.setdefault(bar.value, []).append(bar)
    rows = [_row(value, found) for value, found in values.items()]
    pieces = sorted((p for row, _ in rows for p in row), key=lambda p: p.valid_from)
    marks = sorted((mark for _, row in rows for mark in row), key=lambda mark: mark.at)
    return Lane(group, label, tuple(pieces), tuple(marks))


def _row(value: str, bars: list[Bar]) -> tuple[list[Piece], list[Mark]]:
    """The pieces and marks of equal rows."""
    facts: Counter[Instant] = Counter()
    for bar in bars:
        if bar.valid_from == bar.valid_to:
            facts[bar.valid_from] += bar.diff
    marks = [Mark(at, max(0, count), value) for at, count in facts.items()]
    changes = [Change((), b.valid_from, b.valid_to, b.diff) for b in bars]
    changes = [change for change in changes if change.valid_from < change.valid_to]
    held = [change for change in consolidate(changes) if change.diff > 0]
    pieces = [Piece(c.valid_from, c.valid_to, c.diff, value) for c in held]
    gone = _taken_back(changes, held)
    return pieces + [Piece(gap.valid_from, gap.valid_to, 0, value) for gap in gone], marks


def _taken_back(changes: list[Change], held: list[Change]) -> list[Interval]:
    """Where a negative change left nothing."""
    gone = consolidate(
        Change((), change.valid_from, change.valid_to, 1) for change in changes if change.diff < 0
    )
    left: list[Interval] = []
    for change in gone:
        since = change.valid_from
        for kept in restrict(held, change.interval):
            if since < kept.valid_from:
                left.append(Interval(since, kept.valid_from))
            since = max(since, kept.valid_to)
        if since < change.valid_to:
            left.append(Interval(since, change.valid_to))
    return _merged(left)


def _merged(intervals: list[Interval]) -> list[Interval]:
    """Intervals that touch, as one."""
    merged: list[Interval] = []
    for each in sorted(intervals, key=lambda i: i.valid_from):
        if merged and merged[-1].valid_to == each.valid_from and each.valid_from > NEG_INF:
            merged[-1] = Interval(merged[-1].valid_from, each.valid_to)
        else:
            merged.append(each)
    return merged
