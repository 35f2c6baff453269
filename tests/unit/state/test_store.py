"""The store: names by content, files never changed, damage found and named."""

from __future__ import annotations

import pickle
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import fs

from ebbtide.errors import StateError
from ebbtide.state import store as module
from ebbtide.state.files import is_unfinished
from ebbtide.state.open_files import OpenedFiles
from ebbtide.state.store import DirectoryStore, File, MemoryStore

BATCH = pa.RecordBatch.from_pydict({"a": [1, 2, 3], "b": ["x", None, "z"]})


def fresh(store: DirectoryStore) -> None:
    """Forgets what this process has verified, as a new one would not know it."""
    for name in store.names():
        store.forget(name)


@pytest.fixture(params=["local", "subtree", "memory"])
def store(request, tmp_path: Path):
    if request.param == "memory":
        return MemoryStore()
    if request.param == "local":
        return DirectoryStore(str(tmp_path / "state"))
    return DirectoryStore("state", fs.SubTreeFileSystem(str(tmp_path), fs.LocalFileSystem()))


def test_what_is_read_is_what_was_written(store) -> None:
    file = store.write("op-0-7", BATCH)
    assert file.name.startswith("op-0-7-")
    assert store.read(file).equals(BATCH)
    assert store.names() == {file.name}
    store.delete([file.name, "not-there"])
    assert store.names() == set()
    with pytest.raises(StateError, match=file.name) as caught:
        store.read(file)
    assert caught.value.code == "missing-segment"


def test_the_same_content_has_the_same_name(tmp_path: Path) -> None:
    store = DirectoryStore(str(tmp_path))
    assert store.write("op-0-1", BATCH) == store.write("op-0-1", BATCH)
    other = store.write("op-0-1", BATCH.slice(1))
    assert len(store.names()) == 2
    assert other.name in store.names()


@pytest.mark.parametrize("place", [10, 300, -20])
def test_a_flipped_bit_is_found(tmp_path: Path, place: int) -> None:
    store = DirectoryStore(str(tmp_path))
    file = store.write("op-0-1", BATCH)
    path = tmp_path / file.name
    content = bytearray(path.read_bytes())
    content[place] ^= 4
    path.write_bytes(content)
    fresh(store)
    with pytest.raises(StateError, match=file.name) as caught:
        store.read(file)
    assert caught.value.code == "damaged-segment"


def test_a_cut_file_is_found(tmp_path: Path) -> None:
    store = DirectoryStore(str(tmp_path))
    file = store.write("op-0-1", BATCH)
    path = tmp_path / file.name
    path.write_bytes(path.read_bytes()[:-8])
    with pytest.raises(StateError, match="instead of"):
        store.read(file)
    path.write_bytes(b"")
    with pytest.raises(StateError, match=file.name):
        store.read(file)


def test_a_checksum_is_verified_once_in_a_process(tmp_path: Path, monkeypatch) -> None:
    store = DirectoryStore(str(tmp_path))
    file = store.write("op-0-1", BATCH)
    fresh(store)
    store.read(file)
    monkeypatch.setattr(module, "digest", None)
    assert store.read(file).equals(BATCH)
    fresh(store)
    with pytest.raises(TypeError):
        store.read(file)


def test_local_files_are_mapped_not_copied(tmp_path: Path) -> None:
    store = DirectoryStore(str(tmp_path))
    file = store.write("op-0-1", pa.RecordBatch.from_pydict({"a": list(range(100_000))}))
    before = pa.total_allocated_bytes()
    batch = store.read(file)
    assert batch.column(0).to_numpy(zero_copy_only=True)[-1] == 99_999
    assert pa.total_allocated_bytes() - before < 10_000


def test_nothing_unfinished_is_left_behind(tmp_path: Path) -> None:
    store = DirectoryStore(str(tmp_path), sync=True)
    store.write("op-0-1", BATCH)
    assert not [name for name in store.names() if is_unfinished(name)]


def test_a_store_can_be_sent_to_another_process(tmp_path: Path) -> None:
    store = DirectoryStore(str(tmp_path))
    file = store.write("op-0-1", BATCH)
    assert pickle.loads(pickle.dumps(store)).read(file).equals(BATCH)


def test_only_so_many_files_stay_open(tmp_path: Path, monkeypatch) -> None:
    opened = OpenedFiles(2, 1 << 20)
    monkeypatch.setattr(module, "_OPENED", opened)
    store = DirectoryStore(str(tmp_path))
    files = [store.write(f"op-0-{i}", BATCH) for i in range(4)]
    for file in files:
        store.read(file)
    assert len(opened.files) == 2
    assert store.read(files[0]).equals(BATCH)


def test_what_opened_files_take_is_bounded(tmp_path: Path, monkeypatch) -> None:
    filesystem = fs.SubTreeFileSystem(str(tmp_path), fs.LocalFileSystem())
    store = DirectoryStore("state", filesystem)
    files = [store.write(f"op-0-{i}", BATCH) for i in range(4)]
    opened = OpenedFiles(9, 2 * files[0].bytes)
    monkeypatch.setattr(module, "_OPENED", opened)
    for file in [*files, files[-1]]:
        assert store.read(file).equals(BATCH)
    assert len(opened.files) == 2
    assert opened.weight == 2 * files[0].bytes


def test_files_that_no_version_uses_are_let_go(tmp_path: Path, monkeypatch) -> None:
    opened = OpenedFiles(9, 1 << 20)
    monkeypatch.setattr(module, "_OPENED", opened)
    store, other = DirectoryStore(str(tmp_path / "a")), DirectoryStore(str(tmp_path / "b"))
    files = [store.write(f"left-join-0-{version}", BATCH) for version in (1, 2, 3)]
    elsewhere = other.write("op-0-1", BATCH)
    for file in files:
        store.read(file)
    other.read(elsewhere)
    store.forget_before(3, {files[1].name})
    assert [key[-1] for key in opened.files] == [files[1].name, files[2].name, elsewhere.name]


def test_a_file_that_is_no_arrow_file_is_damaged(tmp_path: Path) -> None:
    store = DirectoryStore(str(tmp_path))
    (tmp_path / "x").write_bytes(b"")
    with pytest.raises(StateError, match='"x" is damaged'):
        store.read(File("x", "", 5))


def test_a_disk_that_cannot_read_is_told_apart_from_damage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = DirectoryStore(str(tmp_path))
    file = store.write("op-0-1", BATCH)
    fresh(store)

    def failing(path: str) -> None:
        raise OSError(5, "Input/output error", path)

    monkeypatch.setattr("ebbtide.state.store.pa.memory_map", failing)
    with pytest.raises(StateError, match=file.name) as caught:
        store.read(file)
    assert caught.value.code == "unusable-file"
