"""What the encodings need of a relation: its tuples, and a key that tells them apart.

Invariant: a tuple is a row with one validity interval; a relation has each tuple as many times as
its multiplicity says.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import pairwise
from typing import TypeAlias

from ebbtide.core.change import Change, consolidate
from ebbtide.core.interval import Interval
from ebbtide.core.time import Instant, format_instant
from ebbtide.core.values import Row
from ebbtide.errors import EbbtideError, QueryError, SourceError

Key: TypeAlias = tuple[int, ...]


def relation(changes: Iterable[Change]) -> tuple[Change, ...]:
    """The changes consolidated, all of them positive."""
    consolidated = consolidate(changes)
    for change in consolidated:
        if change.diff < 0:
            raise QueryError(
                "negative-multiplicity",
                f"{change.row} occurs {change.diff} times during {change.interval}",
                hint="encode a relation: every negative change after its positive",
            )
    return consolidated


def repeated(changes: Iterable[Change]) -> tuple[Change, ...]:
    """The changes of a relation one by one, multiplicity by repetition."""
    return tuple(
        Change(change.row, change.valid_from, change.valid_to)
        for change in relation(changes)
        for _ in range(change.diff)
    )


def key_of(row: Row, key: Key) -> Row:
    """The values of a row's key columns, which ``key`` gives by position."""
    return tuple(row[position] for position in key)


def unique(tuples: Iterable[Change], key: Key, family: type[EbbtideError]) -> None:
    """Refuse tuples of which two with one key are valid at the same instant."""
    by_key: dict[Row, list[Interval]] = defaultdict(list)
    for one in tuples:
        by_key[key_of(one.row, key)].append(one.interval)
    for values, intervals in by_key.items():
        ordered = sorted(intervals)
        for earlier, later in pairwise(ordered):
            if earlier.overlaps(later):
                raise family(
                    "key-not-unique",
                    f"key {values} occurs twice during {earlier.intersect(later)}",
                    hint="name a key that every snapshot holds once",
                )


def in_order(before: Instant, at: Instant, what: Row) -> None:
    """Refuse a tuple that comes at an instant before the one that the sequence has come to."""
    if at < before:
        raise SourceError(
            "out-of-order",
            f"{what} comes at {format_instant(at)}, after {format_instant(before)}",
            hint="order what is decoded by time",
        )


def missing(what: str, at: Instant) -> SourceError:
    """The error of a negative whose positive was never sent, or has gone."""
    return SourceError(
        "negative-without-positive", f"{what} leaves at {format_instant(at)} and is not there"
    )
