"""Debezium's envelopes: the row before, the row after, and what was done.

Law: an envelope at ``t`` is ``-1 [t, inf)`` of what was ``before`` and ``+1 [t, inf)`` of what is
``after``, as far as they are there.  ``c`` creates a row, ``u`` updates one of a key, ``d`` deletes
one, and ``r`` reads one that was there when the feed began.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ebbtide.core.change import Change
from ebbtide.core.codec.feed import Move, Turn, relation_of, turns
from ebbtide.core.codec.relation import Key
from ebbtide.core.schema import Column, Schema
from ebbtide.core.time import MILLISECOND, Instant
from ebbtide.core.types import BIGINT, STRING, StructType
from ebbtide.core.values import Row

CREATE = "c"
UPDATE = "u"
DELETE = "d"
READ = "r"


TIMES = StructType((("ts_ms", BIGINT), ("ts_us", BIGINT)))


def envelope_schema(row: Schema) -> Schema:
    """The columns of an envelope around rows, as far as they are read."""
    struct = StructType(tuple((column.name, column.type) for column in row))
    return Schema(
        (
            Column("before", struct),
            Column("after", struct),
            Column("source", TIMES),
            Column("op", STRING),
            Column("ts_ms", BIGINT),
            Column("ts_us", BIGINT),
        )
    )


def enveloped_row(envelope: Mapping[str, Any]) -> tuple[Mapping[str, Any], Any, Instant | None]:
    """What an envelope that came is about: the row, the operation and the time.

    The time is the one at which the row was changed at its source, in microseconds if it says so.
    """
    after, source = envelope.get("after"), envelope.get("source") or {}
    row = (envelope.get("before") if after is None else after) or {}
    known = (
        source.get("ts_us"),
        _micros(source.get("ts_ms")),
        envelope.get("ts_us"),
        _micros(envelope.get("ts_ms")),
    )
    return row, envelope.get("op"), next((t for t in known if t is not None), None)


def _micros(ms: int | None) -> Instant | None:
    return None if ms is None else ms * MILLISECOND


@dataclass(frozen=True, slots=True)
class Envelope:
    """A change of one row, and the instant at which it counts."""

    op: str
    before: Row | None
    after: Row | None
    at: Instant


def encode(changes: Iterable[Change], key: Key | None = None) -> tuple[Envelope, ...]:
    """A relation as envelopes."""
    return tuple(one for turn in turns(changes, key) for one in envelopes(turn))


def envelopes(turn: Turn, first: bool = False) -> Iterable[Envelope]:
    """What happens at one instant; ``first`` if its rows were there before the feed began."""
    yield from (Envelope(DELETE, row, None, turn.at) for row in turn.left)
    yield from (Envelope(UPDATE, old, new, turn.at) for old, new in turn.updated)
    entered = READ if first else CREATE
    yield from (Envelope(entered, None, row, turn.at) for row in turn.entered)


def decode(envelopes: Iterable[Envelope]) -> tuple[Change, ...]:
    """The relation of envelopes, in the order in which they were sent."""
    return relation_of(_moves(envelopes))


def _moves(envelopes: Iterable[Envelope]) -> Iterable[Move]:
    for one in envelopes:
        if one.before is not None:
            yield Move(-1, one.before, one.at)
        if one.after is not None:
            yield Move(+1, one.after, one.at)
