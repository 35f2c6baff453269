"""Putting back what is damaged or lost of a program, where it can be proved what it was.

Law: what is put back has the name and the checksum that the program's manifest, its journal and its
index name; nothing else is written, and nothing is removed.  What has no such proof is named, with
the reason, and left as it is.

=================  ================================================================================
output, unused     made again from what was fed by hand, step by step, and compacted as before
state              the same; segments are the same files, for a step is a function of its input
journal            an entry is in the manifest of its step, as long as that is kept
latest manifest    its journal's entry, and the state to which the steps lead when made again
=================  ================================================================================

Steps are made again in a directory beside the programs.  Each file is put in its place by a rename,
whole and proved, so a repair that ends early has repaired less, and can be begun again.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from tempfile import TemporaryDirectory

from ebbtide.engine.location import Location, StoredProgram, claimed
from ebbtide.engine.replay import made_again
from ebbtide.engine.verification import VerifiedPart, verify
from ebbtide.errors import EbbtideError, StateError
from ebbtide.state.files import content_of, sync_directory
from ebbtide.state.files import replace as replace_file
from ebbtide.state.segment import Segment
from ebbtide.state.store import DirectoryStore, File, forget_all
from ebbtide.store.archive import Archive
from ebbtide.store.compaction import Keeping, compact
from ebbtide.store.files import sealed
from ebbtide.store.history import History
from ebbtide.store.journal import Journal, JournalEntry
from ebbtide.store.manifest import Manifest, Manifests, name_of
from ebbtide.store.record import StepRecord

SCRATCH = ".repairing-"


@dataclass(frozen=True, slots=True)
class RepairedFile:
    """A file that is damaged or lost, below its program's directory, and what it was made of.

    Without ``made_of`` it was not repaired; ``why`` says what is in the way.
    """

    program: str
    file: str
    made_of: str | None
    why: str | None = None


@dataclass(frozen=True, slots=True)
class Repair:
    """What a repair did, or would do, and what is still not whole for another reason."""

    files: tuple[RepairedFile, ...]
    left: tuple[EbbtideError, ...]

    @property
    def whole(self) -> bool:
        """Whether nothing is left to repair."""
        return not self.left and all(file.made_of for file in self.files)


def repair(location: str, name: str | None = None, dry_run: bool = False) -> Repair:
    """Repairs the program of that name, or with such a view, or all of a location.

    They must not run.  With ``dry_run`` nothing of them is changed.
    """
    place = Location(location)
    programs = sorted(set(place.views().values())) if name is None else [place.program_name(name)]
    files: list[RepairedFile] = []
    for program in programs:
        with claimed(location, program) as stored:
            files += _Repairing(location, stored, dry_run).repaired()
    forget_all()
    named = {os.path.basename(file.file) for file in files}
    told = [error for part in _parts(location, programs) for error in part.wrong]
    left = [error for error in told if not any(file in str(error) for file in named)]
    return Repair(tuple(files), tuple(left))


def _parts(location: str, programs: list[str]) -> Iterator[VerifiedPart]:
    for program in programs:
        yield from verify(location, program)


@dataclass(frozen=True, slots=True)
class _Repairing:
    """The repair of one program."""

    location: str
    program: StoredProgram
    dry_run: bool

    @property
    def root(self) -> str:
        return self.program.root

    def repaired(self) -> list[RepairedFile]:
        found = list(self._journal())
        latest, entries = self._latest()
        if isinstance(latest, str):
            return [*found, self._lost("journal", latest)]
        wanted = self._wanted(latest, entries)
        broken = [file for file, whole in wanted.items() if not whole()]
        if not broken and latest is not None:
            return found
        records = [entry.record for entry in entries]
        with TemporaryDirectory(prefix=SCRATCH, dir=self.location) as scratch:
            shards = latest.shards if latest is not None else _shards(self.root)
            again = made_again(
                self.location, self.program, records, shards, scratch, self._compacted
            )
            if isinstance(again, str):
                names = broken or [f"state/{name_of(records[-1].version)}"]
                return [*found, *(self._lost(file, again) for file in names)]
            if latest is None:
                return [*found, *self._with_manifest(again, entries[-1], scratch)]
            return [*found, *(self._put_back(file, scratch) for file in broken)]

    # --- the journal and the manifest -----------------------------------------------------------

    def _journal(self) -> Iterator[RepairedFile]:
        """Entries that are lost or damaged, from the manifests of their steps."""
        manifests = Manifests(DirectoryStore(f"{self.root}/state"))
        known = {entry.record.version: entry for entry in Journal(self.root).written()}
        for version in manifests.versions():
            if version in known or version <= History.read(self.root).upto:
                continue
            with suppress(StateError):
                manifest = manifests.load(version)
                before = known.get(version - 1)
                if version and (before is None or before.link != manifest.before):
                    continue
                file = Journal.file_of(version)
                lost = os.path.lexists(f"{self.root}/{file}") or version < manifests.versions()[-1]
                if not self.dry_run and lost:
                    replace_file(f"{self.root}/{file}", sealed(manifest.entry))
                known[version] = JournalEntry.of(manifest.entry)
                if lost:
                    yield RepairedFile(self.program.name, file, "the manifest of its step")

    def _latest(self) -> tuple[Manifest | str | None, list[JournalEntry]]:
        """The latest manifest and all entries; None if it is the manifest that is damaged."""
        journal, manifests = Journal(self.root), Manifests(DirectoryStore(f"{self.root}/state"))
        entries = list(journal.written())
        last = entries[-1].record.version if entries else -1
        try:
            latest = manifests.latest()
        except StateError as error:
            newest = manifests.versions()[-1]
            if entries and newest <= last:
                return None, entries
            return f"{error.message}, and the journal has no entry of step {newest}", entries
        if latest is None:
            return (None if entries else "it has made no step"), entries
        if last > latest.version:
            return None, entries
        if last == latest.version - 1 and (last < 0 or entries[-1].link == latest.before):
            entries.append(JournalEntry.of(latest.entry))
        elif last < latest.version:
            return f"the journal has no entry of step {last + 1}", entries
        return latest, entries

    def _with_manifest(
        self, again: Manifest, entry: JournalEntry, scratch: str
    ) -> Iterator[RepairedFile]:
        """The latest manifest, from the entry of its step and from the steps made again."""
        record = entry.record
        made = replace(again, record=record, before=entry.before)
        file = f"state/{name_of(made.version)}"
        if not _same(again.record, record):
            yield self._lost(file, "the steps that were made again say something else")
            return
        whole = True
        for part, is_whole in self._wanted(made, [entry]).items():
            if not is_whole():
                done = self._put_back(part, scratch)
                whole = whole and done.made_of is not None
                yield done
        if not whole:
            yield self._lost(file, "files that it names are lost")
            return
        if not self.dry_run:
            replace_file(f"{self.root}/{file}", made.to_json())
        yield RepairedFile(self.program.name, file, "its journal's entry and what was fed by hand")

    # --- files ----------------------------------------------------------------------------------

    def _wanted(
        self, latest: Manifest | None, entries: list[JournalEntry]
    ) -> dict[str, Callable[[], bool]]:
        """The files that the program needs, and whether each is whole."""
        history, archive = History.read(self.root), Archive(self.root)
        named = [file for file in history.files() if not file.startswith("journal/")]
        for record in (entry.record for entry in entries):
            if record.version > history.upto:
                unused = (str(written.file) for written in record.unused)
                named += record.files() if record.kept else unused
        found = {file: _holds(lambda file=file: archive.content(file)) for file in named}  # type: ignore[misc]
        if latest is not None:
            store = DirectoryStore(f"{self.root}/state")
            for segment in _segments(latest):
                proof = File(segment.name, segment.checksum, segment.bytes)
                found[f"state/{segment.name}"] = _holds(lambda proof=proof: store.read(proof))  # type: ignore[misc]
        return found

    def _put_back(self, file: str, scratch: str) -> RepairedFile:
        """Puts a file back that was made again under the same name, which has its checksum."""
        try:
            content = content_of(f"{scratch}/{file}")
        except FileNotFoundError:
            return self._lost(file, "made again, it would be another file")
        if not self.dry_run:
            replace_file(f"{self.root}/{file}", content)
            sync_directory(os.path.dirname(f"{self.root}/{file}"))
        return RepairedFile(self.program.name, file, "what was fed by hand")

    def _compacted(self, scratch: str) -> None:
        """Compacts what was made again as the program has compacted what it made."""
        kept = History.read(self.root).views
        outputs = self.program.lowered.physical.outputs
        compact(
            scratch,
            {o.name: Keeping(kept[o.name].keep_us, o.marked) for o in outputs if o.name in kept}
            or {o.name: Keeping(None, o.marked) for o in outputs},
        )

    def _lost(self, file: str, why: str) -> RepairedFile:
        return RepairedFile(self.program.name, file, None, why)


def _holds(check: Callable[[], object]) -> Callable[[], bool]:
    def holds() -> bool:
        try:
            check()
        except EbbtideError:
            return False
        return True

    return holds


def _segments(manifest: Manifest) -> Iterator[Segment]:
    for shards in manifest.areas.values():
        for described in (segment for areas in shards for area in areas for segment in area):
            yield Segment.restore(described)


def _same(made: StepRecord, noted: StepRecord) -> bool:
    """Whether a step that was made again says what the journal has noted of it."""
    return (made.version, made.nows, made.output, made.unused, made.came) == (
        noted.version,
        noted.nows,
        noted.output,
        noted.unused,
        noted.came,
    )


def _shards(root: str) -> int:
    from ebbtide.store.program import Identity

    known = Identity.read(root)
    assert known is not None
    return known.shards
