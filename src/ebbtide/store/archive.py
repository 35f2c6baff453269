"""Files that people read: what views emitted in each step, and the rows that were not used.

Law: a file is written whole under another name and renamed, and its name tells its content, so a
repeated task writes the same file again.  Only files that a manifest names count.
"""

from __future__ import annotations

import os
import uuid
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ebbtide.store.manifest import Manifest


@dataclass(frozen=True, slots=True)
class Archive:
    """The Parquet files of a program: a directory for each view's output, one for unused rows."""

    root: str

    def write(self, kind: str, shard: int, version: int, table: Any) -> str:
        """Writes a table and gives the path of its file below the root; ``kind`` is a directory."""
        buffer = pa.BufferOutputStream()
        pq.write_table(table, buffer, compression="snappy")
        content = buffer.getvalue()
        name = f"{shard}-{version}-{sha256(content).hexdigest()[:32]}.parquet"
        directory = f"{self.root}/{kind}"
        os.makedirs(directory, exist_ok=True)
        temporary = f"{directory}/.{uuid.uuid4().hex}.tmp"
        with open(temporary, "wb") as file:
            file.write(content)
        os.replace(temporary, f"{directory}/{name}")
        return f"{kind}/{name}"

    def forget(self, manifest: Manifest) -> None:
        """Removes the output of a step that was written for sinks alone."""
        if not manifest.record.kept:
            for written in (w for files in manifest.record.output.values() for w in files):
                if written.file is not None:
                    with suppress(FileNotFoundError):
                        os.remove(self.path(written.file))

    def path(self, file: str) -> str:
        """The full path of a file."""
        return f"{self.root}/{file}"
