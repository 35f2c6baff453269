"""A run's hold on the directory of its query.

Law: one run at a time has a query's directory; it belongs to the same query in the same number of
shards as before; and what a crash left there, and no manifest names, is gone before the first
step.  The claim ends with the run, or with its process.
"""

from __future__ import annotations

import fcntl
import json
import os
import uuid
from collections.abc import Iterable

from ebbtide.core.declaration import Declaration
from ebbtide.errors import StateError
from ebbtide.runtime.archive import KINDS
from ebbtide.runtime.journal import Journal
from ebbtide.state.manifest import Manifests
from ebbtide.state.store import DirectoryStore


class Claim:
    """The lock on a query's directory, held until it is released."""

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
                f'query "{name}" is running already, here or in another process',
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

    def check(
        self, sql: str, declarations: Iterable[Declaration], shards: int, beats: bool = False
    ) -> None:
        """Holds that the directory is this query's, and makes it so if it is nobody's yet."""
        sources = [repr(d) for d in declarations]
        told = {"sql": sql, "sources": sources, "shards": shards, "heartbeat": beats}
        path = f"{self.root}/query.json"
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                self._compare(json.load(file), told)
            return
        temporary = f"{self.root}/.{uuid.uuid4().hex}.tmp"
        with open(temporary, "w", encoding="utf-8") as file:
            json.dump(told, file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)

    def _compare(self, known: dict[str, object], told: dict[str, object]) -> None:
        if known["shards"] != told["shards"]:
            raise StateError(
                "shards-differ",
                f'query "{self.name}" has its state in {known["shards"]} shards,'
                f" not {told['shards']}",
                hint=f"Engine(..., shards={known['shards']})",
            )
        if known["heartbeat"] != told["heartbeat"]:
            raise StateError(
                "heartbeat-differs",
                f'query "{self.name}" was first started {_with(known["heartbeat"])} a heartbeat',
                hint="start it as before, or give it another name",
            )
        for part in ("sql", "sources"):
            if known[part] != told[part]:
                raise StateError(
                    "query-differs",
                    f'the state of "{self.name}" belongs to another query',
                    detail=f"it was made by {known[part]}",
                    hint="give this query another name",
                )

    def sweep(self) -> set[str]:
        """Removes what no manifest names, and gives the names; called before the first step."""
        orphans: set[str] = set()
        if os.path.isdir(f"{self.root}/state"):
            orphans |= Manifests(DirectoryStore(f"{self.root}/state")).sweep()
        journal = Journal(self.root)
        named = {file for entry in journal.entries() for file in (*entry.output, *entry.unused)}
        latest = journal.latest()
        if latest is not None:
            named |= {written["file"] for written in latest.details["output"]}
        for directory in (*KINDS, "journal", "timings", "clock", "."):
            path = f"{self.root}/{directory}"
            for name in os.listdir(path) if os.path.isdir(path) else ():
                file = os.path.normpath(f"{directory}/{name}")
                half = name.startswith(".") and name.endswith(".tmp")
                if half or (directory in KINDS and file not in named):
                    os.remove(f"{self.root}/{file}")
                    orphans.add(file)
        return orphans


def _with(heartbeat: object) -> str:
    return "with" if heartbeat else "without"
