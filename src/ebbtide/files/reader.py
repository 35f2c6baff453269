"""What a reader of files is, and what becomes of files that cannot be read.

A file that is not what it should be is one bad row; a disk that fails to read it says nothing about
the file, and is an error, so that the file is read when the disk works again.
"""

from __future__ import annotations

import errno
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

import pyarrow as pa

from ebbtide.config import Limits
from ebbtide.core.schema import Schema
from ebbtide.core.words import counted
from ebbtide.errors import SourceError
from ebbtide.state.types import arrow_type

MALFORMED = "malformed"
"""The column for the text of what is no row; it stands behind the declared ones."""

_WHOLE_FILE = {b"ebbtide": b"file"}
_TOLD = re.compile(r"(.*): unreadable after ([\d,]+) rows?: (.*)", re.DOTALL)
_PART = re.compile(r"([^/=]+)=([^/]*)(?=/)")
_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
_OF_THE_DISK = frozenset(
    {
        errno.EIO,
        errno.ESTALE,
        errno.ETIMEDOUT,
        errno.EAGAIN,
        errno.EMFILE,
        errno.ENFILE,
        errno.ENOMEM,
        errno.ENXIO,
        errno.ENODEV,
    }
)
"""What the system answers for reasons that lie not in the file."""


class Unreadable(Exception):
    """A file is not what it should be; the message says why."""


@dataclass(frozen=True, slots=True)
class FileReader(ABC):
    """Reads files of one format as rows of a schema; ``options`` have folded names.

    A compressed file may unpack to ``unpacked`` bytes.
    """

    schema: Schema
    zone: str
    options: Mapping[str, str]
    unpacked: int = Limits().unpacked

    @staticmethod
    @abstractmethod
    def knows(schema: Schema, options: Mapping[str, str]) -> bool:
        """Whether this reads such columns, with such options."""

    def rows(
        self, place: str, content: bytes | None = None, may_be_empty: bool = True
    ) -> Iterator[Any]:
        """The rows of a file, batch by batch: the declared columns and ``MALFORMED``.

        ``content`` is what is in the file, where it cannot be opened at its place.  A file that
        somebody is still writing is an error, for it is read once.
        """
        count = 0
        try:
            before = None if content is not None else _written(place)
            if not may_be_empty and (content == b"" or (before is not None and before[0] == 0)):
                raise Unreadable("it is empty")
            for batch in self.batches(place, content):
                yield batch
                count += batch.num_rows
            if before is not None and _written(place) != before:
                raise Unreadable("it was written to while it was read")
        except FileNotFoundError as error:
            raise SourceError(
                "unreadable-source",
                f"{place} is gone before it was read",
                hint="put it back, and start the query again",
            ) from error
        except (Unreadable, pa.ArrowException, OSError, EOFError) as error:
            number = error.errno if isinstance(error, OSError) else None
            if number in _OF_THE_DISK:
                raise SourceError(
                    "unreadable-source",
                    f"{place} could not be read",
                    detail=os.strerror(number),
                    hint="see to its disk, and start the query again: nothing of it was counted",
                ) from error
            reason = (str(error) or type(error).__name__).splitlines()[0]
            yield self._unreadable(f"{place}: unreadable after {counted(count, 'row')}: {reason}")

    @abstractmethod
    def batches(self, place: str, content: bytes | None) -> Iterator[Any]:
        """The rows of a file, as far as it can be read."""

    def made(self, columns: list[Any], texts: Any) -> Any:
        """A batch of the declared columns and of texts that are no rows."""
        return pa.RecordBatch.from_arrays([*columns, texts], names=[*self.schema.names, MALFORMED])

    def _unreadable(self, text: str) -> Any:
        columns = [pa.nulls(1, arrow_type(column.type)) for column in self.schema]
        made = self.made(columns, pa.array([text], pa.string()))
        return made.replace_schema_metadata(_WHOLE_FILE)


def _written(place: str) -> tuple[int, int]:
    """How large a file is, and when it was written."""
    found = os.stat(place)
    return found.st_size, found.st_mtime_ns


def is_whole_file(batch: Any) -> bool:
    """Whether a batch stands for a file that could not be read, or not to its end."""
    return bool(batch.schema.metadata == _WHOLE_FILE)


def told_of_file(text: str) -> tuple[str, int, str] | None:
    """What is said of a file that could not be read: its place, the rows before, and why.

    >>> told_of_file("/in/a.csv: unreadable after 1,000 rows: it ends early")
    ('/in/a.csv', 1000, 'it ends early')
    """
    found = _TOLD.fullmatch(text)
    return None if found is None else (found[1], int(found[2].replace(",", "")), found[3])


def parts_of(place: str) -> dict[str, str | None]:
    """The values in the names of directories above a file, as in ``day=1/file``."""
    found = {name.casefold(): unquote(value) for name, value in _PART.findall(place)}
    return {name: None if value == _NO_VALUE else value for name, value in found.items()}


def opened(place: str, content: bytes | None, unpacked: int) -> Any:
    """A file as a stream of bytes, unpacked as the ending of its name says."""
    packed = next((how for end, how in _PACKED.items() if place.endswith(end)), None)
    stream = pa.input_stream(place if content is None else pa.BufferReader(content), packed)
    return stream if packed is None else _Bounded(stream, unpacked)


def unpacks_to_more_than(most: int) -> Unreadable:
    """What is raised of a file that is larger than it may be."""
    return Unreadable(f"it unpacks to more than {most:,} bytes, which EBBTIDE_MAX_UNPACKED allows")


class _Bounded:
    """A stream that ends with an error behind so many bytes."""

    def __init__(self, stream: Any, most: int) -> None:
        self.stream, self.left, self.most = stream, most, most

    def __enter__(self) -> _Bounded:
        return self

    def __exit__(self, *raised: object) -> None:
        self.stream.close()

    def read(self, size: int) -> bytes:
        """The next bytes, as many if there are."""
        data: bytes = self.stream.read(size)
        self.left -= len(data)
        if self.left < 0:
            raise unpacks_to_more_than(self.most)
        return data


_PACKED = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".lz4": "lz4"}
