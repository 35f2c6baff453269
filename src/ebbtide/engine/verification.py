"""Reading everything that a location holds, to say what is whole.

Law: a part is whole if all that readers and further steps would read of it can be read and is what
was written; nothing is changed, and one damaged file does not hide another.  A run may be at work
meanwhile: what it has committed is judged.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from ebbtide.core.time import Instant
from ebbtide.engine.retrying import FILE as OFFERED
from ebbtide.engine.retrying import files_noted
from ebbtide.engine.script import read_script
from ebbtide.errors import EbbtideError, QueryError, StateError
from ebbtide.program.delivery import Delivery
from ebbtide.sql.catalog import near
from ebbtide.state.files import directories, regular_files
from ebbtide.state.segment import Segment
from ebbtide.state.store import DirectoryStore, File, forget_all
from ebbtide.store.archive import Archive
from ebbtide.store.clock import Readings
from ebbtide.store.feed_log import FeedLog
from ebbtide.store.history import History
from ebbtide.store.journal import Journal
from ebbtide.store.manifest import Manifest
from ebbtide.store.program import FILE, Identity, root_of_program
from ebbtide.store.record import StepRecord


@dataclass(frozen=True, slots=True)
class VerifiedPart:
    """A part of a location: whose it is, what it is, how many files were read, what is wrong."""

    program: str
    name: str
    files: int
    wrong: tuple[EbbtideError, ...]


def verify(location: str, name: str | None = None) -> Iterator[VerifiedPart]:
    """The parts of all programs, or of the one that has that name or a view of that name.

    What was fed by hand belongs to no program, and is read with all of them.
    """
    forget_all()
    programs = directories(f"{location}/programs")
    if not programs:
        raise QueryError(
            "empty-location",
            f'nothing has run in "{location}"',
            hint="name the location of a run, with --location DIR",
        )
    for program in programs if name is None else [_named(location, programs, name)]:
        yield from _program(program, root_of_program(location, program))
    if name is None:
        names = {os.path.splitext(name)[0] for name in regular_files(f"{location}/feed")}
        logs = (f"{location}/feed/{name}.jsonl" for name in sorted(names))
        yield _part("", "feed", map(_reading_log, logs))


def _named(location: str, programs: list[str], name: str) -> str:
    views: dict[str, str] = {}
    for program in programs:
        try:
            identity = Identity.read(root_of_program(location, program))
        except StateError:
            continue
        views |= dict.fromkeys([] if identity is None else identity.views, program)
    known = {known.casefold(): p for known, p in (*views.items(), *((p, p) for p in programs))}
    if name.casefold() not in known:
        close = near(name, (*views, *programs))
        raise QueryError(
            "unknown-query",
            f'no query "{name}" has run in "{location}"',
            hint=f"did you mean {close}?" if close else None,
        )
    return known[name.casefold()]


def _program(program: str, root: str) -> Iterator[VerifiedPart]:
    told: list[Callable[[], object]] = [lambda: _identity(root), lambda: read_script(root)]
    if os.path.lexists(f"{root}/{OFFERED}"):
        told.append(lambda: files_noted(root))
    yield _part(program, "description", told)
    latest, records, wrong = _history(root)
    yield VerifiedPart(program, "journal", len(records), tuple(wrong))
    yield _part(program, "state", _state(root, latest))
    archive = Archive(root)
    files = _archived(root, records)
    output = [file for file in files if file.startswith("output/")]
    yield _part(program, "output", [_reading(archive, file) for file in output])
    unused = [file for file in files if file.startswith("unused/")]
    yield _part(program, "unused", [_reading(archive, file) for file in unused])
    views = regular_files(f"{root}/delivered")
    yield _part(program, "delivered", [_delivered(root, view, latest) for view in views])
    steps = [name for name in regular_files(f"{root}/clock") if name.isdigit()]
    yield _part(program, "clock", [_clock(root, int(step)) for step in steps])


def _part(program: str, name: str, checks: Iterable[Callable[[], object]]) -> VerifiedPart:
    wrong: list[EbbtideError] = []
    count = 0
    for check in checks:
        count += 1
        try:
            check()
        except EbbtideError as error:
            wrong.append(error)
    return VerifiedPart(program, name, count, tuple(wrong))


def _identity(root: str) -> None:
    if Identity.read(root) is None:
        raise StateError(
            "damaged-program",
            f'"{root}/{FILE}" is not there',
            hint="restore the directory, or start under another name",
        )


def _history(root: str) -> tuple[Manifest | None, list[StepRecord], list[EbbtideError]]:
    """The latest version, the steps up to the first that cannot be read, and why it cannot."""
    records: list[StepRecord] = []
    try:
        for record in Journal(root).entries():
            records.append(record)
    except EbbtideError as error:
        wrong = [error]
    else:
        wrong = []
    try:
        return Journal(root).latest(), records, wrong
    except EbbtideError:
        return None, records, wrong


def _archived(root: str, records: list[StepRecord]) -> list[str]:
    """The files of output and unused rows, as far as what names them can be read."""
    try:
        history = History.read(root)
    except EbbtideError:
        return []  # the part about the journal says that it cannot be read
    files = list(history.files())
    for record in records:
        if record.version > history.upto:
            unused = (str(written.file) for written in record.unused)
            files += record.files() if record.kept else unused
    return files


def _state(root: str, latest: Manifest | None) -> Iterator[Callable[[], object]]:
    yield Journal(root).latest
    if latest is None:
        return
    store = DirectoryStore(f"{root}/state")
    for shards in latest.areas.values():
        for described in (segment for areas in shards for area in areas for segment in area):
            yield _segment(store, Segment.restore(described))


def _segment(store: DirectoryStore, segment: Segment) -> Callable[[], object]:
    return lambda: store.read(File(segment.name, segment.checksum, segment.bytes))


def _reading(archive: Archive, file: str) -> Callable[[], object]:
    return lambda: archive.content(file)


def _reading_log(path: str) -> Callable[[], object]:
    return lambda: FeedLog(path).read(FeedLog(path).first)


def _delivered(root: str, view: str, latest: Manifest | None) -> Callable[[], object]:
    return lambda: Delivery(root, view).check(-1 if latest is None else latest.version)


def _clock(root: str, version: int) -> Callable[[], object]:
    def never() -> Instant:
        raise AssertionError("the reading is there")

    return lambda: Readings(root).of(version, never)
