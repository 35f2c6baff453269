"""Crashes at every file operation: the process is gone before one of them, and all it did stays."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

import pytest

OPERATIONS = ("replace", "rename", "fsync", "unlink", "remove", "rmdir", "link", "mkdir")


class Killed(BaseException):
    """The process is gone."""


@contextmanager
def killed_before(point: int) -> Iterator[None]:
    """Raises instead of the file operation of that number; every later one fails as well."""
    left = [point]

    def counting(real: Any) -> Any:
        def call(*given: Any, **named: Any) -> Any:
            left[0] -= 1
            if left[0] < 0:
                raise Killed
            return real(*given, **named)

        return call

    with pytest.MonkeyPatch.context() as patch:
        for name in OPERATIONS:
            patch.setattr(os, name, counting(getattr(os, name)))
        yield


def crash_everywhere(operation: Callable[[], Any], judge: Callable[[], None]) -> int:
    """Runs an operation with a crash before each of its file operations in turn, until it is done.

    What a crash has left is judged each time.  It gives how many crashes there were.
    """
    for point in count():
        try:
            with killed_before(point):
                operation()
        except Killed:
            judge()
        else:
            judge()
            return point
    raise AssertionError("count() ends")
