"""The stages of a step: what each of them takes in, runs and yields.

Law: all of it follows from the physical plan, the frontiers and the version; nothing here runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ebbtide.core.frontier import InputFrontier
from ebbtide.errors import InternalError
from ebbtide.kernels.admission.kernel import Admission
from ebbtide.kernels.kernel import Times
from ebbtide.kernels.operators.held import Held
from ebbtide.runtime.exchange import Passage
from ebbtide.runtime.physical import OUTPUT, Edge, FromOperator, Physical
from ebbtide.runtime.shape import DESCRIPTION, SHARD, TAG, UNUSED, Shape
from ebbtide.runtime.state import Job, Place
from ebbtide.runtime.worker import LastTask, OutputTask, StageTask
from ebbtide.state.batch import DIFF, FROM, TO

HELD = "output"
"""The name under which a query's output holds back what has not begun."""


@dataclass(frozen=True, slots=True)
class Moment:
    """The frontiers of the sources before and after a step, and the times of the operators."""

    before: tuple[InputFrontier, ...]
    after: tuple[InputFrontier, ...]
    times: Mapping[int, Times]


@dataclass(frozen=True, slots=True)
class Staging:
    """The stages of a physical plan."""

    physical: Physical
    shards: int
    writes: bool = True

    @property
    def names(self) -> tuple[str, ...]:
        """Whatever describes its state at the end of a step."""
        return (*(operator.name for operator in self.physical.operators), HELD)

    def transit(self, stage: int) -> list[tuple[int, Edge]]:
        """The edges that are in the table that a stage takes in."""
        return [
            (tag, edge)
            for tag, edge in enumerate(self.physical.edges)
            if self.physical.produced_in(edge) < stage <= self.physical.consumed_in(edge)
        ]

    def ready(self, stage: int) -> Shape:
        return Shape.of({tag: edge.pipe.schema for tag, edge in self.transit(stage)})

    @property
    def lengths(self) -> dict[int, int]:
        """How long the changes of each edge that enters last, if that is fixed for all of them."""
        lengths = {tag: edge.pipe.length_us for tag, edge in self.transit(1)}
        fixed = {tag: length for tag, length in lengths.items() if length is not None}
        return fixed if len(fixed) == len(lengths) else {}

    @property
    def known(self) -> tuple[str, ...]:
        """The columns that need not enter, for the first stage knows what is in them."""
        return (*([TO] if self.lengths else []), *([] if self.physical.repeats else [DIFF]))

    def entering(self, refused: bool) -> list[str]:
        """The columns that the first stage reads: what is the same for all rows stays behind."""
        shape, edges = self.ready(1), dict(self.transit(1))
        carried = any(self.physical.consumed_in(edge) > 1 for edge in edges.values())
        tags = [*edges, UNUSED] if refused else list(edges)
        slots = {slot for tag in tags for slot in shape.slots(tag)}
        used = [name for name in shape.layout.names if name in slots]
        tag = [TAG] if len(tags) != 1 else []
        shard = [SHARD] if refused or carried else []
        times = [name for name in (FROM, TO, DIFF) if name not in self.known]
        return [*tag, *shard, *used, *times]

    def raw(self, stage: int) -> Shape:
        """The shape of what a stage yields: outputs as they are made, and what is carried."""
        made = {
            tag: self._produced_schema(edge)
            if self.physical.produced_in(edge) == stage
            else edge.pipe.schema
            for tag, edge in self.transit(stage + 1)
        }
        return Shape.of(made)

    def _produced_schema(self, edge: Edge) -> Any:
        if not isinstance(edge.producer, FromOperator):
            raise InternalError("no-operator", "only operators yield rows in a stage")
        return self.physical.operators[edge.producer.operator].output

    def passages(self, stage: int) -> dict[int, Passage]:
        return {
            tag: Passage(tag, self._produced_schema(edge), edge.pipe, edge.keys)
            if self.physical.produced_in(edge) == stage
            else Passage(tag, edge.pipe.schema)
            for tag, edge in self.transit(stage + 1)
        } | {tag: Passage(tag, Shape.of({}).schema(tag)) for tag in (DESCRIPTION, UNUSED)}

    def stage(self, place: Place, stage: int, moment: Moment) -> StageTask:
        edges = self.physical.edges
        jobs = []
        for number, operator in enumerate(self.physical.operators):
            if operator.stage != stage:
                continue
            inputs = tuple(
                tuple(
                    tag
                    for tag, edge in enumerate(edges)
                    if (edge.consumer, edge.input) == (number, index)
                )
                for index in range(len(operator.inputs))
            )
            emits = tuple(
                tag for tag, edge in enumerate(edges) if edge.producer == FromOperator(number)
            )
            kernel = operator.kernel
            if isinstance(kernel, Admission):
                kernel = kernel.between(moment.before[kernel.source], moment.after[kernel.source])
            jobs.append(Job(operator.name, kernel, inputs, emits, moment.times[number]))
        carried = tuple(
            tag for tag, edge in self.transit(stage) if self.physical.consumed_in(edge) > stage
        )
        lengths = self.lengths if stage == 1 else {}
        return StageTask(place, tuple(jobs), carried, self.ready(stage), self.raw(stage), lengths)

    def ends_plainly(self) -> bool:
        """Whether only a choice of columns is between the last operators and the output."""
        return all(
            edge.pipe.is_identity
            for edge in self.physical.edges
            if edge.consumer == OUTPUT and isinstance(edge.producer, FromOperator)
        )

    def last(self, place: Place, moment: Moment) -> LastTask | None:
        """The last stage and the output in one, where that can be."""
        if not self.physical.stages or not self.ends_plainly():
            return None
        task = self.stage(place, self.physical.stages, moment)
        return LastTask(task, self.output(place, task.after, moment))

    def output(self, place: Place, shape: Shape, moment: Moment) -> OutputTask:
        plain = shape != self.ready(self.physical.stages + 1)
        columns = []
        for tag, edge in enumerate(self.physical.edges):
            if edge.consumer == OUTPUT:
                chosen = tuple(range(len(edge.pipe.schema)))
                if plain and self.physical.produced_in(edge) == self.physical.stages:
                    given = self._produced_schema(edge)
                    chosen = tuple(given.index(ref.column) for ref in edge.pipe.columns)  # type: ignore[attr-defined]
                columns.append((tag, chosen))
        job = Job(HELD, Held(), (), (), moment.times[OUTPUT])
        # What one kernel emits is net, and stays so while no column is left out.
        net = plain and len(columns) == 1 and _is_permutation(columns[0][1], shape, columns[0][0])
        lengths = {} if self.physical.stages else self.lengths
        return OutputTask(place, job, tuple(columns), shape, self.writes, net, lengths)


def _is_permutation(chosen: tuple[int, ...], shape: Shape, tag: int) -> bool:
    return sorted(chosen) == list(range(len(shape.schema(tag))))
