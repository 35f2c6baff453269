"""Files that people read: what views emitted in each step, and the rows that were not used.

Law: a file is written whole under another name and renamed, and its name tells its content, so a
repeated task writes the same file again.  Only files that a manifest names count.  What is read has
the checksum that stands in the name of its file.
"""

from __future__ import annotations

import os
import re
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ebbtide.errors import StateError
from ebbtide.state.files import content_of, digest, identity_of, remove, usable
from ebbtide.store.files import replace
from ebbtide.store.manifest import Manifest

_NAME = re.compile(r"\d+-(\d+)-([0-9a-f]{32})\.parquet")
_MOST = 100_000
_GROUP = 1 << 16
"""The rows of a row group: whoever asks for some times reads the groups that have them."""

_VERIFIED: OrderedDict[tuple[Any, ...], None] = OrderedDict()


@dataclass(frozen=True, slots=True)
class Archive:
    """The Parquet files of a program: a directory for each view's output, one for unused rows."""

    root: str

    def write(self, kind: str, shard: int, version: int, table: Any) -> str:
        """Writes a table and gives the path of its file below the root; ``kind`` is a directory.

        A part of several steps has the first of them in the place of the shard.
        """
        buffer = pa.BufferOutputStream()
        pq.write_table(table, buffer, compression="snappy", row_group_size=_GROUP)
        content = memoryview(buffer.getvalue())
        name = f"{shard}-{version}-{digest(content)}.parquet"
        replace(f"{self.root}/{kind}/{name}", content)
        return f"{kind}/{name}"

    def content(self, file: str) -> bytes:
        """The bytes of a file, verified."""
        try:
            content = content_of(self.path(file))
        except FileNotFoundError as error:
            raise missing_output(self.root, file) from error
        name = _NAME.fullmatch(os.path.basename(file))
        if name is None or digest(content) != name[2]:
            raise damaged_output(self.root, file, "its checksum does not match")
        return content

    def table(self, file: str, filters: Any = None) -> Any:
        """The rows of a file, verified; those for which ``filters`` hold."""
        content = self.content(file)
        try:
            source = pa.BufferReader(content)
            if filters is None:
                return pq.ParquetFile(source).read()
            return pq.read_table(source, filters=filters, partitioning=None)
        except (OSError, pa.ArrowInvalid) as error:
            raise damaged_output(self.root, file, str(error).splitlines()[0]) from error

    def size(self, file: str) -> int:
        """The bytes of a file."""
        try:
            with usable(self.path(file)):
                return os.stat(self.path(file)).st_size
        except FileNotFoundError as error:
            raise missing_output(self.root, file) from error

    def verify(self, file: str) -> str:
        """The path of a file, for those who read it themselves; verified once in a process."""
        path = self.path(file)
        key = path, identity_of(path)
        if key not in _VERIFIED:
            self.content(file)
            _VERIFIED[key] = None
            if len(_VERIFIED) > _MOST:
                _VERIFIED.popitem(last=False)
        return path

    def forget(self, manifest: Manifest) -> None:
        """Removes the output of a step that was written for sinks alone."""
        if not manifest.record.kept:
            for written in (w for files in manifest.record.output.values() for w in files):
                if written.file is not None:
                    remove(self.root, written.file)

    def path(self, file: str) -> str:
        """The full path of a file."""
        return f"{self.root}/{file}"


def step_of(name: str) -> int | None:
    """The step of a file of the archive, or the last of several; None if its name is no such."""
    found = _NAME.fullmatch(name)
    return int(found[1]) if found else None


def missing_output(root: str, file: str) -> StateError:
    """The error of a file of the archive that is not there."""
    return StateError(
        "missing-output",
        f'the file "{file}" of the archive is not there',
        detail=f"below {root}",
        hint="restore the directory, or run the query anew in another location",
    )


def damaged_output(root: str, file: str, why: str) -> StateError:
    """The error of a file of the archive that is not what was written."""
    return StateError(
        "damaged-output",
        f'the file "{file}" of the archive is damaged',
        detail=f"{why}, below {root}",
        hint="restore the directory, or run the query anew in another location",
    )
