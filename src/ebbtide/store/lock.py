"""A run's hold on the directory of its program.

Law: one run at a time has a program's directory; it belongs to the same program in the same number
of shards as before; and what a crash left there, and no manifest names, is gone before the first
step.  The claim ends with the run, or with its process.
"""

from __future__ import annotations

import fcntl
import os

from ebbtide.errors import StateError
from ebbtide.state.store import DirectoryStore
from ebbtide.store.files import is_unfinished
from ebbtide.store.journal import Journal
from ebbtide.store.manifest import Manifests
from ebbtide.store.program import Identity
from ebbtide.store.record import StepRecord


class Claim:
    """The lock on a program's directory, held until it is released."""

    def __init__(self, root: str, name: str) -> None:
        os.makedirs(root, exist_ok=True)
        self.root = root
        self.name = name
        self._lock: int | None = os.open(f"{root}/lock", os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self.release()
            raise StateError(
                "state-in-use",
                f'"{name}" is running already, here or in another process',
                detail=f"its state is in {root}",
                hint="stop that run first, or give this one another name",
            ) from error

    def release(self) -> None:
        """Lets another run have the directory."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def __del__(self) -> None:
        self.release()

    def check(self, wanted: Identity) -> None:
        """Holds that the directory is this program's, and makes it so if it is nobody's yet."""
        known = Identity.read(self.root)
        if known is None:
            wanted.write(self.root)
        elif known != wanted:
            raise self._difference(known, wanted)

    def _difference(self, known: Identity, wanted: Identity) -> StateError:
        if known.shards != wanted.shards:
            return StateError(
                "shards-differ",
                f'"{self.name}" has its state in {known.shards} shards, not {wanted.shards}',
                hint=f"Engine(..., shards={known.shards})",
            )
        if known.heartbeat != wanted.heartbeat:
            return StateError(
                "heartbeat-differs",
                f'"{self.name}" was first started {_with(known.heartbeat)} a heartbeat',
                hint="start it as before, or give it another name",
            )
        views = known.views != wanted.views
        before = known.views if views else known.sources
        now = wanted.views if views else wanted.sources
        changed = [n for n in (*before, *now) if before.get(n) != now.get(n)]
        said = before.get(changed[0]) if changed else None
        return StateError(
            "query-differs",
            f'the state of "{self.name}" belongs to another query',
            detail=f"{changed[0]} was {said}" if said else f"it had {', '.join(before)}",
            hint="give this query another name",
        )

    def sweep(self) -> set[str]:
        """Removes what no manifest names, and gives the names; called before the first step."""
        orphans: set[str] = set()
        if os.path.isdir(f"{self.root}/state"):
            orphans |= Manifests(DirectoryStore(f"{self.root}/state")).sweep()
        journal = Journal(self.root)
        named: set[str] = set()
        for record in journal.entries():
            named |= set(record.files() if record.kept else _unused(record))
        latest = journal.latest()
        if latest is not None:
            named |= set(latest.record.files())
        for directory, _, files in os.walk(self.root):
            below = os.path.relpath(directory, self.root)
            archived = below.split(os.sep)[0] in ("output", "unused")
            for name in files:
                file = os.path.normpath(f"{below}/{name}")
                unknown = archived and file not in named
                if unknown or (is_unfinished(name) and not below.startswith("checkpoint")):
                    os.remove(f"{self.root}/{file}")
                    orphans.add(file)
        return orphans


def _unused(record: StepRecord) -> set[str]:
    return {written.file for written in record.unused if written.file is not None}


def _with(heartbeat: bool) -> str:
    return "with" if heartbeat else "without"
