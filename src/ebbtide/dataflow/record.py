"""What a step was given, and the manifest of what it leaves behind.

Law: the manifest is a function of the step's input and of the descriptions that its tasks gave,
one for every operator and shard, but for how long it took; a step with a description too few or
too many has failed.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from ebbtide.core.frontier import InputFrontier
from ebbtide.core.time import Instant
from ebbtide.dataflow.observation import Seen
from ebbtide.errors import InternalError
from ebbtide.store.frontiers import stored
from ebbtide.store.manifest import Manifest
from ebbtide.store.readers import LIVE
from ebbtide.store.record import (
    Came,
    Delay,
    OperatorCounts,
    ReplayCounts,
    SourceCounts,
    StepRecord,
    WrittenFile,
)

_COUNTS = tuple(f.name for f in fields(OperatorCounts) if not f.name.startswith("seconds"))


@dataclass(frozen=True, slots=True)
class Given:
    """What a step takes in beside rows: promises by source, and one reading of the clock.

    ``positions`` are those of the logs that the step has read up to; ``follows`` says whether
    ``now`` follows the clock.  ``taken`` is when the step was taken, by the same clock, where
    nothing is compared with it: it dates the step, and no answer depends on it.
    """

    advances: Mapping[int, Instant] = field(default_factory=dict)
    clock: Instant | None = None
    positions: Mapping[str, int] = field(default_factory=dict)
    follows: bool = False
    taken: Instant | None = None
    revise: int = 0
    """How often it was asked to replay what waits."""

    @property
    def reading(self) -> Instant | None:
        """The reading that dates the step."""
        return self.taken if self.clock is None else self.clock


@dataclass(frozen=True, slots=True)
class Spent:
    """The seconds of a step, and those of each operator in each shard."""

    seconds: float = 0.0
    operators: Mapping[str, Sequence[float]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Descriptions:
    """What the tasks of a step said, and who had to say something."""

    version: int
    shards: int
    operators: tuple[str, ...]
    views: tuple[str, ...]
    said: Sequence[Mapping[str, Any]]

    @staticmethod
    def read(
        version: int,
        shards: int,
        operators: tuple[str, ...],
        views: tuple[str, ...],
        texts: Sequence[str],
    ) -> Descriptions:
        """The descriptions in the texts of tasks."""
        return Descriptions(version, shards, operators, views, [json.loads(t) for t in texts])

    def manifest(
        self,
        frontiers: tuple[InputFrontier, ...],
        seen: Seen,
        nows: Mapping[str, Instant],
        given: Given,
        kept: bool,
        spent: Spent,
        previous: Manifest | None,
    ) -> Manifest:
        """The manifest of the step."""
        names = [frontier.name for frontier in frontiers]
        before = StepRecord(-1) if previous is None else previous.record
        places = dict(before.places)
        known = {names[source]: place for source, place in seen.places.items()}
        return Manifest(
            version=self.version,
            shards=self.shards,
            areas=self.areas(),
            frontiers=stored(frontiers),
            clock=given.clock,
            record=StepRecord(
                version=self.version,
                nows=nows,
                output={view: self._files("output", view) for view in self.views},
                unused=self._unused_files(),
                kept=kept,
                positions=dict(given.positions),
                places=places | known,
                came=self._came(names, seen),
                operators=self._operators(spent),
                sources=self._sources(names, seen),
                seconds=spent.seconds,
                clock=before.later(given.reading),
                delays=self._delays(),
                replays=self._replays(),
            ),
            before="" if previous is None else previous.link,
        )

    def areas(self) -> dict[str, tuple[tuple[Any, ...], ...]]:
        """What every operator has left in every shard."""
        areas: dict[str, list[tuple[int, Any]]] = defaultdict(list)
        for said in self.said:
            if "operator" in said:
                areas[said["operator"]].append((said["shard"], said["areas"]))
        for name in self.operators:
            if sorted(shard for shard, _ in areas[name]) != list(range(self.shards)):
                raise InternalError(
                    "missing-description",
                    f"{name} did not report once from every shard in step {self.version}",
                )
        return {
            name: tuple(tuple(described) for _, described in sorted(areas[name], key=_shard))
            for name in self.operators
        }

    def revised(self) -> dict[str, dict[str, Instant]]:
        """The first times of the rows that are to be replayed, of each source that has any."""
        found: dict[str, dict[str, Instant]] = {}
        for said in self.said:
            if "revised" in said:
                known = found.setdefault(said["revised"], dict(said["first"]))
                known |= {name: min(t, known[name]) for name, t in said["first"].items()}
        return found

    def _came(self, names: Sequence[str], seen: Seen) -> dict[str, Came]:
        """What was accepted of each source, with what has waited for it."""
        found = dict(zip(names, seen.came, strict=True))
        for said in self.said:
            if "released" in said:
                found[said["released"]] += Came(said["rows"], said["rows"], said["first"])
        return found

    def _files(self, kind: str, view: str) -> tuple[WrittenFile, ...]:
        found = (WrittenFile(s["file"], s["rows"]) for s in self.said if s.get(kind) == view)
        return tuple(sorted(found, key=lambda written: (str(written.file), written.rows)))

    def _unused_files(self) -> tuple[WrittenFile, ...]:
        found = (WrittenFile(s["unused"], s["rows"]) for s in self.said if "unused" in s)
        return tuple(sorted(found, key=lambda written: str(written.file)))

    def _operators(self, spent: Spent) -> dict[str, OperatorCounts]:
        counts: dict[str, Counter[str]] = defaultdict(Counter)
        for said in self.said:
            if not said.get("operator", LIVE).startswith(LIVE):
                counts[said["operator"]].update({name: said[name] for name in _COUNTS})
        return {
            name: OperatorCounts(
                **counted,
                seconds=sum(spent.operators.get(name, ())),
                seconds_max=max(spent.operators.get(name, ()), default=0.0),
            )
            for name, counted in sorted(counts.items())
        }

    def _delays(self) -> dict[str, Delay]:
        found: dict[str, Delay] = {}
        for said in self.said:
            if "delays" in said:
                late = Delay(said["effects"], said["total_us"], said["longest_us"])
                found[said["delays"]] = found.get(said["delays"], Delay()).with_more(late)
        return dict(sorted(found.items()))

    def _replays(self) -> dict[str, ReplayCounts]:
        found = {
            s["replayed"]: ReplayCounts(s["way"], s["rows_read"], s["rows_replayed"])
            for s in self.said
            if "replayed" in s
        }
        return dict(sorted(found.items()))

    def _sources(self, names: Sequence[str], seen: Seen) -> dict[str, SourceCounts]:
        unused: dict[str, Counter[str]] = defaultdict(Counter)
        for said in self.said:
            for source, reason, count in said.get("reasons", ()):
                unused[source][reason] += count
        return {
            name: SourceCounts(came.rows, came.late, dict(unused[name]))
            for name, came in zip(names, seen.came, strict=True)
        }


def _shard(described: tuple[int, Any]) -> int:
    return described[0]
