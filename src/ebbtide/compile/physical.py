"""The physical plan of a program: operators with kernels, and the edges between them.

Law: every stateful operator of the logical plan is one operator here, with a kernel; everything
linear between two of them is the pipe of an edge.  Operators stand behind those that feed them.
Where they run, and what travels, is for ``stages`` to say.

What is proved is what runs: every store of an operator has the rule that the analysis gives it,
over the columns of the kernel's own input, and ``times`` fills in how far the sources have come.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from ebbtide.algebra.expression import Expression
from ebbtide.analysis.formula.progress import ALWAYS as FOREVER
from ebbtide.analysis.formula.progress import NEVER, Bound, Value, evaluate
from ebbtide.compile.pipe import Pipe
from ebbtide.core.schema import Schema
from ebbtide.core.structure import Structure
from ebbtide.core.time import INF, LAST, NEG_INF, Duration, Instant, shift
from ebbtide.kernels.kernel import Kernel, Times
from ebbtide.state.keep import ALWAYS, After, Keep
from ebbtide.state.segment import ENDS


@dataclass(frozen=True, slots=True)
class FromSource:
    """Changes that a source makes of its rows."""

    source: int


@dataclass(frozen=True, slots=True)
class FromOperator:
    """Changes that an operator emits."""

    operator: int


Line: TypeAlias = tuple[int, str]
"""A time attribute of a source, by the source's number."""

Producer: TypeAlias = FromSource | FromOperator


class SourceRows(Enum):
    """Which rows of a source take a way: those that its operators can meet, those that they have
    forgotten, or both."""

    FRESH = "fresh"
    OLD = "old"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class PlanEdge:
    """Changes on their way to an input of an operator, or to output ``~consumer``.

    ``keys`` are over the producer's columns; changes with equal keys meet in one shard.  What comes
    ``aside`` goes where the other changes go: from their shard, or all to the first.
    """

    producer: Producer
    pipe: Pipe
    consumer: int
    input: int
    keys: tuple[Expression, ...]
    rows: SourceRows = SourceRows.FRESH
    aside: bool = False


@dataclass(frozen=True, slots=True)
class StoreRule:
    """The rule of an area: cases of times, by column, each later than a value.

    What ends after ``now`` is kept too, ``turning`` later; None if the operator sees nothing end.
    """

    cases: tuple[tuple[tuple[int, Value], ...], ...]
    turning: Duration | None = None

    @property
    def is_idle(self) -> bool:
        """Whether it keeps nothing, however little the sources have come."""
        idle = all(any(value == FOREVER for _, value in case) for case in self.cases)
        return idle and self.turning is None

    def at(self, progress: Mapping[Bound, Instant], now: Instant, begun: Instant) -> Keep:
        """The rule, as far as the sources have come."""
        cases = [
            tuple(After(column, evaluate(value, progress)) for column, value in case)
            for case in self.cases
        ]
        if self.turning is not None:
            cases.append((After(ENDS, shift(now, self.turning)),))
        return Keep(tuple(cases), begun)


KEEP_ALL = StoreRule(((),))


def waiting_name(source: str) -> str:
    """The name of what holds the rows of a source that wait to be replayed."""
    return f"waiting.{source}"


def archive_name(source: str) -> str:
    """The name of what archives the rows of a source."""
    return f"archive.{source}"


@dataclass(frozen=True, slots=True)
class Operator:
    """A kernel, and the schemas of its inputs and its output.

    ``carries`` has, for each key of its exchange, the places of its output that hold it; None if
    the keys are not there.  ``rules`` are those of its inputs' areas, ``emitted`` that of what it
    keeps of its output; ``structures`` are how the rows of its inputs lie.  ``begun`` is what every
    change to come begins after; ``facts`` have no beginning.  What an operator ``by_instant`` says
    of an instant depends on what is valid at it.
    """

    name: str
    kernel: Kernel
    inputs: tuple[Schema, ...]
    output: Schema
    carries: tuple[tuple[int, ...], ...] | None = None
    rules: tuple[StoreRule, ...] = ()
    emitted: StoreRule = KEEP_ALL
    begun: Value = NEVER
    facts: bool = False
    by_instant: bool = False
    static: bool = False
    """Whether all its rows are there from the start: what follows of them is said at once, of all
    instants to come as well, for nobody waits for it to come."""
    compresses: bool = True
    """Whether only what is left of a step travels on, of all that it would say row by row."""
    structures: tuple[Structure, ...] = ()

    def times(
        self,
        progress: tuple[Mapping[Bound, Instant], Mapping[Bound, Instant]],
        moments: tuple[Instant, Instant],
    ) -> Times:
        """The frontiers of a step, from those of the sources and ``now``, before and after it."""
        before, after = progress
        was, now = (NEG_INF, LAST) if self.static else moments
        # Facts have begun before every instant.
        limit = NEG_INF + 1 if self.facts else shift(now, -1)
        begun = min(limit, INF if self.facts else evaluate(self.begun, after))
        output = self.emitted.at(after, now, begun)
        # A rule without a case is of rows that were all there from the start: they come once.
        settles = self.facts and bool(self.emitted.cases)
        return Times(
            was,
            now,
            tuple(rule.at(after, now, begun) for rule in self.rules),
            tuple(rule.at(before, was, NEG_INF) for rule in self.rules),
            output,
            groups=output if self.facts else ALWAYS,
            open=self.emitted.at(before, was, NEG_INF) if settles else ALWAYS,
        )


@dataclass(frozen=True, slots=True)
class Output:
    """What a view emits: its name, its columns, and the kernel that holds back what waits.

    ``given`` are the columns that come, with those at the end that only its pass rule needs;
    ``waits`` is that rule: what it keeps is not final.  None if nothing waits to be final.
    """

    name: str
    schema: Schema
    given: Schema
    kernel: Kernel
    waits: StoreRule | None = None
    marked: bool = False
    """Whether a change says of itself if it is a revision, at the end of its row."""

    def times(
        self,
        progress: tuple[Mapping[Bound, Instant], Mapping[Bound, Instant]],
        moments: tuple[Instant, Instant],
    ) -> Times:
        """The frontiers of a step, from those of the sources and ``now``, before and after it."""
        was, now = moments
        if self.waits is None:
            return Times(was, now)
        before, after = progress
        waits = self.waits.at(after, now, NEG_INF)
        # What waits for nobody was all there from the start: it had not passed before it came.
        waited = ALWAYS if self.waits.is_idle else self.waits.at(before, was, NEG_INF)
        return Times(was, now, (waits,), waits=waits, waited=waited)


@dataclass(frozen=True, slots=True)
class Cycle:
    """A recursion and the operators by which its rows follow from one another, by their numbers.

    ``name`` is what the user calls it.
    """

    name: str
    recursion: int
    members: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Physical:
    """What a step runs."""

    sources: tuple[str, ...]
    operators: tuple[Operator, ...]
    edges: tuple[PlanEdge, ...]
    outputs: tuple[Output, ...]
    lines: frozenset[Line] = frozenset()
    """The time attributes that ``now`` goes by: those that windows, tables and recursions stand
    on."""
    cycles: tuple[Cycle, ...] = ()
