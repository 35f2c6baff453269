"""Positive and negative tuples: a row enters, and later leaves (paper 2, sections 3.1, 4.2).

Law: a positive tuple at ``ts`` is ``+1 [ts, inf)``, a negative one at ``te`` is ``-1 [te, inf)``.
Tuples are ordered by time, at one instant the negative ones first (what expires makes room); no
negative tuple comes before its positive.  What never ends has no negative tuple.
"""

from __future__ import annotations

from collections.abc import Iterable

from ebbtide.core.change import Change
from ebbtide.core.codec.feed import Move, Turn, relation_of, turns

SignedTuple = Move

SIGNS = {+1: "+", -1: "-"}
"""How signs are written."""


def encode(changes: Iterable[Change]) -> tuple[SignedTuple, ...]:
    """A relation as positive and negative tuples."""
    return tuple(one for turn in turns(changes) for one in moves(turn))


def moves(turn: Turn) -> Iterable[SignedTuple]:
    """What happens at one instant."""
    olds, news = (tuple(pair[side] for pair in turn.updated) for side in (0, 1))
    yield from (SignedTuple(-1, row, turn.at) for row in (*turn.left, *olds))
    yield from (SignedTuple(+1, row, turn.at) for row in (*news, *turn.entered))


def decode(tuples: Iterable[SignedTuple]) -> tuple[Change, ...]:
    """The relation of positive and negative tuples, in the order in which they were sent."""
    return relation_of(tuples)
