"""The tasks of a step: what each stage takes in, runs, writes and sends on.

Law: all of it follows from the physical plan, its stages, the frontiers and the version; nothing
here runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ebbtide.algebra.expression import Ref
from ebbtide.compile.lowering import Lowered
from ebbtide.compile.physical import Cycle, FromOperator, FromSource, archive_name
from ebbtide.compile.replaying import upstream
from ebbtide.compile.stages import Feed, FromRoute
from ebbtide.core.declaration import StreamDeclaration
from ebbtide.core.frontier import InputFrontier
from ebbtide.core.schema import Schema
from ebbtide.core.time import Instant
from ebbtide.dataflow.operations import Gone, Input, Take, TaskCycle, TaskOperator
from ebbtide.dataflow.piping import TaskPipe
from ebbtide.dataflow.shard import Job, ReadAreas, StatePlace
from ebbtide.dataflow.tasks import Emission, Send, StageTask
from ebbtide.kernels.admission.kernel import Admission
from ebbtide.kernels.kernel import Kernel, Times
from ebbtide.kernels.operators.input_archive import InputArchive
from ebbtide.kernels.operators.live import Live
from ebbtide.kernels.operators.waiting import WaitingRows
from ebbtide.state.batch import batch_schema
from ebbtide.state.keep import After, Keep
from ebbtide.state.types import arrow_type
from ebbtide.store.manifest import Base
from ebbtide.store.readers import OUTPUT, live_name


@dataclass(frozen=True, slots=True)
class StepTimes:
    """The frontiers of the sources before and after a step, and the times of operators and, by
    ``~number``, of outputs; ``due`` are the sources whose waiting rows are replayed in it."""

    before: tuple[InputFrontier, ...]
    after: tuple[InputFrontier, ...]
    times: Mapping[int, Times]
    due: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Dataflow:
    """A lowered program in so many shards; ``unwritten`` are views whose rows nobody wants, and
    ``live`` are the names of what keeps answers as they are now."""

    lowered: Lowered
    shards: int
    unwritten: frozenset[str] = field(default_factory=frozenset)
    live: frozenset[str] = field(default_factory=frozenset)
    base: Base | None = None
    """The first version that a replay may begin from: all that came since stays archived."""

    @property
    def stages(self) -> int:
        """How many exchanges a step has."""
        return self.lowered.stages.count

    @property
    def names(self) -> tuple[str, ...]:
        """Whatever describes its state at the end of a step."""
        operators = (operator.name for operator in self.lowered.physical.operators)
        return (*operators, *(name for _, _, name in self.written()), *sorted(self.live))

    @property
    def answers(self) -> frozenset[str]:
        """The names of whatever can keep an answer as it is now."""
        return frozenset(live_name(name) for _, _, name in self.written())

    @property
    def views(self) -> tuple[str, ...]:
        """The names of what is emitted."""
        return tuple(output.name for output in self.lowered.physical.outputs)

    def nows(self, moment: StepTimes) -> dict[str, Instant]:
        """``now`` of each view."""
        return {view: moment.times[~i].now for i, view in enumerate(self.views)}

    def tasks(self, place: StatePlace, moment: StepTimes) -> tuple[StageTask, ...]:
        """The task of each stage."""
        return tuple(self._task(place, stage, moment) for stage in range(1, self.stages + 1))

    def _task(self, place: StatePlace, stage: int, moment: StepTimes) -> StageTask:
        stages = self.lowered.stages
        here = [n for n, its in enumerate(stages.of_operator) if its == stage]
        return StageTask(
            place,
            tuple(self._operations(here, moment)),
            tuple(
                self._emission(output, stage, name, moment)
                for output, its, name in self.written()
                if its == stage
            ),
            tuple(
                Send(route.tag, number, self._pipe(Feed(FromOperator(number), route.pipe)))
                for number in here
                for route in stages.leaving(number)
            ),
        )

    def _operations(
        self, here: Sequence[int], moment: StepTimes
    ) -> Iterator[TaskOperator | TaskCycle]:
        """The operators of a stage, in the order in which they run; a cycle runs as one."""
        cycles = {cycle.recursion: cycle for cycle in self.lowered.physical.cycles}
        members = {number for cycle in cycles.values() for number in cycle.members}
        for number in here:
            operation = self._operation(number, moment)
            if number in cycles:
                its = (self._operation(each, moment) for each in cycles[number].members)
                yield TaskCycle(operation, tuple(its), self._seen(cycles[number]))
            elif number not in members:
                yield operation

    def _seen(self, cycle: Cycle) -> frozenset[int]:
        """The operators on a cycle whose rows are taken outside of it, too."""
        inside = {cycle.recursion, *cycle.members}
        return frozenset(
            edge.producer.operator
            for edge in self.lowered.physical.edges
            if isinstance(edge.producer, FromOperator)
            and edge.producer.operator in cycle.members
            and edge.consumer not in inside
        )

    def _operation(self, number: int, moment: StepTimes) -> TaskOperator:
        operator = self.lowered.physical.operators[number]
        kernel = operator.kernel
        if isinstance(kernel, Admission):
            kernel = kernel.between(moment.before[kernel.source], moment.after[kernel.source])
        if isinstance(kernel, WaitingRows):
            source = kernel.source
            kernel = kernel.between(moment.before[source], source in moment.due)
        inputs = tuple(
            self._input(number, index, schema) for index, schema in enumerate(operator.inputs)
        )
        times, gone = moment.times[number], None
        if isinstance(kernel, Admission | InputArchive):
            gone = self.gone(kernel.source, moment)
        if isinstance(kernel, InputArchive):
            times = self._archived(kernel.source, times)
        single, reads = not operator.compresses, self._keys_in_archive(kernel)
        job = Job(
            operator.name, kernel, times, operator.by_instant, single, operator.structures, reads
        )
        return TaskOperator(number, job, inputs, gone)

    def _keys_in_archive(self, kernel: Kernel) -> ReadAreas | None:
        """The archive in which an admission looks for keys, if it does."""
        if not isinstance(kernel, Admission) or not kernel.declaration.archive_has_keys:
            return None
        (archive,) = (
            operator
            for operator in self.lowered.physical.operators
            if operator.name == archive_name(kernel.declaration.name)
        )
        (given,) = archive.inputs
        schema = batch_schema([arrow_type(column.type) for column in given])
        return ReadAreas(archive.name, archive.kernel.areas((schema,)))

    def operators_of(self, output: int) -> frozenset[int]:
        """The operators that run for an output when it is replayed: what has waited is archived."""
        found = upstream(self.lowered.physical.edges, output).operators
        operators = self.lowered.physical.operators
        return frozenset(n for n in found if not isinstance(operators[n].kernel, WaitingRows))

    def archive_keep(self, source: int, moment: StepTimes) -> Keep:
        """The rule of a source's archive after a step."""
        operators = self.lowered.physical.operators
        (number,) = (
            n
            for n, operator in enumerate(operators)
            if isinstance(operator.kernel, InputArchive) and operator.kernel.source == source
        )
        return self._archived(source, moment.times[number]).inputs[0]

    def gone(self, source: int, moment: StepTimes) -> Gone | None:
        """Up to which instants rows of a source are gone, if they can be replayed."""
        if source not in self.lowered.replays.sources or self.base is None:
            return None
        rows = self.lowered.declarations[source].row_schema
        lines = moment.before[source].settling
        return Gone(
            self.lowered.declarations[source].name,
            tuple((li.attribute, rows.position(li.attribute), li.forgotten) for li in lines),
        )

    def _archived(self, source: int, times: Times) -> Times:
        """The times of an archive: it keeps also what has come since the first base."""
        declaration, base = self.lowered.declarations[source], self.base
        if base is None or not isinstance(declaration, StreamDeclaration):
            return times
        if declaration.summary is not None:
            # No replay reads it.
            return times
        since = {
            declaration.row_schema.position(p.attribute): base.has_forgotten(
                declaration.name, p.attribute
            )
            for p in declaration.promises
        }
        keep = Keep(
            tuple(
                tuple(After(part.column, min(part.value, since[part.column])) for part in case)
                for case in times.inputs[0].cases
            ),
            times.inputs[0].begun,
        )
        return replace(times, inputs=(keep,))

    def _emission(self, output: int, stage: int, name: str, moment: StepTimes) -> Emission:
        view = self.lowered.physical.outputs[output]
        job = Job(name, view.kernel, moment.times[~output])
        taken = self._input(~output, 0, view.given, stage)
        wanted, last = view.name not in self.unwritten, stage == self.stages
        shown = live_name(name)
        live = Job(shown, Live(), job.times) if shown in self.live else None
        width = len(view.schema)
        return Emission(view.name, job, taken, wanted, not last, live, width)

    def _input(self, consumer: int, index: int, schema: Schema, stage: int | None = None) -> Input:
        edges = [
            number
            for number, edge in enumerate(self.lowered.physical.edges)
            if (edge.consumer, edge.input) == (consumer, index)
            and stage in (None, self.lowered.stages.of_edge[number])
        ]
        feeds = [self.lowered.stages.feeds[number] for number in edges]
        takes = tuple(Take(feed.origin, self._pipe(feed)) for feed in feeds)
        # What one kernel emits is net, and stays so while no column is left out.
        net = consumer < 0 and len(feeds) == 1 and self._is_permuted(feeds[0])
        return Input(takes, _arrow(schema), net)

    def _pipe(self, feed: Feed) -> TaskPipe | None:
        return None if feed.pipe is None else TaskPipe.of(feed.pipe, self._given(feed))

    def _given(self, feed: Feed) -> Schema:
        match feed.origin:
            case FromOperator(operator):
                return self.lowered.physical.operators[operator].output
            case FromRoute(tag):
                return self.lowered.stages.routes[tag].schema

    def _is_permuted(self, feed: Feed) -> bool:
        if not isinstance(feed.origin, FromOperator) or feed.pipe is None:
            return False
        if not self.lowered.physical.operators[feed.origin.operator].compresses:
            return False
        given = self._given(feed)
        columns = [column for column in feed.pipe.columns if isinstance(column, Ref)]
        chosen = {given.index(column.column) for column in columns}
        return feed.pipe.is_identity and len(chosen) == len(columns) == len(given)

    def written(self) -> Iterator[tuple[int, int, str]]:
        """The outputs by the stages in which they are written, and the names of what they hold."""
        stages = self.lowered.stages
        for output, view in enumerate(self.lowered.physical.outputs):
            numbers = [
                n for n, e in enumerate(self.lowered.physical.edges) if e.consumer == ~output
            ]
            several = sorted({stages.of_edge[number] for number in numbers})
            for stage in several:
                name = f"{OUTPUT}{view.name}"
                yield output, stage, name if len(several) == 1 else f"{name}.{stage}"


def entering_sources(lowered: Lowered) -> dict[int, list[int]]:
    """The routes that the rows of each source enter by."""
    found: dict[int, list[int]] = {number: [] for number in range(len(lowered.declarations))}
    for route in lowered.stages.entering:
        assert isinstance(route.producer, FromSource)
        found[route.producer.source].append(route.tag)
    return found


def _arrow(schema: Schema) -> object:
    return batch_schema([arrow_type(column.type) for column in schema])
