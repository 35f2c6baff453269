"""Where segments are kept: a directory on any file system that pyarrow reaches, or memory.

Law: a file is never changed.  It is written under a name that nobody else uses and renamed to
``operator-shard-version-contenthash`` when it is whole, so that whoever writes the same segment
again writes the same file.  The hash of the content is the checksum that its descriptor keeps; it
is verified when a process first opens a file that it has not just written itself, and a file that
is missing or does not match is named and never used.

With ``sync`` a local file is durable when it is written, and its name after ``sync_names``.
Local files are memory-mapped, so reading costs what is looked at.
"""

from __future__ import annotations

import os
import re
import uuid
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any, Protocol

import pyarrow as pa
from pyarrow import fs

from ebbtide.core.file_name import file_name
from ebbtide.errors import StateError
from ebbtide.state.files import (
    digest,
    make_directory,
    regular_files,
    remove,
    replace,
    sync_directory,
    unusable,
    usable,
)
from ebbtide.state.open_files import Key, Opened, OpenedFiles, Prepare, identity

_SEGMENT = re.compile(r"(.+)-(\d+)-(\d+)-[0-9a-f]{32}", re.DOTALL)
_OPEN_FILES = 1024
_OPEN_BYTES = 1 << 28


@dataclass(frozen=True, slots=True)
class File:
    """A written file: its name, and what proves its content."""

    name: str
    checksum: str
    bytes: int


class SegmentStore(Protocol):
    """Keeps record batches under names; what it gives back is what was written."""

    def write(self, label: str, batch: Any) -> File:
        """Keeps a batch under ``label`` and the hash of its content."""
        ...

    def read(self, file: File, prepare: Prepare = identity) -> Any:
        """What is prepared from the batch of a file, verified; kept with the opened file."""
        ...

    def forget(self, name: str) -> None:
        """Lets go of what this process holds of a file."""
        ...

    def names(self) -> set[str]:
        """The names of all files that are there, unfinished ones included."""
        ...

    def delete(self, names: Iterable[str]) -> None:
        """Removes files; one that is not there is no error."""
        ...


class DirectoryStore:
    """Files in a directory."""

    def __init__(self, root: str, filesystem: Any = None, sync: bool = False) -> None:
        if filesystem is None:
            filesystem, root = fs.FileSystem.from_uri(root) if "://" in root else (None, root)
        self.filesystem = filesystem or fs.LocalFileSystem()
        self.root = root.rstrip("/")
        self.sync = sync
        if self.is_local:
            make_directory(self.root)
        else:
            self.filesystem.create_dir(self.root, recursive=True)

    def __repr__(self) -> str:
        return f"DirectoryStore({self.root!r})"

    @property
    def is_local(self) -> bool:
        """Whether files can be memory-mapped."""
        return isinstance(self.filesystem, fs.LocalFileSystem)

    def write(self, label: str, batch: Any) -> File:
        content = _serialised(batch)
        checksum = digest(content)
        name = f"{label}-{checksum}"
        self._write(name, content)
        _OPENED.trust(self._key(name))
        return File(name, checksum, content.size)

    def _write(self, name: str, content: Any) -> None:
        if self.is_local:
            replace(f"{self.root}/{name}", content, sync=self.sync, names=False)
            return
        temporary = f"{self.root}/.{uuid.uuid4().hex}.tmp"
        with self.filesystem.open_output_stream(temporary) as stream:
            stream.write(content)
        self.filesystem.move(temporary, f"{self.root}/{name}")

    def sync_names(self) -> None:
        """Makes durable that the files are there which were written; each of them is already."""
        if self.sync and self.is_local:
            with usable(self.root):
                sync_directory(self.root)

    def read(self, file: File, prepare: Prepare = identity) -> Any:
        key = self._key(file.name)
        found = _OPENED.get(key)
        if found is None:
            batch = _deserialised(file, self._content(file), _OPENED.trusts(key))
            found = Opened(batch, 0 if self.is_local else file.bytes)
        result = found.prepared(prepare)
        _OPENED.put(key, found)
        return result

    def _key(self, name: str) -> Key:
        return self.filesystem.type_name, self.root, name

    def _content(self, file: File) -> Any:
        path = f"{self.root}/{file.name}"
        try:
            if self.is_local:
                with pa.memory_map(path) as mapped:
                    return mapped.read_buffer()
            with self.filesystem.open_input_stream(path) as stream:
                return stream.read_buffer()
        except FileNotFoundError as error:
            raise missing(file.name) from error
        except OSError as error:
            raise unusable(path, error) from error

    def forget(self, name: str) -> None:
        _OPENED.drop(self._key(name))

    def forget_before(self, version: int, used: AbstractSet[str]) -> None:
        """Lets go of what this process holds of files of older versions, but for the used ones.

        A file that another process has replaced would else stay mapped, and keep its room.
        """
        place = self._key("")[:-1]
        _OPENED.drop_all(
            lambda key: key[:-1] == place and key[-1] not in used and version_of(key[-1]) < version
        )

    def names(self) -> set[str]:
        if self.is_local:
            return set(regular_files(self.root))
        found = self.filesystem.get_file_info(fs.FileSelector(self.root))
        return {info.base_name for info in found if info.type == fs.FileType.File}

    def delete(self, names: Iterable[str]) -> None:
        for name in sorted(names):
            self.forget(name)
            if self.is_local:
                above, own = os.path.split(self.root)
                remove(above or ".", f"{own}/{name}")
                continue
            try:
                self.filesystem.delete_file(f"{self.root}/{name}")
            except FileNotFoundError:
                continue


class MemoryStore:
    """Batches in this process, for tests and for state that need not outlive it."""

    def __init__(self) -> None:
        self.batches: dict[str, Opened] = {}

    def write(self, label: str, batch: Any) -> File:
        name = f"{label}-{uuid.uuid4().hex}"
        self.batches[name] = Opened(batch)
        return File(name, "", batch.nbytes)

    def read(self, file: File, prepare: Prepare = identity) -> Any:
        try:
            return self.batches[file.name].prepared(prepare)
        except KeyError as error:
            raise missing(file.name) from error

    def forget(self, name: str) -> None:
        pass

    def names(self) -> set[str]:
        return set(self.batches)

    def delete(self, names: Iterable[str]) -> None:
        for name in names:
            self.batches.pop(name, None)


class StagedStore:
    """Batches in this process, over a store that has the others.

    Once it ``settles``, what it has staged is to be written anew, and then into the store below.
    """

    def __init__(self, below: SegmentStore) -> None:
        self.below = below
        self.staged: dict[str, Opened] = {}
        self.settles = False
        self.count = 0

    def write(self, label: str, batch: Any) -> File:
        if self.settles:
            return self.below.write(label, batch)
        self.count += 1
        name = f"{label}-staged{self.count}"
        self.staged[name] = Opened(batch)
        return File(name, "", batch.nbytes)

    def read(self, file: File, prepare: Prepare = identity) -> Any:
        found = self.staged.get(file.name)
        return self.below.read(file, prepare) if found is None else found.prepared(prepare)

    def forget(self, name: str) -> None:
        if self.staged.pop(name, None) is None:
            self.below.forget(name)

    def names(self) -> set[str]:
        return self.below.names() | self.staged.keys()

    def delete(self, names: Iterable[str]) -> None:
        self.below.delete(name for name in names if self.staged.pop(name, None) is None)


@dataclass(frozen=True, slots=True)
class WriteScope:
    """Where a step writes the segments of one operator and shard, and under which names."""

    store: SegmentStore = field(default_factory=MemoryStore)
    operator: str = "operator"
    shard: int = 0
    version: int = 0

    def is_unsettled(self, name: str) -> bool:
        """Whether a segment is only staged, and has to be written now."""
        store = self.store
        return isinstance(store, StagedStore) and store.settles and name in store.staged

    @property
    def label(self) -> str:
        """The beginning of the names of all files written here."""
        return f"{file_name(self.operator)}-{self.shard}-{self.version}"


def version_of(name: str) -> int:
    """The version in whose step a file was written."""
    return int(name.rsplit("-", 2)[1])


@dataclass(frozen=True, slots=True)
class SegmentName:
    """What the name of a segment says: the file name of its operator, its shard and version."""

    operator: str
    shard: int
    version: int


def segment_name(name: str) -> SegmentName | None:
    """The parts of a segment's name; None if no step would have made it."""
    found = _SEGMENT.fullmatch(name)
    return SegmentName(found[1], int(found[2]), int(found[3])) if found else None


def missing(name: str) -> StateError:
    """The error of a segment that is not there."""
    return StateError(
        "missing-segment",
        f'segment "{name}" is missing',
        hint="restore the state directory, or start the query anew with another one",
    )


def damaged(name: str, why: str) -> StateError:
    """The error of a segment that is not what was written."""
    return StateError(
        "damaged-segment",
        f'segment "{name}" is damaged',
        detail=why,
        hint="restore the state directory, or start the query anew with another one",
    )


_OPENED = OpenedFiles(_OPEN_FILES, _OPEN_BYTES)


def forget_all() -> None:
    """Lets go of every file, so that each is verified again, as in a new process."""
    _OPENED.drop_all(lambda key: True)


def _serialised(batch: Any) -> Any:
    # Room for the rows, for the schema twice, and for what frames them.
    room = pa.ipc.get_record_batch_size(batch) + 2 * batch.schema.serialize().size + 4096
    buffer = pa.allocate_buffer(room)
    stream = pa.FixedSizeBufferWriter(buffer)
    with pa.ipc.new_file(stream, batch.schema) as writer:
        writer.write_batch(batch)
    return buffer.slice(0, stream.tell())


def _deserialised(file: File, content: Any, trusted: bool) -> Any:
    if content.size != file.bytes:
        raise damaged(file.name, f"it has {content.size} bytes instead of {file.bytes}")
    if not trusted and digest(content) != file.checksum:
        raise damaged(file.name, "its checksum does not match")
    try:
        return pa.ipc.open_file(pa.BufferReader(content)).get_batch(0)
    except pa.ArrowInvalid as error:  # one of our own, changed before we read it
        raise damaged(file.name, str(error).partition("\n")[0]) from error
