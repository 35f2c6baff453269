"""The answer of a view as files of Parquet, for programs that know nothing of Ebbtide.

Law: a file has the answer after one committed step, or a part of it of which all others are there,
with equal rows as often as they are; it is renamed when it is whole.  Its name says of which
version of the state it is and proves its content, so nobody gets a file of another history or a
damaged one.  ``live.parquet`` has no such name: it is for those who want one path, and only the run
that holds the directory writes it.  Whoever opens it once has the answer of one step; a reader that
opens a path several times, as many do, may mix those of two, and should ask for ``files``.

    live/sums/000000000012-<version>-1of2-<content>.parquet    of ``files``, until ten minutes
    live/sums/000000000012-<version>-2of2-<content>.parquet    after they were last handed out
    live/sums/live.parquet                                     replaced as steps come

It is a cache.  Steps read nothing of it, savepoints have nothing of it, and what is damaged or gone
is written again; so nothing is synced.
"""

from __future__ import annotations

import os
import re
import time
import uuid
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ebbtide.core.file_name import file_name
from ebbtide.core.time import NEG_INF, format_instant
from ebbtide.errors import EbbtideError, QueryError, StateError
from ebbtide.state.arrays import Ints
from ebbtide.state.batch import DIFF
from ebbtide.state.columns import ints
from ebbtide.state.files import (
    content_of,
    created,
    digest,
    identity_of,
    is_unfinished,
    make_directory,
    refuse_link,
    regular_files,
    remove,
    replace,
    usable,
)
from ebbtide.state.types import shown_type
from ebbtide.store.journal import Journal
from ebbtide.store.manifest import Manifest
from ebbtide.store.readers import View

DIRECTORY = "live"
LIVE_FILE = "live.parquet"

GRACE_SECONDS = 600.0
"""So long files stay of which nobody has asked for the paths again."""

FILE_ROWS = 1 << 20
GROUP_ROWS = 1 << 17
MOST_ROWS = 1 << 30
"""An answer of more rows than this is not written."""

_NAME = re.compile(r"\d{12}-([0-9a-f]{32})-(\d+)of(\d+)-([0-9a-f]{32})\.parquet")
_MOST = 10_000
_VERIFIED: OrderedDict[tuple[Any, ...], None] = OrderedDict()
"""Files that this process has read and found to be whole."""


def files(view: View) -> list[str]:
    """The paths of files that have the answer after the last step; they are written if need be."""
    directory = _directory(view)
    latest = Journal(view.root).latest()
    if latest is None:
        raise _no_step(view)
    found = _published(directory, _version(latest))
    if found is None:
        answer = StandingAnswer.now(view)
        found = _publish(directory, answer)
        _tidy(view, keep=_version(answer.manifest))
    return found


def live_path(view: View) -> str:
    """The one path at which a run keeps the answer, if it is asked to."""
    return f"{view.root}/{_below(view.name)}/{LIVE_FILE}"


def write_live(view: View, manifest: Manifest) -> int:
    """Puts the answer after a step at its path, and gives the number of its rows.

    Only for who holds the directory.
    """
    directory = _directory(view)
    answer = StandingAnswer.after(view, manifest)
    make_directory(directory)
    with _rewritten(live_path(view)) as file:
        answer.write(file, 0, answer.count)
    return answer.count


def tidy_live(view: View) -> None:
    """Removes what a crash has left and what nobody asks for; only for who holds the directory."""
    latest = Journal(view.root).latest()
    _directory(view)
    _tidy(view, keep="" if latest is None else _version(latest))


def retire_live(root: str, name: str) -> None:
    """Removes what a run has kept at its path, of a view that nobody keeps there any more.

    It would stay as it is while the answer goes on.  Only for who holds the directory.
    """
    remove(root, f"{_below(name)}/{LIVE_FILE}")


@dataclass(frozen=True, slots=True)
class StandingAnswer:
    """The answer of a view after a step: each row once, and at which place its copies end."""

    view: View
    manifest: Manifest
    rows: Any
    ends: Ints

    @staticmethod
    def now(view: View) -> StandingAnswer:
        """The answer after the last step, whatever steps come meanwhile."""
        while True:
            latest = Journal(view.root).latest()
            if latest is None:
                raise _no_step(view)
            try:
                return StandingAnswer.after(view, latest)
            except EbbtideError:
                after = Journal(view.root).latest()
                # Steps that came meanwhile may have removed what this one had.
                if after is None or after.version == latest.version:
                    raise

    @staticmethod
    def after(view: View, manifest: Manifest) -> StandingAnswer:
        """The answer after a step."""
        netted = view.netted(None, manifest.version)
        counts = ints(netted, DIFF)
        copies = int(counts.sum(dtype=np.float64))
        if copies > MOST_ROWS:
            raise QueryError(
                "too-many-rows",
                f'the answer of "{view.name}" has about {copies:,} rows, equal ones counted',
                detail=f"at most {MOST_ROWS:,} are written",
                hint="SELECT DISTINCT, or count equal rows with GROUP BY",
            )
        fields = [(column.name, shown_type(column.type)) for column in view.schema]
        columns = [
            column.cast(type_)
            for column, (_, type_) in zip(netted.columns[: len(fields)], fields, strict=True)
        ]
        now = manifest.record.nows.get(view.name, NEG_INF)
        told = {"view": view.name, "step": str(manifest.version), "now": format_instant(now)}
        schema = pa.schema(fields, {f"ebbtide.{key}": value for key, value in told.items()})
        rows = pa.Table.from_arrays(columns, schema=schema)
        return StandingAnswer(view, manifest, rows, np.cumsum(counts))

    @property
    def count(self) -> int:
        """How many rows there are, equal ones counted."""
        return int(self.ends[-1]) if len(self.ends) else 0

    def write(self, sink: Any, first: int, last: int) -> None:
        """Writes the rows from one place to another, as Parquet."""
        with pq.ParquetWriter(sink, self.rows.schema, compression="snappy") as writer:
            for start in range(first, last, GROUP_ROWS):
                writer.write_table(self._copies(start, min(start + GROUP_ROWS, last)))

    def _copies(self, start: int, end: int) -> Any:
        if self.count == self.rows.num_rows:
            return self.rows.slice(start, end - start)
        places = np.searchsorted(self.ends, np.arange(start, end), side="right")
        return self.rows.take(pa.array(places))


def _publish(directory: str, answer: StandingAnswer) -> list[str]:
    """Writes the files of an answer, and gives their paths."""
    make_directory(directory)
    starts = range(0, max(answer.count, 1), FILE_ROWS)
    stem = f"{answer.manifest.version:012d}-{_version(answer.manifest)}"
    found = []
    for number, start in enumerate(starts, 1):
        buffer = pa.BufferOutputStream()
        answer.write(buffer, start, min(start + FILE_ROWS, answer.count))
        content = memoryview(buffer.getvalue())
        name = f"{stem}-{number}of{len(starts)}-{digest(content)}.parquet"
        replace(f"{directory}/{name}", content, sync=False)
        found.append(f"{directory}/{name}")
    return found


def _published(directory: str, version: str) -> list[str] | None:
    """The files of a version's answer, if all of them are there and whole."""
    parts: dict[int, str] = {}
    wanted = None
    for name in regular_files(directory):
        made = _NAME.fullmatch(name)
        if made is not None and made[1] == version and _is_whole(f"{directory}/{name}", made[4]):
            parts[int(made[2])], wanted = f"{directory}/{name}", int(made[3])
    return [parts[number] for number in sorted(parts)] if len(parts) == wanted else None


def _is_whole(path: str, proof: str) -> bool:
    """Whether a file has the content that its name proves; it stays for a while from now on."""
    with suppress(OSError):
        if time.time() - os.lstat(path).st_mtime > GRACE_SECONDS / 2:
            os.utime(path, follow_symlinks=False)
    key = path, identity_of(path)
    if key not in _VERIFIED:
        try:
            if digest(content_of(path)) != proof:
                return False
        except (FileNotFoundError, StateError):
            return False
        _VERIFIED[key] = None
        if len(_VERIFIED) > _MOST:
            _VERIFIED.popitem(last=False)
    return True


def _tidy(view: View, keep: str) -> None:
    """Removes files of other versions that nobody has asked for in a while, and unfinished ones."""
    directory, now = _directory(view), time.time()
    for name in regular_files(directory):
        made = _NAME.fullmatch(name)
        if is_unfinished(name) or (made is not None and made[1] != keep):
            with suppress(FileNotFoundError), usable(f"{directory}/{name}"):
                if now - os.lstat(f"{directory}/{name}").st_mtime > GRACE_SECONDS:
                    remove(view.root, f"{_below(view.name)}/{name}")


@contextmanager
def _rewritten(path: str) -> Iterator[IO[bytes]]:
    """A file under another name, which becomes the one at a path when it is written."""
    temporary = f"{os.path.dirname(path)}/.{uuid.uuid4().hex}.tmp"
    try:
        with usable(path):
            with created(temporary) as file:
                yield file
            os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def _version(manifest: Manifest) -> str:
    """What tells versions of the state apart, also those of one number."""
    return digest(manifest.to_json().encode())


def _below(name: str) -> str:
    return f"{DIRECTORY}/{file_name(name)}"


def _directory(view: View) -> str:
    """Where the files of a view are; nothing is written or removed behind a link."""
    refuse_link(f"{view.root}/{DIRECTORY}")
    refuse_link(f"{view.root}/{_below(view.name)}")
    return f"{view.root}/{_below(view.name)}"


def _no_step(view: View) -> QueryError:
    return QueryError(
        "no-step",
        f'"{view.name}" has taken no step, so there is no answer to write',
        hint="engine.step() takes what was fed",
    )
