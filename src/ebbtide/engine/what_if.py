"""What corrections would change: a step that nobody takes, beside a program that may run.

Law: the answer is the difference between what a view would say if these rows came in the next step
and what it says now, by the step itself: judged, admitted and replayed like any other.  Nothing of
the program is touched: its files are linked into a directory of their own, where the step is taken
in this process, and which goes with the answer.  A row that would not count is reported, with its
reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo
from typing import Any

from ebbtide.compile.lowering import Lowered
from ebbtide.compile.physical import waiting_name
from ebbtide.core.admission import UnusedRow
from ebbtide.core.change import Change, consolidate
from ebbtide.core.declaration import Declaration
from ebbtide.core.time import INF, NEG_INF, Instant, instant
from ebbtide.dataflow.plan import Dataflow
from ebbtide.dataflow.record import Given
from ebbtide.dataflow.step import Stepper
from ebbtide.engine.location import Location
from ebbtide.engine.pending import pending
from ebbtide.engine.savepoint import needed_files
from ebbtide.errors import EbbtideError, QueryError
from ebbtide.local.host import LocalHost
from ebbtide.state.store import DirectoryStore
from ebbtide.store.feed_log import FedRow, fed_rows
from ebbtide.store.history import History
from ebbtide.store.journal import Journal
from ebbtide.store.manifest import Manifest, Manifests, name_of
from ebbtide.store.pinning import linked_for_a_while
from ebbtide.store.readers import View, unused

_TRIES = 100
_MOVED = ("missing-output", "missing-step", "not-kept", "missing-version", "damaged-manifest")


@dataclass(frozen=True, slots=True)
class WhatIf:
    """Rows that might come, by the names of their sources."""

    location: str
    view: View
    rows: Sequence[tuple[str, list[FedRow]]]

    def difference(self) -> tuple[Change, ...]:
        """What the view would say otherwise."""
        for left in reversed(range(_TRIES)):
            try:
                return self._difference()
            except EbbtideError as error:
                # Steps that were taken meanwhile have replaced what this one named.
                if error.code not in _MOVED or not left:
                    raise
        raise AssertionError("the last try raises")

    def _difference(self) -> tuple[Change, ...]:
        root = self.view.root
        history, latest = History.read(root), Journal(root).latest()
        if latest is None:
            raise QueryError(
                "no-step",
                f'"{self.view.name}" has taken no step, so there is nothing to correct',
                hint="engine.step() takes what was fed",
            )
        program = Location(self.location)
        lowered = program.program(program.query(self.view.name).program).lowered
        own = f"state/{name_of(latest.version)}"
        files = [f for f in needed_files(root, history, latest) if f != own]
        with linked_for_a_while(root, files) as place:
            if history.upto >= 0:
                history.write(place)
            Manifests(DirectoryStore(f"{place}/state")).commit(_without_waiting(latest))
            return self._stepped(place, lowered, latest)

    def _stepped(self, place: str, lowered: Lowered, latest: Manifest) -> tuple[Change, ...]:
        waiting = {d.name: len(pending(place, d)) for d in lowered.declarations}
        refused = {d.name: len(unused(place, d.name)) for d in lowered.declarations}
        host, flow = LocalHost(), Dataflow(lowered, latest.shards)
        stepper = Stepper(flow, host.transport(flow), place, latest.record.kept)
        positions, revise = latest.record.positions, latest.revised + 1
        given = Given(clock=latest.clock, positions=positions, revise=revise)
        arrived: Any = host.fed(lowered, self._arriving(lowered, latest))
        manifest = stepper.step(latest.version + 1, arrived, given)
        for declaration in lowered.declarations:
            name = declaration.name
            for row, _ in unused(place, name)[refused[name] :]:
                raise _not_used(row)
            if len(pending(place, declaration)) > waiting[name]:
                raise _no_such_row(declaration)
        view = View(place, self.view.name, self.view.schema, self.view.marked)
        return consolidate(view.emitted(manifest.record))

    def _arriving(self, lowered: Lowered, latest: Manifest) -> dict[int, list[tuple[int, FedRow]]]:
        """The rows by the numbers of their sources, behind all that has come."""
        numbers = {d.name: number for number, d in enumerate(lowered.declarations)}
        found: dict[int, list[tuple[int, FedRow]]] = {number: [] for number in numbers.values()}
        for name, rows in self.rows:
            if name not in numbers:
                raise QueryError(
                    "not-replayed",
                    f'the program of "{self.view.name}" does not read "{name}"',
                    detail=f"it reads {', '.join(sorted(numbers))}",
                    hint="name one of them",
                )
            mine = found[numbers[name]]
            first = 1 + max(
                latest.record.places.get(name, -1), latest.record.positions.get(name, -1)
            )
            mine += [(first + len(mine) + i, row) for i, row in enumerate(rows)]
        return found


def _without_waiting(latest: Manifest) -> Manifest:
    """A version without the rows that wait to be replayed: they are not what is asked about."""
    waiting = waiting_name("")
    return replace(
        latest,
        areas={
            name: tuple(([],) for _ in shards) if name.startswith(waiting) else shards
            for name, shards in latest.areas.items()
        },
    )


def corrections(
    declared: Iterable[tuple[Declaration, Any, str | None]], zone: tzinfo
) -> list[tuple[str, list[FedRow]]]:
    """Rows as people write them, each with its source and what it does."""
    return [
        (declaration.name, fed_rows(declaration, [row], op, zone))
        for declaration, row, op in declared
    ]


def clipped(changes: Iterable[Change], start: Instant, end: Instant) -> tuple[Change, ...]:
    """Changes as far as they lie between two instants; facts, which hold always, stay."""
    found = []
    for change in changes:
        if (change.valid_from, change.valid_to) == (NEG_INF, INF):
            found.append(change)
            continue
        first, last = max(change.valid_from, start), min(change.valid_to, end)
        if first < last:
            found.append(Change(change.row, first, last, change.diff))
    return tuple(found)


def span_of(between: Any, zone: tzinfo) -> tuple[int, int]:
    """The instants between two, of which either may be left open."""
    if between is None:
        return NEG_INF, INF
    if not isinstance(between, tuple) or len(between) != 2:
        raise QueryError(
            "wrong-type",
            f"between cannot be {between!r}: it is not a pair of instants",
            hint="between=('2026-01-01 00:00:00', '2026-01-02 00:00:00')",
        )
    start, end = between
    return (
        NEG_INF if start is None else instant(start, zone),
        INF if end is None else instant(end, zone),
    )


def _not_used(row: UnusedRow) -> QueryError:
    return QueryError(
        "not-replayed",
        f'a row of "{row.source}" would not count: {row.reason}',
        detail=row.row,
        hint="EXPLAIN says how late a row may be, and what is replayed",
    )


def _no_such_row(declaration: Declaration) -> QueryError:
    return QueryError(
        "not-replayed",
        f'a delete or replacement of "{declaration.name}" is about a row that is not there',
        hint="give the key and the times of a row that was accepted",
    )
