"""One step of a program, on any transport, and the manifest that commits it.

Law: a step is a function of the version before it, the rows that arrived, what was promised and
one reading of the clock; its manifest is the commit point.  First the rows enter, which shows how
far the sources have come; then the kernels run on them.  A step whose manifest exists is not run
again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

from ebbtide.core.time import NEG_INF
from ebbtide.dataflow.bases import (
    base_of,
    bases_after,
    due_sources,
    first_base,
    reached_from,
    settled_views,
)
from ebbtide.dataflow.cycle import reached
from ebbtide.dataflow.frontiers import times_of
from ebbtide.dataflow.plan import Dataflow, StepTimes
from ebbtide.dataflow.record import Descriptions, Given, Spent
from ebbtide.dataflow.replay import StepEnd
from ebbtide.dataflow.revised_step import RevisedStep
from ebbtide.dataflow.shard import StatePlace
from ebbtide.dataflow.timings import Timings
from ebbtide.dataflow.transport import Transport
from ebbtide.errors import StateError
from ebbtide.store.archive import Archive
from ebbtide.store.frontiers import restored
from ebbtide.store.journal import Journal
from ebbtide.store.manifest import Base, Manifest, Manifests


@dataclass(frozen=True, slots=True)
class Stepper:
    """Runs the steps of one program; all that changes between them is in its directory.

    What a step emits is kept for longer than a step if it belongs to the archive, and the state
    for as many ``versions`` as one may want to go back.  Without ``collects`` nothing is ever
    forgotten, which changes no answer.
    """

    dataflow: Dataflow
    transport: Transport
    root: str
    keeps: bool = True
    collects: bool = True
    versions: int = 1

    def step(self, version: int, arrived: Any, given: Given) -> Manifest:
        """Runs the step that makes a version, or gives the one that it made."""
        began = perf_counter()
        manifests = Manifests(StatePlace(self.root, version).store())
        versions = manifests.versions()
        if version in versions:
            return manifests.load(version)
        if versions and version < versions[-1]:
            raise StateError(
                "checkpoint-behind",
                f"the state is at version {versions[-1]}, and step {version} comes too late for it",
                hint="restore the checkpoint that belongs to it, or start under another name",
            )
        previous = manifests.load(version - 1) if version else None
        self._start(manifests, version, previous)
        lowered = self.dataflow.lowered
        bases = self._bases(previous, versions)
        flow = replace(self.dataflow, live=self._live(previous), base=next(iter(bases), None))
        replayed = lowered.replayed if bases else frozenset()
        before = tuple(
            reached_from(flow.base, frontier.read(given.clock))
            for frontier in restored(previous, lowered.declarations, replayed)
        )
        entered = self.transport.enter(arrived, before)
        after = entered.seen.frontiers(before, given.advances)
        asked = 0 if previous is None else previous.revised
        due = due_sources(lowered, before, after, given.revise > asked)
        clock = given.clock if given.follows else None
        far: dict[int, int] = {}
        texts: list[str] = []
        while not texts:
            times = times_of(flow.lowered, before, after, _nows(flow, previous), clock, far)
            settled = settled_views(lowered, times)
            if not self.collects:
                times = {number: its.uncollected for number, its in times.items()}
            moment = StepTimes(before, after, times, due)
            texts = entered.run(flow.tasks(StatePlace(self.root, version), moment))
            behind = reached(texts)
            # With recursions that do not come to now, the step is one that goes as far as they do.
            far, texts = far | behind, [] if behind else texts
        said = Descriptions.read(version, flow.shards, flow.names, flow.views, texts)
        revised = said.revised()
        if revised:
            ended = StepEnd(after, given.clock, clock, self.collects)
            revision = RevisedStep(flow, self.root, bases, moment, ended, settled, said, revised)
            said, bases = revision.descriptions(), revision.bases_left
        spent = Spent(perf_counter() - began, Timings(self.root, version).read())
        nows = flow.nows(moment)
        manifest = said.manifest(after, entered.seen, nows, given, self.keeps, spent, previous)
        after_it = bases_after(bases, version, lowered, after, settled)
        manifest = replace(manifest, bases=after_it, revised=max(given.revise, asked))
        manifests.commit(manifest)
        Journal(self.root).record(manifest)
        return manifest

    def _live(self, previous: Manifest | None) -> frozenset[str]:
        """What keeps answers as they are now: whatever has kept them from the first step on."""
        if not self.keeps:
            return frozenset()
        answers = self.dataflow.answers
        return answers if previous is None else answers & previous.areas.keys()

    def _bases(self, previous: Manifest | None, versions: list[int]) -> tuple[Base, ...]:
        """The versions that replays can begin from: without any, the one before this step."""
        lowered = self.dataflow.lowered
        if not self.keeps or not lowered.replays.sources:
            return ()
        if previous is None:
            return (first_base(lowered),)
        there = tuple(b for b in previous.bases if b.version < 0 or b.version in versions)
        after = restored(previous, lowered.declarations, lowered.replayed)
        return there or (base_of(previous.version, lowered, after),)

    def _start(self, manifests: Manifests, version: int, previous: Manifest | None) -> None:
        manifests.start(version, self.versions)
        # Also what the last step wrote and merged again before it ended.
        manifests.sweep()
        if previous is not None:
            Journal(self.root).record(previous)
            Archive(self.root).forget(previous)


def _nows(flow: Dataflow, previous: Manifest | None) -> dict[str, int]:
    known = {} if previous is None else previous.record.nows
    return {view: known.get(view, NEG_INF) for view in flow.views}
