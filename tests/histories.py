"""Random histories: what arrives at each source in each step, and the same in other steps.

Rows come out of order, late and in the past; keyed ones are deleted, replaced, ended and put anew.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any, TypeAlias

from ebbtide.algebra.relation import ChangingTable, Relation, StaticTable, Stream
from ebbtide.core.admission import Admission, Arrival, Op, Step, admit, allowed_ops, begin
from ebbtide.core.admission.refusal import refusal, times_of
from ebbtide.core.change import Change
from ebbtide.core.declaration import Declaration, TableDeclaration
from ebbtide.core.frontier import InputFrontier
from ebbtide.core.schema import Column
from ebbtide.core.time import Instant
from ebbtide.core.tree import find
from ebbtide.core.types import DoubleType, StringType, TimestampType
from ebbtide.core.values import Row


@dataclass(frozen=True)
class Fed:
    """What a source gets in a step."""

    arrivals: tuple[Arrival, ...] = ()
    advance: Instant | None = None

    @staticmethod
    def of(rows: Iterable[tuple[str, Row]], first: int = 0) -> Fed:
        """Operations on rows, with offsets from the ``first`` on."""
        return Fed(tuple(Arrival(Op(op), row, first + i) for i, (op, row) in enumerate(rows)))


History: TypeAlias = Sequence[Mapping[str, Fed]]


@dataclass
class Oracle:
    """What each source has accepted, by the naive admission."""

    inputs: dict[str, Admission]

    @staticmethod
    def of(
        declarations: Collection[Declaration], replayed: Collection[str] = frozenset()
    ) -> Oracle:
        """Nothing yet; some sources accept what their archives reach."""
        return Oracle({d.name: begin(d, d.name in replayed) for d in declarations})

    def take(self, fed: Mapping[str, Fed], clock: Instant | None = None) -> None:
        """Admits what comes in a step, at a reading of the clock."""
        for name, state in self.inputs.items():
            what = fed.get(name, Fed())
            self.inputs[name] = admit(state, Step(what.arrivals, what.advance, clock))

    @property
    def accepted(self) -> dict[str, tuple[Change, ...]]:
        return {name: state.accepted for name, state in self.inputs.items()}


def accepted(declarations: Collection[Declaration], history: History) -> dict[str, Any]:
    """All that the sources accept of a history."""
    oracle = Oracle.of(declarations)
    for fed in history:
        oracle.take(fed)
    return oracle.accepted


def declarations_of(plan: Relation) -> list[Declaration]:
    """The sources that a plan reads."""
    sources = {leaf for kind in (Stream, StaticTable, ChangingTable) for leaf in find(plan, kind)}
    return sorted((source.declaration for source in sources), key=lambda d: d.name)


def history(
    random: Random,
    declarations: Sequence[Declaration],
    steps: int,
    counts: Sequence[int] = (0, 1, 2, 5),
) -> list[dict[str, Fed]]:
    """What arrives in each step; times move on from step to step, with some delay."""
    result: list[dict[str, Fed]] = []
    places = dict.fromkeys((d.name for d in declarations), 0)
    for number in range(steps):
        fed = {}
        for declaration in declarations:
            name = declaration.name
            if is_static(declaration) and number:
                continue
            count = random.choice(counts)
            low = max(0, 2 * number - random.randint(0, 4))
            arrivals = _some_arrivals(random, declaration, count, places[name], low)
            places[name] += count
            promise = declaration.promises and random.random() < 0.2
            fed[name] = Fed(tuple(arrivals), low if promise else None)
        result.append(fed)
    return result


def is_static(declaration: Declaration) -> bool:
    """Whether a source is all there at the first step."""
    return isinstance(declaration, TableDeclaration) and declaration.static


def without_refused(history: History, declarations: Sequence[Declaration]) -> list[dict[str, Fed]]:
    """The history without rows that are refused as they come.

    What is left is accepted in fewer steps too: rows are judged by the frontier before their step,
    and that has come no further there.
    """
    oracle = Oracle.of(declarations)
    result = []
    for fed in history:
        kept = {}
        for name, what in fed.items():
            state = oracle.inputs[name]
            good = (a for a in what.arrivals if not refusal(state.declaration, state.frontier, a))
            kept[name] = replace(what, arrivals=tuple(good))
        oracle.take(kept)
        result.append(kept)
    return result


def without_late(history: History, declarations: Sequence[Declaration]) -> list[dict[str, Fed]]:
    """The history without rows that come after their promise.

    What is accepted of such a row may depend on the steps: a deletion reaches what is not settled
    yet.  Of all others it may not.
    """
    oracle = Oracle.of(declarations)
    result = []
    for fed in history:
        kept = {}
        for name, what in fed.items():
            state = oracle.inputs[name]
            good = (a for a in what.arrivals if not _is_late(state.declaration, state.frontier, a))
            kept[name] = replace(what, arrivals=tuple(good))
        oracle.take(kept)
        result.append(kept)
    return result


def _is_late(declaration: Declaration, frontier: InputFrontier, arrival: Arrival) -> bool:
    times = zip(frontier.lines, times_of(declaration, frontier, arrival), strict=True)
    return any(time is not None and line.is_late(time) for line, time in times)


def in_two_cuts(
    history: History, ends: Collection[int], declarations: Sequence[Declaration]
) -> tuple[list[dict[str, Fed]], list[dict[str, Fed]]]:
    """A history in its steps and in fewer, of which both accept the same: if need be without the
    rows that break a promise."""
    every = without_refused(history, declarations)
    if accepted(declarations, cut(every, ends)) != accepted(declarations, every):
        every = without_late(every, declarations)
        assert accepted(declarations, cut(every, ends)) == accepted(declarations, every)
    return every, cut(every, ends)


def cut(history: History, ends: Collection[int]) -> list[dict[str, Fed]]:
    """The history in fewer steps: those that end before one of the ``ends``, and the last."""
    result = []
    begun = 0
    for end in sorted({*ends, len(history)}):
        if end > begun:
            result.append(_merged(history[begun:end]))
            begun = end
    return result


def row_by_row(history: History, declarations: Sequence[Declaration]) -> list[dict[str, Fed]]:
    """The finest cut: one row in a step; what a step promises comes after its last row.

    What is all there from the start comes whole, before anything else.
    """
    static = {declaration.name for declaration in declarations if is_static(declaration)}
    steps: list[dict[str, Fed]] = []
    for fed in history:
        whole = {name: what for name, what in fed.items() if name in static and what.arrivals}
        steps += [whole] if whole else []
        for name, what in fed.items():
            if name not in static:
                steps += [{name: Fed((arrival,))} for arrival in what.arrivals]
        promised = {name: Fed((), w.advance) for name, w in fed.items() if w.advance is not None}
        steps += [promised] if promised else []
    return steps


def _merged(history: History) -> dict[str, Fed]:
    names = {name: None for fed in history for name in fed}
    every = {name: [fed[name] for fed in history if name in fed] for name in names}
    return {
        name: Fed(
            tuple(arrival for what in feds for arrival in what.arrivals),
            max((what.advance for what in feds if what.advance is not None), default=None),
        )
        for name, feds in every.items()
    }


def _some_arrivals(
    random: Random, declaration: Declaration, count: int, first: int, low: int
) -> list[Arrival]:
    ops = sorted(allowed_ops(declaration), key=lambda op: op.value)
    usual = [op for op in ops if op in (Op.INSERT, Op.UPSERT)]
    return [
        Arrival(
            random.choice([*ops, *usual]),
            tuple(_some_value(random, column, low) for column in declaration.schema),
            first + i,
        )
        for i in range(count)
    ]


def _some_value(random: Random, column: Column, low: int) -> Any:
    timed = isinstance(column.type, TimestampType)
    if random.random() < 0.1 and (column.nullable or not timed):
        return None
    if timed:
        return random.randint(low, low + 5)
    if isinstance(column.type, StringType):
        return random.choice("ab")
    if isinstance(column.type, DoubleType):
        return float(random.randint(0, 3))
    return random.randint(0, 2)
