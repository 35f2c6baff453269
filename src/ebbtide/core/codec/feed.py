"""The feed of a relation: what leaves and what enters as its snapshot moves along the instants.

Law: the snapshot at ``t`` is the sum of all that entered, less all that left, up to and including
``t``; between two end points nothing moves.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ebbtide.core.change import Change, consolidate
from ebbtide.core.codec.relation import Key, in_order, key_of, missing, repeated, unique
from ebbtide.core.time import INF, NEG_INF, Instant
from ebbtide.core.values import Row, row_key
from ebbtide.errors import QueryError


@dataclass(frozen=True, slots=True)
class Turn:
    """What happens to a relation at one instant, rows in order; ``updated`` pairs the rows of one
    key of which the first leaves as the second enters."""

    at: Instant
    left: tuple[Row, ...]
    updated: tuple[tuple[Row, Row], ...]
    entered: tuple[Row, ...]


def turns(changes: Iterable[Change], key: Key | None = None) -> Iterator[Turn]:
    """The turns of a relation, by time; with a key, a row that is replaced at once is updated."""
    held = repeated(changes)
    if key is not None:
        unique(held, key, QueryError)
    moves: dict[Instant, Counter[Row]] = defaultdict(Counter)
    for change in held:
        moves[change.valid_from][change.row] += change.diff
        moves[change.valid_to][change.row] -= change.diff
    moves.pop(INF, None)
    for at in sorted(moves):
        left = _rows({row: -count for row, count in moves[at].items()})
        entered = _rows(moves[at])
        updated = () if key is None else _updated(left, entered, key)
        old, new = {pair[0] for pair in updated}, {pair[1] for pair in updated}
        yield Turn(
            at,
            tuple(row for row in left if row not in old),
            updated,
            tuple(row for row in entered if row not in new),
        )


@dataclass(frozen=True, slots=True)
class Move:
    """A row enters (+1) or leaves (-1) at an instant."""

    sign: int
    row: Row
    at: Instant


def relation_of(moves: Iterable[Move]) -> tuple[Change, ...]:
    """The relation that moves, in their order, make: time never falls, and no row leaves that has
    not entered."""
    counts: Counter[Row] = Counter()
    changes: list[Change] = []
    before = NEG_INF
    for move in moves:
        in_order(before, move.at, move.row)
        before = move.at
        counts[move.row] += move.sign
        if counts[move.row] < 0:
            raise missing(str(move.row), move.at)
        changes.append(Change(move.row, move.at, INF, move.sign))
    return consolidate(changes)


def _rows(counts: dict[Row, int]) -> tuple[Row, ...]:
    """Every row as often as counted, in order; rows that do not count a positive number of times
    are left out."""
    return tuple(row for row in sorted(counts, key=row_key) for _ in range(counts[row]))


def _updated(
    left: tuple[Row, ...], entered: tuple[Row, ...], key: Key
) -> tuple[tuple[Row, Row], ...]:
    new = {key_of(row, key): row for row in entered}
    return tuple((row, new[k]) for row in left if (k := key_of(row, key)) in new)
