"""What every step of a program did, for those who read its results.

Law: an entry is what the step's manifest says, written once the step is committed; an entry that a
crash left out is written when the next step starts.  So the entries together with the latest
manifest are the whole history.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass

from ebbtide.errors import StateError
from ebbtide.state.store import DirectoryStore
from ebbtide.store.files import replace
from ebbtide.store.manifest import Manifest, Manifests
from ebbtide.store.record import StepRecord


@dataclass(frozen=True, slots=True)
class Journal:
    """The history of a program in its directory."""

    root: str

    def record(self, manifest: Manifest) -> None:
        """Writes the entry of a committed step; writing it again changes nothing."""
        path = f"{self.root}/journal/{manifest.version:012d}.json"
        if not os.path.exists(path):
            replace(path, json.dumps(manifest.record.to_json(), sort_keys=True))

    def entries(self, since: int = -1) -> Iterator[StepRecord]:
        """The committed steps after ``since``, in order, without a gap."""
        seen = since
        while True:
            before = seen
            for name in self._names(seen + 1):
                with open(f"{self.root}/journal/{name}", encoding="utf-8") as file:
                    record = StepRecord.from_json(json.load(file))
                if record.version != seen + 1:
                    raise self._missing(seen + 1)
                seen = record.version
                yield record
            latest = self.latest()
            if latest is None or latest.version <= seen:
                return
            if latest.version == seen + 1:
                yield latest.record
                return
            # Steps were committed since the names were read.
            if seen == before and not self._names(seen + 1):
                raise self._missing(seen + 1)

    def _names(self, first: int) -> list[str]:
        directory = f"{self.root}/journal"
        names = os.listdir(directory) if os.path.isdir(directory) else []
        least = f"{first:012d}.json"
        return sorted(name for name in names if name.endswith(".json") and name >= least)

    def _missing(self, version: int) -> StateError:
        return StateError(
            "missing-step",
            f"the journal has no entry of step {version}",
            detail=f"below {self.root}/journal",
            hint="restore the directory, or run the program anew under another name",
        )

    def latest(self) -> Manifest | None:
        """The last committed version."""
        if not os.path.isdir(f"{self.root}/state"):
            return None
        return Manifests(DirectoryStore(f"{self.root}/state")).latest()
