"""Temporal tuples: a row with its validity, known when it is made (paper 4, sections 2.4, 2.5).

Law: a relation is the sum of its tuples, each ``+1 [valid_from, valid_to)``; a row that occurs n
times is n tuples.  There are no negatives.  Tuples are ordered by (from, to).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ebbtide.core.change import Change, consolidate, in_order
from ebbtide.core.codec.relation import repeated
from ebbtide.core.interval import Interval
from ebbtide.core.values import Row
from ebbtide.errors import QueryError


@dataclass(frozen=True, slots=True)
class TemporalTuple:
    """A row that is valid during an interval."""

    row: Row
    interval: Interval


def encode(changes: Iterable[Change]) -> tuple[TemporalTuple, ...]:
    """A relation as temporal tuples, with the longest intervals there are."""
    return tuple(TemporalTuple(one.row, one.interval) for one in repeated(changes))


def of_step(emitted: Iterable[Change]) -> tuple[TemporalTuple, ...]:
    """What a step emits as temporal tuples; it is final, so nothing is taken back."""
    tuples: list[TemporalTuple] = []
    for change in in_order(emitted):
        if change.diff < 0:
            raise QueryError(
                "negative-multiplicity",
                f"{change.row} is taken back, and temporal tuples cannot say that",
                hint="use the encoding changes",
            )
        tuples += [TemporalTuple(change.row, change.interval)] * change.diff
    return tuple(tuples)


def decode(tuples: Iterable[TemporalTuple]) -> tuple[Change, ...]:
    """The relation of temporal tuples, which may come in any order."""
    return consolidate(
        Change(one.row, one.interval.valid_from, one.interval.valid_to) for one in tuples
    )
