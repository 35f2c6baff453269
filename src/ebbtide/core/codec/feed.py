"""The feed of a relation: what leaves and what enters as its snapshot moves along the instants.

Law: the snapshot at ``t`` is the sum of all that entered, less all that left, up to and including
``t``; between two end points nothing moves.

A step moves the snapshot from the ``now`` before it to the one after it.  What it says of the time
before is sent in one of two ways: with the instants that it is about, so that the sum is exact at
every instant (``floor`` is ``-inf``); or all at once at the old ``now`` (``floor``), so that time
never falls, and the sum at an instant is what was said of it when ``now`` passed it.

    before              now
      |   sent earlier   |
    ──┼──────────┤       |      leaves here, though nothing new was said of it
      |      ├───┼───────┼──    enters here
    ├─┼──────────┼──  late      enters at ``before``, or, sent exactly, where it begins
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

    @property
    def moves(self) -> bool:
        """Whether anything happens."""
        return bool(self.left or self.updated or self.entered)


def turns(changes: Iterable[Change], key: Key | None = None) -> Iterator[Turn]:
    """The turns of a relation, by time; with a key, a row that is replaced at once is updated."""
    held = repeated(changes)
    if key is not None:
        unique(held, key, QueryError)
    yield from step_turns((), held, NEG_INF, INF, NEG_INF, key)


def step_turns(
    told: Iterable[Change],
    emitted: Iterable[Change],
    before: Instant,
    now: Instant,
    floor: Instant,
    key: Key | None = None,
) -> Iterator[Turn]:
    """The turns of a step: of what it emits, and of what was sent earlier and moves only now.

    ``told`` are changes of earlier steps that begin or end after ``before``.
    """
    moves: dict[Instant, Counter[Row]] = defaultdict(Counter)
    for change in told:
        for at, diff in ((change.valid_from, change.diff), (change.valid_to, -change.diff)):
            if before < at <= now:
                moves[at][change.row] += diff
    for change in emitted:
        for at, diff in ((change.valid_from, change.diff), (change.valid_to, -change.diff)):
            if at <= now:
                moves[max(at, floor)][change.row] += diff
    moves.pop(INF, None)
    yield from _turns(moves, key)


def _turns(moves: dict[Instant, Counter[Row]], key: Key | None) -> Iterator[Turn]:
    for at in sorted(moves):
        left = _rows({row: -count for row, count in moves[at].items()})
        entered = _rows(moves[at])
        updated = () if key is None else _updated(left, entered, key)
        old, new = {pair[0] for pair in updated}, {pair[1] for pair in updated}
        turn = Turn(
            at,
            tuple(row for row in left if row not in old),
            updated,
            tuple(row for row in entered if row not in new),
        )
        if turn.moves:
            yield turn


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
