"""The hold on a query's directory: one run has it, and what a crash left there is gone."""

from __future__ import annotations

from pathlib import Path

import pytest

from ebbtide.errors import StateError
from ebbtide.state.store import DirectoryStore
from ebbtide.store.lock import Claim
from ebbtide.store.manifest import Manifest, Manifests
from ebbtide.store.record import StepRecord, WrittenFile

HASH = "0a" * 16
STEP = StepRecord(
    version=0,
    nows={"q": 5},
    output={"q": (WrittenFile(f"output/q/0-0-{HASH}.parquet", 1),)},
    unused=(WrittenFile(f"unused/0-0-{HASH}.parquet", 1),),
)


def put(root: Path, *names: str) -> set[str]:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(b"some")
    return set(names)


def test_what_a_crash_left_is_gone_and_nothing_else(tmp_path: Path) -> None:
    claim = Claim(str(tmp_path), "q")
    Manifests(DirectoryStore(f"{tmp_path}/state")).commit(
        Manifest(0, 1, {"join1": ((),)}, record=STEP)
    )
    kept = put(
        tmp_path,
        f"output/q/0-0-{HASH}.parquet",
        f"unused/0-0-{HASH}.parquet",
        "timings/join1-0.json",
        "clock/000000000000",
        "checkpoint/.metadata.crc",
        "program.json",
    )
    put(tmp_path, f"state/join1-0-1-{HASH}", f"state/{HASH}.tmp")
    left = put(
        tmp_path,
        f"output/q/0-1-{HASH}.parquet",
        f"output/q/1-0-{HASH}.parquet",
        f"unused/.{HASH}.tmp",
        f"journal/.{HASH}.tmp",
        f"timings/.{HASH}.tmp",
        f"clock/.{HASH}.tmp",
        f".{HASH}.tmp",
    )
    assert claim.sweep() == left | {f"join1-0-1-{HASH}", f"{HASH}.tmp"}
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
