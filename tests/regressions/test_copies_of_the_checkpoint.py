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


def noted(root: Path, *, copied: bool) -> None:
    """Lets Spark note a batch more, of which no step is made."""
    (root / "checkpoint/offsets/3").write_text('v2\n{}\ns:{"logOffset":3}', "utf-8")
    entry = 'v1\n{"path":"file:///in/3","timestamp":3,"batchId":3}'
    (root / "checkpoint/sources/s/3").write_text(entry, "utf-8")
    if copied:
        checkpoint_copy.keep(str(root), 3)


@pytest.mark.parametrize("torn", ["offsets/3", "sources/s/3"])
@pytest.mark.parametrize("content", [b"", b"\0" * 40, b"v1\n{", None])
def test_a_torn_batch_that_was_begun_is_put_back(
    root: Path, torn: str, content: bytes | None
) -> None:
    noted(root, copied=True)
    damage(root / "checkpoint" / torn, content)
    restored(root)
    assert files_of_batch(str(root), 3) == {"s": ["/in/3"]}


@pytest.mark.parametrize("content", [b"", b"\0" * 40, b"v1\n{", None])
def test_a_torn_batch_that_was_not_begun_is_forgotten(root: Path, content: bytes | None) -> None:
    noted(root, copied=False)
    damage(root / "checkpoint/sources/s/3", content)
    restored(root)
    assert not (root / "checkpoint/offsets/3").exists()
    assert not (root / "checkpoint/sources/s/3").exists()


def test_files_that_were_noted_stay_noted(root: Path) -> None:
    noted(root, copied=False)
    damage(root / "checkpoint/offsets/3", b"v2")
    restored(root)
    assert not (root / "checkpoint/offsets/3").exists()
    assert (root / "checkpoint/sources/s/3").exists()


def test_a_first_batch_that_is_torn_is_forgotten(tmp_path: Path) -> None:
    (tmp_path / "checkpoint/offsets").mkdir(parents=True)
    (tmp_path / "checkpoint/sources/s").mkdir(parents=True)
    (tmp_path / "checkpoint/offsets/0").write_bytes(bytes(8))
    (tmp_path / "checkpoint/sources/s/0").write_bytes(b"")
    checkpoint_copy.restore(str(tmp_path), "q", None)
    assert not list((tmp_path / "checkpoint/offsets").iterdir())
    assert not list((tmp_path / "checkpoint/sources/s").iterdir())


@pytest.mark.parametrize("content", [b"", b"\0" * 30, b'v1\n{"next'])
def test_what_spark_writes_anew_is_removed_if_it_is_torn(root: Path, content: bytes) -> None:
    (root / "checkpoint/commits").mkdir()
    for name in ("commits/2", "commits/.2.crc", "metadata", ".metadata.crc"):
        (root / "checkpoint" / name).write_bytes(content)
    (root / "checkpoint/commits/1").write_text('v1\n{"nextBatchWatermarkMs":0}', "utf-8")
    restored(root)
    left = sorted(path.name for path in (root / "checkpoint").rglob("*") if path.is_file())
    assert "metadata" not in left
    assert [path.name for path in (root / "checkpoint/commits").iterdir()] == ["1"]
    assert not any(name.endswith(".crc") for name in left)


def test_sums_of_spark_s_are_not_held_against_what_was_verified(root: Path) -> None:
    (root / "checkpoint/offsets/.2.crc").write_bytes(b"torn")
    restored(root)
    assert not (root / "checkpoint/offsets/.2.crc").exists()


def test_where_a_step_that_was_never_made_would_have_gone_on(root: Path) -> None:
    (root / "checkpoint/commits").mkdir()
    (root / "checkpoint/commits/2").write_text('v1\n{"nextBatchWatermarkMs":0}', "utf-8")
    noted(root, copied=True)
    checkpoint_copy.go_back(str(root), "q", LATEST + 1, 0)
    restored(root)
    assert last_entries(str(root), LATEST) == {"s": 2}
    assert (root / "checkpoint/sources/s/3").exists()


def damage(path: Path, content: bytes | None) -> None:
    path.unlink()
    if content is not None:
        path.write_bytes(content)
