"""The hold on a query's directory: one run has it, and what a crash left there is gone."""

from __future__ import annotations

from pathlib import Path

import pytest

from ebbtide.errors import StateError
from ebbtide.state.store import DirectoryStore
from ebbtide.store.lock import Claim
from ebbtide.store.manifest import Manifest, Manifests
from ebbtide.store.record import StepRecord, WrittenFile

STEP = StepRecord(
    version=0,
    nows={"q": 5},
    output={"q": (WrittenFile("output/q/0-0-ab.parquet", 1),)},
    unused=(WrittenFile("unused/0-0-cd.parquet", 1),),
)


def put(root: Path, *names: str) -> set[str]:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(b"some")
    return set(names)


def test_what_a_crash_left_is_gone_and_nothing_else(tmp_path: Path) -> None:
    claim = Claim(str(tmp_path), "q")
    Manifests(DirectoryStore(f"{tmp_path}/state")).commit(Manifest(0, 1, record=STEP))
    kept = put(
        tmp_path,
        "output/q/0-0-ab.parquet",
        "unused/0-0-cd.parquet",
        "timings/join1-0.json",
        "clock/000000000000",
        "checkpoint/.metadata.crc",
        "program.json",
    )
    put(tmp_path, "state/join1-0-1-ef", "state/12.tmp")
    left = put(
        tmp_path,
        "output/q/0-1-ab.parquet",
        "unused/.34.tmp",
        "journal/.56.tmp",
        "timings/.78.tmp",
        "clock/.9a.tmp",
        ".bc.tmp",
    )
    assert claim.sweep() == left | {"join1-0-1-ef", "12.tmp"}
    assert claim.sweep() == set()
    assert all((tmp_path / name).exists() for name in kept)
    assert not any((tmp_path / name).exists() for name in left)
    claim.release()


def test_one_run_at_a_time_has_a_directory(tmp_path: Path) -> None:
    claim = Claim(str(tmp_path), "q")
    with pytest.raises(StateError, match="running already") as caught:
        Claim(str(tmp_path), "q")
    assert caught.value.code == "state-in-use"
    claim.release()
    Claim(str(tmp_path), "q").release()
