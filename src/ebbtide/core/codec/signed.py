"""Positive and negative tuples: a row enters, and later leaves (paper 2, sections 3.1, 4.2).

Law: a positive tuple at ``ts`` is ``+1 [ts, inf)``, a negative one at ``te`` is ``-1 [te, inf)``.
Tuples are ordered by time, at one instant the negative ones first (what expires makes room); no
negative tuple comes before its positive.  What never ends has no negative tuple.
"""

from __future__ import annotations

from collections.abc import Iterable

from ebbtide.core.change import Change
from ebbtide.core.codec.feed import Move, relation_of, turns

SignedTuple = Move


def encode(changes: Iterable[Change]) -> tuple[SignedTuple, ...]:
    """A relation as positive and negative tuples."""
    tuples: list[SignedTuple] = []
    for turn in turns(changes):
        tuples += [SignedTuple(-1, row, turn.at) for row in turn.left]
        tuples += [SignedTuple(+1, row, turn.at) for row in turn.entered]
    return tuple(tuples)


def decode(tuples: Iterable[SignedTuple]) -> tuple[Change, ...]:
    """The relation of positive and negative tuples, in the order in which they were sent."""
    return relation_of(tuples)
