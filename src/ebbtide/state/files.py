"""Files of ours: nobody else can read them, and only what is provably ours is removed.

Law: after ``replace`` a file has the new content, and after a crash at any point the old one or the
new one, never a part; what was replaced durably before is there before what is replaced after, and
so are the directories that it lies in.
Directories are made for their owner alone, and so are files; nothing is removed through a
symbolic link below a directory of ours; whatever the file system answers becomes an error that
names the file, except that a file is not there.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from typing import IO, Any

from ebbtide.errors import StateError

_DIRECTORY = 0o700
_FILE = 0o600
_UNFINISHED = re.compile(r"\.?[0-9a-f]{32}\.tmp")
_NO_LINK = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FULL = (errno.ENOSPC, errno.EDQUOT)
_SYNCED: set[str] = set()
"""Directories whose names this process knows to be durable."""


def digest(content: Any) -> str:
    """What proves a content: 128 bits of its SHA-256."""
    return sha256(content).hexdigest()[:32]


def make_directory(path: str) -> None:
    """Makes a directory, and those above it that are not there, for their owner alone; durably.

    One that is there may be what a process has left that ended before it was durable.
    """
    with usable(path):
        there = os.path.isdir(path)
        if there and path in _SYNCED:
            return
        above = os.path.dirname(path)
        if not there:
            if above and above != path:
                make_directory(above)
            try:
                os.mkdir(path, _DIRECTORY)
            except FileExistsError:
                if not os.path.isdir(path):  # else another process was faster
                    raise
        with suppress(PermissionError):  # whoever may not read there cannot sync it
            sync_directory(above or ".")
        _SYNCED.add(path)


def created(path: str) -> IO[bytes]:
    """A new file, for its owner alone; what stands there already is no place for it."""
    with usable(path):
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _FILE)
        return os.fdopen(handle, "wb")


def replace(path: str, content: Any, sync: bool = True, names: bool = True) -> None:
    """Writes a file under another name, syncs it, renames it, and syncs its directory.

    Without ``names`` whoever has written several files syncs their directory once; what is read
    only while the machine is up needs no ``sync`` at all.
    """
    directory = os.path.dirname(path)
    make_directory(directory)
    temporary = f"{directory}/.{uuid.uuid4().hex}.tmp"
    try:
        with usable(path), created(temporary) as file:
            file.write(content.encode() if isinstance(content, str) else content)
            if sync:
                file.flush()
                os.fsync(file.fileno())
        with usable(path):
            os.replace(temporary, path)
    except (StateError, FileNotFoundError):
        with suppress(OSError):
            os.unlink(temporary)
        raise
    if sync and names:
        with usable(directory):
            sync_directory(directory)


def sync_directory(path: str) -> None:
    """Makes the names in a directory durable."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def is_unfinished(name: str) -> bool:
    """Whether a name is that of a file that was never renamed."""
    return _UNFINISHED.fullmatch(name) is not None


def opened_for_update(path: str) -> IO[bytes]:
    """A file to read and to add to, made for its owner alone if it is not there."""
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    with usable(path):
        handle = os.open(path, flags, _FILE)
        try:
            _check_regular(handle)
            return os.fdopen(handle, "r+b")
        except BaseException:
            os.close(handle)
            raise


def content_of(path: str, start: int = 0, size: int = -1) -> bytes:
    """The bytes of a file from a place on; only that it is not there stays the system's error."""
    with usable(path):
        # Without O_NONBLOCK a pipe in the place of a file would be waited for.
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            _check_regular(handle)
            file = os.fdopen(handle, "rb")
        except BaseException:
            os.close(handle)
            raise
        with file:
            file.seek(start)
            return file.read(size)


def regular_files(directory: str) -> list[str]:
    """The names of the files in a directory, in order, and of no links; none if it is not there."""
    return [name for name, regular in _listed(directory) if regular]


def other_files(directory: str) -> list[str]:
    """The names of what else is in a directory, but for directories."""
    return [name for name, regular in _listed(directory) if not regular]


def identity_of(path: str) -> tuple[int, ...]:
    """What changes when a file does; nothing for one that is not there."""
    try:
        found = os.stat(path)
    except OSError:
        return ()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def refuse_link(path: str) -> None:
    """What stands behind a link is not ours, to write there or to remove."""
    if os.path.islink(path):
        raise StateError(
            "linked-directory",
            f'"{path}" is a symbolic link',
            detail=f"to {os.readlink(path)}",
            hint="put the directory itself there; a whole location may lie behind a link",
        )


def directories(directory: str) -> list[str]:
    """The names of the directories in a directory, in order, and of no links to such."""
    with usable(directory), suppress(FileNotFoundError), os.scandir(directory) as found:
        return sorted(entry.name for entry in found if entry.is_dir(follow_symlinks=False))
    return []


def remove(root: str, file: str) -> bool:
    """Removes a regular file below a directory; whether there was one.

    No part of the way from there may be a link: what stands behind one is not ours.
    """
    *above, name = file.split("/")
    handle = -1
    try:
        with usable(f"{root}/{file}"):
            handle = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            for part in above:
                below = os.open(part, _NO_LINK, dir_fd=handle)
                os.close(handle)
                handle = below
            if not stat.S_ISREG(os.stat(name, dir_fd=handle, follow_symlinks=False).st_mode):
                return False
            os.unlink(name, dir_fd=handle)
            return True
    except FileNotFoundError:
        return False
    finally:
        if handle >= 0:
            os.close(handle)


@contextmanager
def usable(path: str) -> Iterator[None]:
    """What the file system answers as an error of ours, except that a file is not there."""
    try:
        yield
    except FileNotFoundError:
        raise
    except OSError as error:
        raise unusable(path, error) from error


def unusable(path: str, error: OSError) -> StateError:
    """The error of a file or directory that is something else, or cannot be used."""
    if error.errno in _FULL:
        return StateError(
            "disk-full",
            f'there is no room for "{path}"',
            detail=os.strerror(error.errno),
            hint="make room there and try again: nothing that was there before has changed",
        )
    return StateError(
        "unusable-file",
        f'"{path}" cannot be used',
        detail=os.strerror(error.errno) if error.errno else str(error),
        hint="put it right or restore the directory: Ebbtide changes nothing there",
    )


def _check_regular(handle: int) -> None:
    mode = os.fstat(handle).st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(21, "")
    if not stat.S_ISREG(mode):
        raise OSError("it is not a regular file")


def _listed(directory: str) -> list[tuple[str, bool]]:
    with usable(directory), suppress(FileNotFoundError), os.scandir(directory) as found:
        return sorted(
            (entry.name, entry.is_file(follow_symlinks=False))
            for entry in found
            if not entry.is_dir(follow_symlinks=False)
        )
    return []
