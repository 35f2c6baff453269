"""The times of a step's operators: ``now`` before and after it, and what may be forgotten.

Law: parts of a program that share no source, directly or through others, have each their own
``now``; it is the largest time and progress of the source attributes that the part stands on, and
never falls.
"""

from __future__ import annotations

from collections.abc import Mapping

from ebbtide.compile.lowering import Lowered
from ebbtide.compile.physical import Edge, FromOperator, FromSource, Line
from ebbtide.core.frontier import Frontier, InputFrontier, now
from ebbtide.core.time import INF, NEG_INF, Instant
from ebbtide.kernels.kernel import Times


def times_of(
    lowered: Lowered,
    after: tuple[InputFrontier, ...],
    before: Mapping[str, Instant],
    clock: Instant | None,
    collects: bool,
) -> dict[int, Times]:
    """The times of every operator and, by ``~number``, of every output."""
    physical = lowered.physical
    part_of = parts(lowered)
    found: dict[int, Times] = {}
    for part in sorted(set(part_of.values())):
        members = {number for number, its in part_of.items() if its == part}
        edges = [edge for edge in physical.edges if edge.consumer in members]
        lines = {line for edge in edges for line in edge.lines}
        views = (physical.outputs[~number].name for number in members if number < 0)
        moment = max((before[view] for view in views), default=NEG_INF)
        moved = now((_line(after, line) for line in lines), clock=clock, before=moment)
        for number in members:
            inputs = len(physical.operators[number].inputs) if number >= 0 else 0
            horizons = (_horizon(after, number, index, edges) for index in range(inputs))
            kept = tuple(horizon if collects else NEG_INF for horizon in horizons)
            found[number] = Times(moment, moved, kept)
    return found


def parts(lowered: Lowered) -> dict[int, int]:
    """The part of the program that each operator and, by ``~number``, each output belongs to."""
    physical = lowered.physical
    consumers = [*range(len(physical.operators)), *(~i for i in range(len(physical.outputs)))]
    part = {("source", i): i for i in range(len(lowered.declarations))}
    part |= {("consumer", c): len(part) + i for i, c in enumerate(consumers)}

    def joined(a: tuple[str, int], b: tuple[str, int]) -> None:
        old, new = part[a], part[b]
        for key, its in part.items():
            if its == old:
                part[key] = new

    for edge in physical.edges:
        match edge.producer:
            case FromSource(source):
                joined(("consumer", edge.consumer), ("source", source))
            case FromOperator(operator):
                joined(("consumer", edge.consumer), ("consumer", operator))
    return {number: its for (kind, number), its in part.items() if kind == "consumer"}


def _line(frontiers: tuple[InputFrontier, ...], line: Line) -> Frontier:
    return frontiers[line[0]][line[1]]


def _horizon(
    after: tuple[InputFrontier, ...], operator: int, index: int, edges: list[Edge]
) -> Instant:
    lines = {
        line
        for edge in edges
        if (edge.consumer, edge.input) == (operator, index)
        for line in edge.lines
    }
    return min((_line(after, line).horizon for line in lines), default=INF)
