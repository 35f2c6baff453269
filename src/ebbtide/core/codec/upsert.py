"""Upserts and ends by key: what a table that mirrors a relation has to do.

Law: an upsert at ``t`` puts its row in the place of the one of its key, from ``t`` on; an end at
``t`` takes the row of its key away.  A key occurs once in every snapshot.  The words are those of
the operations on a table, so what is written here can be read by one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ebbtide.core.change import Change
from ebbtide.core.codec.feed import Move, Turn, relation_of, turns
from ebbtide.core.codec.relation import Key, key_of, missing
from ebbtide.core.time import Instant
from ebbtide.core.values import Row

UPSERT = "upsert"
END = "end"


@dataclass(frozen=True, slots=True)
class KeyedChange:
    """A row of a key that is there from an instant on, or is there no more."""

    op: str
    row: Row
    at: Instant


def encode(changes: Iterable[Change], key: Key) -> tuple[KeyedChange, ...]:
    """A relation as upserts and ends."""
    return tuple(one for turn in turns(changes, key) for one in operations(turn))


def operations(turn: Turn) -> Iterable[KeyedChange]:
    """What happens at one instant."""
    yield from (KeyedChange(END, row, turn.at) for row in turn.left)
    yield from (KeyedChange(UPSERT, new, turn.at) for _, new in turn.updated)
    yield from (KeyedChange(UPSERT, row, turn.at) for row in turn.entered)


def decode(operations: Iterable[KeyedChange], key: Key) -> tuple[Change, ...]:
    """The relation of upserts and ends, in the order in which they were sent."""
    return relation_of(_moves(operations, key))


def _moves(operations: Iterable[KeyedChange], key: Key) -> Iterable[Move]:
    there: dict[Row, Row] = {}
    for one in operations:
        values = key_of(one.row, key)
        old = there.pop(values, None)
        if old is not None:
            yield Move(-1, old, one.at)
        elif one.op == END:
            raise missing(f"key {values}", one.at)
        if one.op == UPSERT:
            there[values] = one.row
            yield Move(+1, one.row, one.at)
