"""The times of a step's operators: ``now`` before and after it, and what may be forgotten.

Law: parts of a program that share no source, directly or through others, have each their own
``now``; it is the largest time and progress of the source attributes that the part stands on, and
never falls.  A part whose recursions have not come that far goes by what they have reached: then so
do the attributes that it stands on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from ebbtide.analysis.formula.progress import Bound
from ebbtide.compile.lowering import Lowered
from ebbtide.compile.physical import FromOperator, FromSource, Physical
from ebbtide.core.frontier import InputFrontier, now
from ebbtide.core.time import NEG_INF, Instant
from ebbtide.kernels.kernel import Times

_ALL: Mapping[int, Instant] = MappingProxyType({})


def times_of(
    lowered: Lowered,
    before: tuple[InputFrontier, ...],
    after: tuple[InputFrontier, ...],
    nows: Mapping[str, Instant],
    clock: Instant | None,
    reached: Mapping[int, Instant] = _ALL,
) -> dict[int, Times]:
    """The times of every operator and, by ``~number``, of every output.

    ``before`` and ``after`` are the frontiers of the sources, ``nows`` is ``now`` of each view
    before the step, and ``reached`` how far recursions come that do not come to ``now``.
    """
    physical = lowered.physical
    known = _progress(physical.sources, before), _progress(physical.sources, after)
    found: dict[int, Times] = {}
    for part in parts(lowered):
        lines = [after[s][a] for s, a in sorted(physical.lines) if s in part.sources]
        views = (physical.outputs[~number].name for number in part.consumers if number < 0)
        moment = max((nows[view] for view in views), default=NEG_INF)
        moved = now(lines, clock=clock, before=moment)
        behind = [reached[number] for number in part.consumers if number in reached]
        moved = max(moment, min([moved, *behind]))
        progress = _up_to(moment, known[0], physical), _up_to(moved, known[1], physical)
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


def _up_to(
    moment: Instant, progress: Mapping[Bound, Instant], physical: Physical
) -> Mapping[Bound, Instant]:
    """The progress of sources; that of attributes by which ``now`` goes is not beyond it."""
    if not physical.cycles:
        return progress
    lines = {Bound(physical.sources[source], attribute) for source, attribute in physical.lines}
    return {b: min(t, moment) if b in lines else t for b, t in progress.items()}


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
