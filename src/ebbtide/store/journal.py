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
        """The committed steps after ``since``, in order."""
        directory = f"{self.root}/journal"
        seen, first = since, f"{since + 1:012d}.json"
        for name in sorted(os.listdir(directory)) if os.path.isdir(directory) else ():
            if name.endswith(".json") and name >= first:
                with open(f"{directory}/{name}", encoding="utf-8") as file:
                    entry = StepRecord.from_json(json.load(file))
                seen = entry.version
                yield entry
        latest = self.latest()
        if latest is not None and latest.version > seen:
            yield latest.record

    def latest(self) -> Manifest | None:
        """The last committed version."""
        if not os.path.isdir(f"{self.root}/state"):
            return None
        return Manifests(DirectoryStore(f"{self.root}/state")).latest()
