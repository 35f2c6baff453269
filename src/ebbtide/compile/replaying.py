"""Which sources a program can replay, and what a replay of them runs.

Law: a row that operators have forgotten is replayed only if every input that it can meet is there
again: each view that reads its source reads archived streams and static tables alone.  A view runs
again whole, with all operators that its rows come through; others are not touched.

Which views can run again is for ``analysis.replay`` to say.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from ebbtide.analysis.replay import hindrance, is_static, reaches_back
from ebbtide.compile.physical import FromOperator, FromSource, Physical, PlanEdge
from ebbtide.core.declaration import Declaration
from ebbtide.core.expiry import Expiry


@dataclass(frozen=True, slots=True)
class Upstream:
    """The sources and operators that the rows of an output come from, by their numbers."""

    sources: frozenset[int]
    operators: frozenset[int]


def upstream(edges: Sequence[PlanEdge], output: int) -> Upstream:
    """All that an output depends on."""
    sources: set[int] = set()
    operators: set[int] = set()
    pending = [~output]
    while pending:
        consumer = pending.pop()
        for edge in edges:
            if edge.consumer != consumer:
                continue
            match edge.producer:
                case FromSource(source):
                    sources.add(source)
                case FromOperator(operator):
                    if operator not in operators:
                        operators.add(operator)
                        pending.append(operator)
    return Upstream(frozenset(sources), frozenset(operators))


@dataclass(frozen=True, slots=True)
class Replays:
    """The sources that can be replayed, and the static ones that are met then, by their numbers.

    ``refused`` says of other archived sources why they are not.
    """

    sources: frozenset[int] = frozenset()
    met: frozenset[int] = frozenset()
    refused: tuple[tuple[int, str], ...] = ()


def replays_of(
    edges: Sequence[PlanEdge],
    outputs: Sequence[Expiry],
    cyclic: AbstractSet[int],
    declarations: Sequence[Declaration],
) -> Replays:
    """What can be replayed of a program, by how rows expire on the way to each output; ``cyclic``
    are the operators of its recursions."""
    found = [(upstream(edges, number), expiry) for number, expiry in enumerate(outputs)]
    sources: set[int] = set()
    met: set[int] = set()
    refused: list[tuple[int, str]] = []
    for number, declaration in enumerate(declarations):
        readers = [(each, expiry) for each, expiry in found if number in each.sources]
        if not readers or not reaches_back(declaration):
            continue
        reasons = (
            hindrance(
                (declarations[s] for s in sorted(each.sources)),
                bool(each.operators & cyclic),
                expiry,
            )
            for each, expiry in readers
        )
        reason = next((reason for reason in reasons if reason is not None), None)
        if reason is not None:
            refused.append((number, reason))
            continue
        sources.add(number)
        met |= {s for each, _ in readers for s in each.sources if is_static(declarations[s])}
    return Replays(frozenset(sources), frozenset(met), tuple(refused))


def affected(physical: Physical, sources: AbstractSet[int]) -> dict[int, Upstream]:
    """The outputs that read some of these sources, and what each of them depends on."""
    every = ((i, upstream(physical.edges, i)) for i in range(len(physical.outputs)))
    return {number: its for number, its in every if its.sources & sources}
