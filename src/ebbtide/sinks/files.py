"""A sink that writes files.

Law: a step is there as a whole or not at all, and is durable when it is taken, where its files are
in a file system of this machine.
"""

from __future__ import annotations

import io
import json
import os
import shutil
from dataclasses import dataclass
from typing import Any

from ebbtide.errors import QueryError


@dataclass(frozen=True, slots=True)
class Files:
    """Writes the changes of each step into a directory of its own, below ``path``.

    The step is the partition column of the files: Spark reads them all as one table.
    """

    path: str
    format: str = "parquet"

    def __post_init__(self) -> None:
        if self.format not in ("parquet", "json"):
            raise QueryError(
                "unknown-format",
                f"changes cannot be written as {self.format}",
                hint="parquet or json",
            )

    def __str__(self) -> str:
        return f'Files("{self.path}")'

    def write(self, frame: Any, step: int) -> None:
        """Writes a step; what is there of it already is replaced."""
        directory = os.path.join(self.path, f"step={step}")
        if hasattr(frame, "write"):
            frame.drop("step").write.mode("overwrite").format(self.format).save(directory)
            _sync_all(directory)
        else:
            self._write_table(frame.drop_columns(["step"]), directory, step)
        if os.path.isdir(self.path):
            _sync(self.path)
            _sync(os.path.dirname(os.path.abspath(self.path)))

    def _write_table(self, table: Any, directory: str, step: int) -> None:
        unfinished = os.path.join(self.path, f".step={step}.unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        _make(unfinished)
        with open(f"{unfinished}/part-0.{self.format}", "wb") as file:
            file.write(self._content(table))
        _sync_all(unfinished)
        shutil.rmtree(directory, ignore_errors=True)
        os.replace(unfinished, directory)

    def _content(self, table: Any) -> bytes:
        if self.format == "json":
            lines = (json.dumps(row, default=str) + "\n" for row in table.to_pylist())
            return "".join(lines).encode()
        import pyarrow.parquet as pq

        buffer = io.BytesIO()
        pq.write_table(table, buffer)
        return buffer.getvalue()


def _make(directory: str) -> None:
    """Makes a directory, and those above it that are not there, durably."""
    above = os.path.dirname(os.path.abspath(directory))
    if not os.path.isdir(above):
        _make(above)
    os.makedirs(directory, exist_ok=True)
    _sync(above)


def _sync_all(directory: str) -> None:
    """Makes a directory and all in it durable, if it is one of this machine."""
    for path, _, names in os.walk(directory):
        for name in names:
            _sync(os.path.join(path, name))
        _sync(path)


def _sync(path: str) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
