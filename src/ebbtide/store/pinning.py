"""Files that someone goes on reading: pinned by hard links, so that none is taken from a reader.

Law: a pinned file can be read for as long as its process lives and asks for it now and then,
whatever is compacted meanwhile.  A DataFrame reads its files when it is used, which may be long
after it was made; whoever reads at once needs no pin.

The links of a process lie in a directory of its own, with a lock that ends with it; those of
processes that are gone are removed at the next start of the program.
"""

from __future__ import annotations

import atexit
import fcntl
import os
import shutil
import time
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from threading import Lock
from typing import IO

from ebbtide.errors import StateError
from ebbtide.state.files import directories, make_directory, opened_for_update, remove
from ebbtide.store.archive import missing_output

DIRECTORY = "reading"
_TREE = "tree"
KEPT_SECONDS = 600.0
"""So long a pin is kept that nobody has asked for again."""


class _Pins:
    """The pins of this process in one program's directory."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.directory = f"{root}/{DIRECTORY}/{uuid.uuid4().hex}"
        make_directory(self.directory)
        self.lock: IO[bytes] = opened_for_update(f"{self.directory}/lock")
        fcntl.flock(self.lock, fcntl.LOCK_EX)
        self.asked: dict[str, float] = {}

    def pin(self, files: Iterable[str]) -> list[str]:
        now = time.monotonic()
        paths = []
        for file in files:
            path = f"{self.directory}/{os.path.basename(file)}"
            if path not in self.asked:
                try:
                    os.link(f"{self.root}/{file}", path)
                except FileNotFoundError as error:
                    raise missing_output(self.root, file) from error
            self.asked[path] = now
            paths.append(path)
        for path in [p for p, asked in self.asked.items() if asked < now - KEPT_SECONDS]:
            del self.asked[path]
            with suppress(FileNotFoundError):
                os.unlink(path)
        return paths

    def release(self) -> None:
        shutil.rmtree(self.directory, ignore_errors=True)
        self.lock.close()


_PINS: dict[str, _Pins] = {}
_LOCK = Lock()


def pinned(root: str, files: Iterable[str]) -> list[str]:
    """Paths by which files can be read later on, in their order; the names stay the same."""
    listed = list(files)
    if not listed:
        return []
    with _LOCK:
        try:
            if root not in _PINS or not os.path.isdir(_PINS[root].directory):
                _PINS[root] = _Pins(root)
            return _PINS[root].pin(listed)
        except StateError as error:
            if error.code == "missing-output":
                raise
        except OSError:
            pass
    # Who may not write there, or has no hard links, reads the files where they are.
    return [f"{root}/{file}" for file in listed]


@contextmanager
def pinned_for_a_while(root: str, files: Iterable[str]) -> Iterator[dict[str, str]]:
    """Paths by which files can be read inside, by their names below the program's directory."""
    pins = _Pins(root)
    try:
        found = {}
        for number, file in enumerate(files):
            path = f"{pins.directory}/{number}"
            try:
                os.link(f"{root}/{file}", path)
            except FileNotFoundError as error:
                raise missing_output(root, file) from error
            found[file] = path
        yield found
    finally:
        pins.release()


@contextmanager
def linked_for_a_while(root: str, files: Iterable[str]) -> Iterator[str]:
    """A directory with files of a program's under their names there, to be written to inside."""
    pins = _Pins(root)
    try:
        tree = f"{pins.directory}/{_TREE}"
        make_directory(tree)
        for file in files:
            make_directory(os.path.dirname(f"{tree}/{file}"))
            try:
                os.link(f"{root}/{file}", f"{tree}/{file}")
            except FileNotFoundError as error:
                raise missing_output(root, file) from error
        yield tree
    finally:
        pins.release()


def release_abandoned(root: str) -> None:
    """Removes the pins of processes that are gone."""
    for name in directories(f"{root}/{DIRECTORY}"):
        place = f"{DIRECTORY}/{name}"
        with opened_for_update(f"{root}/{place}/lock") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                continue
            shutil.rmtree(f"{root}/{place}/{_TREE}", ignore_errors=True)
            for file in os.listdir(f"{root}/{place}"):
                remove(root, f"{place}/{file}")
            with suppress(OSError):
                os.rmdir(f"{root}/{place}")


@atexit.register
def release_all() -> None:
    """Removes the pins of this process."""
    with _LOCK:
        for pins in _PINS.values():
            pins.release()
        _PINS.clear()
