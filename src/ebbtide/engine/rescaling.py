"""Changing the number of shards under existing state.

Law: after it the program goes on as if it had had so many shards from its first step on; nothing is
said, nothing is read, no frontier moves.  It is a step of its own, whose manifest is the commit
point: until it is there, nothing has happened.  The version before stays as long as others do, so
one can go back to it.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace

from ebbtide.dataflow.plan import Dataflow
from ebbtide.dataflow.rescaling import check_rescalable, rescaled
from ebbtide.engine.location import StoredProgram, claimed
from ebbtide.errors import QueryError
from ebbtide.spark import checkpoint_copy
from ebbtide.state.segment import Segment
from ebbtide.state.store import DirectoryStore
from ebbtide.store.journal import Journal
from ebbtide.store.manifest import Manifest, Manifests
from ebbtide.store.program import Identity

MOST = 1 << 15
"""More shards than this cannot be told apart in a step."""


@dataclass(frozen=True, slots=True)
class Rescaling:
    """What a rescaling does, or would do: from how many shards to how many, by which step, and how
    many stored changes of how many bytes it writes anew."""

    program: str
    before: int
    shards: int
    step: int | None
    rows: int
    bytes: int


def rescale(location: str, name: str, shards: int, dry_run: bool = False) -> Rescaling:
    """Cuts the state of the program of that name, or with such a view, into so many shards."""
    if not 1 <= shards <= MOST:
        raise QueryError("bad-count", f"state can be cut into 1 to {MOST} shards, not {shards}")
    with claimed(location, name) as program:
        return _rescaled(program, shards, dry_run)


def _rescaled(program: StoredProgram, shards: int, dry_run: bool) -> Rescaling:
    root, identity = program.root, Identity.read(program.root)
    latest = Journal(root).latest()
    assert identity is not None
    if latest is None:
        if not dry_run:
            replace(identity, shards=shards).write(root)
        return Rescaling(program.name, identity.shards, shards, None, 0, 0)
    flow = Dataflow(program.lowered, latest.shards)
    check_rescalable(flow, latest)
    stored = _segments(latest)
    result = Rescaling(
        program.name,
        latest.shards,
        shards,
        latest.version + 1,
        sum(segment.rows for segment in stored),
        sum(segment.bytes for segment in stored),
    )
    if dry_run or shards == latest.shards:
        return result if dry_run else replace(result, step=None)
    manifests = Manifests(DirectoryStore(f"{root}/state"))
    manifests.sweep()
    Journal(root).record(latest)
    manifest = rescaled(flow, root, latest, shards)
    if os.path.isdir(f"{root}/checkpoint"):
        checkpoint_copy.go_back(root, program.name, manifest.version, latest.version)
    manifests.commit(manifest)
    Journal(root).record(manifest)
    replace(identity, shards=shards).write(root)
    return result


def _segments(manifest: Manifest) -> list[Segment]:
    return [
        Segment.restore(described)
        for shards in manifest.areas.values()
        for areas in shards
        for area in areas
        for described in area
    ]
