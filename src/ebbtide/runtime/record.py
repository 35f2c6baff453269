"""What a step was given, and what it leaves behind: its manifest.

Law: the manifest is a function of the step's input and of the descriptions that its tasks gave,
one for every operator and shard, but for how long it took; a step with a description too few or
too many has failed.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from ebbtide.core.time import Instant
from ebbtide.errors import InternalError
from ebbtide.runtime.archive import KINDS
from ebbtide.runtime.arrivals import Seen
from ebbtide.runtime.frontiers import stored
from ebbtide.state.manifest import Manifest

_COUNTS = (
    "rows_in",
    "rows_out",
    "rows_stored",
    "rows_expired",
    "bytes_stored",
    "bytes_written",
)


@dataclass(frozen=True, slots=True)
class Step:
    """What a step takes in beside rows: promises by source, and one reading of the clock.

    ``positions`` are those of the logs that the step has read up to; ``follows`` says whether
    ``now`` follows the clock.
    """

    advances: Mapping[int, Instant] = field(default_factory=dict)
    clock: Instant | None = None
    positions: Mapping[str, int] = field(default_factory=dict)
    follows: bool = False


@dataclass(frozen=True, slots=True)
class Spent:
    """The seconds of a step, and those of each operator in each shard."""

    seconds: float = 0.0
    operators: Mapping[str, Sequence[float]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Record:
    """The descriptions that the tasks of a step gave, and which operators had to give some."""

    version: int
    shards: int
    operators: tuple[str, ...]
    texts: Sequence[Mapping[str, Any]]
    keeps: bool = True
    spent: Spent = Spent()

    def manifest(self, seen: Seen, now: Instant, step: Step, previous: Manifest | None) -> Manifest:
        """The manifest of the step."""
        return Manifest(
            version=self.version,
            shards=self.shards,
            areas=self._areas(),
            frontiers=stored(seen.frontiers),
            clock=step.clock,
            details={
                "positions": dict(step.positions),
                "places": places(previous) | {str(s): p for s, p in seen.places.items()},
                "now": now,
                "came": [asdict(came) for came in seen.came],
                "kept": self.keeps,
                **{kind: self._files(kind) for kind in KINDS},
                "metrics": self._metrics(),
                "sources": self._sources(seen),
                "seconds": self.spent.seconds,
            },
        )

    def _areas(self) -> dict[str, tuple[tuple[Any, ...], ...]]:
        areas: dict[str, list[tuple[int, Any]]] = defaultdict(list)
        for text in self.texts:
            if "operator" in text:
                areas[text["operator"]].append((text["shard"], text["areas"]))
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

    def _files(self, kind: str) -> list[dict[str, Any]]:
        found = [{"file": t[kind], "rows": t["rows"]} for t in self.texts if kind in t]
        return sorted(found, key=lambda written: str(written["file"]))

    def _metrics(self) -> dict[str, dict[str, int | float]]:
        counts: dict[str, Counter[str]] = defaultdict(Counter)
        for text in self.texts:
            if "operator" in text:
                counts[text["operator"]].update({name: text[name] for name in _COUNTS})
        return {name: {**counted, **self._seconds(name)} for name, counted in counts.items()}

    def _seconds(self, operator: str) -> dict[str, float]:
        spent = self.spent.operators.get(operator, ())
        return {"seconds": sum(spent), "seconds_max": max(spent, default=0.0)}

    def _sources(self, seen: Seen) -> dict[str, dict[str, Any]]:
        unused: dict[str, Counter[str]] = defaultdict(Counter)
        for text in self.texts:
            for source, reason, count in text.get("reasons", ()):
                unused[source][reason] += count
        return {
            frontier.name: {
                "rows_in": came.rows,
                "rows_late": came.late,
                "unused": dict(unused[frontier.name]),
            }
            for frontier, came in zip(seen.frontiers, seen.came, strict=False)
        }


def places(manifest: Manifest | None) -> dict[str, int]:
    """The last place of each source's rows in a version."""
    return {} if manifest is None else dict(manifest.details["places"])


def _shard(described: tuple[int, Any]) -> int:
    return described[0]
