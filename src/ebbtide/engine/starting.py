"""Starting a program: its views are lowered together, and its sources are found and bound."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from ebbtide.algebra.identifiers import identifier
from ebbtide.algebra.relation import View
from ebbtide.compile.lowering import Lowered, lower
from ebbtide.core.declaration import Declaration, StreamDeclaration, arrivals_of
from ebbtide.core.time import SECOND, Duration
from ebbtide.core.tree import find
from ebbtide.engine.arguments import length_of, typed
from ebbtide.engine.keeping import keeping
from ebbtide.engine.outputs import outlets
from ebbtide.engine.replacing import set_aside
from ebbtide.engine.script import write_script
from ebbtide.errors import QueryError, SourceError
from ebbtide.plan_text.plan_sql import plan_sql
from ebbtide.program.delivery import Outlet
from ebbtide.program.run import Program, Run
from ebbtide.sql.catalog import FileSource, StreamEntry, TableEntry, ViewEntry
from ebbtide.store.feed_log import FeedLog
from ebbtide.store.journal import Journal
from ebbtide.store.lock import Claim
from ebbtide.store.program import DEFINITION, Identity, root_of_program

if TYPE_CHECKING:
    from ebbtide.engine.engine import Engine
    from ebbtide.engine.query import Query


SHARDS = 2
"""The number of shards of a new program, unless the user gives one."""


@dataclass(frozen=True, slots=True)
class _Sources:
    """The sources of a program by their numbers: streams, what is there from the start, logs."""

    streams: dict[int, Any] = field(default_factory=dict)
    static: dict[int, Any] = field(default_factory=dict)
    logs: dict[int, FeedLog] = field(default_factory=dict)


def started(
    engine: Engine,
    queries: Sequence[Query],
    name: str,
    *,
    sink: Any = None,
    encoding: str | Mapping[str, str] | None = None,
    archive: bool = True,
    trigger: dict[str, Any] | None = None,
    heartbeat: str | int | timedelta | None = None,
    keep_changes: str | Mapping[str, str] | None = None,
    keep_versions: int = 1,
    live: bool = False,
) -> Run:
    """The run of a program; ``trigger`` is Spark's, for programs on streams.

    ``sink`` is one sink or several (``ebbtide.sinks``), or a dictionary of them by view;
    ``encoding`` is how they get changes, for all views or by view.
    Without the archive what a step emits is gone with the next one; ``keep_changes``, a duration or
    one for some of the views, bounds how far back it goes, by ``now``.  ``keep_versions`` is how
    many steps a rollback can go back.  With a heartbeat ``now``
    follows the clock, and steps come in idle time.  With ``live`` the answer of each view is kept
    in one file of Parquet (``store.answer_files``).
    """
    if trigger is not None:
        typed("trigger", trigger, dict, 'trigger={"availableNow": True}')
    typed("live", live, bool, "live=True")
    lowered = lower({query.name: query.analysis for query in queries})
    sinks = outlets(_sinks(sink, queries), queries, encoding)
    _check_paths(engine, sinks)
    keep = keeping(engine.catalog, queries, keep_changes)
    with engine.host.binding(name):
        sources = _bound(engine, lowered)
        every = _asked(heartbeat)
        beats = _beats(every, lowered.declarations, sources)
        program = Program(
            name,
            root_of_program(engine.location, name),
            lowered,
            {query.name: said_of(engine, query) for query in queries},
            engine.shards or shards_of(root_of_program(engine.location, name)),
            beats,
            every is not None,
        )
        if keep_versions < 1:
            raise QueryError("bad-count", f"at least one version is kept, not {keep_versions}")
        if any(query.replaces for query in queries):
            set_aside(engine.location, program)
        run = engine.host.run(program, engine.clock, sinks, archive, keep)
    try:
        write_script(run.root, engine.definitions.texts, [query.text for query in queries])
        latest = Journal(run.root).latest()
        if latest is not None:
            run.catch_up(engine.host, latest)
            run.deliver(engine.host, latest)
        run.keep_live(live)
        run.keep_versions, run.zone = keep_versions, engine.zone
        run.static, run.logs = sources.static, sources.logs
        if sources.streams or beats:
            engine.host.stream(run, sources.streams, trigger or _trigger(every))
    except BaseException:
        run.stop()
        raise
    return run


def check_start(
    engine: Engine,
    queries: Sequence[Query],
    name: str,
    *,
    sink: Any = None,
    encoding: str | Mapping[str, str] | None = None,
    heartbeat: str | int | timedelta | None = None,
) -> None:
    """Refuses what ``started`` would refuse, as far as that is known before Spark starts."""
    lowered = lower({query.name: query.analysis for query in queries})
    _check_paths(engine, outlets(_sinks(sink, queries), queries, encoding))
    every, root = _asked(heartbeat), root_of_program(engine.location, name)
    if not os.path.isdir(root) or any(query.replaces for query in queries):
        return
    files = {d.name for d in lowered.declarations if _has_files(engine, d)}
    streams = [d for d in lowered.declarations if d.name in files and is_stream(d)]
    logs = [d for d in lowered.declarations if d.name not in files]
    beats = every is not None or (bool(streams) and _steps_alone(lowered.declarations, bool(logs)))
    views = {query.name: said_of(engine, query) for query in queries}
    wanted = Identity.of(views, lowered.declarations, engine.shards or shards_of(root), beats)
    claim = Claim(root, name)
    try:
        claim.check(wanted)
    finally:
        claim.release()


def _has_files(engine: Engine, declaration: Declaration) -> bool:
    entry = engine.catalog.find(declaration.name)
    return not isinstance(entry, StreamEntry | TableEntry) or entry.files is not None


def shards_of(root: str) -> int:
    """In how many shards the state of a program is cut, or is to be."""
    latest = Journal(root).latest()
    if latest is not None:
        return latest.shards
    known = Identity.read(root)
    return SHARDS if known is None else known.shards


def said_of(engine: Engine, query: Query) -> str:
    """The SQL of a query, with that of the queries that feed the derived streams it reads, and at
    last that of the views."""
    texts, definitions = [query.bound.asked], []
    read = {view.name: view for view in find(query.bound.plan, View)}
    for name, view in sorted(read.items()):
        entry = engine.catalog.find(name)
        if isinstance(entry, StreamEntry):
            texts += [f"INSERT INTO {identifier(name)} {plan_sql(rule)}" for rule in entry.rules]
        else:
            definitions.append(f"{DEFINITION}{identifier(name)} AS {plan_sql(view.input)}")
    return "".join(["; ".join(texts), *definitions])


def _sinks(given: Any, queries: Sequence[Query]) -> Mapping[str, Any]:
    names = [query.name for query in queries]
    if isinstance(given, Mapping):
        unknown = [name for name in given if name not in names]
        if unknown:
            raise QueryError(
                "unknown-view",
                f'there is no view "{unknown[0]}" for a sink',
                detail=f"the program has {', '.join(names)}",
            )
        return given
    if given is not None and len(names) > 1:
        raise QueryError(
            "which-view",
            "a program of several views needs a sink for each",
            hint=f'sink={{"{names[0]}": ...}}',
        )
    return {names[0]: given}


def _check_paths(engine: Engine, sinks: Mapping[str, tuple[Outlet, ...]]) -> None:
    """Holds that sinks with a path may write there."""
    for view, its in sinks.items():
        for outlet in its:
            path = getattr(outlet.sink, "path", None)
            if isinstance(path, str | os.PathLike):
                engine.definitions.paths.check(os.fspath(path), f'the sink of "{view}"')


def _bound(engine: Engine, lowered: Lowered) -> _Sources:
    given = dict(lowered.given)
    sources = _Sources()
    for number, declaration in enumerate(lowered.declarations):
        if number in given:
            sources.static[number] = engine.host.given(given[number])
        else:
            _bind(engine, number, declaration, sources)
    return sources


def _bind(engine: Engine, number: int, declaration: Declaration, sources: _Sources) -> None:
    entry = engine.definitions.entry_of(declaration)
    if isinstance(entry, ViewEntry):
        raise SourceError("not-a-source", f'"{entry.name}" is a view')
    frame = engine.definitions.frame_of(declaration)
    if frame is None and entry.files is None:
        sources.logs[number] = engine.log_of(declaration)
    elif is_stream(declaration):
        opened = frame or _opened(engine, entry.files, declaration, streaming=True)
        sources.streams[number] = opened
    elif frame is not None:
        sources.static[number] = lambda: frame
    else:
        files = entry.files
        sources.static[number] = lambda: _opened(engine, files, declaration, streaming=False)


def _opened(
    engine: Engine, files: FileSource | None, declaration: Declaration, streaming: bool
) -> Any:
    if files is None:
        raise SourceError("not-a-source", f'"{declaration.name}" has no files')
    engine.definitions.paths.check_files(files, f'"{declaration.name}"')
    return engine.host.files(files, declaration, engine.zone.key, streaming)


def is_stream(declaration: Declaration) -> bool:
    """Whether rows keep coming, so that the source is read as a stream."""
    return isinstance(declaration, StreamDeclaration) or not declaration.static


def _asked(heartbeat: str | int | timedelta | None) -> Duration | None:
    if heartbeat is None:
        return None
    every = length_of("heartbeat", heartbeat)
    if every < SECOND or every % SECOND:
        raise QueryError(
            "bad-heartbeat",
            f'a heartbeat comes every second or every few seconds, not every "{heartbeat}"',
            hint='heartbeat="1 second"',
        )
    return every


def _beats(every: Duration | None, declarations: Sequence[Declaration], sources: _Sources) -> bool:
    """Whether a heartbeat is needed: asked for, or because steps must come without rows."""
    alone = _steps_alone(declarations, bool(sources.logs))
    return every is not None or (bool(sources.streams) and alone)


def _steps_alone(declarations: Sequence[Declaration], fed_by_hand: bool) -> bool:
    """Whether steps have to come without rows of streams."""
    idle = any(d.idle_after_us is not None or arrivals_of(d) for d in declarations)
    return fed_by_hand or idle


def _trigger(every: Duration | None) -> dict[str, Any]:
    """Spark's trigger for steps that come less often than every second."""
    if every is None or every <= SECOND:
        return {}
    return {"processingTime": f"{every // SECOND} seconds"}
