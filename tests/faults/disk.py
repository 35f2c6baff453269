"""A disk that can fail: what is durable of a directory, and faults at any operation on it.

Law: within ``with Disk(root)`` every operation of this process on files below the root is counted,
and may be the last (``Crash``) or fail with an error of the system; reads through Arrow's maps are
counted when they open a file.  Beside the files as they are, the disk knows what of them is
durable: the content of a file when it was last synced, and the names in a directory when that was.

After a power cut (``cut``) any combination of the rest may be there: each name as it was synced or
as it is now, each file that was not synced empty, cut off, filled with zeros, old or whole.
"""

from __future__ import annotations

import builtins
import io
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa

WRITES = ("create", "write", "mkdir", "sync", "sync names", "rename", "link", "truncate")
READS = ("open", "read", "map", "list")


class Crash(BaseException):
    """The process is gone; nothing may catch it."""


@dataclass(eq=False)
class Node:
    """A file: what it had when it was last synced."""

    durable: bytes = b""


@dataclass(eq=False)
class Directory:
    """A directory: its names when they were last synced, and as they are."""

    durable: dict[str, Node | Directory] = field(default_factory=dict)
    current: dict[str, Node | Directory] = field(default_factory=dict)


Fault = Callable[[str, str], None]
"""Called with the kind and the path of each operation before it; what it raises is the fault."""


class Disk:
    """Watches the files below a root; what is there at the beginning is durable."""

    def __init__(self, root: str) -> None:
        self.root = os.path.realpath(root)
        self.tree = _durable(Path(self.root))
        self.count = 0
        self.fault: Fault | None = None
        self.dead = False
        self.renamed: list[str] = []
        self._real = {name: getattr(os, name) for name in _HOOKED}
        self._real_open, self._real_map = builtins.open, pa.memory_map

    def __enter__(self) -> Disk:
        for name in _HOOKED:
            setattr(os, name, getattr(self, f"_{name}"))
        builtins.open = self._builtin_open  # type: ignore[assignment]
        pa.memory_map = self._memory_map
        return self

    def __exit__(self, *_: object) -> None:
        for name, real in self._real.items():
            setattr(os, name, real)
        builtins.open = self._real_open
        pa.memory_map = self._real_map

    def cut(self, random: Random) -> None:
        """What is left when the power was cut; the files are those of a new process."""
        self.__exit__()
        left = f"{self.root}.left"
        os.mkdir(left)
        _lay_out(self.tree, Path(self.root), Path(left), random)
        shutil.rmtree(self.root)
        os.rename(left, self.root)
        self.tree = _durable(Path(self.root))
        self.dead = False
        self.__enter__()

    def operation(self, kind: str, path: str) -> None:
        """An operation that is about to happen."""
        if self.dead:
            raise Crash
        self.count += 1
        if self.fault is not None:
            try:
                self.fault(kind, path)
            except Crash:
                self.dead = True
                raise

    # --- what is known of a path --------------------------------------------------------------

    def _full(self, path: Any, dir_fd: int | None = None) -> str | None:
        """The path below the root; None if it is not there."""
        if isinstance(path, int):
            text = os.readlink(f"/proc/self/fd/{path}")
        else:
            above = os.getcwd() if dir_fd is None else os.readlink(f"/proc/self/fd/{dir_fd}")
            text = os.path.normpath(os.path.join(above, os.fsdecode(path)))
        return text if text.startswith(f"{self.root}/") or text == self.root else None

    def _directory(self, path: str) -> Directory:
        found: Node | Directory = self.tree
        for part in Path(path).relative_to(self.root).parts:
            assert isinstance(found, Directory)
            found = found.current[part]
        assert isinstance(found, Directory), path
        return found

    def _above(self, path: str) -> tuple[Directory, str]:
        above, name = os.path.split(path)
        return self._directory(above), name

    # --- the operations -----------------------------------------------------------------------

    def _open(self, path: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        full = self._full(path, dir_fd)
        if full is None:
            return int(self._real["open"](path, flags, mode, dir_fd=dir_fd))
        made = bool(flags & os.O_CREAT) and not os.path.lexists(full)
        self.operation("create" if made else "open", full)
        handle = int(self._real["open"](path, flags, mode, dir_fd=dir_fd))
        if made:
            above, name = self._above(full)
            above.current[name] = Node()
        return handle

    def _fdopen(self, handle: int, mode: str = "r", *arguments: Any, **options: Any) -> Any:
        if self._full(handle) is None or "b" not in mode:
            return self._real["fdopen"](handle, mode, *arguments, **options)
        raw = _Raw(self, handle, mode)
        if "+" in mode:
            return io.BufferedRandom(raw)
        return io.BufferedReader(raw) if "r" in mode else io.BufferedWriter(raw)

    def _builtin_open(self, file: Any, mode: str = "r", *arguments: Any, **options: Any) -> Any:
        if "w" not in mode or isinstance(file, int) or self._full(file) is None:
            return self._real_open(file, mode, *arguments, **options)
        handle = self._open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
        return self._fdopen(handle, mode)

    def _memory_map(self, path: str, *arguments: Any) -> Any:
        full = self._full(path)
        if full is not None:
            self.operation("map", full)
        return self._real_map(path, *arguments)

    def _scandir(self, path: Any = ".") -> Any:
        full = self._full(path)
        if full is not None:
            self.operation("list", full)
        return self._real["scandir"](path)

    def _mkdir(self, path: Any, mode: int = 0o777, *, dir_fd: int | None = None) -> None:
        full = self._full(path, dir_fd)
        if full is not None:
            self.operation("mkdir", full)
        self._real["mkdir"](path, mode, dir_fd=dir_fd)
        if full is not None:
            above, name = self._above(full)
            above.current[name] = Directory()

    def _replace(self, source: Any, target: Any) -> None:
        self._moved("replace", source, target)

    def _rename(self, source: Any, target: Any) -> None:
        self._moved("rename", source, target)

    def _moved(self, how: str, source: Any, target: Any) -> None:
        old, new = self._full(source), self._full(target)
        if old is None or new is None:
            self._real[how](source, target)
            return
        self.operation("rename", new)
        self._real[how](source, target)
        before, name = self._above(old)
        after, its = self._above(new)
        after.current[its] = before.current.pop(name)
        self.renamed.append(new)

    def _link(self, source: Any, target: Any, **options: Any) -> None:
        old, new = self._full(source), self._full(target)
        if new is not None:
            self.operation("link", new)
        self._real["link"](source, target, **options)
        if old is not None and new is not None:
            before, name = self._above(old)
            after, its = self._above(new)
            after.current[its] = before.current[name]

    def _unlink(self, path: Any, *, dir_fd: int | None = None) -> None:
        self._removed("unlink", path, dir_fd)

    def _remove(self, path: Any, *, dir_fd: int | None = None) -> None:
        self._removed("remove", path, dir_fd)

    def _rmdir(self, path: Any, *, dir_fd: int | None = None) -> None:
        self._removed("rmdir", path, dir_fd)

    def _removed(self, how: str, path: Any, dir_fd: int | None) -> None:
        full = self._full(path, dir_fd)
        if full is not None:
            self.operation("remove", full)
        self._real[how](path, dir_fd=dir_fd)
        if full is not None:
            above, name = self._above(full)
            above.current.pop(name, None)

    def _fsync(self, handle: Any) -> None:
        number = handle if isinstance(handle, int) else handle.fileno()
        full = self._full(number)
        if full is None:
            self._real["fsync"](number)
            return
        whole = os.path.isdir(full)
        self.operation("sync names" if whole else "sync", full)
        # Nothing is gained by waiting for the disk that lies below this one.
        if whole:
            directory = self._directory(full)
            directory.durable = dict(directory.current)
            return
        above, name = self._above(full)
        node = above.current[name]
        assert isinstance(node, Node)
        node.durable = Path(full).read_bytes()


_HOOKED = (
    "open",
    "fdopen",
    "scandir",
    "mkdir",
    "replace",
    "rename",
    "link",
    "unlink",
    "remove",
    "rmdir",
    "fsync",
)


class _Raw(io.FileIO):
    """A file of a disk; what is written after the crash goes nowhere."""

    def __init__(self, disk: Disk, handle: int, mode: str) -> None:
        super().__init__(handle, mode.replace("b", ""))
        self._disk, self._path = disk, str(disk._full(handle))

    def write(self, content: Any) -> int:
        if self._disk.dead:
            return len(content)
        try:
            self._disk.operation("write", self._path)
        except (Crash, OSError):
            # Some of it may have come to the file.
            with suppress(OSError):
                super().write(bytes(content)[: len(content) // 2])
            raise
        return super().write(content) or 0

    def readinto(self, buffer: Any) -> int | None:
        self._disk.operation("read", self._path)
        return super().readinto(buffer)

    def readall(self) -> bytes:
        self._disk.operation("read", self._path)
        return super().readall()

    def truncate(self, size: int | None = None) -> int:
        self._disk.operation("truncate", self._path)
        return super().truncate(size)


def _durable(path: Path) -> Directory:
    """All that is there, as durable."""
    found: dict[str, Node | Directory] = {}
    for entry in sorted(path.iterdir()):
        if entry.is_dir() and not entry.is_symlink():
            found[entry.name] = _durable(entry)
        elif entry.is_file():
            found[entry.name] = Node(entry.read_bytes())
    return Directory(found, dict(found))


def _lay_out(directory: Directory, now: Path, left: Path, random: Random) -> None:
    """Writes what is left of a directory; ``now`` is where its files were."""
    for name in sorted({*directory.durable, *directory.current}):
        before, after = directory.durable.get(name), directory.current.get(name)
        chosen = before if before is after else random.choice((before, after))
        place = now / name if chosen is after else None
        if isinstance(chosen, Directory):
            (left / name).mkdir()
            _lay_out(chosen, place or Path("nowhere"), left / name, random)
        elif chosen is not None:
            current = place.read_bytes() if place is not None and place.is_file() else None
            (left / name).write_bytes(_content(chosen.durable, current, random))


def _content(durable: bytes, current: bytes | None, random: Random) -> bytes:
    """What a file has: what was synced, or some of what came since."""
    if current is None or current == durable:
        return durable
    pairs = zip(durable, current, strict=False)
    same = sum(1 for _ in takewhile(lambda two: two[0] == two[1], pairs))
    end = random.randint(same, len(current))
    zeros = current[:end] + bytes(len(current) - end)
    return random.choice((durable, current, current[:end], zeros))
