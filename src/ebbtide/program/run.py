"""A started program: by hand, a step when it is told to; or on streams, as Structured Streaming.

Law: both ways run the same step.  The version of the state is the number of the batch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from ebbtide.compile.lowering import Lowered
from ebbtide.core.time import Instant
from ebbtide.dataflow.plan import Dataflow
from ebbtide.dataflow.record import Given
from ebbtide.dataflow.step import Stepper
from ebbtide.program.delivery import Delivery
from ebbtide.program.host import Host
from ebbtide.sinks import Sink
from ebbtide.store.clock import Clock, Readings, follows_clock
from ebbtide.store.feed_log import Advance, FedRow, FeedLog
from ebbtide.store.journal import Journal
from ebbtide.store.lock import Claim
from ebbtide.store.manifest import Manifest
from ebbtide.store.metrics import StepMetrics, metrics_of
from ebbtide.store.program import Identity
from ebbtide.store.readers import View
from ebbtide.store.record import OperatorCounts


@dataclass(frozen=True, slots=True)
class Status:
    """How far a run has come: its last step, ``now``, and what its operators did in that step."""

    version: int | None
    now: Instant | None
    metrics: Mapping[str, OperatorCounts]
    active: bool


@dataclass(frozen=True, slots=True)
class Program:
    """What runs as one: views over shared sources, lowered together, and where its directory is.

    ``views`` has the SQL of each view; ``follows`` says whether ``now`` follows the clock.
    """

    name: str
    root: str
    lowered: Lowered
    views: Mapping[str, str]
    shards: int
    beats: bool = False
    follows: bool = False

    @property
    def identity(self) -> Identity:
        """What its directory says of it."""
        return Identity.of(self.views, self.lowered.declarations, self.shards, self.beats)

    def view(self, name: str) -> View:
        """What a view has left."""
        (output,) = (o for o in self.lowered.physical.outputs if o.name == name)
        return View(self.root, name, output.schema, output.marked)


class Run:
    """A started program; ``stop`` it, wait for it, or ask how it does."""

    def __init__(
        self,
        program: Program,
        host: Host,
        clock: Clock,
        sinks: Mapping[str, tuple[Sink, ...]],
        archive: bool = True,
    ) -> None:
        self.program = program
        self.name = program.name
        self.root = program.root
        self.host = host
        self.clock = clock
        self.archive = archive
        self.deliveries = {
            view: Delivery(program.root, view, sinks.get(view, ())) for view in program.views
        }
        self.claim = Claim(self.root, self.name)
        try:
            self.claim.check(program.identity)
            self.claim.sweep()
            latest = Journal(self.root).latest()
            for delivery in self.deliveries.values():
                if delivery.wants_rows:
                    delivery.check(-1 if latest is None else latest.version)
        except BaseException:
            self.claim.release()
            raise
        self.logs: Mapping[int, FeedLog] = {}
        self.static: Mapping[int, Any] = {}
        self.failure: Exception | None = None
        self.stopped = False

    @property
    def active(self) -> bool:
        """Whether steps may still come."""
        return not self.stopped

    @property
    def fed_by_hand(self) -> bool:
        """Whether steps come when they are told to."""
        return True

    @property
    def status(self) -> Status:
        """The last committed step."""
        latest = Journal(self.root).latest()
        if latest is None:
            return Status(None, None, {}, self.active)
        return Status(latest.version, latest.record.now, latest.record.operators, self.active)

    def metrics(self, since: int | None = None) -> list[StepMetrics]:
        """What the steps did, or those after ``since``."""
        first = -1 if since is None else since
        return [metrics_of(record) for record in Journal(self.root).entries(first)]

    def stop(self) -> None:
        """Stops the program once the step at work is done; what it has committed stays."""
        self.stopped = True
        self.claim.release()

    def await_termination(self, timeout: int | None = None) -> bool:
        """Waits until a program on streams ends, or for so many seconds; whether it has ended."""
        return not self.active

    def process_all_available(self) -> None:
        """Waits until all that is there has been taken in; a step that fails is told here."""

    def take(self, clock: Instant | None) -> Manifest | None:
        """Takes what was fed, in a step."""
        return self.step(clock)

    def step(self, clock: Instant | None = None) -> Manifest:
        """Takes all that was fed so far, in one step."""
        latest = Journal(self.root).latest()
        version = 0 if latest is None else latest.version + 1
        if latest is not None:
            # A sink that failed gets its step before the next one.
            self.deliver(self.host, latest)
        if clock is None and self.follows_clock:
            clock = self.clock()
        arrived, given = self.fed(self.host, latest, Given(clock=clock))
        return self.run_step(self.host, version, arrived, given)

    @property
    def follows_clock(self) -> bool:
        """Whether some source is compared with a clock."""
        return follows_clock(self.program.lowered.declarations)

    def reading(self, version: int) -> Instant | None:
        """The clock of a step, the same when it is repeated."""
        if not self.program.follows and not self.follows_clock:
            return None
        return Readings(self.root).of(version, self.clock)

    def fed(self, host: Host, latest: Manifest | None, given: Given) -> tuple[Any, Given]:
        """What was fed by hand since the last step, and the step that takes it."""
        positions = {} if latest is None else latest.record.positions
        declarations = self.program.lowered.declarations
        rows: dict[int, list[tuple[int, FedRow]]] = {}
        advances: dict[int, Instant] = {}
        moved = dict(positions)
        for source, log in self.logs.items():
            name = declarations[source].name
            entries, end = log.read(positions.get(name, 0))
            rows[source] = [(place, e) for place, e in entries if isinstance(e, FedRow)]
            promised = [entry.to for _, entry in entries if isinstance(entry, Advance)]
            if promised:
                advances[source] = max(promised)
            if entries:
                moved[name] = end
        arrived = host.fed(self.program.lowered, rows)
        return arrived, replace(given, advances=advances, positions=moved)

    def run_step(self, host: Host, version: int, arrived: Any, given: Given) -> Manifest:
        """Runs the step of a version, with what is there from the start before the first."""
        program = self.program
        with host.stepping(self.name, program.shards):
            if version == 0:
                arrived = host.with_static(program.lowered, arrived, self.static)
            flow = Dataflow(program.lowered, program.shards, self._unwritten())
            stepper = Stepper(flow, host.transport(flow), self.root, self.archive)
            manifest = stepper.step(version, arrived, given)
        self.deliver(host, manifest)
        self.told(host, manifest)
        return manifest

    def told(self, host: Host, manifest: Manifest) -> None:
        """A step is done, and its output delivered."""

    def deliver(self, host: Host, manifest: Manifest) -> None:
        """Takes the output of a committed step to the sinks that do not have it yet."""
        for view, delivery in self.deliveries.items():
            if view in manifest.record.output:
                emitted = partial(host.emitted, self.program.view(view), manifest.record)
                delivery.deliver(manifest.version, emitted, host.sinking)

    def _unwritten(self) -> frozenset[str]:
        if self.archive:
            return frozenset()
        return frozenset(v for v, delivery in self.deliveries.items() if not delivery.wants_rows)
