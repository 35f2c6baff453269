"""Taking all that a program was fed again: for one that has come in its place, or to repair it.

Law: what was fed is taken in the steps in which it was taken first, so that the same rows are
accepted; that is proved by how many rows each step accepts of each source, and how many of them
late, and by the frontiers to which they lead.  Where something is not there any
more, or was not fed by hand, nothing is taken and an error says why.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ebbtide.compile.lowering import Lowered
from ebbtide.core.declaration import TableDeclaration
from ebbtide.core.file_name import file_name
from ebbtide.core.time import Instant
from ebbtide.dataflow.plan import Dataflow
from ebbtide.dataflow.record import Given
from ebbtide.dataflow.step import Stepper
from ebbtide.engine.location import StoredProgram
from ebbtide.errors import StateError, UnsupportedError
from ebbtide.local.host import LocalHost
from ebbtide.store.clock import follows_clock
from ebbtide.store.feed_log import Advance, FedRow, FeedLog
from ebbtide.store.history import History
from ebbtide.store.journal import Journal
from ebbtide.store.manifest import Manifest
from ebbtide.store.record import StepRecord

if TYPE_CHECKING:
    from ebbtide.engine.engine import Engine

Entries = list[tuple[int, FedRow | Advance]]


@dataclass(frozen=True, slots=True)
class Replayed:
    """A program that was taken through all steps again, in a directory of its own."""

    root: str
    manifest: Manifest


def replayed(
    engine: Engine,
    program: StoredProgram,
    new: Lowered,
    latest: Manifest,
    root: str,
    needed: AbstractSet[str],
) -> Replayed:
    """The new program after all steps of the old one; ``needed`` are the parts it is done for."""

    def refused(reason: str) -> UnsupportedError:
        return UnsupportedError(
            "cannot-evolve",
            f'the state of "{min(needed)}" cannot be made of what is there: {reason}',
            hint="let it begin after all that has come: WHERE at > TIMESTAMP '...'; or start it as "
            "a program of its own",
        )

    reason = _hindrance(engine, program, new)
    if reason is not None:
        raise refused(reason)
    logs = {n: engine.log_of(new.declarations[n]) for n in _read_from_logs(new)}
    try:
        replay = _Replay.of(logs, new, list(Journal(program.root).entries()))
    except StateError as error:
        if error.code != "feed-cut":
            raise
        raise refused("the first rows that were fed are gone") from error
    if replay.goes_back():
        raise refused("it was rolled back since")
    manifest = replay.run(root, latest.shards)
    if manifest is None or not _reaches(manifest, latest):
        raise refused("of its rows, others would be accepted now")
    return Replayed(root, manifest)


def made_again(
    location: str,
    program: StoredProgram,
    records: list[StepRecord],
    shards: int,
    root: str,
    done: Callable[[str], object],
) -> Manifest | str:
    """A program after steps that it has made, made again of what was fed; or why it cannot be."""
    lowered = program.lowered
    declarations = lowered.declarations
    if not records or records[0].version:
        return "its first steps are not kept any more"
    if follows_clock(declarations):
        return "the readings of the clock are not kept"
    for number in _read_from_logs(lowered):
        name = declarations[number].name
        fed = any(name in record.positions for record in records)
        if not fed and any(name in record.came and record.came[name].rows for record in records):
            return f'the rows of "{name}" were not fed by hand, and are not kept'
    logs = {
        number: FeedLog(f"{location}/feed/{file_name(declarations[number].name.casefold())}.jsonl")
        for number in _read_from_logs(lowered)
    }
    try:
        replay = _Replay.of(logs, lowered, records)
    except StateError as error:
        return f"what was fed cannot be read: {error.message}"
    if replay.goes_back():
        return "it was rolled back since"
    manifest = replay.run(root, shards, done)
    return "of its rows, others would be accepted now" if manifest is None else manifest


def _read_from_logs(lowered: Lowered) -> list[int]:
    """The sources that may have been fed by hand."""
    given = dict(lowered.given)
    return [number for number in range(len(lowered.declarations)) if number not in given]


def _reaches(manifest: Manifest, latest: Manifest) -> bool:
    """Whether the sources have come as far as they had before."""
    return all(
        line[:2] == latest.frontiers[name]["lines"][attribute][:2]
        for name, source in manifest.frontiers.items()
        if name in latest.frontiers
        for attribute, line in source["lines"].items()
        if attribute in latest.frontiers[name]["lines"]
    )


def _hindrance(engine: Engine, program: StoredProgram, new: Lowered) -> str | None:
    """Why the input of a program cannot be taken again."""
    if History.read(program.root).dropped >= 0:
        return "its first steps are not kept any more"
    if follows_clock(new.declarations):
        return "the readings of the clock are not kept"
    given = dict(new.given)
    before = {d.name.casefold(): d for d in program.lowered.declarations}
    for number, declaration in enumerate(new.declarations):
        if number in given:
            continue
        entry = engine.definitions.source(declaration.name)
        if isinstance(declaration, TableDeclaration) and declaration.static:
            return f'what "{declaration.name}" held at the first start is not kept'
        if entry.files is not None or engine.definitions.frame_of(declaration) is not None:
            return f'the rows of "{declaration.name}" were not fed by hand, and are not kept'
        if before.get(declaration.name.casefold(), declaration) != declaration:
            return f'"{declaration.name}" is declared otherwise now; change one after the other'
    return None


@dataclass(frozen=True, slots=True)
class _Replay:
    """All that was fed to a program's sources, and the steps that took it."""

    lowered: Lowered
    entries: Mapping[int, Entries]
    records: list[StepRecord]

    @staticmethod
    def of(logs: Mapping[int, FeedLog], new: Lowered, records: list[StepRecord]) -> _Replay:
        entries = {
            n: list(_widened(log, len(new.declarations[n].schema))) for n, log in logs.items()
        }
        return _Replay(new, entries, records)

    def goes_back(self) -> bool:
        """Whether some step had taken less than the one before it."""
        pairs = zip(self.records, self.records[1:], strict=False)
        return any(
            after.positions.get(source, 0) < place
            for before, after in pairs
            for source, place in before.positions.items()
        )

    def run(
        self, root: str, shards: int, done: Callable[[str], object] = lambda _: None
    ) -> Manifest | None:
        """The version after all steps; None if some step accepts other rows than it did.

        After each step ``done`` is called with the place where it was made.
        """
        host, flow = LocalHost(), Dataflow(self.lowered, shards)
        keeps = all(record.kept for record in self.records)
        stepper = Stepper(flow, host.transport(flow), root, keeps)
        static = {number: host.given(values) for number, values in self.lowered.given}
        before: Mapping[str, int] = {}
        for record in self.records:
            rows, advances = self._taken(before, record.positions)
            arrived: Any = host.fed(self.lowered, rows)
            if record.version == 0:
                arrived = host.with_static(self.lowered, arrived, static)
            manifest = stepper.step(record.version, arrived, Given(advances))
            done(root)
            before, came = record.positions, manifest.record.came
            if any(came.get(name, its) != its for name, its in record.came.items()):
                return None
        return manifest

    def _taken(
        self, before: Mapping[str, int], after: Mapping[str, int]
    ) -> tuple[dict[int, list[tuple[int, FedRow]]], dict[int, Instant]]:
        rows: dict[int, list[tuple[int, FedRow]]] = {}
        advances: dict[int, Instant] = {}
        for number, entries in self.entries.items():
            name = self.lowered.declarations[number].name
            span = before.get(name, 0), after.get(name, 0)
            taken = [(place, e) for place, e in entries if span[0] <= place < span[1]]
            rows[number] = list(_rows(taken))
            promised = [entry.to for _, entry in taken if isinstance(entry, Advance)]
            if promised:
                advances[number] = max(promised)
        return rows, advances


def _widened(log: FeedLog, width: int) -> Iterator[tuple[int, FedRow | Advance]]:
    for place, entry in log.read(0)[0]:
        yield place, entry.widened(width) if isinstance(entry, FedRow) else entry


def _rows(entries: Entries) -> Iterator[tuple[int, FedRow]]:
    return ((place, entry) for place, entry in entries if isinstance(entry, FedRow))
