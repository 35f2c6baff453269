"""Temporal tuples: a row with its validity, known when it is made (paper 4, sections 2.4, 2.5).

Law: a relation is the sum of its tuples, each ``+1 [valid_from, valid_to)``; a row that occurs n
times is n tuples.  There are no negatives.  Tuples are ordered by (from, to).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ebbtide.core.change import Change, consolidate
from ebbtide.core.codec.relation import repeated
from ebbtide.core.interval import Interval
from ebbtide.core.values import Row


@dataclass(frozen=True, slots=True)
class TemporalTuple:
    """A row that is valid during an interval."""

    row: Row
    interval: Interval


def encode(changes: Iterable[Change]) -> tuple[TemporalTuple, ...]:
    """A relation as temporal tuples, with the longest intervals there are."""
    return tuple(TemporalTuple(one.row, one.interval) for one in repeated(changes))


def decode(tuples: Iterable[TemporalTuple]) -> tuple[Change, ...]:
    """The relation of temporal tuples, which may come in any order."""
    return consolidate(
        Change(one.row, one.interval.valid_from, one.interval.valid_to) for one in tuples
    )
