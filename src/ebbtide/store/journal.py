"""What every step of a program did, for those who read its results.

Law: an entry is what the step's manifest says, written once the step is committed; an entry that a
crash left out is written when the next step starts.  So the entries together with the latest
manifest are the whole history.  An entry names the checksum of the one before it, and the manifest
that of the last: an entry that is lost, changed or exchanged is told, and never passed over.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from ebbtide.errors import StateError
from ebbtide.state.files import regular_files
from ebbtide.state.store import DirectoryStore
from ebbtide.store.files import read_sealed, replace, seal, sealed
from ebbtide.store.manifest import Manifest, Manifests, missing_version
from ebbtide.store.record import StepRecord

_NAME = re.compile(r"(\d{12})\.json")


@dataclass(frozen=True, slots=True)
class _Entry:
    """An entry: the checksum of the one before, what the step did, and its own checksum."""

    before: str
    record: StepRecord
    link: str


@dataclass(frozen=True, slots=True)
class Journal:
    """The history of a program in its directory."""

    root: str

    def record(self, manifest: Manifest) -> None:
        """Writes the entry of a committed step; writing it again changes nothing."""
        path = self._path(manifest.version)
        if not os.path.exists(path):
            replace(path, sealed(manifest.entry))

    def entries(self, since: int = -1) -> Iterator[StepRecord]:
        """The committed steps after ``since``, in order, without a gap."""
        seen, link = since, None
        while True:
            began = seen
            for version in self._versions(seen + 1):
                if version != seen + 1:
                    raise self._missing(seen + 1)
                entry = self._entry(version)
                if link is not None and entry.before != link:
                    raise self._damaged(version, f"it does not follow step {seen}")
                seen, link = version, entry.link
                yield entry.record
            latest = self.latest()
            if latest is None or latest.version < seen:
                return
            if latest.version == seen:
                if link is not None and latest.link != link:
                    raise self._damaged(seen, "its manifest says something else")
                return
            if latest.version == seen + 1:
                if link is not None and latest.before != link:
                    raise self._damaged(seen, "the manifest of the next step names another one")
                yield latest.record
                return
            # Steps were committed since the names were read.
            if seen == began and not self._versions(seen + 1):
                raise self._missing(seen + 1)

    def _versions(self, first: int) -> list[int]:
        """The steps that have entries, from one on."""
        found = map(_NAME.fullmatch, regular_files(f"{self.root}/journal"))
        versions = (int(name[1]) for name in found if name)
        return [version for version in versions if version >= first]

    def _entry(self, version: int) -> _Entry:
        damaged = partial(self._damaged, version)
        values = read_sealed(self._path(version), damaged)
        if values is None:
            raise self._missing(version)
        try:
            record = StepRecord.from_json(values["record"])
            before = values["before"]
        except (KeyError, TypeError, AttributeError) as error:
            raise damaged(repr(error)) from error
        if record.version != version:
            raise damaged(f"it is that of step {record.version}")
        return _Entry(before, record, seal(values))

    def _path(self, version: int) -> str:
        return f"{self.root}/journal/{version:012d}.json"

    def _damaged(self, version: int, why: str) -> StateError:
        return StateError(
            "damaged-journal",
            f"the journal's entry of step {version} is damaged",
            detail=f"{self._path(version)}: {why}",
            hint="restore the directory, or run the program anew under another name",
        )

    def _missing(self, version: int) -> StateError:
        return StateError(
            "missing-step",
            f"the journal has no entry of step {version}",
            detail=f"below {self.root}/journal",
            hint="restore the directory, or run the program anew under another name",
        )

    def latest(self) -> Manifest | None:
        """The last committed version; the journal never knows a later one."""
        latest = self._latest()
        while os.path.lexists(self._path(after := 0 if latest is None else latest.version + 1)):
            # It was committed just now, or its manifest is lost.
            latest = self._latest()
            if latest is None or latest.version < after:
                raise missing_version(f"{self.root}/state", after)
        return latest

    def _latest(self) -> Manifest | None:
        if not os.path.isdir(f"{self.root}/state"):
            return None
        return Manifests(DirectoryStore(f"{self.root}/state")).latest()
