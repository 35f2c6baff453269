"""The times of a step's operators: ``now`` before and after it, and what may be forgotten.

Law: parts of a program that share no source, directly or through others, have each their own
``now``; it is the largest time and progress of the source attributes that the part stands on, and
never falls.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ebbtide.analysis.formula.progress import Bound
from ebbtide.compile.lowering import Lowered
from ebbtide.compile.physical import FromOperator, FromSource
from ebbtide.core.frontier import InputFrontier, now
from ebbtide.core.time import NEG_INF, Instant
from ebbtide.kernels.kernel import Times


def times_of(
    lowered: Lowered,
    before: tuple[InputFrontier, ...],
    after: tuple[InputFrontier, ...],
    nows: Mapping[str, Instant],
    clock: Instant | None,
) -> dict[int, Times]:
    """The times of every operator and, by ``~number``, of every output.

    ``before`` and ``after`` are the frontiers of the sources, ``nows`` is ``now`` of each view
    before the step.
    """
    physical = lowered.physical
    progress = _progress(physical.sources, before), _progress(physical.sources, after)
    found: dict[int, Times] = {}
    for part in parts(lowered):
        lines = [after[s][a] for s, a in sorted(physical.lines) if s in part.sources]
        views = (physical.outputs[~number].name for number in part.consumers if number < 0)
        moment = max((nows[view] for view in views), default=NEG_INF)
        moved = now(lines, clock=clock, before=moment)
        for number in part.consumers:
            made = physical.outputs[~number] if number < 0 else physical.operators[number]
            found[number] = made.times(progress, (moment, moved))
    return found


@dataclass(frozen=True, slots=True)
class Component:
    """Sources, operators and, by ``~number``, outputs that are connected."""

    sources: frozenset[int]
    consumers: frozenset[int]


def parts(lowered: Lowered) -> list[Component]:
    """The parts of a program."""
    physical = lowered.physical
    consumers = [*range(len(physical.operators)), *(~i for i in range(len(physical.outputs)))]
    nodes = [*(("source", i) for i in range(len(lowered.declarations)))]
    nodes += [("consumer", number) for number in consumers]
    part = {node: {node} for node in nodes}
    for edge in physical.edges:
        match edge.producer:
            case FromSource(number):
                origin = ("source", number)
            case FromOperator(number):
                origin = ("consumer", number)
        together = part[origin] | part["consumer", edge.consumer]
        for node in together:
            part[node] = together
    distinct = {id(members): members for members in part.values()}.values()
    return [Component(_of("source", members), _of("consumer", members)) for members in distinct]


def _of(kind: str, members: set[tuple[str, int]]) -> frozenset[int]:
    return frozenset(number for its, number in members if its == kind)


def _progress(
    sources: tuple[str, ...], frontiers: tuple[InputFrontier, ...]
) -> dict[Bound, Instant]:
    return {
        Bound(source, line.attribute): line.progress
        for source, frontier in zip(sources, frontiers, strict=True)
        for line in frontier.lines
    }
