"""What a crash had left of errors and lineage was never removed, and taken for files of others."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from ebbtide import Engine

SECOND = 1_000_000
UNFINISHED = f".{'0' * 32}.tmp"


def step(location: Path, seconds: int) -> None:
    engine = Engine(location, transport="local")
    engine.execute("CREATE STREAM s (v BIGINT, at TIMESTAMP, PROGRESS FOR at AS at)")
    engine.query("SELECT 12 / v AS d FROM s [RANGE 1 HOUR]", name="q", lineage=True).start()
    engine.feed("s", [(3, seconds * SECOND)])
    engine.step()
    engine.stop()


def test_they_are_swept(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    step(tmp_path, 1)
    output = tmp_path / "programs/q/output"
    left = []
    for name in ("q", "q@errors", "q@lineage"):
        (output / name).mkdir(mode=0o700, exist_ok=True)
        left += [output / name / f"0-1-{'a' * 32}.parquet", output / name / UNFINISHED]
    for file in left:
        file.write_bytes(b"cut")
    with caplog.at_level(logging.WARNING, "ebbtide"):
        step(tmp_path, 2)
    assert [file for file in left if file.exists()] == []
    assert caplog.messages == []
