"""What every kernel is: a pure function from changes, state and frontiers to changes and state.

Law: the accumulated output of a kernel is ``canonical(accepted input, now)``, a pure function of
the relations that its inputs have become and of ``now``; a step emits what leads from the old to
the new one.  Hence equal input gives equal output for every cut into steps, order and number of
shards.

A kernel is a frozen, picklable dataclass of its parameters.  It has no clock, path or setting.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from ebbtide.core.time import Instant
from ebbtide.state.area import SweepArea
from ebbtide.state.arrays import Hashes
from ebbtide.state.batch import TO, last_end, where
from ebbtide.state.columns import ints
from ebbtide.state.layout import Layout

Batch: TypeAlias = Any
Schema: TypeAlias = Any


@dataclass(frozen=True, slots=True)
class Times:
    """The frontiers of a step.

    ``before`` and ``now`` are the query's ``now`` before and after the step.  ``horizons`` has,
    for each input, the instant that all changes of later steps begin after.  The group without
    a key lives in one shard; ``owner`` says whether that is this one.
    """

    before: Instant
    now: Instant
    horizons: tuple[Instant, ...]
    owner: bool = True

    @property
    def released(self) -> Instant:
        """What ended by the instant after this one is touched by nothing to come.

        Changes of any input begin after the least horizon, and what ends after ``now`` has
        still to be seen ending.
        """
        return min(*self.horizons, self.now - 1)


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


def settled(
    area: SweepArea, changes: Batch, released: Instant, hashes: Hashes | None = None
) -> SweepArea:
    """The area after a step: with the changes, without what nothing can touch any more."""
    keep = ints(changes, TO) > last_end(released)
    if hashes is not None and not keep.all():
        hashes = hashes[keep]
    return area.insert(where(changes, keep), hashes).reorganize(released)
