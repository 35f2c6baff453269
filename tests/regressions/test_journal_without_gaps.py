"""A reader that lists the journal while steps are committed skips none; a lost entry is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from ebbtide.errors import StateError
from ebbtide.state.store import DirectoryStore
from ebbtide.store.journal import Journal
from ebbtide.store.manifest import Manifest, Manifests
from ebbtide.store.record import StepRecord


def commit(root: Path, version: int) -> None:
    manifests = Manifests(DirectoryStore(f"{root}/state"))
    before = manifests.load(version - 1).link if version else ""
    manifest = Manifest(version, 1, record=StepRecord(version), before=before)
    manifests.commit(manifest)
    Journal(str(root)).record(manifest)


def test_two_commits_after_the_names_were_read(tmp_path: Path) -> None:
    commit(tmp_path, 0)
    reading = Journal(str(tmp_path)).entries()
    found = [next(reading).version]
    for version in (1, 2, 3):
        commit(tmp_path, version)
    found += [record.version for record in reading]
    assert found == [0, 1, 2, 3]


@pytest.mark.parametrize("lost", [0, 1, 2])
def test_a_lost_entry_is_told(tmp_path: Path, lost: int) -> None:
    for version in range(4):
        commit(tmp_path, version)
    (tmp_path / f"journal/{lost:012d}.json").unlink()
    with pytest.raises(StateError, match=f"no entry of step {lost}") as caught:
        list(Journal(str(tmp_path)).entries())
    assert caught.value.code == "missing-step"


def test_what_is_not_in_the_journal_yet_is_in_the_manifest(tmp_path: Path) -> None:
    for version in range(3):
        commit(tmp_path, version)
    (tmp_path / "journal/000000000002.json").unlink()
    assert [record.version for record in Journal(str(tmp_path)).entries()] == [0, 1, 2]
    assert [record.version for record in Journal(str(tmp_path)).entries(1)] == [2]
