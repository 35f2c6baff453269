"""The manifest: what makes one version of the state, and the commit point of a step.

Law: a version exists iff its manifest does.  A manifest is written whole, under another name,
synced and renamed; it is never replaced by a different one.  Segments that a version no longer
uses are removed when the next version starts, for until then its batch may be repeated; files
that no manifest names are removed between steps only, when no task can be writing them.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from ebbtide.errors import StateError
from ebbtide.state.store import DirectoryStore
from ebbtide.store.files import replace
from ebbtide.store.record import StepRecord

FORMAT = 2
_NAME = re.compile(r"manifest-(\d{12})\.json")


@dataclass(frozen=True, slots=True)
class Manifest:
    """One version: which segments hold the state, how far time has come, what was said.

    ``areas`` has, for each operator and shard, the described SweepAreas (``SweepArea.describe``);
    ``record`` says what the step took in and gave out.  All of it is JSON.
    """

    version: int
    shards: int
    areas: Mapping[str, tuple[tuple[Any, ...], ...]] = field(default_factory=dict)
    frontiers: Mapping[str, Any] = field(default_factory=dict)
    clock: int | None = None
    record: StepRecord = field(default_factory=lambda: StepRecord(-1))

    def segments(self) -> set[str]:
        """The names of all segments that the version needs."""
        shards = [shard for shards in self.areas.values() for shard in shards]
        described = [segment for areas in shards for area in areas for segment in area]
        return {segment[0] for segment in described}

    def to_json(self) -> str:
        """The text of the manifest, the same for equal manifests, with its checksum."""
        body = _text(
            {
                "format": FORMAT,
                "version": self.version,
                "shards": self.shards,
                "areas": dict(self.areas),
                "frontiers": dict(self.frontiers),
                "clock": self.clock,
                "record": self.record.to_json(),
            }
        )
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
        except (ValueError, KeyError, TypeError) as error:
            raise _damaged(name, str(error)) from error
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
            raise StateError("missing-version", f"there is no version {version} of the state")
        return Manifest.from_json(text, name_of(version))

    def latest(self) -> Manifest | None:
        """The manifest of the last version, or None before the first."""
        versions = self.versions()
        return self.load(versions[-1]) if versions else None

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

    def start(self, version: int) -> None:
        """Called when a version's step starts: removes what only older versions used.

        The version before it stays, with its segments: its batch is committed by now.
        """
        versions = self.versions()
        older = [v for v in versions if v < version]
        if not older:
            return
        last = self.load(older[-1])
        used = last.segments()
        for old in older[:-1]:
            unused = self.load(old).segments() - used
            self.store.delete(unused)
            self.store.delete([name_of(old)])

    def sweep(self) -> set[str]:
        """Removes files that no manifest names, and gives their names; only between steps."""
        used: set[str] = set()
        for version in self.versions():
            used |= self.load(version).segments() | {name_of(version)}
        orphans = self.store.names() - used
        self.store.delete(orphans)
        return orphans

    def missing(self, manifest: Manifest) -> set[str]:
        """The segments that a manifest names and that are not there."""
        return manifest.segments() - self.store.names()

    def _text(self, name: str) -> str | None:
        try:
            with self.store.filesystem.open_input_stream(f"{self.store.root}/{name}") as stream:
                return str(stream.read().decode("utf-8"))
        except FileNotFoundError:
            return None
        except UnicodeDecodeError as error:
            raise _damaged(name, str(error)) from error

    def _write(self, name: str, text: str) -> None:
        final = f"{self.store.root}/{name}"
        if self.store.is_local:
            replace(final, text)
            return
        temporary = f"{self.store.root}/{uuid.uuid4().hex}.tmp"
        with self.store.filesystem.open_output_stream(temporary) as stream:
            stream.write(text.encode("utf-8"))
        self.store.filesystem.move(temporary, final)


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
