"""What a manifest names is on disk before it: no power cut leaves a version without its files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from ebbtide import Engine
from ebbtide.store import compaction

SECOND = 1_000_000


class Disk:
    """Which files and names are durable, by what was synced."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.files: set[int] = set()
        self.names: set[str] = set()
        self.pending: dict[str, set[str]] = {}
        self.checked = 0
        self.wrong: list[str] = []
        self._replace, self._fsync = os.replace, os.fsync
        patch.setattr(os, "replace", self.replace)
        patch.setattr(os, "fsync", self.fsync)

    def replace(self, source: Any, target: Any) -> None:
        if os.path.basename(target).startswith(("manifest-", "history.json")):
            self.check(os.path.dirname(target))
        self._replace(source, target)
        self.pending.setdefault(os.path.dirname(target), set()).add(target)

    def fsync(self, handle: int) -> None:
        self._fsync(handle)
        path = os.readlink(f"/proc/self/fd/{handle}")
        if os.path.isdir(path):
            self.names |= self.pending.pop(path, set())
        else:
            self.files.add(os.fstat(handle).st_ino)

    def check(self, directory: str) -> None:
        """All that was renamed below a program's directory is durable, but for timings."""
        root = directory.removesuffix("/state")
        self.checked += 1
        for names in self.pending.values():
            self.wrong += [n for n in names if n.startswith(root) and "/timings/" not in n]
        for path, _, names in os.walk(root):
            for name in names:
                full = os.path.join(path, name)
                loose = "/timings" in path or name == "lock" or name.endswith(".tmp")
                if not loose and os.stat(full).st_ino not in self.files:
                    self.wrong.append(full)


def test_all_that_is_named_is_durable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compaction, "LOOSE", 2)
    disk = Disk(monkeypatch)
    engine = Engine(tmp_path, transport="local", shards=2)
    engine.execute("CREATE STREAM s (k BIGINT, v BIGINT, at TIMESTAMP, PROGRESS FOR at AS at)")
    query = engine.query("SELECT k, SUM(v) AS t FROM s [RANGE 5 SECONDS] GROUP BY k", "q")
    query.start(keep_changes="3 seconds")
    for second in range(12):
        rows = [(k, second, second * SECOND) for k in range(4)]
        engine.feed("s", [*rows, (0, 0, (second - 9) * SECOND)])
        engine.step()
    assert disk.wrong == []
    assert disk.checked > 14
    engine.stop()
