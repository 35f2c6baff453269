"""The engine: what people hold to declare sources, to ask queries and to run them.

Spark is started when something runs, not before: declaring, parsing and explaining need no JVM.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import cached_property
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
from ebbtide.core.file_name import file_name
from ebbtide.core.time import duration, instant
from ebbtide.engine.allowed_paths import AllowedPaths
from ebbtide.engine.arguments import late_of, zone_of
from ebbtide.engine.definitions import Definitions, check_name
from ebbtide.engine.query import Query
from ebbtide.errors import BindError, EbbtideError, QueryError
from ebbtide.optimizer import optimise
from ebbtide.sql.binder import bind
from ebbtide.sql.bound import BoundExplain, BoundInsert, BoundQuery, BoundShow, Declared
from ebbtide.sql.catalog import Catalog, StreamEntry, TableEntry, ViewEntry
from ebbtide.sql.parser import parse, parse_query
from ebbtide.sql.syntax import Statement
from ebbtide.store.clock import Clock, system_clock
from ebbtide.store.feed_log import Advance, Fed, FeedLog, fed_rows
from ebbtide.store.program import root_of_program

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from ebbtide.program.host import Host
    from ebbtide.program.run import Run
    from ebbtide.store.manifest import Manifest


class Engine:
    """Runs queries, with their state below ``location``.

    With ``spark`` it uses that session; without one it starts Spark in this process when
    something runs; with ``transport="local"`` it needs no Spark and no Java, and takes rows that
    are fed by hand.  ``shards`` is the number of parts that state is cut into; it cannot be
    changed later.  ``clock`` is asked once a step by queries whose sources follow one.  ``log``
    is a file for what a Spark that it starts has to say.  ``paths`` are the directories that SQL
    may read and sinks may write, as far as ``EBBTIDE_ALLOWED_PATHS`` allows them.
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
        paths: Iterable[str | os.PathLike[str]] | None = None,
    ) -> None:
        if shards < 1:
            raise QueryError("bad-count", f"state needs at least one shard, not {shards}")
        self.location = os.path.abspath(location)
        self.shards = shards
        config = Config.from_environment()
        self.zone = zone_of(zone or config.time_zone)
        self.clock = clock
        self.log = log
        self.definitions = Definitions(AllowedPaths.of(config.allowed_paths, paths))
        self._transport, self._session = _known_transport(transport), spark
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

    @property
    def catalog(self) -> Catalog:
        """What is declared, by name."""
        return self.definitions.catalog

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
        self.definitions.declare_frame(StreamEntry(declaration), frame, streaming=True)

    def table(self, name: str, frame: DataFrame, *, key: Sequence[str] = ()) -> None:
        """Declares a static table that is a Spark DataFrame."""
        from ebbtide.spark.frames import schema_of

        declaration = TableDeclaration(name, schema_of(frame), tuple(key))
        self.definitions.declare_frame(TableEntry(declaration), frame, streaming=False)

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
        check_name(chosen)
        from ebbtide.engine.starting import started

        run = started(self, queries, chosen, **options)
        self._runs[chosen] = run
        return run

    def feed(self, name: str, rows: Iterable[Fed], op: str | None = None) -> None:
        """Adds rows to a stream or table that is fed by hand; the next step takes them."""
        declaration = self.definitions.fed_by_hand(name)
        word = op or ("insert" if isinstance(declaration, StreamDeclaration) else "upsert")
        if isinstance(declaration, TableDeclaration) and declaration.static and op is None:
            word = "insert"
        self.log_of(declaration).append(fed_rows(declaration, rows, word, self.zone))

    def advance(self, name: str, at: int | str | datetime) -> None:
        """Promises that no row before ``at`` comes to a stream any more."""
        declaration = self.definitions.fed_by_hand(name)
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
        queries = [self.definitions.query(name) for name in names]
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
        entry = self.definitions.source(name)
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
        return FeedLog(f"{self.location}/feed/{file_name(declaration.name.casefold())}.jsonl")

    def _executed(self, statement: Statement) -> Any:
        with _placed(statement):
            bound = bind(statement, self.catalog)
            match bound:
                case Declared():
                    self._check_unread(bound.catalog)
                    return self.definitions.declare(statement, bound)
                case BoundQuery():
                    return self._query(statement.span.text, bound, None)
                case BoundExplain():
                    explanation = explain(optimise(bound.query.plan), bound.query.emit)
                    return explanation.json if bound.json else explanation.text
                case BoundShow():
                    queries = bound.kind == "QUERY"
                    return self.definitions.query_names if queries else list(bound.names)
                case BoundInsert():
                    fed = self.log_of(bound.target).read(0)[0]
                    return self.definitions.insert(statement, bound, bool(fed))

    def _check_unread(self, later: Catalog) -> None:
        """Refuses to drop or replace a source while a run reads it."""
        left = tuple(later)
        for entry in self.catalog:
            if isinstance(entry, ViewEntry) or entry in left:
                continue
            for run in self._runs.values():
                if run.active and entry.declaration in run.program.lowered.declarations:
                    raise BindError(
                        "in-use",
                        f'"{entry.name}" cannot be dropped or replaced while "{run.name}" runs',
                        hint="stop the run first: run.stop()",
                    )

    def _query(self, text: str, bound: BoundQuery, name: str | None) -> Query:
        query = Query(self, self.definitions.name_for_query(name), text, bound)
        query.analysis  # noqa: B018 - refuses what may not run
        self.definitions.add_query(query)
        return query


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
