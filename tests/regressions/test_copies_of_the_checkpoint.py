"""Copies of Spark's checkpoint that are something else were raw exceptions, and the names of its
sources could be lost in silence."""

from __future__ import annotations

from pathlib import Path

import pytest

from ebbtide.errors import StateError
from ebbtide.spark import checkpoint_copy
from ebbtide.spark.batch_files import files_of_batch, last_entries
from ebbtide.store.files import sealed

LATEST = 2


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """What three batches of one source of files leave."""
    for below in ("checkpoint/offsets", "checkpoint/sources/s", "inputs"):
        (tmp_path / below).mkdir(parents=True)
    for batch in range(LATEST + 1):
        offsets = f'v2\n{{}}\ns:{{"logOffset":{batch}}}'
        (tmp_path / f"checkpoint/offsets/{batch}").write_text(offsets, "utf-8")
        entry = f'v1\n{{"path":"file:///in/{batch}","timestamp":{batch},"batchId":{batch}}}'
        (tmp_path / f"checkpoint/sources/s/{batch}").write_text(entry, "utf-8")
        checkpoint_copy.keep(str(tmp_path), batch)
    told = sealed({"named": True, "sources": {"s": ["s"]}})
    (tmp_path / "sources.json").write_text(told, "utf-8")
    return tmp_path


def restored(root: Path) -> None:
    checkpoint_copy.restore(str(root), "q", LATEST)
    assert files_of_batch(str(root), LATEST) == {"s": ["/in/2"]}


def test_what_is_lost_is_put_back(root: Path) -> None:
    (root / "checkpoint/offsets/2").unlink()
    (root / "checkpoint/sources/s/2").write_bytes(b"\xff")
    restored(root)


@pytest.mark.parametrize("file", ["inputs/1", "checkpoint/offsets/1", "checkpoint/sources/s/2"])
def test_a_directory_in_the_place_of_a_file(root: Path, file: str) -> None:
    (root / file).unlink()
    (root / file).mkdir()
    with pytest.raises(StateError, match="unusable-file") as caught:
        restored(root)
    assert caught.value.hint


def test_a_copy_that_is_another_file_counts_as_none(root: Path) -> None:
    (root / "inputs/1").write_text(sealed({"step": 1, "reading": 7}), "utf-8")
    restored(root)
    (root / "inputs/2").write_text((root / "inputs/0").read_text("utf-8"), "utf-8")
    restored(root)


def test_a_number_of_entries_that_nobody_can_count(root: Path) -> None:
    text = 'v2\n{}\ns:{"logOffset":99999999999999}'
    (root / "checkpoint/offsets/3").write_text(text, "utf-8")
    assert last_entries(str(root), 3) == {"s": 99999999999999}
    assert files_of_batch(str(root), 3) == {"s": []}
    (root / "checkpoint/offsets/3").write_text('v2\n{}\ns:{"logOffset":null}', "utf-8")
    assert files_of_batch(str(root), 3) == {"s": []}


def test_names_of_sources_that_are_lost(root: Path) -> None:
    (root / "sources.json").unlink()
    with pytest.raises(StateError, match="damaged-program") as caught:
        restored(root)
    assert caught.value.hint
