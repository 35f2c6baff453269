"""Offering files again that could not be read when they came.

Law: a file that is among the unused rows is offered again once, as another file beside it with the
content that it has now; the rows of that file are counted as those of any other.  The row that
names the first file stays unused: it was offered, and it was not used.

Nothing is offered that still cannot be read, or of which rows were counted before.  What is offered
is written under a hidden name, which no source reads, and read through; then it is noted in the
program's directory, and renamed.  So whatever ends the process in between, a hidden file that is
noted has not been offered yet, and a note without one has.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase

from ebbtide.config import Config
from ebbtide.core.admission import Reason
from ebbtide.core.declaration import Declaration, TableDeclaration, given_schema
from ebbtide.engine.allowed_paths import AllowedPaths
from ebbtide.engine.location import Location, StoredProgram
from ebbtide.engine.starting import is_stream
from ebbtide.errors import QueryError, StateError
from ebbtide.files import HowToRead, is_whole_file, reads, told_of_file
from ebbtide.sql.catalog import FileSource, ViewEntry
from ebbtide.state.files import created, opened_for_update, sync_directory, usable
from ebbtide.store.files import read_sealed, replace, sealed
from ebbtide.store.readers import unused

FILE = "offered.json"
_AGAIN = re.compile(r"\.again-(\d+)")


@dataclass(frozen=True, slots=True)
class OfferedFile:
    """A file that could not be read: its source, the step that found it, and what becomes of it.

    ``offered`` is the file in its place, or None; then ``why`` says what is in the way.
    """

    program: str
    source: str
    file: str
    step: int
    offered: str | None
    why: str | None = None


Check = Callable[[str], str | None]
"""Reads a file through; why it cannot be read, or None."""


def retry(
    location: str,
    name: str | None = None,
    *,
    source: str | None = None,
    paths: AllowedPaths | None = None,
    zone: str | None = None,
    dry_run: bool = False,
) -> list[OfferedFile]:
    """Offers the unreadable files of a program, or of all, again; of one source, or of all.

    Programs may run meanwhile.  With ``dry_run`` nothing is written.
    """
    place, config = Location(location), Config.from_environment()
    programs = sorted(set(place.views().values())) if name is None else [place.program_name(name)]
    allowed = paths or AllowedPaths.of(config.allowed_paths)
    found: list[OfferedFile] = []
    for program in map(place.program, programs):
        with _locked(program.root):
            for name_, files, declaration in _sources(program, source):
                offer = _Offer(program, name_, files, declaration, allowed, zone or "", dry_run)
                found += offer.all()
    return found


def _sources(
    program: StoredProgram, wanted: str | None
) -> Iterator[tuple[str, FileSource | None, Declaration]]:
    """The sources of a program, or the one that is asked for."""
    entries = [
        program.catalog.get(each.name)
        for each in program.lowered.declarations
        if program.catalog.find(each.name) is not None
    ]
    known = {e.name.casefold(): e for e in entries if not isinstance(e, ViewEntry)}
    if wanted is not None and wanted.casefold() not in known:
        raise QueryError(
            "unknown-source",
            f'"{program.name}" does not read "{wanted}"',
            detail=f"it reads {', '.join(sorted(e.name for e in known.values()))}",
        )
    for folded, entry in known.items():
        if wanted is None or folded == wanted.casefold():
            yield entry.name, entry.files, entry.declaration


@dataclass(frozen=True, slots=True)
class _Offer:
    """The files of one source of a program."""

    program: StoredProgram
    source: str
    files: FileSource | None
    declaration: Declaration
    allowed: AllowedPaths
    zone: str
    dry_run: bool

    def all(self) -> Iterator[OfferedFile]:
        for row, step in unused(self.program.root, self.source):
            told = told_of_file(row.row) if row.reason == Reason.UNREADABLE.value else None
            if told is None:
                continue
            place, rows, _ = told
            why = self._in_the_way(place, rows)
            offered = None
            if why is None:
                offered, why = offered_again(
                    self.program.root, place, step, self._check, self.dry_run
                )
            yield OfferedFile(self.program.name, self.source, place, step, offered, why)

    def _in_the_way(self, place: str, rows: int) -> str | None:
        """Why a file cannot be offered, whatever is in it."""
        if rows:
            return f"{rows:,} of its rows were counted; put the others into a file of their own"
        if self.files is None or not is_stream(self.declaration):
            return "its source is read once, when the program first starts"
        if not os.path.isabs(place):
            return "it is not in a file system of this machine"
        pattern, name = os.path.basename(self.files.path), os.path.basename(place)
        signs = any(sign in pattern for sign in "*?[{")
        if signs and not os.path.isdir(self.files.path) and not _matches(name, pattern):
            return f"a file beside it would not match {pattern}"
        self.allowed.check(place, f'"{self.source}"')
        return None

    def _check(self, place: str) -> str | None:
        """Reads a file through as the source would."""
        assert self.files is not None
        enveloped = isinstance(self.declaration, TableDeclaration) and self.declaration.enveloped
        given = given_schema(self.declaration)
        if not reads(self.files.format, given, dict(self.files.options), enveloped):
            return "it is read by Spark itself"
        config = Config.from_environment()
        zone = self.zone or config.time_zone or "UTC"
        how = HowToRead(
            self.files.format, zone, self.files.options, enveloped, config.limits.unpacked
        )
        for batch in how.reader(given).rows(place, may_be_empty=False):
            if is_whole_file(batch):
                told = told_of_file(batch.column(batch.num_columns - 1)[0].as_py())
                return "it still cannot be read" if told is None else told[2]
        return None


def offered_again(
    root: str, place: str, step: int, check: Check, dry_run: bool = False
) -> tuple[str | None, str | None]:
    """Offers a file again that a step could not read: what stands for it now, or why nothing does.

    Only for who has the lock of the program's offers.
    """
    directory, name = os.path.split(place)
    beside = name_beside(name, step)
    offered, hidden = f"{directory}/{beside}", f"{directory}/.{beside}"
    noted = files_noted(root)
    if offered in noted:
        if not os.path.lexists(hidden):
            gone = "" if os.path.lexists(offered) else ", which is not there any more"
            return None, f"it was offered before, as {offered}{gone}"
        if not dry_run:
            _rename(hidden, offered)
        return offered, None
    if not os.path.isfile(place):
        return None, "it is not there any more"
    if os.path.lexists(offered):
        return None, f"there is a file {beside} already"
    if dry_run:
        why = check(place)
        return (None, why) if why else (offered, None)
    _copy(place, hidden)
    why = check(hidden)
    if why is not None:
        os.unlink(hidden)
        return None, why
    replace(f"{root}/{FILE}", sealed({"files": [*noted, offered]}))
    _rename(hidden, offered)
    return offered, None


def name_beside(name: str, step: int) -> str:
    """The name under which a file is offered again; what it ends with says how it is read.

    >>> name_beside("bids.csv.gz", 3), name_beside("000001", 12)
    ('bids.again-3.csv.gz', '000001.again-12')
    """
    stem, dot, ends = name.partition(".")
    return f"{stem}.again-{step}{dot}{ends}"


def step_offered(copy: str) -> int:
    """The step that could not read the file in whose place a copy was offered.

    >>> step_offered("/data/bids.again-3.csv.gz")
    3
    """
    return max(map(int, _AGAIN.findall(os.path.basename(copy))), default=-1)


def _matches(name: str, pattern: str) -> bool:
    return fnmatchcase(name_beside(name, 0), pattern)


def _copy(place: str, hidden: str) -> None:
    """A copy of a file that whoever may read the file may read, there to stay.

    Others may write to the directory: what stands there already, a link above all, is not used.
    """
    with usable(hidden):
        with suppress(FileNotFoundError):
            os.unlink(hidden)
        with open(place, "rb") as source, created(hidden) as target:
            shutil.copyfileobj(source, target, 1 << 20)
            target.flush()
            os.fchmod(target.fileno(), stat.S_IMODE(os.fstat(source.fileno()).st_mode))
            os.fsync(target.fileno())
        sync_directory(os.path.dirname(hidden))


def _rename(hidden: str, offered: str) -> None:
    with usable(offered):
        os.rename(hidden, offered)
        sync_directory(os.path.dirname(offered))


def files_noted(root: str) -> list[str]:
    """The files that were offered again to a program, or are about to be."""

    def damaged(why: str) -> StateError:
        return StateError(
            "damaged-offers",
            f'"{root}/{FILE}" cannot be read',
            detail=why,
            hint="look which files were offered again, by their names, and remove it",
        )

    told = read_sealed(f"{root}/{FILE}", damaged)
    files = [] if told is None else told.get("files")
    if not isinstance(files, list):
        raise damaged("it does not name files")
    return files


@contextmanager
def _locked(root: str) -> Iterator[None]:
    """Nobody else offers files of the program meanwhile."""
    with opened_for_update(f"{root}/offered.lock") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
