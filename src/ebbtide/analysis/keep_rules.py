"""Keep rules: what an operator keeps of a stored input, as values.

Law: what a rule does not keep can be dropped without any change of later output, under the
frontiers that it was asked with and all later ones.  Frontiers are the progress of each bound; how
far a horizon lies behind it is part of the rule.

    ByTime                   judged change by change
    LastRows, OpenSessions   judged per partition, by the horizon of its order
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ebbtide.analysis.formula.conditions import Frontiers, Keep
from ebbtide.analysis.formula.printing import duration_text
from ebbtide.analysis.formula.progress import NEVER, Bound, Progress, Value, evaluate, substituted
from ebbtide.analysis.formula.terms import Var
from ebbtide.analysis.temporal.edge import TO
from ebbtide.core.change import Change
from ebbtide.core.time import INF, Duration, Instant, floor_to, is_finite, shift
from ebbtide.core.values import Row, row_key

Changes: TypeAlias = tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class ByTime:
    """Keeps a change while one to come can touch it; ``columns`` are its times, by position.

    With ``first`` the earliest change stays too: it says where the relation begins.  An operator
    that ``turns`` as rows end keeps also those that end after ``now``.
    """

    keep: Keep
    columns: tuple[tuple[int, Var], ...]
    first: bool = False
    turns: bool = False

    @property
    def is_unbounded(self) -> bool:
        """Whether nothing is ever dropped."""
        return self.keep.is_unbounded

    @property
    def is_empty(self) -> bool:
        """Whether nothing is ever kept."""
        return not self.keep.cases and not self.turns

    def keeps(self, change: Change, frontiers: Frontiers) -> bool:
        """Whether a stored change is kept."""
        times: dict[Var, Instant | None] = {v: change.row[place] for place, v in self.columns}
        times[TO] = change.valid_to
        return self.keep.holds(times, frontiers)

    def kept(self, changes: Iterable[Change], frontiers: Frontiers) -> Changes:
        """What is kept of the stored changes."""
        stored = tuple(changes)
        first = min(stored, key=_begin, default=None) if self.first else None
        return tuple(c for c in stored if c is first or self.keeps(c, frontiers))

    def __str__(self) -> str:
        if self.is_empty:
            return "keep nothing"
        if self.is_unbounded:
            return "keep always"
        first = ", and the first change" if self.first else ""
        if not self.keep.cases:
            return f"keep while {TO} > now{first}"
        waits = any(all(part.variable != TO for part in case) for case in self.keep.cases)
        turning = f" or {TO} > now" if self.turns and waits else ""
        return f"keep while {self.keep}{turning}{first}"


@dataclass(frozen=True, slots=True)
class LastRows:
    """Keeps, per partition, the last ``count`` rows at or below the horizon, and all after it.

    With a ``slide`` the count of the rows before those matters too; here as many are kept that the
    rest is a multiple of the slide.  Without an ``order`` rows of one instant stay together.  Where
    all has come, there is nothing that the last ones could meet.
    """

    count: int
    slide: int
    on: int
    partition: tuple[int, ...]
    order: tuple[int, ...]
    horizon: Value

    @property
    def is_unbounded(self) -> bool:
        """Whether nothing is ever dropped."""
        return self.horizon == NEVER

    def kept(self, changes: Iterable[Change], frontiers: Frontiers) -> Changes:
        """What is kept of the stored facts."""
        horizon = evaluate(self.horizon, frontiers)
        if horizon == INF:
            return ()
        return _by_partition(changes, self.partition, lambda rows: self._kept(rows, horizon))

    def _kept(self, changes: Sequence[Change], horizon: Instant) -> Iterable[Change]:
        timed = [c for c in changes if c.row[self.on] is not None]
        timed.sort(key=lambda c: row_key(c.row[i] for i in (self.on, *self.order)))
        settled = sum(c.diff for c in timed if c.row[self.on] <= horizon)
        # A row is gone at the first multiple of the slide that is `count` rows after it.
        droppable = floor_to(floor_to(settled, self.slide) - self.count, self.slide)
        if not self.order:
            droppable = _whole_instants([(c.row[self.on], c.diff) for c in timed], droppable)
        for change in timed:
            gone = max(0, min(change.diff, droppable))
            droppable -= gone
            if change.diff > gone:
                yield Change(change.row, change.valid_from, change.valid_to, change.diff - gone)

    def __str__(self) -> str:
        if self.is_unbounded:
            return "keep always"
        many = self.count + self.slide - 1
        each = " of each partition" if self.partition else ""
        rows = f"{many} rows" if many > 1 else "row"
        return f"keep the last {rows}{each} up to {self.horizon}, and all later ones"


@dataclass(frozen=True, slots=True)
class OpenSessions:
    """Keeps all rows of a session while its end lies after the horizon."""

    gap_us: Duration
    on: int
    partition: tuple[int, ...]
    horizon: Value

    @property
    def is_unbounded(self) -> bool:
        """Whether nothing is ever dropped."""
        return self.horizon == NEVER

    def kept(self, changes: Iterable[Change], frontiers: Frontiers) -> Changes:
        """What is kept of the stored facts."""
        horizon = evaluate(self.horizon, frontiers)
        return _by_partition(changes, self.partition, lambda rows: self._kept(rows, horizon))

    def _kept(self, changes: Sequence[Change], horizon: Instant) -> Iterable[Change]:
        timed = sorted(
            (c for c in changes if c.row[self.on] is not None), key=lambda c: c.row[self.on]
        )
        session: list[Change] = []
        for change in [*timed, None]:
            ended = change is None or (
                session and change.row[self.on] > shift(session[-1].row[self.on], self.gap_us)
            )
            if ended:
                if session and shift(session[-1].row[self.on], self.gap_us) > horizon:
                    yield from session
                session = []
            if change is not None:
                session.append(change)

    def __str__(self) -> str:
        if self.is_unbounded:
            return "keep always"
        gap = duration_text(self.gap_us)
        return f"keep a session while its last row + {gap} > {self.horizon}"


Rule: TypeAlias = ByTime | LastRows | OpenSessions


def behind(value: Value, retain: Mapping[Bound, Duration]) -> Value:
    """The horizon of what has come as far as a value."""
    return substituted(value, lambda p: Progress(p.of, p.by - retain.get(p.of, 0)))


def _begin(change: Change) -> Instant:
    return min((t for t in (change.valid_from, change.valid_to) if is_finite(t)), default=INF)


def _whole_instants(timed: Sequence[tuple[Instant, int]], most: int) -> int:
    """How many of the first rows, at most, can go without parting those of one instant."""
    gone = 0
    for t in dict.fromkeys(t for t, _ in timed):
        upto = sum(diff for other, diff in timed if other <= t)
        if upto > most:
            break
        gone = upto
    return gone


def _by_partition(
    changes: Iterable[Change],
    partition: tuple[int, ...],
    kept: Callable[[Sequence[Change]], Iterable[Change]],
) -> Changes:
    groups: dict[Row, list[Change]] = defaultdict(list)
    for change in changes:
        groups[tuple(change.row[i] for i in partition)].append(change)
    return tuple(change for members in groups.values() for change in kept(members))
