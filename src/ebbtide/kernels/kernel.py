"""What every kernel is: a pure function from changes, state and frontiers to changes and state.

Law: the accumulated output of a kernel is ``canonical(accepted input, now)``, a pure function of
the relations that its inputs have become and of ``now``; a step emits what leads from the old to
the new one.  Hence equal input gives equal output for every cut into steps, order and number of
shards.

A kernel is a frozen, picklable dataclass of its parameters.  It has no clock, path or setting.

What a kernel forgets is not its own to decide: every area of an input has a rule, and so has the
area of what was emitted.  The compiler proves them; a kernel stores what they keep.  A rule is over
the columns and the ends of the area's own rows.  Where an operator has to see rows end, rules of
changing relations keep also what ends after ``now``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeAlias

from ebbtide.core.time import Instant
from ebbtide.state.area import SweepArea
from ebbtide.state.arrays import Hashes
from ebbtide.state.keep import ALWAYS, Keep
from ebbtide.state.layout import Layout

Batch: TypeAlias = Any
Schema: TypeAlias = Any


@dataclass(frozen=True, slots=True)
class Times:
    """The frontiers of a step.

    ``before`` and ``now`` are the query's ``now`` before and after the step.  ``inputs`` has the
    rule of each input's area, and ``output`` that of what was emitted, both as they stand after
    the step; ``stored`` has those of the inputs as they stood before it, for what is read, and
    ``groups`` is that of what stands for a group, by its key.  ``open`` is the output's rule as it
    stood before, where changes are facts: rows that it does not keep cannot differ any more, and
    what they were derived from may be gone.  ``waits`` is the pass rule of an answer after the
    step, and ``waited`` before it: what they keep is not final.  The group without a key lives in
    one shard; ``owner`` says whether that is this one.  ``step`` is the number of the step.
    """

    before: Instant
    now: Instant
    inputs: tuple[Keep, ...] = ()
    stored: tuple[Keep, ...] = ()
    output: Keep = ALWAYS
    groups: Keep = ALWAYS
    open: Keep = ALWAYS
    waits: Keep = ALWAYS
    waited: Keep = ALWAYS
    owner: bool = True
    step: int = 0

    def seen(self, areas: tuple[SweepArea, ...]) -> tuple[SweepArea, ...]:
        """The areas of the inputs, and others behind them, as they may be read."""
        pairs = zip(areas, self.stored, strict=False)
        shown = tuple(area.under(keep) for area, keep in pairs)
        return (*shown, *areas[len(shown) :])

    @property
    def within(self) -> Times:
        """The frontiers of a round inside of the step: what the step can touch is not forgotten."""
        inputs = self.stored or self.inputs
        return replace(self, inputs=inputs, output=self.open, groups=self.open)

    @property
    def uncollected(self) -> Times:
        """The same without any collection of state."""
        inputs = tuple(ALWAYS for _ in self.inputs)
        return replace(self, inputs=inputs, stored=(), output=ALWAYS, groups=ALWAYS, open=ALWAYS)


@dataclass(frozen=True, slots=True)
class Result:
    """The changes that a step emits, and the state after it."""

    changes: Batch
    areas: tuple[SweepArea, ...]


class Kernel(Protocol):
    """An operator at run time."""

    def output(self, inputs: tuple[Schema, ...]) -> Schema:
        """The schema of the changes that it emits, from those of its inputs."""
        ...

    def areas(self, inputs: tuple[Schema, ...]) -> tuple[Layout, ...]:
        """The SweepAreas that it needs, in the order in which ``step`` takes them."""
        ...

    def step(self, inputs: tuple[Batch, ...], areas: tuple[SweepArea, ...], times: Times) -> Result:
        """One step: the changes of every input in, the changes out."""
        ...


def settled(area: SweepArea, changes: Batch, keep: Keep, hashes: Hashes | None = None) -> SweepArea:
    """The area after a step: with the changes, without what the rule does not keep."""
    return area.insert(changes, hashes, keep).reorganize(keep)
