"""From relations back to facts: ISTREAM, DSTREAM and RSTREAM.

Law: for every ``t <= now``, ISTREAM has the fact ``(row, t)`` ``max(0, q(t) - q(t - 1))`` times,
DSTREAM ``max(0, q(t - 1) - q(t))`` times, and RSTREAM, at the multiples of its period since the
relation first changed, ``q(t)`` times.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from ebbtide.core.change import Change, end_points, fact, snapshot
from ebbtide.core.time import INF, Duration, Instant, ceil_to, is_finite
from ebbtide.errors import InternalError


def came(changes: Sequence[Change], now: Instant) -> Iterator[Change]:
    """The facts that rows came."""
    for t in _turns(changes, now):
        yield from _facts(snapshot(changes, t) - snapshot(changes, t - 1), t)


def went(changes: Sequence[Change], now: Instant) -> Iterator[Change]:
    """The facts that rows went."""
    for t in _turns(changes, now):
        yield from _facts(snapshot(changes, t - 1) - snapshot(changes, t), t)


def shown(changes: Sequence[Change], every_us: Duration, now: Instant) -> Iterator[Change]:
    """The facts that rows were there at each multiple of the period, up to ``now``."""
    turns = _turns(changes, now)
    if not turns:
        return
    if now >= INF:
        raise InternalError("no-end", "RSTREAM up to the end of time has no end; give a now")
    for t in range(ceil_to(turns[0], every_us), now + 1, every_us):
        yield from _facts(snapshot(changes, t), t)


def _turns(changes: Sequence[Change], now: Instant) -> list[Instant]:
    return [t for t in end_points(changes) if is_finite(t) and t <= now]


def _facts(rows: Counter[tuple[object, ...]], t: Instant) -> Iterator[Change]:
    for row, multiplicity in rows.items():
        yield fact((*row, t), multiplicity)
