"""A run's hold on the directory of its program.

Law: one run at a time has a program's directory; it belongs to the same program in the same number
of shards as before; and what a crash left there of a step that was not committed is gone before the
first step.  Nothing is removed on doubt: where a part of the history is lost, where a file is
one that no step would have made, or behind a link.  The claim ends with the run, or its process.
"""

from __future__ import annotations

import fcntl
import logging
import os
from dataclasses import dataclass, field, replace
from typing import IO

from ebbtide.core.output_name import view_of
from ebbtide.errors import StateError
from ebbtide.state.files import (
    directories,
    make_directory,
    opened_for_update,
    other_files,
    refuse_link,
    regular_files,
    remove,
)
from ebbtide.state.store import DirectoryStore
from ebbtide.store.answer_files import DIRECTORY as LIVE
from ebbtide.store.archive import step_of
from ebbtide.store.files import is_unfinished
from ebbtide.store.history import History
from ebbtide.store.intent import settle
from ebbtide.store.journal import Journal, is_part, step_of_entry
from ebbtide.store.manifest import Manifests, missing_version
from ebbtide.store.pinning import DIRECTORY as PINS
from ebbtide.store.pinning import release_abandoned
from ebbtide.store.program import FILE, Identity
from ebbtide.store.record import StepRecord

_LOG = logging.getLogger("ebbtide")
_PLAIN = ("journal", "delivered", "clock", "timings")
_DIRECTORIES = ("state", *_PLAIN, "encoded", "output", "unused", "checkpoint", PINS, LIVE)


class Claim:
    """The lock on a program's directory, held until it is released."""

    def __init__(self, root: str, name: str) -> None:
        self._lock: IO[bytes] | None = None
        self._holder = os.getpid()
        make_directory(root)
        self.root = root
        self.name = name
        self._views: frozenset[str] | None = None
        self._lock = opened_for_update(f"{root}/lock")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self.release()
            raise StateError(
                "state-in-use",
                f'"{name}" is running already, here or in another process',
                detail=f"its state is in {root}",
                hint="stop that run first, or give this one another name",
            ) from error
        try:
            settle(root)
        except BaseException:
            self.release()
            raise

    @property
    def held(self) -> bool:
        """Whether nobody else can have the directory."""
        return self._lock is not None

    def release(self) -> None:
        """Lets another run have the directory.

        Processes that were forked from this one have the file open, too, and hold nothing.
        """
        if self._lock is not None:
            if self._holder == os.getpid():
                fcntl.flock(self._lock, fcntl.LOCK_UN)
            self._lock.close()
            self._lock = None

    def __del__(self) -> None:
        self.release()

    def check(self, wanted: Identity) -> None:
        """Holds that the directory is this program's, and makes it so if it is nobody's yet."""
        self._views = frozenset(wanted.views)
        known, latest = Identity.read(self.root), Journal(self.root).latest()
        if known is None:
            if latest is not None:
                raise StateError(
                    "damaged-program",
                    f'"{self.root}/{FILE}" is not there, and there is state of some program',
                    hint="restore the directory, or start under another name",
                )
            wanted.write(self.root)
            return
        # How state is cut is for its manifest to say: a new cut is there when that is.
        known = known if latest is None else replace(known, shards=latest.shards)
        # A heartbeat may come later; it is written down once Spark's checkpoint can take it.
        older = known != wanted and known == wanted.without_definitions()
        if not older and known != wanted and replace(known, heartbeat=True) != wanted:
            raise self._difference(known, wanted)
        if older or list(known.views) != list(wanted.views):
            # The script that is kept beside it has the views in this order.
            wanted.write(self.root)

    def with_heartbeat(self, wanted: Identity) -> None:
        """Writes down that a program has a heartbeat from now on."""
        known = Identity.read(self.root)
        if known is not None and not known.heartbeat:
            wanted.write(self.root)

    def _difference(self, known: Identity, wanted: Identity) -> StateError:
        if known.shards != wanted.shards:
            return StateError(
                "shards-differ",
                f'"{self.name}" has its state in {known.shards} shards, not {wanted.shards}',
                hint=f"Engine(..., shards={known.shards}), or rescale it: "
                f"ebbtide rescale {self.name} --shards {wanted.shards}",
            )
        if known.heartbeat and not wanted.heartbeat:
            return StateError(
                "heartbeat-differs",
                f'"{self.name}" has been started with a heartbeat, which it keeps',
                detail="without one its time would stand still while nothing comes",
                hint='start it with heartbeat="1 second", as ebbtide run --heartbeat 1s',
            )
        views = known.views != wanted.views
        before = known.views if views else known.sources
        now = wanted.views if views else wanted.sources
        changed = [n for n in (*before, *now) if before.get(n) != now.get(n)]
        said = before.get(changed[0]) if changed else None
        return StateError(
            "query-differs",
            f'the state of "{self.name}" belongs to another query',
            detail=f"{changed[0]} was {said}" if said else f"it had {', '.join(before)}",
            hint="give this query another name, or change the program: ebbtide evolve FILE, or "
            "engine.evolve(...)",
        )

    def sweep(self) -> set[str]:
        """Removes what a step left that was not committed, and gives the names.

        Called before the first step.  Nothing is removed unless the history is whole, and only
        regular files that a step would have made; whatever else is there is named and left alone.
        """
        self._refuse_links()
        release_abandoned(self.root)
        journal, history = Journal(self.root), History.read(self.root)
        named = set(history.files())
        for record in journal.entries(history.upto):
            named |= set(record.files() if record.kept else _unused(record))
            named.add(Journal.file_of(record.version))
        latest = journal.latest()
        if latest is not None:
            named |= set(latest.record.files())
        found = self._orphans(named, -1 if latest is None else latest.version)
        swept: set[str] = set()
        if os.path.isdir(f"{self.root}/state"):
            manifests = Manifests(DirectoryStore(f"{self.root}/state"))
            swept = manifests.sweep()
            found.strange.extend(f"state/{name}" for name in sorted(manifests.strangers()))
        for file in found.orphans:
            remove(self.root, file)
        for file in found.strange:
            _LOG.warning('"%s/%s" is not a file of Ebbtide, and is left alone', self.root, file)
        return swept | set(found.orphans)

    def _refuse_links(self) -> None:
        below = [f"{of}/{n}" for of in ("output", LIVE) for n in _names(f"{self.root}/{of}")]
        for directory in (*_DIRECTORIES, *below):
            refuse_link(f"{self.root}/{directory}")

    def _orphans(self, named: set[str], last: int) -> _Found:
        """What no committed step has written; the files of a step are known by their names."""
        listed = directories(f"{self.root}/output")
        known = self._views
        views = [f"output/{n}" for n in listed if known is None or view_of(n) in known]
        # Of a view that the program has no more, its files stay as long as they are named.
        ours = {*views, *(file.rpartition("/")[0] for file in named)}
        found = _Found(strange=[f"output/{n}" for n in listed if f"output/{n}" not in ours])
        for below in ("", *_PLAIN, "unused", "output", *views):
            place = f"{self.root}/{below}" if below else self.root
            for name in regular_files(place):
                file = f"{below}/{name}" if below else name
                step = step_of(name) if below == "unused" or below in views else None
                if below == "journal" and (is_part(name) or step_of_entry(name) is not None):
                    # Entries that are compacted, or a part that the index does not name.
                    step = -1
                if is_unfinished(name):
                    found.orphans.append(file)
                elif step is not None and step > last + 1:
                    raise missing_version(f"{self.root}/state", step - 1)
                elif step is not None and file not in named:
                    found.orphans.append(file)
                elif below.partition("/")[0] in ("output", "unused") and step is None:
                    found.strange.append(file)
            if below:
                found.strange.extend(f"{below}/{name}" for name in other_files(place))
        return found


@dataclass(frozen=True, slots=True)
class _Found:
    """Files below a program's directory: those of no committed step, and those of nobody."""

    orphans: list[str] = field(default_factory=list)
    strange: list[str] = field(default_factory=list)


def _names(directory: str) -> list[str]:
    return os.listdir(directory) if os.path.isdir(directory) else []


def _unused(record: StepRecord) -> set[str]:
    return {written.file for written in record.unused if written.file is not None}
