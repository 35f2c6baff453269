"""Flink's row kinds: +I, -U, +U and -D.

Law: ``+I`` and ``+U`` at ``t`` are ``+1 [t, inf)``, ``-U`` and ``-D`` are ``-1 [t, inf)``, in the
order in which they are sent.  With a key, a row that gives way to another of its key is ``-U`` and,
right after it, ``+U``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ebbtide.core.change import Change
from ebbtide.core.codec.feed import Move, Turn, relation_of, turns
from ebbtide.core.codec.relation import Key
from ebbtide.core.time import Instant
from ebbtide.core.values import Row
from ebbtide.errors import SourceError

INSERT = "+I"
UPDATE_BEFORE = "-U"
UPDATE_AFTER = "+U"
DELETE = "-D"

_SIGNS = {INSERT: +1, UPDATE_BEFORE: -1, UPDATE_AFTER: +1, DELETE: -1}


@dataclass(frozen=True, slots=True)
class FlinkChange:
    """A row of a changelog, its kind, and the instant at which it counts."""

    kind: str
    row: Row
    at: Instant


def encode(changes: Iterable[Change], key: Key | None = None) -> tuple[FlinkChange, ...]:
    """A relation as a changelog."""
    return tuple(
        FlinkChange(kind, row, turn.at)
        for turn in turns(changes, key)
        for kind, row in _changelog(turn)
    )


def decode(changelog: Iterable[FlinkChange]) -> tuple[Change, ...]:
    """The relation of a changelog, in the order in which it was sent."""
    return relation_of(Move(_sign(change), change.row, change.at) for change in changelog)


def _changelog(turn: Turn) -> Iterable[tuple[str, Row]]:
    yield from ((DELETE, row) for row in turn.left)
    for old, new in turn.updated:
        yield UPDATE_BEFORE, old
        yield UPDATE_AFTER, new
    yield from ((INSERT, row) for row in turn.entered)


def _sign(change: FlinkChange) -> int:
    sign = _SIGNS.get(change.kind)
    if sign is None:
        raise SourceError(
            "unknown-row-kind",
            f'"{change.kind}" is not a row kind of Flink',
            hint=f"use {', '.join(_SIGNS)}",
        )
    return sign
