"""Frontiers: how far an input has come in time, per time attribute, and ``now`` of a query.

Law, for an attribute ``a`` that ``PROGRESS FOR a AS a - delay`` makes a promise about:

    progress(a) = max(a) - delay - 1 us     the last instant for which no more rows are promised
    horizon(a)  = progress(a) - RETAIN      under LATE REVISE;  = progress(a) under QUARANTINE;
                                            never below its floor
    late        iff  a <= progress(a)       before the row's step
    accepted    iff  a >  horizon(a)        before the row's step, for every such attribute

           never accepted            late, revises              on time
    ─────────────────────────┤─────────────────────────┤──────────────────────────▶ a
                             horizon                   progress

A program that can replay a source accepts what its archive reaches, too:

    horizon(a)   = progress(a) - max(RETAIN, ARCHIVE)
    forgotten(a) = progress(a) - RETAIN     up to here operators have let rows go
    replayed     iff  horizon(a) < a <= forgotten(a), for some such attribute

Of a source whose archive is approximate, rows at or below the horizon are not accepted; those later
than progress(a) - ARCHIVE in every such attribute come into approximations.

Frontiers never fall: where RETAIN has become larger, the horizon stays at its ``floor``, where it
was, until progress has gained as much.  They are judged by as they stood before a step and
committed at its end, so the rows of one step do not make each other late.

Acceptance is strict.  With ``a >= horizon`` a late row at ``a = progress`` would be accepted under
QUARANTINE, whose horizon is the progress; and what collection of state relies on is that every
later row has ``a > horizon``.

Here are values only: what becomes of a row is ``admission``'s business, reading clocks the
runtime's.  The idea of one progress value per attribute is paper 5's.

An ARRIVAL column holds the reading of the clock at which its row came.  No clock goes back, so
every row of a later step has at least the reading of this one:

    progress(arrival) = clock - 1 us        whether rows come or not

Its rows are never late, so its horizon is its progress; and it says nothing about when a fact of a
key has settled, which is for the times that rows bring.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import TypeAlias

from ebbtide.core.declaration import (
    Declaration,
    Late,
    Promise,
    StreamDeclaration,
    TableDeclaration,
)
from ebbtide.core.time import DAY, INF, NEG_INF, Duration, Instant, format_instant, is_finite, shift
from ebbtide.core.types import TimestampType
from ebbtide.errors import QueryError

NEAR: Duration = DAY
"""How far the times of a live input may be from the clock."""

Times: TypeAlias = tuple[Instant | None, ...]


@dataclass(frozen=True, slots=True)
class Frontier:
    """How far one time attribute of one input has come.

    ``delay_us`` is None where nothing is promised: then there is no progress, only the ``newest``
    time seen.  A delay of ``INF`` is a promise that only ``advance`` gives.
    """

    attribute: str
    delay_us: Duration | None = None
    retain_us: Duration = 0
    progress: Instant = NEG_INF
    newest: Instant = NEG_INF
    arrival: bool = False
    floor: Instant = NEG_INF
    archive_us: Duration = 0
    approximate_us: Duration = 0

    @property
    def progresses(self) -> bool:
        """Whether there is a promise about the attribute."""
        return self.delay_us is not None

    @property
    def settles(self) -> bool:
        """Whether a fact settles when the horizon passes it: a time that rows bring."""
        return self.progresses and not self.arrival

    @property
    def horizon(self) -> Instant:
        """The last instant at which nothing is accepted any more."""
        return max(self.floor, shift(self.progress, -max(self.retain_us, self.archive_us)))

    @property
    def forgotten(self) -> Instant:
        """The last instant of which operators have let rows go: what comes there is replayed."""
        return max(self.floor, shift(self.progress, -self.retain_us))

    @property
    def approximated(self) -> Instant:
        """The last instant that an approximate archive has left behind."""
        return shift(self.progress, -self.approximate_us)

    def is_late(self, t: Instant) -> bool:
        """Whether a row at ``t`` comes after its promise."""
        return t <= self.progress

    def accepts(self, t: Instant) -> bool:
        """Whether a row at ``t`` may still be accepted, late or not."""
        return t > self.horizon

    def after(self, t: Instant) -> Frontier:
        """The frontier once a row at ``t`` has come."""
        return replace(self, newest=max(self.newest, t)).as_if(t)

    def as_if(self, t: Instant) -> Frontier:
        """The frontier that a row at ``t`` would promise, without the row."""
        if self.delay_us is None or self.delay_us >= INF:
            return self
        return self.promised(shift(t, -self.delay_us))

    def promised(self, t: Instant) -> Frontier:
        """The frontier under the promise that no row before ``t`` comes any more."""
        if not self.progresses:
            return self
        return replace(self, progress=max(self.progress, shift(t, -1)))

    def advanced(self, to: Instant) -> Frontier:
        """The frontier once its input was advanced; of an arrival, only that nothing more comes."""
        return self if self.arrival and to < INF else self.promised(to)

    def at(self, clock: Instant | None) -> Frontier:
        """The frontier at the end of a step with that reading of the clock."""
        return self.promised(clock) if self.arrival and clock is not None else self


@dataclass(frozen=True, slots=True)
class InputFrontier:
    """The frontiers of one input: one for each of its time attributes, in the schema's order.

    ``clock`` is the last reading, and ``heard`` the reading when a row was last admitted (or the
    first of all, before any was).
    """

    name: str
    lines: tuple[Frontier, ...] = ()
    idle_after_us: Duration | None = None
    clock: Instant | None = None
    heard: Instant | None = None

    def __getitem__(self, attribute: str) -> Frontier:
        for line in self.lines:
            if line.attribute.casefold() == attribute.casefold():
                return line
        raise QueryError(
            "not-a-time",
            f'"{attribute}" is not a time attribute of "{self.name}"',
            detail=", ".join(line.attribute for line in self.lines) or "it has none",
        )

    @property
    def progressing(self) -> tuple[Frontier, ...]:
        """The frontiers of the attributes that progress."""
        return tuple(line for line in self.lines if line.progresses)

    def accepts(self, times: Times) -> bool:
        """Whether a row with these times, one per line, may still be accepted."""
        return all(
            t is not None and line.accepts(t)
            for line, t in zip(self.lines, times, strict=True)
            if line.progresses
        )

    def approximates(self, times: Times) -> bool:
        """Whether a row with these times, one per line, comes into approximations."""
        settling = [(li, t) for li, t in zip(self.lines, times, strict=True) if li.settles]
        return bool(settling) and all(
            line.approximate_us > 0 and t is not None and t > line.approximated
            for line, t in settling
        )

    @property
    def settling(self) -> tuple[Frontier, ...]:
        """The frontiers of the attributes by which facts settle."""
        return tuple(line for line in self.lines if line.settles)

    def has_settled(self, times: Times) -> bool:
        """Whether nothing more can be said about the fact of a key with these times."""
        return any(
            t is None or not line.accepts(t)
            for line, t in zip(self.lines, times, strict=True)
            if line.settles
        )

    @property
    def is_live(self) -> bool:
        """Whether the input follows the clock: its newest time lies within a day of it."""
        newest = [line.newest for line in self.settling if is_finite(line.newest)]
        if self.clock is None or not newest:
            return False
        return abs(max(newest) - self.clock) <= NEAR

    def latest_allowed(self, not_beyond_us: Duration | None) -> Instant | None:
        """The last time that a row may have, by what is declared, or else if the input is live."""
        if self.clock is None:
            return None
        if not_beyond_us is not None:
            return shift(self.clock, not_beyond_us)
        return shift(self.clock, NEAR) if self.is_live else None

    def read(self, clock: Instant | None) -> InputFrontier:
        """The frontier at a reading of the clock; a clock never goes back."""
        if clock is None:
            return self
        reading = clock if self.clock is None else max(self.clock, clock)
        return replace(self, clock=reading, heard=reading if self.heard is None else self.heard)

    def commit(self, rows: Sequence[Times], advance: Instant | None = None) -> InputFrontier:
        """The frontier at the end of a step that admitted rows with these times."""
        lines = [reduce(_after, column, line) for line, column in _columns(self.lines, rows)]
        heard = self.clock if rows else self.heard
        silence = self._silence(heard)
        if silence is not None:
            lines = [line.as_if(silence) for line in lines]
        if advance is not None:
            self._check_advance(advance)
            lines = [line.advanced(advance) for line in lines]
        lines = [line.at(self.clock) for line in lines]
        return replace(self, lines=tuple(lines), heard=heard)

    def _silence(self, heard: Instant | None) -> Instant | None:
        # An input from which nothing has come for IDLE AFTER of the clock stops holding others
        # back: its frontier goes on as if a row stamped `clock - idle_after` had come, so that it
        # trails the clock by the silence and the delay.  A row that wakes it up and is older than
        # that is late, as any row that breaks a promise.
        if self.idle_after_us is None or self.clock is None or heard is None:
            return None
        stamp = shift(self.clock, -self.idle_after_us)
        return stamp if heard <= stamp else None

    def _check_advance(self, to: Instant) -> None:
        if not self.progressing:
            raise QueryError(
                "nothing-progresses",
                f'"{self.name}" cannot be advanced: nothing is promised about its times',
                detail=f"advance to {format_instant(to)}",
                hint="declare PROGRESS FOR one of its time attributes",
            )


def first_frontier(declaration: Declaration, replays: bool = False) -> InputFrontier:
    """The frontier of an input of which nothing has come yet; a static table has no times.

    Where it ``replays``, rows are accepted as far as the archive of the input reaches.
    """
    if isinstance(declaration, TableDeclaration) and declaration.static:
        return InputFrontier(declaration.name)
    promises = {p.attribute.casefold(): p for p in declaration.promises}
    retain_us = declaration.retain_us if declaration.late is Late.REVISE else 0
    archive_us = approximate_us = 0
    if isinstance(declaration, StreamDeclaration):
        approximate_us = declaration.approximate_us
    if replays and isinstance(declaration, StreamDeclaration):
        archive_us = declaration.archive_us or 0
    return InputFrontier(
        declaration.name,
        tuple(
            replace(
                _first_line(
                    column.name, promises.get(column.name.casefold()), retain_us, archive_us
                ),
                approximate_us=approximate_us,
            )
            for column in declaration.schema
            if isinstance(column.type, TimestampType)
        ),
        declaration.idle_after_us,
    )


def _first_line(
    attribute: str, promise: Promise | None, retain_us: Duration, archive_us: Duration
) -> Frontier:
    if promise is None:
        return Frontier(attribute, None, retain_us)
    if promise.arrival:
        return Frontier(attribute, INF, arrival=True)
    return Frontier(attribute, promise.delay_us, retain_us, archive_us=archive_us)


def slowest(feeders: Iterable[InputFrontier]) -> InputFrontier:
    """The frontier of a stream that several queries feed: it progresses with the slowest.

    The feeders' frontiers have the same attributes.
    """
    return reduce(_slower, feeders)


def now(
    lines: Iterable[Frontier], *, clock: Instant | None = None, before: Instant = NEG_INF
) -> Instant:
    """``now`` of a query over the time attributes that it reads: it never falls below ``before``.

    The largest time admitted and the largest progress among them, and the clock if the query
    follows one.  ``inf`` is no instant but a promise that nothing more comes, so an input that
    has ended says nothing about the others: ``now`` is ``inf`` once all of them have.
    """
    known = tuple(lines)
    if known and all(line.progress >= INF for line in known):
        return INF
    times = [t for line in known for t in (line.newest, line.progress) if is_finite(t)]
    return max([before, *times, *([] if clock is None else [clock])])


def _after(line: Frontier, t: Instant | None) -> Frontier:
    return line if t is None else line.after(t)


def _columns(
    lines: tuple[Frontier, ...], rows: Sequence[Times]
) -> list[tuple[Frontier, tuple[Instant | None, ...]]]:
    return [(line, tuple(row[index] for row in rows)) for index, line in enumerate(lines)]


def _slower(left: InputFrontier, right: InputFrontier) -> InputFrontier:
    return replace(
        left,
        lines=tuple(
            replace(a, progress=min(a.progress, b.progress), newest=max(a.newest, b.newest))
            for a, b in zip(left.lines, right.lines, strict=True)
        ),
    )
