"""What a program has accepted: from the logs of what was fed by hand, and from archives.

Law: the changes of a source are the input that the program had accepted after a step.  A log is
admitted again, step by step, by ``core.admission``, with the positions and readings that the
journal has of each step; how many rows each step accepted stands there as well, and has to be the
same.  An archive does where it has all that an answer can depend on.  Of other sources it is said
why their rows are not known.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ebbtide.compile.physical import archive_name
from ebbtide.core.admission import Admission, Arrival, Op, Step, admit, begin
from ebbtide.core.change import Change
from ebbtide.core.declaration import Declaration, StreamDeclaration
from ebbtide.core.file_name import file_name
from ebbtide.core.time import INF, Instant
from ebbtide.core.values import row
from ebbtide.errors import StateError
from ebbtide.lineage import Needed
from ebbtide.store.feed_log import Advance, FedRow, FeedLog
from ebbtide.store.history import History
from ebbtide.store.input_archive import archived_input
from ebbtide.store.journal import Journal
from ebbtide.store.record import StepRecord


@dataclass(frozen=True, slots=True)
class AcceptedInput:
    """The accepted changes of sources, and why those of others are not known."""

    changes: Mapping[str, tuple[Change, ...]] = field(default_factory=dict)
    missing: Mapping[str, str] = field(default_factory=dict)


def accepted_input(
    location: str,
    root: str,
    declarations: Iterable[Declaration],
    step: int,
    since: Mapping[str, Needed] | None = None,
) -> AcceptedInput:
    """What a program in a directory had accepted after a step.

    ``since`` says of sources from when on their facts are needed; without it, all are.
    """
    records, latest = kept_records(root), Journal(root).latest()
    replayed = frozenset() if latest is None else latest.replayed
    changes: dict[str, tuple[Change, ...]] = {}
    missing: dict[str, str] = {}
    for declaration in declarations:
        name = declaration.name
        needed = None if since is None else since.get(name)
        found = _archived(root, declaration, step, needed, records) if name in replayed else ""
        if not isinstance(found, str):
            # What was accepted of it also depends on the versions that replays could begin from.
            changes[name] = found
            continue
        log = FeedLog(f"{location}/feed/{file_name(name.casefold())}.jsonl")
        reason = _not_in(log, declaration, records)
        if reason is None:
            taken = [record for record in records or () if record.version <= step]
            changes[name] = _Replaying(declaration, log, name in replayed).after(taken)
            continue
        found = _archived(root, declaration, step, needed, records)
        if isinstance(found, str):
            missing[name] = found or reason
        else:
            changes[name] = found
    return AcceptedInput(changes, missing)


def kept_records(root: str) -> list[StepRecord] | None:
    """All steps; None if the first ones are not kept any more."""
    return list(Journal(root).entries()) if History.read(root).dropped < 0 else None


def _not_in(
    log: FeedLog, declaration: Declaration, records: Sequence[StepRecord] | None
) -> str | None:
    """Why a log does not have all that was accepted of a source; None if it has."""
    name = declaration.name
    if isinstance(declaration, StreamDeclaration) and declaration.defers:
        return "its rows may have waited, and its log does not say until when"
    if any(promise.arrival for promise in declaration.promises):
        return "the steps have filled in its ARRIVAL, and its log does not have it"
    if records is None:
        return "what its first steps accepted is not kept any more: KEEP CHANGES"
    if not any(name in record.positions for record in records):
        came = "its rows came from files or DataFrames, and are not archived"
        return came if _came(name, records) else None
    return "the beginning of what was fed has been cut off" if log.first > 0 else None


def _archived(
    root: str,
    declaration: Declaration,
    step: int,
    needed: Needed,
    records: Sequence[StepRecord] | None,
) -> tuple[Change, ...] | str:
    """What the archive of a source has; or why it cannot say, and nothing if there is none."""
    latest = Journal(root).latest()
    if latest is None or not isinstance(declaration, StreamDeclaration):
        return ""
    if declaration.summary is not None:
        return "only a summary of its rows is archived"
    found = archived_input(root, latest, declaration, archive_name(declaration.name))
    if found is None:
        return ""
    if _is_undone(step, records or ()):
        return f"a rollback has undone step {step}"
    if not reaches(found.floors, needed, declaration, records):
        return "rows have left its archive on which the answer may depend"
    return found.upto(step)


def _is_undone(step: int, records: Sequence[StepRecord]) -> bool:
    """Whether a later step went back behind a step."""
    return any(
        record.version > step
        and _goes_back(records[:number], record)
        and _target(records[:number], record) < step
        for number, record in enumerate(records)
    )


def reaches(
    floors: Mapping[str, Instant],
    needed: Needed,
    declaration: StreamDeclaration,
    records: Sequence[StepRecord] | None,
) -> bool:
    """Whether an archive has all facts that are needed, or all that there ever were."""
    if needed is not None and floors.get(needed[0].casefold(), INF) <= needed[1]:
        return True
    came = [r.came[declaration.name] for r in records or () if declaration.name in r.came]
    oldest = [c.oldest for c in came if c.rows > 0]
    floor = floors.get((declaration.time or "").casefold(), INF)
    return records is not None and all(t is not None and t > floor for t in oldest)


def _came(name: str, records: Sequence[StepRecord]) -> bool:
    return any(record.came[name].rows for record in records if name in record.came)


@dataclass(frozen=True, slots=True)
class _Replaying:
    """The log of a source, admitted again."""

    declaration: Declaration
    log: FeedLog
    replays: bool = False

    def after(self, records: Sequence[StepRecord]) -> tuple[Change, ...]:
        """The accepted input after some steps, the first of all steps among them."""
        name = self.declaration.name
        entries, _ = self.log.read(0)
        states: list[Admission] = [begin(self.declaration, self.replays)]
        taken = 0
        for number, record in enumerate(records):
            if _goes_back(records[:number], record):
                states.append(states[_target(records[:number], record) + 1])
                taken = record.positions.get(name, 0)
                continue
            upto = record.positions.get(name, taken)
            some = [(place, entry) for place, entry in entries if taken <= place < upto]
            states.append(self._admitted(states[-1], some, record))
            taken = upto
        return states[-1].accepted

    def _admitted(
        self, state: Admission, entries: Sequence[tuple[int, FedRow | Advance]], record: StepRecord
    ) -> Admission:
        arrivals = tuple(
            Arrival(_op(entry.op), row(*entry.values), place)
            for place, entry in entries
            if isinstance(entry, FedRow) and entry.malformed is None
        )
        promised = [entry.to for _, entry in entries if isinstance(entry, Advance)]
        follows = (
            self.declaration.not_beyond_us is not None or self.declaration.idle_after_us is not None
        )
        clock = record.clock if follows else None
        after = admit(state, Step(arrivals, max(promised, default=None), clock))
        counted = record.came.get(self.declaration.name)
        if counted is not None and after.admitted - state.admitted != counted.rows:
            raise StateError(
                "other-input",
                f'step {record.version} accepted other rows of "{self.declaration.name}" than its '
                "log has",
                detail=f"{counted.rows} then, and {after.admitted - state.admitted} by the log",
                hint="restore the directory feed/ of the location",
            )
        return after


def _op(word: str) -> Op | None:
    try:
        return Op(word)
    except ValueError:
        return None


def _goes_back(before: Sequence[StepRecord], record: StepRecord) -> bool:
    """Whether a step is a rollback: it takes back rows, or ``now`` falls."""
    if any(came.rows < 0 for came in record.came.values()):
        return True
    last = before[-1].nows if before else {}
    return any(now < last.get(view, now) for view, now in record.nows.items())


def _target(before: Sequence[StepRecord], record: StepRecord) -> int:
    """The step that a rollback went back to: since it as many rows came as are taken back."""
    taken = {name: -came.rows for name, came in record.came.items()}
    for target in reversed(range(len(before) - 1)):
        since = before[target + 1 :]
        came = {n: sum(r.came[n].rows for r in since if n in r.came) for n in taken}
        if came == taken and dict(before[target].nows) == dict(record.nows):
            return target
    return -1
