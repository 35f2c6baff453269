"""What every step of a program did, for those who read its results.

Law: an entry is what the step's manifest says, written once the step is committed; an entry that a
crash left out is written when the next step starts.  So the entries together with the latest
manifest are the whole history, but for steps that were dropped, which the index names.  An entry
names the checksum of the one before it, and the manifest that of the last: an entry that is lost,
changed or exchanged is an error, and never passed over.

Entries of many steps are compacted into one file, whose name has its checksum (``history``).
"""

from __future__ import annotations

import gzip
import json
import os
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from ebbtide.errors import StateError
from ebbtide.state.files import content_of, digest, regular_files
from ebbtide.state.store import DirectoryStore
from ebbtide.store.files import read_sealed, replace, seal, sealed
from ebbtide.store.history import History, HistoryPart
from ebbtide.store.manifest import Manifest, Manifests, missing_version
from ebbtide.store.record import StepRecord

_NAME = re.compile(r"(\d{12})\.json")
_PART = re.compile(r"(\d{12})-(\d{12})-([0-9a-f]{32})\.json\.gz")


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """An entry: what its file says, the checksum of the one before, what the step did, its own."""

    values: Mapping[str, Any]
    before: str
    record: StepRecord
    link: str

    @staticmethod
    def of(values: Mapping[str, Any]) -> JournalEntry:
        """The entry that a file has."""
        record = StepRecord.from_json(values["record"])
        return JournalEntry(values, values["before"], record, seal(values))


@dataclass(frozen=True, slots=True)
class Journal:
    """The history of a program in its directory."""

    root: str

    def record(self, manifest: Manifest) -> None:
        """Writes the entry of a committed step; writing it again changes nothing."""
        path = self._path(manifest.version)
        if not os.path.exists(path):
            replace(path, sealed(manifest.entry))

    def entries(self, since: int | None = None) -> Iterator[StepRecord]:
        """The committed steps after ``since``, in order, without a gap; or all that are kept."""
        return (entry.record for entry in self.chain(since))

    def chain(self, since: int | None = None) -> Iterator[JournalEntry]:
        """The same, as entries that name each other."""
        seen, link = since, None
        while True:
            history = History.read(self.root)
            if seen is None:
                seen = history.dropped
            elif seen < history.dropped:
                raise steps_not_kept(self.root, history.dropped)
            try:
                for entry in self._after(history, seen, link):
                    seen, link = entry.record.version, entry.link
                    yield entry
            except StateError as error:
                # What was listed may have been compacted meanwhile.
                if error.code != "missing-step" or History.read(self.root) == history:
                    raise
            else:
                return

    def _after(self, history: History, seen: int, link: str | None) -> Iterator[JournalEntry]:
        for entry in self._compacted(history, seen):
            if link is not None and entry.before != link:
                raise self._damaged(entry.record.version, f"it does not follow step {seen}")
            seen, link = entry.record.version, entry.link
            yield entry
        if seen < history.upto:
            raise self._missing(seen + 1)
        if seen == history.upto >= 0:
            if link not in (None, history.link):
                raise self._damaged(seen, "the index of what was compacted says something else")
            link = history.link
        yield from self._loose(seen, link)

    def _compacted(self, history: History, seen: int) -> Iterator[JournalEntry]:
        for part in history.steps:
            if part.last > seen:
                for entry in self.read_part(part):
                    if entry.record.version > seen:
                        if entry.record.version != seen + 1:
                            raise self._missing(seen + 1)
                        seen = entry.record.version
                        yield entry

    def _loose(self, seen: int, link: str | None) -> Iterator[JournalEntry]:
        while True:
            began = seen
            for version in self._versions(seen + 1):
                if version != seen + 1:
                    raise self._missing(seen + 1)
                entry = self._entry(version)
                if link is not None and entry.before != link:
                    raise self._damaged(version, f"it does not follow step {seen}")
                seen, link = version, entry.link
                yield entry
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
                yield JournalEntry.of(latest.entry)
                return
            # Steps were committed since the names were read.
            if seen == began and not self._versions(seen + 1):
                raise self._missing(seen + 1)

    def written(self) -> Iterator[JournalEntry]:
        """The entries that have files, in order, up to the first that is lost or damaged.

        They are those of ``chain`` without what manifests say, for whoever has lost those.
        """
        history = History.read(self.root)
        seen, link = history.dropped, None
        for entry in self._compacted(history, seen):
            if link is not None and entry.before != link:
                return
            seen, link = entry.record.version, entry.link
            yield entry
        while True:
            try:
                entry = self._entry(seen + 1)
            except StateError:
                return
            if link is not None and entry.before != link:
                return
            seen, link = entry.record.version, entry.link
            yield entry

    def write_part(self, entries: Iterable[JournalEntry], level: int) -> HistoryPart:
        """Writes entries that follow each other into one file; it is durable."""
        listed = list(entries)
        first, last = listed[0].record, listed[-1].record
        lines = "".join(f"{json.dumps(e.values, separators=(',', ':'))}\n" for e in listed)
        content = gzip.compress(lines.encode(), 6, mtime=0)
        name = f"{first.version:012d}-{last.version:012d}-{digest(content)}.json.gz"
        replace(f"{self.root}/journal/{name}", content)
        return HistoryPart(
            f"journal/{name}",
            first.version,
            last.version,
            level,
            len(listed),
            len(content),
            since=first.now,
            until=last.now,
        )

    def read_part(self, part: HistoryPart) -> list[JournalEntry]:
        """The entries of a part, verified."""
        damaged = partial(self._damaged, part.first, file=part.file)
        try:
            content = content_of(f"{self.root}/{part.file}")
        except FileNotFoundError as error:
            raise self._missing(part.first) from error
        name = _PART.fullmatch(os.path.basename(part.file))
        if name is None or digest(content) != name[3]:
            raise damaged("its checksum does not match")
        try:
            lines = gzip.decompress(content).splitlines()
            return [JournalEntry.of(json.loads(line)) for line in lines]
        except (OSError, EOFError, zlib.error, ValueError, LookupError, TypeError) as error:
            raise damaged(repr(error)) from error

    def loose(self) -> list[int]:
        """The steps that have a file each."""
        return self._versions(0)

    def _versions(self, first: int) -> list[int]:
        """The steps that have entries, from one on."""
        found = map(_NAME.fullmatch, regular_files(f"{self.root}/journal"))
        versions = (int(name[1]) for name in found if name)
        return [version for version in versions if version >= first]

    def _entry(self, version: int) -> JournalEntry:
        damaged = partial(self._damaged, version)
        values = read_sealed(self._path(version), damaged)
        if values is None:
            raise self._missing(version)
        try:
            entry = JournalEntry.of(values)
        except (KeyError, TypeError, AttributeError) as error:
            raise damaged(repr(error)) from error
        if entry.record.version != version:
            raise damaged(f"it is that of step {entry.record.version}")
        return entry

    @staticmethod
    def file_of(version: int) -> str:
        """The file of a step's entry, below the program's directory."""
        return f"journal/{version:012d}.json"

    def _path(self, version: int) -> str:
        return f"{self.root}/{self.file_of(version)}"

    def _damaged(self, version: int, why: str, file: str | None = None) -> StateError:
        return StateError(
            "damaged-journal",
            f"the journal's entry of step {version} is damaged",
            detail=f"{self.root}/{file or self.file_of(version)}: {why}",
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
        """The last committed version; neither the journal nor the index knows a later one."""
        known = History.read(self.root).upto
        latest = self._latest()
        if known >= 0 and (latest is None or latest.version < known):
            raise missing_version(f"{self.root}/state", known)
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


def is_part(name: str) -> bool:
    """Whether a name is that of a file with the entries of several steps."""
    return _PART.fullmatch(name) is not None


def step_of_entry(name: str) -> int | None:
    """The step of an entry's file; None if it is another file."""
    found = _NAME.fullmatch(name)
    return int(found[1]) if found else None


def steps_not_kept(root: str, dropped: int) -> StateError:
    """The error of steps that were dropped, for nobody wanted them kept any longer."""
    return StateError(
        "not-kept",
        f"what the steps up to {dropped} did is not kept any more",
        detail=f"KEEP CHANGES bounds the history in {root}",
        hint=f"ask for the steps after {dropped}",
    )
