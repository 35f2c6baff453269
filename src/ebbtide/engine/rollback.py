"""Going back to the state after an earlier step.

Law: after a rollback to a step, state, frontiers and answers are those after that step, and the
input since then is read again; or, if it is to stay unused, what was fed by hand since then is
among the unused rows.  A rollback is a step itself: its output takes back all that was said since,
so the changes still sum up to the answer, and sinks see it.  This is the one way in which a
frontier falls.

The manifest of that step is the commit point: until it is there, nothing has happened.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from shlex import quote
from typing import Any

from ebbtide.core.admission import UnusedRow
from ebbtide.core.declaration import Declaration
from ebbtide.core.file_name import file_name
from ebbtide.core.row_text import row_text
from ebbtide.engine.location import StoredProgram, claimed
from ebbtide.engine.retrying import files_noted, step_offered
from ebbtide.errors import QueryError, StateError, UnsupportedError
from ebbtide.spark import checkpoint_copy
from ebbtide.sql.catalog import ViewEntry
from ebbtide.state.store import DirectoryStore
from ebbtide.store.answer_files import retire_live
from ebbtide.store.archive import Archive
from ebbtide.store.clock import system_clock
from ebbtide.store.feed_log import FedRow, FeedLog
from ebbtide.store.history import History
from ebbtide.store.journal import Journal
from ebbtide.store.manifest import Manifest, Manifests
from ebbtide.store.readers import View
from ebbtide.store.record import Came, StepRecord, WrittenFile
from ebbtide.store.retraction import retraction, unused_retraction

REASON = "rolled-back"
"""Why a row is unused that was fed by hand, and whose step was gone back behind."""


@dataclass(frozen=True, slots=True)
class Rollback:
    """What a rollback does, or would do: from which step to which, by which step; how many changes
    of each view it takes back, and how many rows that were fed it leaves unused."""

    program: str
    latest: int
    to: int
    step: int
    taken_back: Mapping[str, int]
    left_unused: int


def rollback(
    location: str, name: str, to: int, leave_unused: bool = False, dry_run: bool = False
) -> Rollback:
    """Goes back to the state after a step, in the program of that name or with such a view."""
    with claimed(location, name) as stored:
        program, root = stored.name, stored.root
        versions = _versions(root, program, to)
        going = _Going(location, root, stored, *versions)
        return going.back(leave_unused, dry_run)


def _versions(root: str, program: str, to: int) -> tuple[Manifest, Manifest]:
    """The manifest of the latest step, and that of the one to go back to."""
    latest = Journal(root).latest()
    manifests = Manifests(DirectoryStore(f"{root}/state"))
    there = [] if latest is None else [v for v in manifests.versions() if v < latest.version]
    steps = list(_reachable(root, there))
    if latest is None or to not in steps:
        gone = f'the state of "{program}" after step {to} is not there'
        raise QueryError(
            "no-version",
            f'"{program}" has been other queries at step {to}' if to in there else gone,
            detail=f"it can go back to: {', '.join(map(str, steps)) or 'none'}",
            hint="start programs with keep_versions=20 to go back so many steps, or restore a "
            "savepoint",
        )
    target = manifests.load(to)
    lost = manifests.missing(target)
    if lost:
        raise StateError(
            "missing-segment",
            f'segment "{min(lost)}" is missing',
            hint="restore the state directory, or start the query anew with another one",
        )
    return latest, target


def _reachable(root: str, versions: list[int]) -> Iterator[int]:
    """Those of some versions that are of the program as it is now: it has not evolved since."""
    if versions:
        since = max(versions[0], History.read(root).dropped)
        evolved = [r.version for r in Journal(root).entries(since) if r.evolved]
        yield from (version for version in versions if version >= max(evolved, default=since))


@dataclass(frozen=True, slots=True)
class _Going:
    """A rollback at work."""

    location: str
    root: str
    program: StoredProgram
    latest: Manifest
    target: Manifest

    @property
    def step(self) -> int:
        return self.latest.version + 1

    def back(self, leave_unused: bool, dry_run: bool) -> Rollback:
        streams = os.path.isdir(f"{self.root}/checkpoint")
        if leave_unused and streams:
            raise UnsupportedError(
                "unused-streams",
                "only what was fed by hand can be left unused",
                hint="roll back without it, and take the row out of its file before the start",
            )
        self._refuse_offered()
        taken = self._taken()
        fed = list(self._fed()) if leave_unused else []
        name, views = self.program.name, [query.name for query in self.program.queries]
        counts = {view: taken[view].num_rows for view in views}
        result = Rollback(
            name, self.latest.version, self.target.version, self.step, counts, len(fed)
        )
        if dry_run:
            return result
        for view in views:
            retire_live(self.root, view)
        if streams:
            checkpoint_copy.go_back(self.root, name, self.step, self.target.version)
        manifest = Manifest(
            version=self.step,
            shards=self.target.shards,
            areas=self.target.areas,
            frontiers=self.target.frontiers,
            clock=self.target.clock,
            record=self._record(taken, fed, leave_unused),
            before=self.latest.link,
            revised=self.latest.revised,
            bases=tuple(b for b in self.target.bases if b.version < 0 or b in self.latest.bases),
        )
        Journal(self.root).record(self.latest)
        Manifests(DirectoryStore(f"{self.root}/state")).commit(manifest)
        Journal(self.root).record(manifest)
        return result

    def _refuse_offered(self) -> None:
        """Refuses to have files read again of which copies were offered since: both would count."""
        for copy in files_noted(self.root):
            if step_offered(copy) > self.target.version and _has_content(copy):
                raise UnsupportedError(
                    "offered-since",
                    f"{copy} was offered since step {self.target.version} in the place of a file "
                    "that could not be read; both would be read now, and count",
                    hint=f"empty it first, and the other one counts: truncate -s 0 {quote(copy)}",
                )

    def _taken(self) -> dict[str, Any]:
        """What takes back all that was emitted since: of views, of their errors, of lineage."""
        outputs = self.program.lowered.physical.outputs
        views = [View(self.root, o.name, o.schema, o.marked) for o in outputs]
        return {view.name: retraction(view, self.target.version) for view in views}

    def _record(
        self, taken: Mapping[str, Any], fed: list[UnusedRow], leave_unused: bool
    ) -> StepRecord:
        records = list(Journal(self.root).entries(self.target.version))
        archive = Archive(self.root)
        output: dict[str, tuple[WrittenFile, ...]] = {}
        for view, table in taken.items():
            output[view] = ()
            if table.num_rows:
                file = archive.write(f"output/{view}", 0, self.step, table)
                output[view] = (WrittenFile(file, table.num_rows),)
        unused = unused_retraction(self.root, self.target.version, fed)
        written: tuple[WrittenFile, ...] = ()
        if unused.num_rows:
            file = archive.write("unused", 0, self.step, unused)
            written = (WrittenFile(file, unused.num_rows),)
        came: Counter[str] = Counter()
        late: Counter[str] = Counter()
        for record in records:
            for source, its in record.came.items():
                came[source] -= its.rows
                late[source] -= its.late
        before = self.latest.record if leave_unused else self.target.record
        return StepRecord(
            version=self.step,
            nows=self.target.record.nows,
            output=output,
            unused=written,
            kept=True,
            positions=before.positions,
            places=before.places,
            came={source: Came(came[source], late[source]) for source in self.latest.record.came},
            clock=self.latest.record.later(system_clock()),
        )

    def _fed(self) -> Iterator[UnusedRow]:
        """The rows that were fed by hand and taken since."""
        for source, end in self.latest.record.positions.items():
            declaration = self._declaration(source)
            log = FeedLog(f"{self.location}/feed/{file_name(source.casefold())}.jsonl")
            for place, entry in log.read(self.target.record.positions.get(source, 0))[0]:
                if place < end and isinstance(entry, FedRow):
                    said = entry.malformed or row_text(declaration.schema, entry.values)
                    yield UnusedRow(source, REASON, said, entry.op)

    def _declaration(self, source: str) -> Declaration:
        entry = self.program.catalog.get(source)
        if isinstance(entry, ViewEntry):
            raise StateError(
                "damaged-script",
                f'"{self.root}/program.sql" does not declare "{source}"',
                hint="start the program again: it writes the file anew",
            )
        return entry.declaration


def _has_content(place: str) -> bool:
    return os.path.isfile(place) and os.path.getsize(place) > 0
