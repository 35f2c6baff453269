"""A lost journal made the sweep delete the history; stray files and files behind links went too."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.faults.byte_fuzz import Session, made

from ebbtide.errors import StateError
from ebbtide.sinks.memory import Memory
from ebbtide.state.store import forget_all
from ebbtide.store.clock import Readings

HASH = "0a" * 16


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made(str(tmp_path / "here"))
    forget_all()
    return tmp_path / "here/programs/shop"


def start(root: Path) -> None:
    session = Session(str(root.parent.parent))
    try:
        session.start()
    finally:
        session.engine.stop()


def files(root: Path) -> set[Path]:
    return {path for path in root.rglob("*") if not path.is_dir()}


@pytest.mark.parametrize("lost", ["journal", "journal/000000000001.json", "state"])
def test_a_lost_part_of_the_history(root: Path, lost: str) -> None:
    path = root / lost
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    left = files(root)
    with pytest.raises(StateError) as caught:
        start(root)
    assert caught.value.code in ("missing-step", "missing-version")
    assert files(root) == left


def test_state_and_journal_both_lost(root: Path) -> None:
    shutil.rmtree(root / "journal")
    shutil.rmtree(root / "state")
    left = files(root)
    with pytest.raises(StateError) as caught:
        start(root)
    assert caught.value.code == "missing-version"
    assert files(root) == left


def test_stray_files_are_told_and_stay(root: Path, caplog: pytest.LogCaptureFixture) -> None:
    stray = [
        "output/sums/notes.txt",
        "output/sums/0-9.parquet",
        "output/readme",
        "unused/x.parquet",
        "state/backup.tar",
        "state/half.tmp",
        f"output/mine/0-4-{HASH}.parquet",
    ]
    (root / "output/mine").mkdir()
    for name in stray:
        (root / name).write_bytes(b"mine")
    start(root)
    assert [name for name in stray if not (root / name).exists()] == []
    told = [*stray[:-1], "output/mine"]
    assert [name for name in told if name not in caplog.text] == []


@pytest.mark.parametrize(
    "directory", ["state", "journal", "output", "output/sums", "unused", "delivered", "clock"]
)
def test_a_directory_behind_a_link(root: Path, tmp_path: Path, directory: str) -> None:
    elsewhere = tmp_path / "elsewhere"
    if (root / directory).exists():
        (root / directory).rename(elsewhere)
    else:
        elsewhere.mkdir()
    (root / directory).symlink_to(elsewhere)
    strangers = [
        f"0-4-{HASH}.parquet",
        f".{HASH}.tmp",
        f"{HASH}.tmp",
        f"sums.aggregate@0-0-4-{HASH}",
    ]
    for name in strangers:
        (elsewhere / name).write_bytes(b"not ours")
    with pytest.raises(StateError) as caught:
        start(root)
    assert caught.value.code == "linked-directory"
    assert [name for name in strangers if not (elsewhere / name).exists()] == []


def test_a_link_among_the_files(root: Path, tmp_path: Path) -> None:
    target = tmp_path / "precious"
    target.write_bytes(b"kept")
    links = [
        root / f"output/sums/0-4-{HASH}.parquet",
        root / f"unused/.{HASH}.tmp",
        root / f"state/sums.aggregate@0-0-4-{HASH}",
    ]
    for link in links:
        link.symlink_to(target)
    start(root)
    assert target.read_bytes() == b"kept"
    assert all(link.is_symlink() for link in links)


@pytest.mark.parametrize("link", ["output", "output/sums"])
def test_a_link_that_came_while_steps_run(tmp_path: Path, link: str) -> None:
    """Without an archive the output of a step goes with the next one."""
    root = tmp_path / "here/programs/shop"
    session = Session(str(tmp_path / "here"))
    session.engine.start(*session.queries, name="shop", sink={"sums": Memory()}, archive=False)
    session.step(0)
    elsewhere = tmp_path / "elsewhere"
    (root / link).rename(elsewhere)
    (root / link).symlink_to(elsewhere)
    written = {path for path in elsewhere.rglob("*.parquet") if path.parent.name != "seen"}
    assert written
    with pytest.raises(StateError) as caught:
        session.step(1)
    session.engine.stop()
    assert caught.value.code == "unusable-file"
    assert all(path.exists() for path in written)


def test_what_a_step_that_was_not_committed_left_is_gone(root: Path) -> None:
    left = [
        root / f"output/sums/0-4-{HASH}.parquet",
        root / f"unused/0-4-{HASH}.parquet",
        root / f"state/sums.aggregate@0-0-4-{HASH}",
        root / f"state/{HASH}.tmp",
    ]
    for path in left:
        path.write_bytes(b"half")
    start(root)
    assert not any(path.exists() for path in left)


def test_readings_of_the_clock_leave_other_files_alone(tmp_path: Path) -> None:
    readings = Readings(str(tmp_path))
    readings.of(0, lambda: 5)
    (tmp_path / "clock/notes").write_bytes(b"mine")
    for version in (1, 2, 3):
        assert readings.of(version, lambda: 6) == 6
    assert readings.of(3, lambda: 7) == 6
    found = {path.name for path in (tmp_path / "clock").iterdir()}
    assert found == {"notes", "000000000002", "000000000003"}


@pytest.mark.parametrize("content", [b"", b"6", b'{"reading": 6}', b"\xff"])
def test_a_damaged_reading_of_the_clock(tmp_path: Path, content: bytes) -> None:
    readings = Readings(str(tmp_path))
    readings.of(0, lambda: 5)
    (tmp_path / "clock/000000000000").write_bytes(content)
    with pytest.raises(StateError) as caught:
        readings.of(0, lambda: 9)
    assert caught.value.code == "damaged-clock"
