"""Large parcels beside Spark's exchange, where all tasks run on one machine.

Law: whoever takes a parcel finds the rows that were put there.  What travels through the exchange
is the name of a file, which says what is in it: a task that is repeated puts the same rows under
the same name, and Spark, which compares the parcels of such a task, sees if they are others.

Spark would copy every byte of a parcel from process to process and from buffer to buffer.  A file
is written once, and mapped into the memory of whoever reads it.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import uuid4
from weakref import finalize

import pyarrow as pa

from ebbtide.spark.private import local_directory
from ebbtide.state.files import digest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PUT = b"put "
"""What the name of a parcel begins with; the rows of one begin otherwise."""

LEAST = 1 << 16
"""Parcels of fewer bytes travel as they are."""


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Shelf:
    """The directory of a step's parcels that have at least so many bytes."""

    directory: str
    least: int = LEAST

    @staticmethod
    def of_step(spark: SparkSession) -> Shelf | None:
        """A new shelf, which is gone with this very object, and not with a copy of it, such as a
        task has; None if tasks may run on other machines."""
        if not re.fullmatch(r"local(\[[^\[\]]*\])?", spark.sparkContext.master or ""):
            return None
        shelf = Shelf(tempfile.mkdtemp(prefix="ebbtide-", dir=local_directory(spark)), LEAST)
        finalize(shelf, shutil.rmtree, shelf.directory, ignore_errors=True)
        return shelf

    def spares(self, rows: Any) -> bool:
        """Whether rows are not worth a file."""
        return bool(rows.nbytes < self.least)

    def put(self, rows: Any) -> bytes:
        """Puts rows there, and gives the name under which they are."""
        unfinished = os.path.join(self.directory, uuid4().hex)
        with pa.OSFile(unfinished, "wb") as file:
            write_rows(file, rows)
        with pa.memory_map(unfinished) as file:
            named = os.path.join(self.directory, digest(file.read_buffer()))
        os.replace(unfinished, named)
        return _PUT + named.encode()

    def note(self, task: int, numbers: Sequence[int | None]) -> None:
        """Notes what a task has observed; one that is repeated notes the same again."""
        unfinished = os.path.join(self.directory, uuid4().hex)
        with open(unfinished, "w", encoding="ascii") as file:
            json.dump(numbers, file)
        os.replace(unfinished, self._note(task))

    def notes(self, tasks: int) -> list[list[int | None]]:
        """What all tasks have noted."""
        found = []
        for task in range(tasks):
            with open(self._note(task), encoding="ascii") as file:
                found.append(json.load(file))
        return found

    def _note(self, task: int) -> str:
        return os.path.join(self.directory, f"observed-{task}")


@contextmanager
def cleared_by_failure(shelf: Shelf | None) -> Iterator[None]:
    """A failure inside clears the shelf: whoever keeps the error would keep that, too."""
    try:
        yield
    except BaseException:
        if shelf is not None:
            shutil.rmtree(shelf.directory, ignore_errors=True)
        raise


def write_rows(sink: Any, rows: Any) -> None:
    """Writes rows as a stream of Arrow's."""
    with pa.ipc.new_stream(sink, rows.schema) as stream:
        stream.write_table(rows.combine_chunks())


def taken(body: Any) -> Any:
    """What a parcel holds, by its body: that itself, or what was put under the name in it."""
    if body[: len(_PUT)].to_pybytes() != _PUT:
        return body
    with pa.memory_map(body[len(_PUT) :].to_pybytes().decode()) as file:
        return file.read_buffer()
