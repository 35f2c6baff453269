"""The engine: a catalog, queries, and the Spark that runs them.

Spark is started when something runs, not before: declaring, parsing and explaining need no JVM.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from ebbtide.analysis import explain
from ebbtide.builder import Built
from ebbtide.config import Config
from ebbtide.core.declaration import (
    Declaration,
    Late,
    Promise,
    StreamDeclaration,
    TableDeclaration,
)
from ebbtide.core.time import duration, instant
from ebbtide.errors import QueryError, SourceError, UnsupportedError
from ebbtide.runtime.clock import Clock, system_clock
from ebbtide.runtime.feed import Advance, Fed, FeedLog, fed_rows
from ebbtide.runtime.query import Query
from ebbtide.sql.binder import bind
from ebbtide.sql.bound import BoundExplain, BoundInsert, BoundQuery, BoundShow, Declared
from ebbtide.sql.catalog import Catalog, Entry, StreamEntry, TableEntry
from ebbtide.sql.parser import parse

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from ebbtide.runtime.run import Run
    from ebbtide.state.manifest import Manifest

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")


class Engine:
    """Runs queries, with their state below ``location``.

    With ``spark`` it uses that session; without one it starts Spark in this process when
    something runs.  ``shards`` is the number of parts that state is cut into; it cannot be
    changed later.  ``clock`` is asked once a step by queries whose sources follow one.
    """

    def __init__(
        self,
        location: str | os.PathLike[str] = "ebbtide",
        *,
        spark: SparkSession | None = None,
        shards: int = 2,
        zone: str | None = None,
        clock: Clock = system_clock,
    ) -> None:
        if shards < 1:
            raise QueryError("bad-count", f"state needs at least one shard, not {shards}")
        self.location = os.path.abspath(location)
        self.shards = shards
        self.zone = ZoneInfo(zone or Config.from_environment().time_zone)
        self.clock = clock
        self.catalog = Catalog()
        self._spark = spark
        self._own_spark = False
        self._frames: dict[str, DataFrame] = {}
        self._queries: dict[str, Query] = {}
        self._runs: dict[str, Run] = {}

    @property
    def spark(self) -> SparkSession:
        """The Spark session; it starts at the first use."""
        if self._spark is None:
            from ebbtide.runtime.session import start_spark

            self._spark = start_spark()
            self._own_spark = True
        return self._spark

    # --- declaring ---------------------------------------------------------------------------

    def execute(self, script: str) -> list[Any]:
        """Runs a script of statements and gives what each has to say.

        A query gives a ``Query``, EXPLAIN a text, SHOW a list of names, a declaration None.
        """
        results: list[Any] = []
        for statement in parse(script):
            bound = bind(statement, self.catalog)
            match bound:
                case Declared():
                    self.catalog = bound.catalog
                    results.append(None)
                case BoundQuery():
                    results.append(self._query(statement.span.text, bound, None))
                case BoundExplain():
                    explanation = explain(bound.query.plan, bound.query.emit)
                    results.append(explanation.json if bound.json else explanation.text)
                case BoundShow():
                    names = list(self._queries) if bound.kind == "QUERY" else list(bound.names)
                    results.append(names)
                case BoundInsert():
                    raise UnsupportedError(
                        "insert-not-built", "INSERT INTO is understood, but cannot be run yet"
                    )
        return results

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
        from ebbtide.runtime.frames import schema_of

        declaration = StreamDeclaration(
            name,
            schema_of(frame),
            tuple(key),
            (Promise(time, duration(lateness)),),
            duration(retain),
            _late(late),
        )
        self._bind_frame(StreamEntry(declaration), frame, streaming=True)

    def table(self, name: str, frame: DataFrame, *, key: Sequence[str] = ()) -> None:
        """Declares a static table that is a Spark DataFrame."""
        from ebbtide.runtime.frames import schema_of

        declaration = TableDeclaration(name, schema_of(frame), tuple(key))
        self._bind_frame(TableEntry(declaration), frame, streaming=False)

    def query(self, query: str | Built, name: str | None = None) -> Query:
        """A query, as SQL or built from parts: parsed, bound and analysed; nothing runs."""
        text = query.sql if isinstance(query, Built) else query
        statements = parse(text)
        if len(statements) != 1:
            raise QueryError("one-query", f"this is {len(statements)} statements, not one query")
        bound = bind(statements[0], self.catalog)
        if not isinstance(bound, BoundQuery):
            raise QueryError(
                "no-query", "this statement is no query", hint="use execute(...) for it"
            )
        return self._query(text, bound, name)

    # --- running -----------------------------------------------------------------------------

    def start(self, query: Query, **options: Any) -> Run:
        """Starts a query, or goes on where it stopped."""
        from ebbtide.runtime.starting import started

        run = started(self, query, **options)
        self._runs[query.name] = run
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
        """One step of every started query that is fed by hand."""
        moment = None if clock is None else instant(clock, self.zone)
        return {
            name: run.step(self.spark, moment)
            for name, run in self._runs.items()
            if run.active and run.streaming is None
        }

    def late(self, name: str) -> DataFrame:
        """The rows of a source that were not used, each with its reason."""
        from ebbtide.runtime.results import unused

        entry = self.catalog.get(name)
        roots = {query: run.root for query, run in self._runs.items()}
        return unused(self.spark, roots, entry.name)

    def stop(self) -> None:
        """Stops all queries, and Spark if this engine started it."""
        for run in self._runs.values():
            run.stop()
        if self._own_spark and self._spark is not None:
            self._spark.stop()
            self._spark = None

    # --- what queries and runs ask -----------------------------------------------------------

    def root_of(self, name: str) -> str:
        """The directory of a query."""
        return os.path.join(self.location, "queries", name)

    def log_of(self, declaration: Declaration) -> FeedLog:
        """The log of a source that is fed by hand."""
        return FeedLog(os.path.join(self.location, "feed", declaration.name.casefold()))

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
        self._frames[entry.name.casefold()] = frame

    def _query(self, text: str, bound: BoundQuery, name: str | None) -> Query:
        chosen = name or f"query{len(self._queries)}"
        if not _NAME.fullmatch(chosen):
            raise QueryError(
                "bad-name", f'"{chosen}" cannot name a query', hint="use letters, digits and _"
            )
        query = Query(self, chosen, text, bound)
        query.analysis  # noqa: B018 - refuses what may not run
        self._queries[chosen] = query
        return query

    def _fed_by_hand(self, name: str) -> Declaration:
        entry = self.catalog.get(name)
        if not isinstance(entry, StreamEntry | TableEntry):
            raise SourceError("not-a-source", f'"{entry.name}" is a view; nothing can be fed to it')
        if entry.files is not None or name.casefold() in self._frames:
            raise SourceError(
                "not-fed-by-hand", f'"{entry.name}" gets its rows from elsewhere, not by hand'
            )
        return entry.declaration


def _late(word: str) -> Late:
    try:
        return Late[word.upper()]
    except KeyError:
        raise QueryError(
            "bad-late",
            f'"{word}" is not what can be done with late rows',
            hint="revise or quarantine",
        ) from None
