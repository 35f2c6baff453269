"""What every step of a query did, for those who read its results.

Law: an entry is what the step's manifest says, written once the step is committed; an entry that a
crash left out is written when the next step starts.  So the entries together with the latest
manifest are the whole history.
"""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ebbtide.state.manifest import Manifest, Manifests
from ebbtide.state.store import DirectoryStore


@dataclass(frozen=True, slots=True)
class Entry:
    """One step: its version, ``now`` after it, its files, its counts by operator and by source, and
    how long it took.

    ``kept`` says whether the step's output is in the archive; ``came`` has what came from each
    source; ``emitted`` and ``refused`` are the rows in the files of output and of unused rows.
    """

    version: int
    now: int
    output: tuple[str, ...]
    unused: tuple[str, ...]
    metrics: dict[str, Any]
    positions: dict[str, int]
    kept: bool
    came: tuple[dict[str, Any], ...] = ()
    emitted: int = 0
    refused: int = 0
    sources: dict[str, Any] = field(default_factory=dict)
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Journal:
    """The history of a query in its directory."""

    root: str

    def record(self, manifest: Manifest) -> None:
        """Writes the entry of a committed step; writing it again changes nothing."""
        directory = f"{self.root}/journal"
        os.makedirs(directory, exist_ok=True)
        final = f"{directory}/{manifest.version:012d}.json"
        if os.path.exists(final):
            return
        temporary = f"{directory}/.{uuid.uuid4().hex}.tmp"
        with open(temporary, "w", encoding="utf-8") as file:
            json.dump({"version": manifest.version, **manifest.details}, file, sort_keys=True)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, final)

    def entries(self, since: int = -1) -> Iterator[Entry]:
        """The committed steps after ``since``, in order."""
        directory = f"{self.root}/journal"
        seen, first = since, f"{since + 1:012d}.json"
        for name in sorted(os.listdir(directory)) if os.path.isdir(directory) else ():
            if name.endswith(".json") and name >= first:
                with open(f"{directory}/{name}", encoding="utf-8") as file:
                    entry = _entry(json.load(file))
                seen = entry.version
                yield entry
        latest = self.latest()
        if latest is not None and latest.version > seen:
            yield entry_of(latest)

    def latest(self) -> Manifest | None:
        """The last committed version."""
        if not os.path.isdir(f"{self.root}/state"):
            return None
        return Manifests(DirectoryStore(f"{self.root}/state")).latest()


def entry_of(manifest: Manifest) -> Entry:
    """What a manifest says about its step."""
    return _entry({"version": manifest.version, **manifest.details})


def _entry(values: dict[str, Any]) -> Entry:
    return Entry(
        values["version"],
        values["now"],
        tuple(file["file"] for file in values["output"] if values["kept"]),
        tuple(file["file"] for file in values["unused"]),
        values["metrics"],
        values["positions"],
        values["kept"],
        tuple(values.get("came", ())),
        sum(file["rows"] for file in values["output"]),
        sum(file["rows"] for file in values["unused"]),
        values["sources"],
        values["seconds"],
    )
