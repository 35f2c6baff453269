"""What a view said at an earlier moment, and what it says otherwise since.

Law: two axes.  *Valid time* is the instant that an answer is about; *transaction time* is the step
after which it was given.  ``snapshot(T, as_of=s)`` is the sum at ``T`` of the changes of the steps
up to ``s``, and for steps ``a`` and ``b``

    snapshot(T, as_of=b) = snapshot(T, as_of=a) + diff(a, b) at T

A moment of the clock stands for the last step whose reading of the clock, taken as a running
maximum, is not later.  What KEEP CHANGES has summed up is refused, never guessed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ebbtide.core.change import Change, consolidate, until
from ebbtide.core.time import INF, NEG_INF, Instant, format_instant
from ebbtide.errors import QueryError, StateError
from ebbtide.state.batch import to_changes
from ebbtide.store.history import History
from ebbtide.store.journal import Journal
from ebbtide.store.readers import View, settled

REASON = "reason"
"""The column that says what a change comes from."""

REASONS = INPUT, EXPIRY, REVISION = "input", "expiry", "revision"
"""Why an answer changes: rows came, time alone went on, or what was said is corrected.

Expiry is said where no row of the step can be the reason: none came, or all are later than the
instant at which the change begins.
"""


def step_named(view: View, step: int) -> int:
    """A step that has been; others are refused."""
    last = view.last
    if 0 <= step <= last:
        return step
    raise QueryError(
        "no-step",
        f'"{view.name}" has taken no step {step}',
        detail="it has taken none" if last < 0 else f"its steps are 0 to {last}",
        hint="name one of them, or a time in quotes: as_of='2026-01-01 00:00:00'",
    )


def check_since(view: View, since: int | None) -> int | None:
    """A step after which changes are asked for; -1 is before the first."""
    if since is None or since >= -1:
        return since
    raise QueryError(
        "no-step",
        f'"{view.name}" has taken no step {since}',
        detail="the first step is 0",
        hint="leave since out for all changes that are kept, or name a step: since=0",
    )


def step_at(view: View, moment: Instant) -> int:
    """The last step that was taken by a moment of the clock; -1 before the first."""

    def read() -> int:
        history = History.read(view.root)
        found = -1
        if history.dropped >= 0:
            if history.clock is not None and history.clock > moment:
                raise _before(view, moment, history)
            found = history.dropped
        for record in Journal(view.root).entries():
            if record.clock is not None and record.clock > moment:
                break
            found = record.version
        return found

    return settled(view.root, read)


def _before(view: View, moment: Instant, history: History) -> StateError:
    return StateError(
        "not-kept",
        f'"{view.name}" does not keep what it said at {format_instant(moment)}',
        detail=f"KEEP CHANGES bounds what is kept; it begins after step {history.dropped}",
        hint=f"as_of={history.dropped + 1}, or a later time",
    )


def diff(view: View, first: int, last: int, later: bool = False) -> tuple[Change, ...]:
    """What a view says after one step that it did not say after another, consolidated.

    Unless ``later`` instants are wanted too, it is about those up to ``now`` of the earlier step:
    of these an answer was there, and has been corrected since.
    """
    earlier, upto = sorted((first, last))
    width = len(view.schema)
    parts = settled(view.root, lambda: view.between(earlier, upto))
    said = consolidate(replace(change, row=change.row[:width]) for change in to_changes(parts))
    found = said if later else until(said, view.now(earlier))
    return found if first <= last else tuple(-change for change in found)


@dataclass(frozen=True, slots=True)
class Ground:
    """What is known of a step when its changes are to be explained: ``now`` before it, the time of
    the oldest row that came (``inf`` if none did), and whether it went back to an earlier step."""

    before: Instant
    oldest: Instant
    returned: bool = False

    def revises(self, change: Change) -> bool:
        """Whether a change says something else about instants of which an answer was given."""
        if self.returned:
            return True
        if change.valid_from == NEG_INF and change.valid_to == INF:
            return change.diff < 0
        return self.before > NEG_INF and change.valid_from <= self.before

    def otherwise(self, change: Change) -> str:
        """The reason of a change that revises nothing."""
        without_beginning = change.valid_from == NEG_INF and self.oldest < INF
        return INPUT if without_beginning or change.valid_from >= self.oldest else EXPIRY


def grounds(view: View, since: int | None = None) -> dict[int, Ground]:
    """What is known of each step after ``since``, or of all that are kept by themselves."""

    def read() -> dict[int, Ground]:
        base = History.read(view.root).view(view.name).base
        start = since if since is not None else -1 if base is None else base.last
        now = base.until if base is not None and start == base.last else view.now(start)
        found: dict[int, Ground] = {}
        for record in Journal(view.root).entries(start):
            moved = record.nows.get(view.name, now)
            found[record.version] = Ground(now, record.oldest, moved < now)
            now = moved
        return found

    return settled(view.root, read)


def explained(
    view: View, since: int | None = None
) -> Iterator[tuple[int, Change, bool, str | None]]:
    """The changes of the steps after ``since``: each with its step, its mark and its reason."""
    known = grounds(view, since)
    for step, change, mark in view.marked_changes(since):
        yield step, change, mark, _reason(view, change, mark, known.get(step))


def reasons(view: View, changes: Sequence[Change], ground: Ground | None) -> list[str | None]:
    """The reason of each change of a step, with its mark at the end of its row."""
    width = len(view.schema)
    return [_reason(view, c, c.row[width:] == (True,), ground) for c in changes]


def _reason(view: View, change: Change, mark: bool, ground: Ground | None) -> str | None:
    """Why a change was made; those that are summed up in a base have no reason of their own."""
    if ground is None:
        return None
    revised = mark if view.marked else ground.revises(change)
    return REVISION if revised else ground.otherwise(change)
