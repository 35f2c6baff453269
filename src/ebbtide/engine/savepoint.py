"""Copies of a location: made while its programs run, and put somewhere else.

Law: a savepoint has of each program one whole step, the latest when it was made: its state, its
history up to that step, how far its sinks and Spark's checkpoint had come, and all that had been
fed by then.  A program that goes on from it says what the first one would have said.

What a step needs is pinned by links before it is copied, so steps go on meanwhile; what a directory
says of its program is what it said at that step, though the program evolves.  A copy is made
beside its place and renamed when it is whole: after a crash there is no savepoint, or all of it.
"""

from __future__ import annotations

import os
import re
import shutil
import uuid
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace

from ebbtide.engine.arguments import usable_path
from ebbtide.engine.verification import verify
from ebbtide.errors import EbbtideError, QueryError, StateError
from ebbtide.program.delivery import Delivery
from ebbtide.state.files import (
    content_of,
    directories,
    make_directory,
    regular_files,
    sync_directory,
)
from ebbtide.state.files import replace as replace_file
from ebbtide.state.store import DirectoryStore
from ebbtide.store import intent
from ebbtide.store.answer_files import DIRECTORY as LIVE
from ebbtide.store.feed_log import FeedLog
from ebbtide.store.history import History
from ebbtide.store.journal import Journal
from ebbtide.store.manifest import Manifest, Manifests, name_of
from ebbtide.store.pinning import pinned_for_a_while
from ebbtide.store.program import FILE, Identity, root_of_program

_TRIES = 100
_WHOLE = ("program.json", "program.sql", "sources.json", "offered.json")
_BY_STEP = ("clock", "inputs", "checkpoint/offsets", "checkpoint/commits")
_NUMBER = re.compile(r"\d+")
_MOVED = ("missing-output", "missing-step", "not-kept", "missing-version", "damaged-manifest")


@dataclass(frozen=True, slots=True)
class CopiedProgram:
    """A program in a copy: its name, its last step there, and the files and bytes that it takes."""

    name: str
    step: int | None
    files: int
    bytes: int


def savepoint(location: str, to: str, dry_run: bool = False) -> list[CopiedProgram]:
    """Copies a location, whose programs may run; with ``dry_run`` only says what it would copy."""
    _check_places(location, to)
    programs = _programs(location)
    _refuse_full(to)
    if dry_run:
        return [_measured(location, program) for program in programs]
    with_copy = _Unfinished(to)
    try:
        found = [_copied(location, program, with_copy.path) for program in programs]
        # After the programs, so that all that they have taken is there.
        for name in regular_files(f"{location}/feed"):
            if name.endswith(".jsonl"):
                FeedLog(f"{location}/feed/{name}").copied_to(f"{with_copy.path}/feed/{name}")
        with_copy.finish()
    except BaseException:
        with_copy.drop()
        raise
    return found


def restore(source: str, location: str, dry_run: bool = False) -> list[CopiedProgram]:
    """Puts a copy of a savepoint where nothing is yet, once all of it is found to be whole.

    Nobody may run in the savepoint meanwhile.
    """
    _check_places(source, location)
    programs = _programs(source)
    _refuse_full(location)
    for part in verify(source):
        if part.wrong:
            raise part.wrong[0]
    if dry_run:
        return [_measured(source, program) for program in programs]
    with_copy = _Unfinished(location)
    try:
        for file in _files_of(source):
            replace_file(f"{with_copy.path}/{file}", content_of(f"{source}/{file}"), names=False)
        with_copy.finish()
    except BaseException:
        with_copy.drop()
        raise
    return [_measured(location, program) for program in programs]


def _check_places(source: str, target: str) -> None:
    """Refuses a place inside of what is copied: it would become a part of it."""
    for place in (source, target):
        usable_path("the place of a savepoint", place, "/backups/monday")
    whole, copy = os.path.realpath(source), os.path.realpath(target)
    if os.path.commonpath((whole, copy)) in (whole, copy):
        raise QueryError(
            "overlapping-places",
            f'"{source}" cannot be copied to "{target}": one lies inside of the other',
            hint=f"name a directory beside it: {whole.rstrip('/')}-copy",
        )


def _programs(location: str) -> list[str]:
    found = directories(f"{location}/programs")
    if not found:
        raise QueryError(
            "empty-location",
            f'nothing has run in "{location}"',
            hint="name the location of a run, with --location DIR",
        )
    return found


def _refuse_full(place: str) -> None:
    if os.path.lexists(place) and (not os.path.isdir(place) or os.listdir(place)):
        raise QueryError(
            "place-taken",
            f'there is something in "{place}" already',
            hint="name a directory that is not there yet; nothing is written over",
        )


class _Unfinished:
    """A directory beside the one that it becomes."""

    def __init__(self, to: str) -> None:
        self.to = os.path.abspath(to)
        above, name = os.path.split(self.to)
        self.path = f"{above}/.{name}.{uuid.uuid4().hex}.unfinished"
        make_directory(self.path)

    def finish(self) -> None:
        """Makes it the directory that was asked for."""
        for path, _, _ in os.walk(self.path):
            sync_directory(path)
        if os.path.isdir(self.to):
            os.rmdir(self.to)
        os.rename(self.path, self.to)
        sync_directory(os.path.dirname(self.to))

    def drop(self) -> None:
        """Leaves nothing behind."""
        shutil.rmtree(self.path, ignore_errors=True)


def _copied(location: str, program: str, to: str) -> CopiedProgram:
    """Copies the latest step of a program; again, if what it needs has been replaced meanwhile."""
    root, target = root_of_program(location, program), root_of_program(to, program)
    for left in reversed(range(_TRIES)):
        shutil.rmtree(target, ignore_errors=True)
        try:
            said, history, latest = _said(root), History.read(root), Journal(root).latest()
            step = -1 if latest is None else latest.version
            texts = said | {name: text.encode() for name, text in intent.due(root, step).items()}
            files = list(needed_files(root, history, latest))
            with pinned_for_a_while(root, files) as pins:
                for file, path in pins.items():
                    replace_file(f"{target}/{file}", content_of(path), names=False)
            if _said(root) == said:
                break
        except EbbtideError as error:
            if error.code not in _MOVED or not left:
                raise
    else:
        raise StateError(
            "state-in-use",
            f'"{program}" has become another program again and again while it was copied',
            hint="make the savepoint once it is what it is to be",
        )
    if history.upto >= 0:
        replace(history, replaced=()).write(target)
    for name in _WHOLE:
        if name in texts:
            replace_file(f"{target}/{name}", texts[name])
    _copy_sources(root, target)
    for below in _BY_STEP:
        for name in regular_files(f"{root}/{below}"):
            if _NUMBER.fullmatch(name) and int(name) <= step:
                _copy_if_there(root, target, f"{below}/{name}")
    identity = Identity.read(root)
    for view in () if identity is None else identity.views:
        delivery = Delivery(root, view)
        if delivery.delivered >= 0 and step >= 0:
            delivery.copied_to(target, step)
    return _measured(to, program)


def _said(root: str) -> dict[str, bytes]:
    """What a directory says of its program, and what it is to say when it has evolved."""
    found = {}
    for name in (*_WHOLE, intent.FILE):
        with suppress(FileNotFoundError):
            found[name] = content_of(f"{root}/{name}")
    return found


def needed_files(root: str, history: History, latest: Manifest | None) -> Iterator[str]:
    """The files of a version, of those that it can be replayed from, and of the history up to
    it."""
    if latest is None:
        return
    manifests = Manifests(DirectoryStore(f"{root}/state"))
    earlier = [manifests.load(base.version) for base in latest.bases if base.version >= 0]
    several = {manifest.version: manifest for manifest in (*earlier, latest)}
    yield from (f"state/{name_of(version)}" for version in sorted(several))
    segments = {name for manifest in several.values() for name in manifest.segments()}
    yield from (f"state/{name}" for name in sorted(segments))
    yield from history.files()
    for record in Journal(root).entries(history.upto):
        if record.version <= latest.version:
            if record.version < latest.version:
                yield Journal.file_of(record.version)
            if record.kept or record.version == latest.version:
                yield from record.files()
            else:
                yield from (str(written.file) for written in record.unused)


def _copy_sources(root: str, target: str) -> None:
    """Copies what Spark's checkpoint knows of its sources; its own checksums it makes anew."""
    below = f"{root}/checkpoint"
    while True:
        shutil.rmtree(f"{target}/checkpoint", ignore_errors=True)
        names = [
            os.path.relpath(os.path.join(path, name), root)
            for path, _, found in os.walk(below)
            for name in found
            if not name.startswith(".")
            and os.path.relpath(path, root) not in ("checkpoint/offsets", "checkpoint/commits")
        ]
        if all(_copy_if_there(root, target, name) for name in names):
            return


def _copy_if_there(root: str, target: str, name: str) -> bool:
    try:
        content = content_of(f"{root}/{name}")
    except FileNotFoundError:
        return False
    replace_file(f"{target}/{name}", content, names=False)
    return True


def _files_of(directory: str) -> Iterator[str]:
    """All files below a directory, but for answers that readers have asked for."""
    for path, below, names in os.walk(directory):
        if FILE in names and LIVE in below:
            below.remove(LIVE)
        for name in names:
            yield os.path.relpath(os.path.join(path, name), directory)


def _measured(location: str, program: str) -> CopiedProgram:
    root = root_of_program(location, program)
    latest = Journal(root).latest()
    files = [f"{root}/{file}" for file in _files_of(root)]
    sizes = [os.path.getsize(file) for file in files if os.path.exists(file)]
    step = None if latest is None else latest.version
    return CopiedProgram(program, step, len(sizes), sum(sizes))
