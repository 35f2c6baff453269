"""The files of a batch, shared out among tasks.

Law: every file is in one share, and shares are the same whenever the step is repeated with the
same files on as many cores.  Where all that arrives is files that tasks read, nothing else need
travel: a task knows its share by its number.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from heapq import heapreplace

_LARGEST = 1 << 27
"""About how many bytes a task reads, where there are more than all cores can be given at once."""


@dataclass(frozen=True, slots=True)
class NamedFile:
    """A file that a task reads: the number of its source, where it is, and how it is read."""

    source: int
    place: str
    how: str


@dataclass(frozen=True, slots=True)
class BatchShares:
    """What each task of a batch reads, in the order of their numbers.

    ``last`` has the last place of a row of each source before the batch; None if rows have none.
    """

    shares: tuple[tuple[NamedFile, ...], ...]
    last: tuple[int | None, ...]

    @staticmethod
    def of(files: Iterable[NamedFile], cores: int, last: tuple[int | None, ...]) -> BatchShares:
        """The files in shares of about the same size: the largest first, each to whoever has least
        so far."""
        sizes = {file: os.path.getsize(file.place) for file in files}
        wanted = max(cores, -(-sum(sizes.values()) // _LARGEST))
        shares: list[list[NamedFile]] = [[] for _ in range(max(1, min(wanted, len(sizes))))]
        least = [(0, task) for task in range(len(shares))]
        for file in sorted(sizes, key=lambda f: (-sizes[f], f.source, f.place)):
            size, task = least[0]
            shares[task].append(file)
            heapreplace(least, (size + sizes[file], task))
        return BatchShares(tuple(map(tuple, shares)), last)

    @property
    def files(self) -> list[NamedFile]:
        """All files."""
        return [file for share in self.shares for file in share]

    def first_place(self, source: int, task: int) -> int | None:
        """The place of the first row that a task reads of a source.

        It leaves room for the rows of the tasks before, as Spark's own numbers of rows do.
        """
        last = self.last[source]
        return None if last is None else last + 1 + (task << 33)
