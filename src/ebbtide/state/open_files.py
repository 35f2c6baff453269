"""Files that this process has opened: verified once, kept while they are used, within bounds.

Local files are mapped and weigh nothing but what is prepared from them; others weigh what they
hold.  The least recently used ones are closed.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Any, TypeAlias

Key: TypeAlias = tuple[str, str, str]
Prepare: TypeAlias = Callable[[Any], Any]


def identity(batch: Any) -> Any:
    """The batch itself."""
    return batch


class Opened:
    """The batch of a file, what has been prepared from it, and the memory that both take."""

    def __init__(self, batch: Any, weight: int = 0) -> None:
        self.batch = batch
        self.weight = weight
        self.made: dict[Prepare, Any] = {}

    def prepared(self, prepare: Prepare) -> Any:
        """What ``prepare`` makes of the batch, made once."""
        if prepare not in self.made:
            self.made[prepare] = made = prepare(self.batch)
            self.weight += 0 if made is self.batch else getattr(made, "nbytes", 0)
        return self.made[prepare]


class OpenedFiles:
    """The verified files of this process, the last used ones, and those it has written."""

    def __init__(self, files: int, weight: int) -> None:
        self.most, self.heaviest = files, weight
        self.files: OrderedDict[Key, tuple[Opened, int]] = OrderedDict()
        self.own: OrderedDict[Key, None] = OrderedDict()
        self.weight = 0
        self.lock = Lock()

    def get(self, key: Key) -> Opened | None:
        with self.lock:
            found = self.files.get(key)
            return None if found is None else found[0]

    def put(self, key: Key, opened: Opened) -> None:
        """Makes a file the last used one, and closes the first ones if there are too many."""
        with self.lock:
            self._drop(key)
            self.files[key] = opened, opened.weight
            self.weight += opened.weight
            while len(self.files) > self.most or (
                self.weight > self.heaviest and len(self.files) > 1
            ):
                self._drop(next(iter(self.files)))

    def trust(self, key: Key) -> None:
        with self.lock:
            self.own[key] = None
            while len(self.own) > self.most:
                self.own.popitem(last=False)

    def trusts(self, key: Key) -> bool:
        """Whether this process wrote the file and has not opened it yet."""
        with self.lock:
            return self.own.pop(key, True) is None

    def drop(self, key: Key) -> None:
        with self.lock:
            self._drop(key)
            self.own.pop(key, None)

    def drop_all(self, unwanted: Callable[[Key], bool]) -> None:
        """Lets go of all files that nobody wants any more."""
        with self.lock:
            for key in [key for key in (*self.files, *self.own) if unwanted(key)]:
                self._drop(key)
                self.own.pop(key, None)

    def _drop(self, key: Key) -> None:
        if key in self.files:
            self.weight -= self.files.pop(key)[1]
