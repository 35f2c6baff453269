"""The representations of an input archive that paper 3 compares (section 4.1), on files.

| name | it is | a replay reads | what is aged out |
|---|---|---|---|
| UT | one table without an index, rows as they came | all of it | is looked for in all of it |
| IT | one table with an index on time | what the index says | leaves the index, row by row |
| B_k | a table for each k rows, and the times of each table | whole tables | whole tables go |
| IB_k | the same, each sorted by symbol and time | a part of each table | whole tables go |

Ebbtide's archive is B_k: segments are the tables, and their zone maps have the times.
A row has 100 bytes, as in the paper.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np

ROW = np.dtype([("at", "<i8"), ("symbol", "<i4"), ("price", "<f8"), ("pad", "S80")])
_CHUNK = 100_000


class ArchiveFormat(Protocol):
    """Holds rows in the order of their times."""

    def insert(self, rows: Any) -> None:
        """Takes more rows, none older than those that are there."""

    def age(self, floor: int) -> None:
        """Lets go of rows up to a time."""

    def replay(self, symbol: int, since: int, until: int) -> Any:
        """The rows of a symbol in ``[since, until)``."""


def rows_of(first: int, prices: Any) -> Any:
    """The rows of seconds, by the prices of all stocks."""
    seconds, stocks = prices.shape
    rows = np.zeros(seconds * stocks, ROW)
    rows["at"] = np.repeat(np.arange(first, first + seconds), stocks)
    rows["symbol"] = np.tile(np.arange(stocks), seconds)
    rows["price"] = prices.ravel()
    return rows


@dataclass
class OneTable:
    """UT: one file.  It is read through twice, once to age rows out and once to find rows; with
    ``single_pass`` both at once (the paper's UT-2)."""

    directory: Path
    single_pass: bool = False
    first: int = 0

    @property
    def _file(self) -> Path:
        return self.directory / "table"

    def insert(self, rows: Any) -> None:
        with self._file.open("ab") as file:
            file.write(rows.tobytes())

    def age(self, floor: int) -> None:
        if self.single_pass:
            return
        gone = sum(int((chunk["at"] <= floor).sum()) for chunk in self._chunks())
        self.first += gone

    def replay(self, symbol: int, since: int, until: int) -> Any:
        return np.concatenate([_found(chunk, symbol, since, until) for chunk in self._chunks()])

    def _chunks(self) -> Any:
        size = self._file.stat().st_size // ROW.itemsize
        with self._file.open("rb") as file:
            file.seek(self.first * ROW.itemsize)
            for _ in range(self.first, size, _CHUNK):
                yield np.frombuffer(file.read(_CHUNK * ROW.itemsize), ROW)


@dataclass
class IndexedTable:
    """IT: one file, and a file with the time of every row, in which a search is binary."""

    directory: Path
    first: int = 0

    @property
    def _file(self) -> Path:
        return self.directory / "table"

    @property
    def _index(self) -> Path:
        return self.directory / "index"

    def insert(self, rows: Any) -> None:
        with self._file.open("ab") as file:
            file.write(rows.tobytes())
        # The place of every row, with its time: an entry for each.
        entries = np.column_stack([rows["at"], np.arange(len(rows))])
        with self._index.open("ab") as file:
            file.write(entries[np.argsort(entries[:, 0], kind="stable"), 0].tobytes())

    def age(self, floor: int) -> None:
        times = np.fromfile(self._index, "<i8")
        gone = int(np.searchsorted(times, floor, "right"))
        if gone:
            times[gone:].tofile(self._index)
            self.first += gone

    def replay(self, symbol: int, since: int, until: int) -> Any:
        times = np.memmap(self._index, "<i8", "r")
        low, high = np.searchsorted(times, [since, until])
        rows = np.memmap(self._file, ROW, "r")[self.first + low : self.first + high]
        return _found(rows, symbol, since, until)


@dataclass
class Buckets:
    """B_k, and if they are ``indexed`` IB_k; the table of buckets has the times of each."""

    directory: Path
    indexed: bool = False
    known: list[tuple[int, int, Path]] = field(default_factory=list)
    made: int = 0

    def insert(self, rows: Any) -> None:
        file = self.directory / f"bucket{self.made}"
        self.made += 1
        times = int(rows["at"][0]), int(rows["at"][-1])
        if self.indexed:
            rows = rows[np.lexsort((rows["at"], rows["symbol"]))]
        file.write_bytes(rows.tobytes())
        self.known.append((*times, file))

    def age(self, floor: int) -> None:
        for _, _, file in (gone := [each for each in self.known if each[1] <= floor]):
            file.unlink()
        self.known = [each for each in self.known if each not in gone]

    def replay(self, symbol: int, since: int, until: int) -> Any:
        met = [file for low, high, file in self.known if high >= since and low < until]
        return np.concatenate([self._of(file, symbol, since, until) for file in met])

    def _of(self, file: Path, symbol: int, since: int, until: int) -> Any:
        rows = np.memmap(file, ROW, "r")
        if not self.indexed:
            return _found(np.array(rows), symbol, since, until)
        low = int(np.searchsorted(rows["symbol"], symbol, "left"))
        high = int(np.searchsorted(rows["symbol"], symbol, "right"))
        return _found(rows[low:high], symbol, since, until)


def _found(rows: Any, symbol: int, since: int, until: int) -> Any:
    chosen = (rows["symbol"] == symbol) & (rows["at"] >= since) & (rows["at"] < until)
    return np.array(rows[chosen])


def formats(directory: Path, bucket: str) -> dict[str, ArchiveFormat]:
    """All of them, each in a directory of its own."""
    made: dict[str, ArchiveFormat] = {}
    for name in ("UT-1", "UT-2", "IT", f"B_{bucket}", f"IB_{bucket}"):
        place = directory / name
        place.mkdir(parents=True)
        if name.startswith("UT"):
            made[name] = OneTable(place, name == "UT-2")
        elif name == "IT":
            made[name] = IndexedTable(place)
        else:
            made[name] = Buckets(place, name.startswith("IB"))
    return made
