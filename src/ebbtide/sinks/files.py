"""A sink that writes files."""

from __future__ import annotations

import json
import os
import shutil
import uuid
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
        else:
            self._write_table(frame.drop_columns(["step"]), directory)

    def _write_table(self, table: Any, directory: str) -> None:
        unfinished = f"{self.path}/.{uuid.uuid4().hex}.tmp"
        os.makedirs(unfinished)
        if self.format == "parquet":
            import pyarrow.parquet as pq

            pq.write_table(table, f"{unfinished}/part-0.parquet")
        else:
            with open(f"{unfinished}/part-0.json", "w", encoding="utf-8") as file:
                for row in table.to_pylist():
                    file.write(json.dumps(row, default=str) + "\n")
        shutil.rmtree(directory, ignore_errors=True)
        os.replace(unfinished, directory)
