"""Spark's change feed: ``_change_type``, ``_commit_version`` and ``_commit_timestamp``.

Law: a commit turns the relation's snapshot into the next one.  An insert or update_postimage in a
commit at ``t`` is ``+1 [t, inf)``, a delete or update_preimage ``-1 [t, inf)``; versions count the
commits, and time does not fall from one to the next.  With a key, a row that gives way to another
of its key is a pre-image and a post-image.
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

INSERT = "insert"
DELETE = "delete"
PREIMAGE = "update_preimage"
POSTIMAGE = "update_postimage"

_SIGNS = {INSERT: +1, DELETE: -1, PREIMAGE: -1, POSTIMAGE: +1}


@dataclass(frozen=True, slots=True)
class SparkChange:
    """A row of a change feed, with its three columns of Spark's."""

    row: Row
    change_type: str
    commit_version: int
    commit_timestamp: Instant


def encode(
    changes: Iterable[Change], key: Key | None = None, first_version: int = 0
) -> tuple[SparkChange, ...]:
    """A relation as a change feed: one commit at each instant at which it moves."""
    numbered = enumerate(turns(changes, key), first_version)
    return tuple(change for version, turn in numbered for change in commit(turn, version))


def commit(turn: Turn, version: int) -> Iterable[SparkChange]:
    """What happens at one instant, as one commit."""
    return (SparkChange(row, kind, version, turn.at) for kind, row in _commit(turn))


def decode(feed: Iterable[SparkChange]) -> tuple[Change, ...]:
    """The relation of a change feed; within a commit the order does not matter."""
    signed = [(_sign(change), change) for change in feed]
    # Positives first, so that a commit may take away what it adds.
    signed.sort(key=lambda pair: (pair[1].commit_version, -pair[0]))
    return relation_of(Move(sign, change.row, change.commit_timestamp) for sign, change in signed)


def _commit(turn: Turn) -> Iterable[tuple[str, Row]]:
    yield from ((DELETE, row) for row in turn.left)
    for old, new in turn.updated:
        yield PREIMAGE, old
        yield POSTIMAGE, new
    yield from ((INSERT, row) for row in turn.entered)


def _sign(change: SparkChange) -> int:
    sign = _SIGNS.get(change.change_type)
    if sign is None:
        raise SourceError(
            "unknown-change-type",
            f'"{change.change_type}" is not a change type of Spark',
            hint=f"use {', '.join(_SIGNS)}",
        )
    return sign
