"""A started program: by hand, a step when it is asked to; or on streams, as Structured Streaming.

Law: both ways run the same step.  The version of the state is the number of the batch.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from ebbtide.compile.lowering import Lowered
from ebbtide.core.attribute_names import SpeltAsInPython
from ebbtide.core.html import facts_html
from ebbtide.core.output_name import errors_name, view_of
from ebbtide.core.time import (
    INF,
    NEG_INF,
    Duration,
    Instant,
    format_instant,
    instant,
    is_finite,
    to_datetime,
)
from ebbtide.dataflow.plan import Dataflow
from ebbtide.dataflow.record import Given
from ebbtide.dataflow.step import Stepper
from ebbtide.errors import QueryError, StateError
from ebbtide.program.delivery import Delivery, Outlet
from ebbtide.program.host import Host
from ebbtide.program.last_promise import refuse_endless
from ebbtide.program.live_answers import LiveAnswers
from ebbtide.store.answer_files import retire_live
from ebbtide.store.clock import Clock, Readings, follows_clock
from ebbtide.store.compaction import Keeping, compact, due
from ebbtide.store.feed_cut import cut_logs
from ebbtide.store.feed_log import Advance, FedRow, FeedLog
from ebbtide.store.history import History
from ebbtide.store.journal import Journal
from ebbtide.store.lock import Claim
from ebbtide.store.manifest import Manifest
from ebbtide.store.metrics import StepMetrics, metrics_of
from ebbtide.store.program import Identity
from ebbtide.store.readers import View
from ebbtide.store.record import OperatorCounts
from ebbtide.store.revision_requests import RevisionRequests

_LOG = logging.getLogger("ebbtide")


@dataclass(frozen=True, slots=True)
class Status:
    """How far a run has come: its last step, ``now``, and what its operators did in that step.

    ``failure`` is what ended it, or failed its last step; None if nothing did.  ``errors`` has, for
    each view, how many rows it leaves out now because an expression fails on them.
    """

    version: int | None
    now_us: Instant | None
    metrics: Mapping[str, OperatorCounts]
    active: bool
    failure: Exception | None = None
    errors: Mapping[str, int] = field(default_factory=dict)

    @property
    def now(self) -> datetime | None:
        """``now`` as a time in UTC; None before the first row, and outside of the calendar."""
        if self.now_us is None or not is_finite(self.now_us):
            return None
        try:
            return to_datetime(self.now_us)
        except OverflowError:
            return None

    def __str__(self) -> str:
        step = "before the first step" if self.version is None else f"after step {self.version}"
        at = NEG_INF if self.now_us is None else self.now_us
        now = "" if at == NEG_INF else f", now {format_instant(at)}"  # facts alone do not move it
        if self.failure is not None:
            first = str(self.failure).partition("\n")[0]
            return f"failed {step}{now}: {first or type(self.failure).__name__}"
        left_out = sum(self.errors.values())
        errors = f", {left_out:,} error{'s' * (left_out > 1)}" if left_out else ""
        return f"{'running' if self.active else 'stopped'}, {step}{now}{errors}"


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


class Run(SpeltAsInPython):
    """A started program; ``stop`` it, wait for it, or ask how it does."""

    def __init__(
        self,
        program: Program,
        host: Host,
        clock: Clock,
        sinks: Mapping[str, tuple[Outlet, ...]],
        archive: bool = True,
        keep: Mapping[str, Duration] | None = None,
    ) -> None:
        self.program = program
        self.keep = keep or {}
        self.keep_versions = 1
        self.zone = ZoneInfo("UTC")
        self._next_compaction = 0
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
        self.live: LiveAnswers | None = None

    def keep_live(self, live: bool) -> None:
        """Keeps the answer of each view at one path from now on, or nothing there any more."""
        if live:
            self.live = LiveAnswers([self.program.view(name) for name in self.program.views])
            self.live.begin(Journal(self.root).latest())
            return
        for name in self.program.views:
            try:
                retire_live(self.root, name)
            except StateError as error:
                _LOG.warning('an old live file of "%s" cannot be removed: %s', name, error)

    @property
    def active(self) -> bool:
        """Whether steps may still come."""
        return not self.stopped

    @property
    def fed_by_hand(self) -> bool:
        """Whether steps come only when they are asked for."""
        return True

    @property
    def status(self) -> Status:
        """The last committed step."""
        latest = Journal(self.root).latest()
        active, failure = self.active, self.failure
        if latest is None:
            return Status(None, None, {}, active, failure)
        record = latest.record
        errors = {view: self.program.view(errors_name(view)).count() for view in self._failing()}
        return Status(latest.version, record.now, record.operators, active, failure, errors)

    def _failing(self) -> list[str]:
        """The views in which expressions can fail."""
        outputs = {output.name for output in self.program.lowered.physical.outputs}
        return [view for view in self.program.views if errors_name(view) in outputs]

    def __repr__(self) -> str:
        return f"Run({self.name!r}, {self.status})"

    def _repr_html_(self) -> str:
        status = self.status
        rows = sum(counts.rows_stored for counts in status.metrics.values())
        return facts_html(
            f"Run {self.name}",
            [
                ("status", status),
                ("views", ", ".join(self.program.views)),
                ("rows stored", f"{rows:,}"),
                ("directory", self.root),
            ],
        )

    def metrics(self, since: int | None = None) -> list[StepMetrics]:
        """What the steps did that are kept, or those after ``since``."""
        return [metrics_of(record) for record in Journal(self.root).entries(since)]

    def stop(self) -> None:
        """Stops the program once the step at work is done; what it has committed stays."""
        if self.live is not None and self.claim.held:
            self.live.finish()
        self.stopped = True
        self.claim.release()

    def await_termination(self, timeout: int | None = None) -> bool:
        """Waits until a program on streams ends, or for so many seconds; whether it has ended."""
        return not self.active

    def process_all_available(self) -> None:
        """Waits until all that is there has been taken in; a step that fails raises here."""

    def revise(self) -> None:
        """Asks for a replay of what waits: the next step does it."""
        RevisionRequests(self.root).ask()

    def finish(self, at: str | int | datetime | None = None) -> Manifest:
        """Promises of every source that no row before ``at`` comes any more, or none at all, in a
        last step that takes what is there; then the run stops.

        What waits to be final is final up to there.  Rows that come after all are late.
        """
        moment = INF if at is None else instant(at, self.zone)
        if moment == INF:
            refuse_endless([self.program.lowered])
        try:
            return self.promised(moment)
        finally:
            self.stop()

    def promised(self, at: Instant) -> Manifest:
        """A step that takes what was fed, and promises that nothing comes before an instant."""
        for number, log in self.logs.items():
            if self.program.lowered.declarations[number].promises:
                log.append([Advance(at)])
        return self.step()

    def take(self, clock: Instant | None) -> Manifest | None:
        """Takes what was fed, in a step."""
        return self.step(clock)

    def step(self, clock: Instant | None = None) -> Manifest:
        """Takes all that was fed so far, in one step; one that fails may be tried again."""
        try:
            manifest = self._step(clock)
        except Exception as error:
            self.failure = error
            raise
        self.failure = None
        return manifest

    def _step(self, clock: Instant | None) -> Manifest:
        latest = Journal(self.root).latest()
        version = 0 if latest is None else latest.version + 1
        if latest is not None:
            # A sink that failed gets its step before the next one.
            self.deliver(self.host, latest)
        if self.follows_clock:
            clock = self.reading(version, clock)
        arrived, given = self.fed(self.host, latest, Given(clock=clock))
        return self.run_step(self.host, version, arrived, given)

    @property
    def follows_clock(self) -> bool:
        """Whether some source is compared with a clock."""
        return follows_clock(self.program.lowered.declarations)

    def reading(self, version: int, told: Instant | None = None) -> Instant | None:
        """The clock of a step, or what it is ``told`` to be; the same when it is repeated."""
        if not self.program.follows and not self.follows_clock:
            return None
        return Readings(self.root).of(version, self.clock if told is None else lambda: told)

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
            width = len(declarations[source].schema)
            rows[source] = [(p, e.widened(width)) for p, e in entries if isinstance(e, FedRow)]
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
        given = replace(given, taken=self.clock(), revise=RevisionRequests(self.root).asked)
        with host.stepping(self.name, program.shards):
            if version == 0:
                arrived = host.with_static(program.lowered, arrived, self.static)
            flow = Dataflow(program.lowered, program.shards, self._unwritten())
            transport, keep = host.transport(flow), self.keep_versions
            stepper = Stepper(flow, transport, self.root, self.archive, versions=keep)
            manifest = stepper.step(version, arrived, given)
        self.deliver(host, manifest)
        self.told(host, manifest)
        if self.live is not None:
            self.live.after(manifest)
        self.compact(manifest)
        return manifest

    def compact(self, manifest: Manifest) -> None:
        """Compacts the directory now and then; that it cannot be stops nothing."""
        if manifest.version < self._next_compaction:
            return
        outputs = self.program.lowered.physical.outputs
        views = {o.name: Keeping(self.keep.get(view_of(o.name)), o.marked) for o in outputs}
        try:
            history = compact(self.root, views)
            cut_logs(self.root, self._logs())
        except Exception as error:  # the step is committed and delivered, whatever this is
            _LOG.warning('the directory of "%s" cannot be compacted: %s', self.name, error)
            history = History(upto=manifest.version)
        self._next_compaction = due(history)

    def _logs(self) -> dict[str, FeedLog]:
        declarations = self.program.lowered.declarations
        return {declarations[source].name: log for source, log in self.logs.items()}

    def told(self, host: Host, manifest: Manifest) -> None:
        """A step is done, and its output delivered."""

    def deliver(self, host: Host, manifest: Manifest) -> None:
        """Takes the output of a committed step to the sinks that do not have it yet."""
        for view, delivery in self.deliveries.items():
            if view in manifest.record.output:
                delivery.deliver(host, self.program.view(view), manifest.record)

    def catch_up(self, host: Host, latest: Manifest) -> None:
        """Takes to the sinks what they have missed while the program ran without them."""
        for name, delivery in self.deliveries.items():
            step = delivery.missed(latest.version)
            if step is None:
                continue
            view = self.program.view(name)
            try:
                view.parts(step, latest.version - 1)
                records = list(Journal(self.root).entries(step))
            except (QueryError, StateError) as error:
                if error.code in ("not-kept", "no-archive"):
                    raise delivery.behind(step, error) from error
                raise
            for record in records[:-1]:
                if name in record.output:
                    delivery.deliver(host, view, record)

    def _unwritten(self) -> frozenset[str]:
        if self.archive:
            return frozenset()
        return frozenset(v for v, delivery in self.deliveries.items() if not delivery.wants_rows)
