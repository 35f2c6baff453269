"""The manifest: what makes one version of the state, and the commit point of a step.

Law: a version exists iff its manifest does.  A manifest is written whole, under another name,
synced and renamed; it is never replaced by a different one.  Segments that a version no longer
uses are removed when the next version starts, for until then its batch may be repeated.  Files of
a step that was not committed, and those that a step has merged again, are removed between steps
only, when no task can be writing them; a file that no step would have made is left alone.

Each manifest names the journal's entry of the step before it by its checksum, so the entries are a
chain that the latest manifest holds.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any

from ebbtide.core.file_name import file_name
from ebbtide.core.time import INF, NEG_INF
from ebbtide.errors import StateError
from ebbtide.state.files import content_of, is_unfinished
from ebbtide.state.files import replace as replace_file
from ebbtide.state.store import DirectoryStore, segment_name
from ebbtide.store.files import seal
from ebbtide.store.record import Came, StepRecord

FORMAT = 3
_NAME = re.compile(r"manifest-(\d{12})\.json")


@dataclass(frozen=True, slots=True)
class Base:
    """A version whose state stays, so that replays can begin from it; -1 is that before all steps.

    ``forgotten`` has, for each source that is replayed and each of its times, the last instant of
    which operators had let rows go by then: what is later finds all that it can meet.
    ``archived`` has the last instant of which the archives may lack rows, whatever they keep (None
    if nobody knows), and ``settled`` for each
    view the instant before which its state does not look any more: what a minimal replay corrects
    before it is nothing to this version.
    """

    version: int
    forgotten: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    archived: Mapping[str, Mapping[str, int]] | None = None
    settled: Mapping[str, int] = field(default_factory=dict)

    def has_forgotten(self, source: str, attribute: str) -> int:
        """The last instant of which rows were gone."""
        return self.forgotten.get(source, {}).get(attribute, NEG_INF)

    def may_lack(self, source: str, attribute: str) -> int:
        """The last instant of which the archive may lack rows, however far it reaches."""
        if self.archived is None:
            return INF
        return self.archived.get(source, {}).get(attribute, NEG_INF)


@dataclass(frozen=True, slots=True)
class Manifest:
    """One version: which segments hold the state, how far time has come, what was said.

    ``areas`` has, for each operator and shard, the described SweepAreas (``SweepArea.describe``);
    ``record`` says what the step took in and gave out; ``before`` is the checksum of the journal's
    entry of the step before; ``bases`` are earlier versions that are kept; ``revised`` counts the
    requests to replay what waits that are done.  All of it is JSON.
    """

    version: int
    shards: int
    areas: Mapping[str, tuple[tuple[Any, ...], ...]] = field(default_factory=dict)
    frontiers: Mapping[str, Any] = field(default_factory=dict)
    clock: int | None = None
    record: StepRecord = field(default_factory=lambda: StepRecord(-1))
    before: str = ""
    bases: tuple[Base, ...] = ()
    revised: int = 0

    @property
    def entry(self) -> dict[str, Any]:
        """What the journal says of the step."""
        return {"before": self.before, "record": self.record.to_json()}

    @property
    def link(self) -> str:
        """The checksum of the journal's entry: what the next manifest names."""
        return seal(self.entry)

    @property
    def replayed(self) -> frozenset[str]:
        """The names of the sources of which rows are accepted as far as their archives reach."""
        return frozenset(name for base in self.bases for name in base.forgotten)

    def quiet_successor(self, **changed: Any) -> Manifest:
        """The version after this one if nothing comes and nothing is said, but for what changes."""
        record = self.record
        told = StepRecord(
            version=record.version + 1,
            nows=record.nows,
            output=dict.fromkeys(record.output, ()),
            positions=record.positions,
            places=record.places,
            came={source: Came() for source in record.came},
            clock=record.clock,
        )
        after = replace(self, version=self.version + 1, record=told, before=self.link)
        return replace(after, **changed)

    def segments(self) -> set[str]:
        """The names of all segments that the version needs."""
        shards = [shard for shards in self.areas.values() for shard in shards]
        described = [segment for areas in shards for area in areas for segment in area]
        return {segment[0] for segment in described}

    def to_json(self) -> str:
        """The text of the manifest, the same for equal manifests, with its checksum."""
        values = {
            "format": FORMAT,
            "version": self.version,
            "shards": self.shards,
            "areas": dict(self.areas),
            "frontiers": dict(self.frontiers),
            "clock": self.clock,
            "record": self.record.to_json(),
            "before": self.before,
        }
        if self.bases:
            values["bases"] = [
                [base.version, base.forgotten, base.archived, base.settled] for base in self.bases
            ]
        if self.revised:
            values["revised"] = self.revised
        body = _text(values)
        return _text({"checksum": _checksum(body), "manifest": body}) + "\n"

    @staticmethod
    def from_json(text: str, name: str) -> Manifest:
        """The manifest of a text that ``to_json`` made; ``name`` is for the error."""
        try:
            outer = json.loads(text)
            body = outer["manifest"]
            if outer["checksum"] != _checksum(body):
                raise ValueError("its checksum does not match")
            values = json.loads(body)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise _damaged(name, str(error).partition("\n")[0]) from error
        if values["format"] != FORMAT:
            raise StateError(
                "other-format",
                f'manifest "{name}" is of format {values["format"]}, and this is format {FORMAT}',
                hint="go on with the release that wrote it, or start under another name",
            )
        areas = {
            operator: tuple(tuple(shard) for shard in shards)
            for operator, shards in values["areas"].items()
        }
        return Manifest(
            version=values["version"],
            shards=values["shards"],
            areas=areas,
            frontiers=values["frontiers"],
            clock=values["clock"],
            record=StepRecord.from_json(values["record"]),
            before=values["before"],
            bases=tuple(Base(*base) for base in values.get("bases", ())),
            revised=values.get("revised", 0),
        )


class Manifests:
    """The manifests beside a store's segments."""

    def __init__(self, store: DirectoryStore) -> None:
        self.store = store

    def versions(self) -> list[int]:
        """All versions that exist, ascending."""
        matches = (_NAME.fullmatch(name) for name in self.store.names())
        return sorted(int(match[1]) for match in matches if match)

    def load(self, version: int) -> Manifest:
        """The manifest of a version."""
        text = self._text(name_of(version))
        if text is None:
            raise missing_version(self.store.root, version)
        manifest = Manifest.from_json(text, name_of(version))
        if manifest.version != version:
            raise _damaged(name_of(version), f"it is that of version {manifest.version}")
        return manifest

    def latest(self) -> Manifest | None:
        """The manifest of the last version, or None before the first."""
        versions = self.versions()
        while versions:
            try:
                return self.load(versions[-1])
            except StateError:
                # Steps that came since it was listed may have removed it.
                before, versions = versions, self.versions()
                if versions == before:
                    raise
        return None

    def commit(self, manifest: Manifest) -> None:
        """Makes a version exist; the same one again is no error."""
        name, text = name_of(manifest.version), manifest.to_json()
        found = self._text(name)
        if found is not None:
            if found != text:
                raise StateError(
                    "version-exists",
                    f"version {manifest.version} of the state exists and is another one",
                    hint="is a second query running on this state directory?",
                )
            return
        self._write(name, text)

    def start(self, version: int, keep: int = 1) -> None:
        """Called when a version's step starts: removes what only older versions used.

        The version before it stays, with its segments: its batch is committed by now; and so do
        as many as are to be kept, and those from which it can be replayed.  Of a damaged one
        nothing is removed, for nobody knows what it named.
        """
        older = [v for v in self.versions() if v < version]
        if not older:
            return
        latest = self.load(older[-1])
        used, bases = latest.segments(), {base.version for base in latest.bases}
        kept = [v for v in older[:-1] if v in older[-keep:] or v in bases]
        for other in kept:
            with suppress(StateError):
                used |= self.load(other).segments()
        for old in (v for v in older[:-1] if v not in kept):
            try:
                unused = self.load(old).segments() - used
            except StateError:
                continue
            self.store.delete(unused)
            self.store.delete([name_of(old)])

    def sweep(self) -> set[str]:
        """Removes what a step has left that no later one needs; only between steps.

        It gives the names.  Files that a step would have made are those of operators in a shard:
        of the step that was not committed, or of the last one if its manifest does not name them.
        """
        orphans = self.orphans()
        self.store.delete(orphans)
        return orphans

    def orphans(self) -> set[str]:
        """The names of what ``sweep`` removes."""
        latest = self.latest()
        last = -1 if latest is None else latest.version
        used = set() if latest is None else latest.segments()
        operators = None if latest is None else set(map(file_name, latest.areas))
        shards = 0 if latest is None else latest.shards
        found: set[str] = set()
        for name in self.store.names() - used:
            made = segment_name(name)
            if is_unfinished(name):
                found.add(name)
            elif made is None or (operators is not None and made.operator not in operators):
                continue
            elif made.version > last + 1:
                raise missing_version(self.store.root, made.version - 1)
            elif made.version > last or (made.version == last and made.shard < shards):
                # A version that was to come may have been cut into other shards.
                found.add(name)
        return found

    def strangers(self) -> set[str]:
        """The names of files that no step would have made."""
        names = self.store.names()
        ours = {n for n in names if _NAME.fullmatch(n) or is_unfinished(n) or segment_name(n)}
        return names - ours

    def missing(self, manifest: Manifest) -> set[str]:
        """The segments that a manifest names and that are not there."""
        return manifest.segments() - self.store.names()

    def _text(self, name: str) -> str | None:
        path = f"{self.store.root}/{name}"
        try:
            if self.store.is_local:
                return content_of(path).decode("utf-8")
            with self.store.filesystem.open_input_stream(path) as stream:
                return str(stream.read().decode("utf-8"))
        except FileNotFoundError:
            return None
        except (UnicodeDecodeError, OSError) as error:
            raise _damaged(name, str(error)) from error

    def _write(self, name: str, text: str) -> None:
        final = f"{self.store.root}/{name}"
        if self.store.is_local:
            replace_file(final, text)
            return
        temporary = f"{self.store.root}/{uuid.uuid4().hex}.tmp"
        with self.store.filesystem.open_output_stream(temporary) as stream:
            stream.write(text.encode("utf-8"))
        self.store.filesystem.move(temporary, final)


def missing_version(root: str, version: int) -> StateError:
    """The error of a manifest that is not there."""
    return StateError(
        "missing-version",
        f"there is no version {version} of the state",
        detail=f"{root}/{name_of(version)} is not there",
        hint="restore the directory, or start the query anew under another name",
    )


def name_of(version: int) -> str:
    """The name of a version's manifest."""
    return f"manifest-{version:012d}.json"


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def _checksum(body: str) -> str:
    return sha256(body.encode("utf-8")).hexdigest()


def _damaged(name: str, why: str) -> StateError:
    return StateError(
        "damaged-manifest",
        f'manifest "{name}" is damaged',
        detail=why,
        hint="restore the state directory, or start the query anew with another one",
    )
