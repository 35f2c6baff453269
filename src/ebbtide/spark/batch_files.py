"""The files of a batch, as Spark's checkpoint has noted them, and whether all are there.

Law: a step takes each file that Spark has noted for its batch, once, or it is not made.  Spark
itself goes on without a file that is gone or empty, and beside a file whose name it takes for a
pattern it gives others twice.

The format of the checkpoint is Spark's own and stands here alone: a batch has for each source of
files the last entry of that source's log, and an entry of the log has the files that came in it.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from ebbtide.errors import SourceError, StateError
from ebbtide.files import HowToRead
from ebbtide.spark.batch_shares import NamedFile
from ebbtide.spark.checkpoint import checkpoint_of, logs_in_order
from ebbtide.spark.tagged_rows import FILE, TAG
from ebbtide.state.files import content_of, regular_files

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_NAMED = re.compile(r"([a-z0-9_]+):(.*)")
_ENTRY = re.compile(r"(\d+)(\.compact)?")
_PATTERN = frozenset("?*[]{}\\")
_EMPTY = HowToRead("csv", "UTC").text
"""How an empty file is read, of whatever format: somebody has to say that it is empty."""


def each_once(rows: DataFrame, root: str, batch: int, in_tasks: Mapping[str, int]) -> DataFrame:
    """The arrivals of a batch with each of its files once; ``in_tasks`` are the numbers of the
    sources, by their names in the checkpoint, whose files tasks read."""
    noted = _all_there(root, batch)
    empty = [
        (number, place)
        for name, number in in_tasks.items()
        for place in noted.get(name, ())
        if os.path.getsize(place) == 0
    ]
    if empty:
        rows = rows.union(_to_be_told(rows, empty))
    odd = {name: place for name, places in noted.items() for place in places if _is_odd(place)}
    if not odd:
        return rows
    for name, place in odd.items():
        if name not in in_tasks:
            raise SourceError(
                "pattern-in-name",
                f"the name of {place} has one of {' '.join(sorted(_PATTERN))}",
                detail="Spark takes it for a pattern, and gives other files of the batch twice",
                hint="read it as csv, json or parquet without options of Spark's readers",
            )
    known = sorted(f"file:{place}" for name in odd for place in noted[name])
    named = rows.where(f"{FILE} IS NOT NULL").dropDuplicates([TAG, FILE])
    files = named.where(named[FILE]["path"].isin(known)).orderBy(TAG, f"{FILE}.path")
    return rows.where(f"{FILE} IS NULL").union(files)


def named_files(
    root: str, batch: int, in_tasks: Mapping[str, int], how: Mapping[int, str]
) -> list[NamedFile]:
    """The files of a batch of which tasks read all; an empty one is read as any text would be.

    Nobody else knows them, so whatever the offsets say there is must be there.
    """
    before, now = (last_entries(root, number) for number in (batch - 1, batch))
    for name in in_tasks:
        first, last = before.get(name, -1) + 1, now.get(name, -1)
        for entry in range(first, last + 1):
            if not any(_logged(f"{checkpoint_of(root)}/sources/{name}", entry)):
                raise _unsaid(f"the log of the files of {name} has no entry {entry}")
        if last < first - 1 or not _offsets(root, batch):
            raise _unsaid(f"the offsets of batch {batch} are not there, or go back")
    noted = _all_there(root, batch)
    return [
        NamedFile(number, place, how[number] if os.path.getsize(place) else _EMPTY)
        for name, number in in_tasks.items()
        for place in noted.get(name, ())
    ]


def _all_there(root: str, batch: int) -> dict[str, list[str]]:
    """The files of a batch, none of which is missing."""
    noted = files_of_batch(root, batch)
    for place in (place for places in noted.values() for place in places):
        if not os.path.exists(place):
            raise SourceError(
                "unreadable-source",
                f"{place} is gone before it was read",
                hint="put it back, and start the query again",
            )
    return noted


def _unsaid(detail: str) -> StateError:
    return StateError(
        "checkpoint-behind",
        "Spark's checkpoint does not say which files a batch has",
        detail=detail,
        hint="start the query again: what its steps have noted is put back then",
    )


def _to_be_told(rows: DataFrame, empty: list[tuple[int, str]]) -> DataFrame:
    """Empty files, which Spark has left out, as others are: tasks say that they are empty."""
    made = []
    for tag, place in empty:
        given = {TAG: tag, FILE: (f"file:{place}", _EMPTY)}
        made.append(tuple(given.get(name) for name in rows.columns))
    return rows.sparkSession.createDataFrame(made, rows.schema)


def _is_odd(place: str) -> bool:
    return bool(_PATTERN & set(place))


def files_of_batch(root: str, batch: int) -> dict[str, list[str]]:
    """The places of the files of a batch, by their sources' names in the checkpoint, as far as
    they are in a local file system."""
    before, now = (last_entries(root, number) for number in (batch - 1, batch))
    return {
        source: [
            unquote(path.removeprefix("file://"))
            for entry in entries_between(root, source, before.get(source, -1), last)
            for path in _logged(f"{checkpoint_of(root)}/sources/{source}", entry)
            if path.startswith("file:///")
        ]
        for source, last in now.items()
    }


def last_entries(root: str, batch: int) -> dict[str, int]:
    """The last entry that a batch has of the log of each source of files, by the log's name."""
    found = {}
    for source, told in _offsets_by_source(root, batch).items():
        if _is_of_files(told):
            last = told["logOffset"]
            found[source] = last if isinstance(last, int) else -1
    return found


def other_sources(root: str, batch: int) -> list[str]:
    """The sources that a batch has an offset of, but no log of files, by their names there."""
    told = _offsets_by_source(root, batch).items()
    return [name for name, offset in told if offset is not None and not _is_of_files(offset)]


def is_entry(text: str | None) -> bool:
    """Whether a file is an entry of a log of files."""
    version, *lines = (text or "").splitlines() or [""]
    files = map(_parsed, lines)
    return version.startswith("v") and all(isinstance(f, dict) and "path" in f for f in files)


def is_commit(text: str | None) -> bool:
    """Whether a file says that a batch is done."""
    lines = (text or "").splitlines()
    return len(lines) == 2 and lines[0].startswith("v") and isinstance(_parsed(lines[1]), dict)


def is_metadata(text: str | None) -> bool:
    """Whether a file has Spark's own number for a query."""
    told = _parsed(text or "")
    return isinstance(told, dict) and isinstance(told.get("id"), str)


def _offsets_by_source(root: str, batch: int) -> dict[str, Any]:
    offsets = _offsets(root, batch)
    named = [match.groups() for line in offsets if (match := _NAMED.fullmatch(line))]
    if len(named) < len(offsets):
        named = list(zip(logs_in_order(root), offsets, strict=False))
    return {source: _parsed(offset) for source, offset in named}


def _is_of_files(offset: Any) -> bool:
    return isinstance(offset, dict) and offset.keys() == {"logOffset"}


def goes_by_names(root: str, batch: int) -> bool:
    """Whether the checkpoint has the sources of a batch by their names."""
    offsets = _offsets(root, batch)
    return bool(offsets) and all(map(_NAMED.fullmatch, offsets))


def _offsets(root: str, batch: int) -> list[str]:
    return (_lines(f"{checkpoint_of(root)}/offsets/{batch}") or [])[2:]


def entry_number(path: str) -> int | None:
    """The number of an entry by its file; None if it is another file."""
    found = _ENTRY.fullmatch(os.path.basename(path))
    return int(found[1]) if found else None


def entries_of(log: str) -> Iterator[tuple[int, bool]]:
    """The entries of a log, and whether those before are folded into them."""
    for name in regular_files(log):
        found = _ENTRY.fullmatch(name)
        if found:
            yield int(found[1]), found[2] is not None


def entries_between(root: str, source: str, after: int, last: int) -> list[int]:
    """The entries of a source's log that are there, after one and up to another."""
    log = f"{checkpoint_of(root)}/sources/{source}"
    return sorted({entry for entry, _ in entries_of(log) if after < entry <= last})


def _logged(log: str, entry: int) -> Iterator[str]:
    """The files of an entry; Spark puts all entries up to some of them into one file."""
    lines = _lines(f"{log}/{entry}") or _lines(f"{log}/{entry}.compact") or [""]
    for line in lines[1:]:
        told = _parsed(line)
        if isinstance(told, dict) and told.get("batchId") == entry:
            yield str(told["path"])


def _lines(path: str) -> list[str] | None:
    try:
        return content_of(path).decode("utf-8", "replace").splitlines()
    except FileNotFoundError:
        return None


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
