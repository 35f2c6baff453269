"""What a step does with rows that its operators have forgotten: which way each answer is corrected.

Law: all ways give the same answers and the same state.  An answer is replayed minimally if it is
proved what a row has a part in (``compile.slices``), and if its state, the archive and what was
said allow it this time; and then only if less is read that way, unless it was asked for.  Where it
is proved that each row changes the answer by itself, that is done directly.  All other answers run
again from a base.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from ebbtide.compile.replaying import affected
from ebbtide.core.declaration import StreamDeclaration, Way
from ebbtide.core.time import Instant
from ebbtide.dataflow.bases import bases_before, bases_beside
from ebbtide.dataflow.minimal_replay import MinimalReplay
from ebbtide.dataflow.plan import Dataflow, StepTimes
from ebbtide.dataflow.record import Descriptions
from ebbtide.dataflow.replay import ReplayAll, StepEnd
from ebbtide.store.manifest import Base


@dataclass(frozen=True)
class RevisedStep:
    """The rows of a step that are to be replayed: ``first`` has the first times of each source.

    ``said`` is what the tasks of the step have said, and ``settled`` has for each view the instant
    before which its state does not look.
    """

    flow: Dataflow
    root: str
    bases: tuple[Base, ...]
    moment: StepTimes
    end: StepEnd
    settled: Mapping[str, Instant]
    said: Descriptions
    first: Mapping[str, Mapping[str, Instant]]

    def descriptions(self) -> Descriptions:
        """What the step has to say; all that it names is written."""
        said = self.said
        rest = frozenset(self._affected) - self._minimal.keys()
        if rest:
            said = self._all(rest).descriptions()
        told = [told for replay in self._minimal.values() for told in replay.descriptions()]
        return replace(said, said=[*said.said, *told])

    @cached_property
    def bases_left(self) -> tuple[Base, ...]:
        """The bases that know of these rows, or to which they are nothing."""
        before = bases_before(self.bases, self.first)
        if self._minimal.keys() != self._affected:
            return before
        ends = {replay.name: replay.region.last for replay in self._minimal.values()}
        beside = bases_beside(self.bases, ends)
        return tuple(base for base in self.bases if base in before or base in beside)

    @cached_property
    def _affected(self) -> frozenset[int]:
        return frozenset(affected(self.flow.lowered.physical, self._sources))

    @cached_property
    def _sources(self) -> frozenset[int]:
        declarations = self.flow.lowered.declarations
        return frozenset(n for n, d in enumerate(declarations) if d.name in self.first)

    @cached_property
    def _minimal(self) -> dict[int, MinimalReplay]:
        """The answers that are replayed minimally."""
        found: dict[int, MinimalReplay] = {}
        way = self._asked()
        for output in sorted(self._affected) if way is not Way.ALL else ():
            slice_ = self.flow.lowered.slices.get(output)
            if slice_ is None:
                continue
            replay = MinimalReplay(
                self.flow,
                self.root,
                output,
                slice_,
                self._sources,
                self.moment,
                self.end,
                self.said,
                directly=slice_.linear and way is not Way.MINIMAL,
            )
            if replay.hindrance(self.bases[0], self.settled[replay.name]) is not None:
                continue
            whole = self._all(frozenset({output}))
            if way is Way.MINIMAL or replay.rows_to_read <= whole.rows_to_read:
                found[output] = replay
        return found

    def _asked(self) -> Way | None:
        """The way that the sources ask for; all of them run again if one of them wants that."""
        declared = (self.flow.lowered.declarations[number] for number in self._sources)
        ways = {d.replay for d in declared if isinstance(d, StreamDeclaration)}
        if Way.ALL in ways:
            return Way.ALL
        return Way.MINIMAL if ways == {Way.MINIMAL} else None

    def _all(self, outputs: frozenset[int]) -> ReplayAll:
        origin = bases_before(self.bases, self.first)[-1]
        return ReplayAll(self.flow, self.root, origin, outputs, self.end, self.said)
