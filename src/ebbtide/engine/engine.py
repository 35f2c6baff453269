"""The engine: a catalog, queries, and the Spark that runs them.

Spark is started when something runs, not before: declaring, parsing and explaining need no JVM.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import cached_property
from itertools import count
from typing import TYPE_CHECKING, Any

from ebbtide.analysis import explain
from ebbtide.builder import Built
from ebbtide.config import Config
from ebbtide.core.declaration import (
    Declaration,
    Promise,
    StreamDeclaration,
    TableDeclaration,
)
from ebbtide.core.time import duration, instant
from ebbtide.engine.arguments import late_of, zone_of
from ebbtide.engine.query import Query
from ebbtide.engine.script import declared_text
from ebbtide.errors import EbbtideError, QueryError, SourceError, UnsupportedError
from ebbtide.optimizer import optimise
from ebbtide.sql.binder import bind
from ebbtide.sql.bound import BoundExplain, BoundInsert, BoundQuery, BoundShow, Declared
from ebbtide.sql.catalog import Catalog, Entry, FileSource, StreamEntry, TableEntry, near
from ebbtide.sql.parser import parse, parse_query
from ebbtide.sql.syntax import CreateStream, CreateTable, Statement
from ebbtide.store.clock import Clock, system_clock
from ebbtide.store.feed_log import Advance, Fed, FeedLog, fed_rows
from ebbtide.store.program import root_of_program

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from ebbtide.program.host import Host
    from ebbtide.program.run import Run
    from ebbtide.store.manifest import Manifest

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")


class Engine:
    """Runs queries, with their state below ``location``.

    With ``spark`` it uses that session; without one it starts Spark in this process when
    something runs; with ``transport="local"`` it needs no Spark and no Java, and takes rows that
    are fed by hand.  ``shards`` is the number of parts that state is cut into; it cannot be
    changed later.  ``clock`` is asked once a step by queries whose sources follow one.  ``log``
    is a file for what a Spark that it starts has to say.
    """

    def __init__(
        self,
        location: str | os.PathLike[str] = "ebbtide",
        *,
        spark: SparkSession | None = None,
        shards: int = 2,
        zone: str | None = None,
        clock: Clock = system_clock,
        log: str | None = None,
        transport: str = "spark",
    ) -> None:
        if shards < 1:
            raise QueryError("bad-count", f"state needs at least one shard, not {shards}")
        self.location = os.path.abspath(location)
        self.shards = shards
        self.zone = zone_of(zone or Config.from_environment().time_zone)
        self.clock = clock
        self.log = log
        self.catalog = Catalog()
        self.declared: list[str] = []
        self._transport, self._session = _known_transport(transport), spark
        self._frames: dict[str, DataFrame] = {}
        self._queries: dict[str, Query] = {}
        self._runs: dict[str, Run] = {}

    @cached_property
    def host(self) -> Host:
        """Where steps run."""
        if self._transport == "local":
            from ebbtide.local.host import LocalHost

            return LocalHost()
        from ebbtide.spark.host import SparkHost

        return SparkHost(self._session, self.log)

    @property
    def spark(self) -> SparkSession:
        """The Spark session; it starts at the first use."""
        session: SparkSession = self.host.spark  # type: ignore[attr-defined]
        return session

    # --- declaring ---------------------------------------------------------------------------

    def execute(self, script: str) -> list[Any]:
        """Runs a script of statements and gives what each has to say.

        A query gives a ``Query``, EXPLAIN a text, SHOW a list of names, a declaration None.
        """
        return [self._executed(statement) for statement in parse(script)]

    def stream(
        self,
        name: str,
        frame: DataFrame,
        *,
        time: str,
        key: Sequence[str] = (),
        lateness: str = "0 seconds",
        retain: str = "0 seconds",
        late: str = "revise",
    ) -> None:
        """Declares a stream that is a Spark streaming DataFrame."""
        from ebbtide.spark.frames import schema_of

        declaration = StreamDeclaration(
            name,
            schema_of(frame),
            tuple(key),
            (Promise(time, duration(lateness)),),
            duration(retain),
            late_of(late),
        )
        self._bind_frame(StreamEntry(declaration), frame, streaming=True)

    def table(self, name: str, frame: DataFrame, *, key: Sequence[str] = ()) -> None:
        """Declares a static table that is a Spark DataFrame."""
        from ebbtide.spark.frames import schema_of

        declaration = TableDeclaration(name, schema_of(frame), tuple(key))
        self._bind_frame(TableEntry(declaration), frame, streaming=False)

    def query(self, query: str | Built, name: str | None = None) -> Query:
        """A query, as SQL or built from parts: parsed, bound and analysed; nothing runs."""
        text = query.sql if isinstance(query, Built) else query
        statements = parse(text)
        if len(statements) != 1:
            parse_query(text)  # says what is wrong, and where
        (statement,) = statements
        with _placed(statement):
            bound = bind(statement, self.catalog)
            if not isinstance(bound, BoundQuery):
                raise QueryError(
                    "no-query", "this statement is no query", hint="use execute(...) for it"
                )
            return self._query(text, bound, name)

    # --- running -----------------------------------------------------------------------------

    def start(self, *queries: Query, name: str | None = None, **options: Any) -> Run:
        """Starts queries as one program, or goes on where it stopped.

        All of them show the same step.  A program of one query has its name, unless it is given
        another one.
        """
        if not queries:
            raise QueryError("nothing-to-run", "a program needs at least one query")
        chosen = queries[0].name if name is None and len(queries) == 1 else name
        if chosen is None:
            raise QueryError(
                "no-name", "a program of several queries needs a name", hint='name="totals"'
            )
        _check_name(chosen)
        from ebbtide.engine.starting import started

        run = started(self, queries, chosen, **options)
        self._runs[chosen] = run
        return run

    def feed(self, name: str, rows: Iterable[Fed], op: str | None = None) -> None:
        """Adds rows to a stream or table that is fed by hand; the next step takes them."""
        declaration = self._fed_by_hand(name)
        word = op or ("insert" if isinstance(declaration, StreamDeclaration) else "upsert")
        if isinstance(declaration, TableDeclaration) and declaration.static and op is None:
            word = "insert"
        self.log_of(declaration).append(fed_rows(declaration, rows, word, self.zone))

    def advance(self, name: str, at: int | str | datetime) -> None:
        """Promises that no row before ``at`` comes to a stream any more."""
        declaration = self._fed_by_hand(name)
        if not declaration.promises:
            raise QueryError(
                "nothing-progresses",
                f'"{declaration.name}" cannot be advanced: nothing is promised about its times',
                hint="declare PROGRESS FOR one of its time attributes",
            )
        self.log_of(declaration).append([Advance(instant(at, self.zone))])

    def step(self, clock: int | str | datetime | None = None) -> dict[str, Manifest]:
        """One step of every query that is fed by hand; one that steps by itself is waited for."""
        moment = None if clock is None else instant(clock, self.zone)
        taken = {
            name: run.take(moment)
            for name, run in self._runs.items()
            if run.active and (run.fed_by_hand or run.logs)
        }
        return {name: manifest for name, manifest in taken.items() if manifest is not None}

    def snapshot(
        self, names: Sequence[str], at: int | str | datetime | None = None
    ) -> dict[str, Any]:
        """The rows of several views of one program, all as said after the same step."""
        moment = None if at is None else instant(at, self.zone)
        queries = [self._named(name) for name in names]
        roots = {query.view.root for query in queries}
        if len(roots) > 1:
            raise QueryError(
                "several-programs",
                f"{', '.join(names)} do not run in one program, so they show no common step",
                hint="start them together: engine.start(a, b, name=...)",
            )
        from ebbtide.store.journal import Journal

        latest = [Journal(root).latest() for root in roots]
        # Before the first step is there, views have said nothing, whatever comes meanwhile.
        step = max((manifest.version for manifest in latest if manifest), default=-1)
        return {q.name: self.host.snapshot(q.view, moment, step) for q in queries}

    def late(self, name: str) -> Any:
        """The rows of a source that were not used, each with its reason."""
        entry = self._source(name)
        roots = {program: run.root for program, run in self._runs.items()}
        return self.host.unused(roots, entry.name)

    def stop(self) -> None:
        """Stops all queries, and Spark if this engine started it."""
        for run in self._runs.values():
            run.stop()
        self.host.stop()

    # --- what queries and runs ask -----------------------------------------------------------

    def root_of(self, name: str) -> str:
        """The directory of the program in which a query runs, or has run."""
        for run in self._runs.values():
            if name in run.program.views:
                return run.root
        from ebbtide.engine.location import Location

        known = Location(self.location).root_of_view(name)
        return known or root_of_program(self.location, name)

    def log_of(self, declaration: Declaration) -> FeedLog:
        """The log of a source that is fed by hand."""
        return FeedLog(f"{self.location}/feed/{declaration.name.casefold()}.jsonl")

    def entry_of(self, declaration: Declaration) -> Entry:
        """The catalog's entry of a source."""
        return self.catalog.get(declaration.name)

    def frame_of(self, declaration: Declaration) -> DataFrame | None:
        """The DataFrame that a source is bound to."""
        return self._frames.get(declaration.name.casefold())

    def _bind_frame(
        self, entry: StreamEntry | TableEntry, frame: DataFrame, streaming: bool
    ) -> None:
        if frame.isStreaming is not streaming:
            kind = "streaming" if streaming else "static"
            raise SourceError("wrong-frame", f'"{entry.name}" needs a {kind} DataFrame')
        self.catalog = self.catalog.add(entry)
        self.declared.append(declared_text(entry.declaration))
        self._frames[entry.name.casefold()] = frame

    def _executed(self, statement: Statement) -> Any:
        with _placed(statement):
            bound = bind(statement, self.catalog)
            match bound:
                case Declared():
                    _check_files(statement)
                    self.catalog = bound.catalog
                    self.declared.append(statement.span.text)
                    return None
                case BoundQuery():
                    return self._query(statement.span.text, bound, None)
                case BoundExplain():
                    explanation = explain(optimise(bound.query.plan), bound.query.emit)
                    return explanation.json if bound.json else explanation.text
                case BoundShow():
                    return self._names if bound.kind == "QUERY" else list(bound.names)
                case BoundInsert():
                    raise UnsupportedError(
                        "insert-not-built", "INSERT INTO is understood, but cannot be run yet"
                    )

    @property
    def _names(self) -> list[str]:
        return [query.name for query in self._queries.values()]

    def _query(self, text: str, bound: BoundQuery, name: str | None) -> Query:
        chosen = self._free_name() if name is None else name
        _check_name(chosen)
        if chosen.casefold() in self._queries:
            raise QueryError(
                "duplicate-name",
                f'there is a query "{chosen}" already',
                hint=f'name="{self._free_name()}"',
            )
        query = Query(self, chosen, text, bound)
        query.analysis  # noqa: B018 - refuses what may not run
        self._queries[chosen.casefold()] = query
        return query

    def _named(self, name: str) -> Query:
        query = self._queries.get(name.casefold())
        if query is None:
            close = near(name, tuple(self._names))
            raise QueryError(
                "unknown-query",
                f'there is no query "{name}"',
                hint=f"did you mean {close}?" if close else None,
            )
        return query

    def _free_name(self) -> str:
        names = (f"query{number}" for number in count(len(self._queries)))
        return next(name for name in names if name not in self._queries)

    def _source(self, name: str) -> StreamEntry | TableEntry:
        entry = self.catalog.get(name)
        if not isinstance(entry, StreamEntry | TableEntry):
            raise SourceError(
                "not-a-source", f'"{entry.name}" is a view, which has no rows of its own'
            )
        return entry

    def _fed_by_hand(self, name: str) -> Declaration:
        entry = self._source(name)
        if entry.files is not None or name.casefold() in self._frames:
            raise SourceError(
                "not-fed-by-hand", f'"{entry.name}" gets its rows from elsewhere, not by hand'
            )
        return entry.declaration


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise QueryError(
            "bad-name", f'"{name}" cannot name a query', hint="use letters, digits, _, - and ."
        )


def _check_files(statement: Statement) -> None:
    if isinstance(statement, CreateStream | CreateTable) and statement.files is not None:
        from ebbtide.spark.sources import check_files

        files = statement.files
        try:
            source = FileSource(files.path, files.format.text, files.options)
            check_files(statement.name.text, source)
        except EbbtideError as error:
            span = files.format.span if error.code == "unknown-format" else files.span
            raise error.with_span(span) from None


def _known_transport(name: str) -> str:
    if name not in ("spark", "local"):
        raise QueryError(
            "unknown-transport", f'there is no transport "{name}"', hint='"spark" or "local"'
        )
    return name


@contextmanager
def _placed(statement: Statement) -> Iterator[None]:
    """Gives errors that know no place that of the statement."""
    try:
        yield
    except EbbtideError as error:
        raise error.with_span(statement.span) from error.__cause__
