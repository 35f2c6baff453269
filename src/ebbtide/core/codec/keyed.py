"""Positive temporal tuples with an upper bound, ended early by key (paper 1, section 2.1).

Law: a positive tuple is ``+1 [from, to)`` where ``to`` is only an upper bound; a negative tuple of
the same primary key at ``t`` is ``-1 [t, to)``.  A negative tuple has an empty lifetime ``[t, t)``,
so the order by (from, to) puts it before a positive one of its key that begins as it ends.

    lifetime     positive ├──────────────────────────┈┈┈┈┈┈┈┤
                 negative                            •
                          from                       t      to

A key occurs once in every snapshot, or a negative tuple would not say which one it ends.

Of a step only what it alters is sent: a row that ends as it was promised needs no tuple, one that
ends otherwise gets a negative one, and what is corrected in the past is sent from the ``now``
before the step on, so that time never falls.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from ebbtide.core.change import Change, consolidate, restrict
from ebbtide.core.codec.relation import Key, in_order, key_of, missing, relation, repeated, unique
from ebbtide.core.interval import Interval
from ebbtide.core.time import INF, NEG_INF, Duration, Instant, format_instant, is_finite, shift
from ebbtide.core.values import Row, row_key
from ebbtide.errors import QueryError, SourceError


@dataclass(frozen=True, slots=True)
class Positive:
    """A row that is valid during an interval at most, and from its begin on."""

    row: Row
    interval: Interval


@dataclass(frozen=True, slots=True)
class Negative:
    """The row of a key stops being valid."""

    key: Row
    at: Instant


KeyedTuple: TypeAlias = Positive | Negative


def encode(
    changes: Iterable[Change], key: Key, lifetime_us: Duration | None = None
) -> tuple[KeyedTuple, ...]:
    """A relation as positive temporal tuples that promise ``lifetime_us`` (without it: for ever),
    and negative ones for the rows that do not live that long.

    A row that lives longer is known to: its bound is its end.
    """
    held = repeated(changes)
    unique(held, key, QueryError)
    tuples: list[KeyedTuple] = []
    for one in held:
        bound = max(one.valid_to, _bound(one.valid_from, lifetime_us))
        tuples.append(Positive(one.row, Interval(one.valid_from, bound)))
        if one.valid_to < bound:
            tuples.append(Negative(key_of(one.row, key), one.valid_to))
    return tuple(sorted(tuples, key=_order))


def of_step(
    told: Iterable[Change], emitted: Iterable[Change], before: Instant, now: Instant, key: Key
) -> tuple[KeyedTuple, ...]:
    """What a step adds to what was sent: ``told`` are the changes that end after ``before``, of
    the keys that the step moves."""
    old = _by_key(restrict(told, Interval(before, INF)), key)
    new = _by_key(restrict((*told, *emitted), Interval(before, INF)), key)
    tuples: list[KeyedTuple] = []
    for values in new.keys() | old.keys():
        tuples += _differences(values, old.get(values, ()), new.get(values, ()), before, now)
    return tuple(sorted(tuples, key=_order))


def _by_key(changes: Iterable[Change], key: Key) -> dict[Row, tuple[Change, ...]]:
    found: dict[Row, list[Change]] = {}
    for change in relation(changes):
        found.setdefault(key_of(change.row, key), []).append(change)
    return {values: tuple(mine) for values, mine in found.items()}


def _differences(
    values: Row,
    old: tuple[Change, ...],
    new: tuple[Change, ...],
    before: Instant,
    now: Instant,
) -> Iterable[KeyedTuple]:
    """The tuples of one key: wherever what was promised is not what is."""
    promised = _valid(old, before)
    ends = {t for one in (*old, *new) for t in (one.valid_from, one.valid_to)}
    for at in sorted({before, *(t for t in ends if before < t <= now and t < INF)}):
        if promised is not None and promised.valid_to <= at:
            promised = None
        there = _valid(new, at)
        if promised is not None and not _alike(promised, there, now):
            yield Negative(values, at)
            promised = None
        if there is not None and promised is None:
            yield Positive(there.row, Interval(at, there.valid_to))
            promised = there


def _valid(changes: Iterable[Change], at: Instant) -> Change | None:
    return next((one for one in changes if one.valid_from <= at < one.valid_to), None)


def _alike(promised: Change, there: Change | None, now: Instant) -> bool:
    """Whether what is there is what was promised, or differs from it only at an end that the step
    comes to."""
    if there is None or there.row != promised.row:
        return False
    return there.valid_to == promised.valid_to or min(there.valid_to, promised.valid_to) <= now


def decode(tuples: Iterable[KeyedTuple], key: Key) -> tuple[Change, ...]:
    """The relation of keyed tuples, in the order in which they were sent."""
    latest: dict[Row, Change] = {}
    changes: list[Change] = []
    before = NEG_INF
    for one in tuples:
        values = key_of(one.row, key) if isinstance(one, Positive) else one.key
        at = one.interval.valid_from if isinstance(one, Positive) else one.at
        in_order(before, at, values)
        change = _change(one, latest.get(values))
        latest[values], before = change, at
        changes.append(change)
    return consolidate(changes)


def _bound(valid_from: Instant, lifetime_us: Duration | None) -> Instant:
    if lifetime_us is None or not is_finite(valid_from):
        return INF
    return shift(valid_from, lifetime_us)


def _order(one: KeyedTuple) -> tuple[object, ...]:
    if isinstance(one, Negative):
        return (one.at, one.at, row_key(one.key))
    return (one.interval.valid_from, one.interval.valid_to, row_key(one.row))


def _change(one: KeyedTuple, latest: Change | None) -> Change:
    """The change that a tuple makes, after the latest change of its key."""
    at = one.interval.valid_from if isinstance(one, Positive) else one.at
    valid = latest if latest is not None and latest.diff > 0 and at < latest.valid_to else None
    if isinstance(one, Negative):
        if valid is None:
            raise missing(f"key {one.key}", at)
        return Change(valid.row, at, valid.valid_to, -1)
    if valid is not None:
        raise SourceError(
            "key-not-unique",
            f"{one.row} begins at {format_instant(at)} while {valid.row} of its key is valid",
            hint="send a negative tuple of the key first",
        )
    return Change(one.row, at, one.interval.valid_to)
