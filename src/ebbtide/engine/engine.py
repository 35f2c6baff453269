"""The engine: what people hold to declare sources, to ask queries and to run them.

Spark is started when something runs, not before: declaring, parsing and explaining need no JVM.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ebbtide.algebra.quarantine import OnError
from ebbtide.analysis.analysis import examine
from ebbtide.builder import Built
from ebbtide.config import Config
from ebbtide.core.codec.encoding import AS_EMITTED
from ebbtide.core.declaration import Declaration
from ebbtide.core.expiry import Expiry, strategy_of
from ebbtide.core.file_name import file_name
from ebbtide.core.html import facts_html
from ebbtide.core.schema import Column, Schema
from ebbtide.core.time import INF, instant
from ebbtide.core.types import STRING
from ebbtide.engine.allowed_paths import AllowedPaths
from ebbtide.engine.arguments import names_of, path_of, typed, zone_of
from ebbtide.engine.building import explain_built
from ebbtide.engine.definitions import Definitions, check_name
from ebbtide.engine.frame_sources import Length, Times, stream_declaration, table_declaration
from ebbtide.engine.query import Query
from ebbtide.engine.window_limit import check_windows
from ebbtide.errors import BindError, EbbtideError, QueryError, StateError
from ebbtide.optimizer import optimise, prepared
from ebbtide.plan_text.output_sql import output_sql
from ebbtide.sql.binder import bind
from ebbtide.sql.bound import BoundExplain, BoundInsert, BoundQuery, BoundShow, Declared
from ebbtide.sql.catalog import Catalog, StreamEntry, TableEntry, ViewEntry
from ebbtide.sql.parser import parse, parse_query
from ebbtide.sql.syntax import CreateView, Statement
from ebbtide.store.clock import Clock, system_clock
from ebbtide.store.feed_log import Advance, Fed, FeedLog, fed_rows
from ebbtide.store.program import root_of_program

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from ebbtide.analysis import Explanation
    from ebbtide.engine.evolution import Evolution
    from ebbtide.engine.repairing import Repair
    from ebbtide.engine.rescaling import Rescaling
    from ebbtide.engine.retrying import OfferedFile
    from ebbtide.program.host import Host
    from ebbtide.program.run import Run
    from ebbtide.store.manifest import Manifest


class Engine:
    """Runs queries, with their state below ``location``.

    With ``spark`` it uses that session; without one it starts Spark in this process when
    something runs; with ``transport="local"`` it needs no Spark and no Java, and takes rows that
    are fed by hand.  ``shards`` is the number of parts that state is cut into; if it is
    not given, that is 2 for a new program, and else what it is.  ``clock`` is asked once a step by
    queries whose sources follow one.  ``log`` is a file for what a Spark that it starts has to say.
    ``paths`` are the directories that SQL may read and sinks may write, as far as
    ``EBBTIDE_ALLOWED_PATHS`` allows them.
    """

    def __init__(
        self,
        location: str | os.PathLike[str] = "ebbtide",
        *,
        spark: SparkSession | None = None,
        shards: int | None = None,
        zone: str | None = None,
        clock: Clock = system_clock,
        log: str | None = None,
        transport: str = "spark",
        paths: Iterable[str | os.PathLike[str]] | None = None,
    ) -> None:
        if shards is not None and typed("shards", shards, int, "shards=2") < 1:
            raise QueryError("bad-count", f"state needs at least one shard, not {shards}")
        self.location = os.path.abspath(path_of("location", location))
        self.shards = shards
        config = Config.from_environment()
        self.zone = zone_of(zone or config.time_zone)
        self.limits = config.limits
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

    def execute(
        self, script: str, *, refused: Callable[[EbbtideError], object] | None = None
    ) -> list[Any]:
        """Runs a script of statements and gives what each has to say.

        A query gives a ``Query``, EXPLAIN a text, SHOW a list of names, a declaration None.  The
        first statement that is refused ends the script; if there is someone to tell, ``refused``
        gets each of the errors, and the other statements run.
        """
        text = typed("script", script, str, 'execute("SHOW STREAMS")')
        said = []
        for statement in parse(text, self.limits.statement):
            try:
                said.append(self._executed(statement))
            except EbbtideError as error:
                if refused is None:
                    raise
                refused(error)
        return said

    def stream(
        self,
        name: str,
        frame: DataFrame,
        *,
        time: Times,
        key: str | Sequence[str] = (),
        lateness: Length = "0 seconds",
        retain: Length = "0 seconds",
        late: str = "revise",
        op: str | None = None,
        idle: Length | None = None,
        not_beyond: Length | None = None,
        arrival: str | None = None,
        archive: Length | None = None,
        revise: Length | None = None,
        replay: str | None = None,
        replace: bool = False,
    ) -> None:
        """Declares a stream that is a Spark streaming DataFrame, or with ``replace`` again.

        ``time`` is the attribute that progresses, or several, or a dictionary of how late each may
        be.  ``op`` is the column that says insert, delete or replace; ``idle`` and ``not_beyond``
        are SQL's IDLE AFTER and NOT BEYOND.  ``arrival`` names one more column, which has the clock
        of the step in which a row came.
        """
        from ebbtide.spark.frames import schema_of

        declaration = stream_declaration(
            name,
            schema_of(frame),
            time=time,
            key=key,
            lateness=lateness,
            retain=retain,
            late=late,
            op=op,
            idle=idle,
            not_beyond=not_beyond,
            arrival=arrival,
            archive=archive,
            revise=revise,
            replay=replay,
        )
        self._declare_frame(StreamEntry(declaration), frame, streaming=True, replace=replace)

    def table(
        self,
        name: str,
        frame: DataFrame,
        *,
        key: str | Sequence[str] = (),
        time: str | None = None,
        encoding: str | None = None,
        op: str | None = None,
        sequence: str | None = None,
        lifetime: Length | None = None,
        lateness: Length | None = None,
        retain: Length = "0 seconds",
        late: str = "revise",
        idle: Length | None = None,
        not_beyond: Length | None = None,
        replace: bool = False,
    ) -> None:
        """Declares a table that is a Spark DataFrame, or with ``replace`` again.

        Without ``time`` it is static.  With it, the DataFrame is a stream of operations on keys,
        and ``time`` the column that says from when on they hold; ``lateness`` promises progress,
        and the others are the clauses of CREATE TABLE.  With an ``encoding`` it changes by rows
        in that encoding, which say when and what they do.
        """
        from ebbtide.spark.frames import schema_of

        declaration = table_declaration(
            name,
            schema_of(frame),
            key=key,
            time=time,
            encoding=encoding,
            op=op,
            sequence=sequence,
            lifetime=lifetime,
            lateness=lateness,
            retain=retain,
            late=late,
            idle=idle,
            not_beyond=not_beyond,
        )
        entry, streaming = TableEntry(declaration), not declaration.static
        self._declare_frame(entry, frame, streaming=streaming, replace=replace)

    def _declare_frame(
        self, entry: StreamEntry | TableEntry, frame: DataFrame, *, streaming: bool, replace: bool
    ) -> None:
        from ebbtide.spark.frames import values_of

        if replace:
            self._check_unread(self.catalog.add(entry, replace=True))
        self.definitions.declare_frame(
            entry, values_of(frame), streaming=streaming, replace=replace
        )

    def query(
        self,
        query: str | Built,
        name: str | None = None,
        *,
        replace: bool = False,
        on_error: str | None = None,
        expiry: str | None = None,
        join_message: bool = False,
        compression: bool = True,
        lineage: bool = False,
    ) -> Query:
        """A query, as SQL or built from parts: parsed, bound and analysed; nothing runs.

        Rows on which an expression fails are left out, and shown by ``errors`` of the query, unless
        ``on_error`` is "fail": then the step fails.  ``expiry`` is how operators learn that rows
        have expired: "interval", "negative", "input" or "piggyback"; with ``join_message`` joins
        say it once for all their rows.  Without ``compression`` operators send on all that they say
        in a step, and not only what is left of it.  With ``lineage`` the times of the inputs that
        each row is made of are stored beside the answer, for ``lineage`` of the query.

        With ``replace`` a query of that name makes room: its run is stopped, and if it was another
        query, what it has stored is moved to ``replaced`` in the location when this one starts.
        """
        text = query.sql if isinstance(query, Built) else query
        typed("query", text, str, 'query("SELECT * FROM bids [RANGE 1 HOUR]")')
        if name is not None:
            typed("name", name, str, 'name="totals"')
        if on_error is not None:
            text = f"{text.rstrip().removesuffix(';')} ON ERROR {_on_error(on_error).value}"
        if expiry is not None or join_message or not compression or lineage:
            clause = _options(expiry, join_message, compression, lineage)
            text = f"{text.rstrip().removesuffix(';')}{clause}"
        statements = parse(text, self.limits.statement)
        if len(statements) != 1:
            parse_query(text)  # says what is wrong, and where
        (statement,) = statements
        with _placed(statement):
            bound = bind(statement, self.catalog, self.limits.operators)
            if not isinstance(bound, BoundQuery):
                raise QueryError(
                    "no-query", "this statement is not a query", hint="use execute(...) for it"
                )
            return self._query(text, bound, name, replace)

    # --- running -----------------------------------------------------------------------------

    def start(self, *queries: Query, name: str | None = None, **options: Any) -> Run:
        """Starts queries as one program, or goes on where it stopped.

        All of them show the same step.  A program of one query has its name, unless it is given
        another one.
        """
        chosen = self._program_name(queries, name)
        from ebbtide.engine.starting import started

        run = started(self, queries, chosen, **options)
        self._runs[chosen] = run
        return run

    def _program_name(self, queries: Sequence[Query], name: str | None) -> str:
        """The name of a program of these queries."""
        for query in queries:
            typed("query", query, Query, "engine.start(engine.query(...))")
        if not queries:
            raise QueryError("nothing-to-run", "a program needs at least one query")
        chosen = queries[0].name if name is None and len(queries) == 1 else name
        if chosen is None:
            raise QueryError(
                "no-name", "a program of several queries needs a name", hint='name="totals"'
            )
        check_name(chosen)
        return chosen

    def feed(self, name: str, rows: Iterable[Fed], op: str | None = None) -> None:
        """Adds rows to a stream or table that is fed by hand; the next step takes them.

        Without ``op`` rows of a table with an encoding say what they do.
        """
        declaration = self.definitions.fed_by_hand(typed("name", name, str, 'feed("bids", rows)'))
        if isinstance(rows, str | bytes | Mapping) or not isinstance(rows, Iterable):
            example = "feed(name, [(1, 2.0), (2, 3.0)])"
            raise QueryError(
                "wrong-type", f"rows cannot be {rows!r}: it is not a list of rows", hint=example
            )
        self.log_of(declaration).append(fed_rows(declaration, rows, op, self.zone))

    def advance(self, name: str, at: int | str | datetime) -> None:
        """Promises that no row before ``at`` comes to a stream any more."""
        declaration = self.definitions.fed_by_hand(
            typed("name", name, str, 'advance("bids", at="2026-01-01")')
        )
        if not declaration.promises:
            raise QueryError(
                "nothing-progresses",
                f'"{declaration.name}" cannot be advanced: nothing is promised about its times',
                hint="declare PROGRESS FOR one of its time attributes",
            )
        moment = instant(at, self.zone)
        if moment == INF:
            from ebbtide.program.last_promise import refuse_endless

            refuse_endless(run.program.lowered for run in self._runs.values() if run.active)
        self.log_of(declaration).append([Advance(moment)])

    def step(self, clock: int | str | datetime | None = None) -> dict[str, Manifest]:
        """One step of every query that is fed by hand; one that steps by itself is waited for.

        One that fails keeps no other from its step; then its error is raised.
        """
        moment = None if clock is None else instant(clock, self.zone)
        taken: dict[str, Manifest | None] = {}
        failed: dict[str, Exception] = {}
        for name, run in self._runs.items():
            if run.active and (run.fed_by_hand or run.logs):
                try:
                    taken[name] = run.take(moment)
                except Exception as error:
                    failed[name] = error
        if failed:
            raise _first_failure(failed)
        return {name: manifest for name, manifest in taken.items() if manifest is not None}

    def snapshot(
        self,
        names: Sequence[str],
        at: int | str | datetime | None = None,
        *,
        strict: bool = False,
    ) -> dict[str, Any]:
        """The rows of several views of one program, all as said after the same step.

        Of a run that has failed, and where rows were left out, ``strict`` means what it means in
        ``snapshot`` of a query.
        """
        moment = None if at is None else instant(at, self.zone)
        queries = [self.definitions.query(name) for name in names_of("names", names)]
        roots = {query.view.root for query in queries}
        if len(roots) > 1:
            raise QueryError(
                "several-programs",
                f"{', '.join(names)} do not run in one program, so they show no common step",
                hint="start them together: engine.start(a, b, name=...)",
            )
        from ebbtide.store.journal import Journal

        if queries:
            # They run in one program, so one of them stands for all.
            self.check_run(queries[0].name, strict)
        latest = [Journal(root).latest() for root in roots]
        # Before the first step is there, views have said nothing, whatever comes meanwhile.
        step = max((manifest.version for manifest in latest if manifest), default=-1)
        if strict:
            for query in queries:
                query.check_errors(moment, step)
        return {q.name: self.host.snapshot(q.view, moment, step) for q in queries}

    def savepoint(self, to: str | os.PathLike[str]) -> None:
        """Copies the location to a directory that is not there yet, while its programs run."""
        from ebbtide.engine.savepoint import savepoint

        savepoint(self.location, path_of("to", to))

    def evolve(self, *queries: Query, name: str | None = None, dry_run: bool = False) -> Evolution:
        """Makes a program that has state one of these queries, over the sources as declared now.

        It must not run.  State is carried over where parts are equal, and rebuilt where what was
        fed is all there; else it is refused, with the reason.  With ``dry_run`` nothing is changed.
        """
        from ebbtide.engine.evolution import evolve

        return evolve(self, queries, self._program_name(queries, name), dry_run)

    def rescale(self, name: str, shards: int, *, dry_run: bool = False) -> Rescaling:
        """Cuts the state of a program, or of the one with such a view, into so many shards.

        It must not run.  With ``dry_run`` nothing is changed.
        """
        from ebbtide.engine.rescaling import rescale

        return rescale(self.location, name, shards, dry_run)

    def repair(self, name: str | None = None, *, dry_run: bool = False) -> Repair:
        """Puts back what is damaged or lost of a program, or of all, where it can be proved.

        They must not run.  With ``dry_run`` nothing is changed.
        """
        from ebbtide.engine.repairing import repair

        return repair(self.location, name, dry_run)

    def retry(
        self, name: str | None = None, *, source: str | None = None, dry_run: bool = False
    ) -> list[OfferedFile]:
        """Offers files again, once, that could not be read when they came.

        Those of a program or of the one with such a view, or of all; of one source, or of all.
        With ``dry_run`` nothing is written.
        """
        from ebbtide.engine.retrying import retry

        paths, zone = self.definitions.paths, self.zone.key
        return retry(self.location, name, source=source, paths=paths, zone=zone, dry_run=dry_run)

    def late(self, name: str) -> Any:
        """The rows of a source that were not used, each with its reason."""
        entry = self.definitions.source(name)
        roots = {program: run.root for program, run in self._runs.items()}
        return self.host.unused(roots, entry.name)

    def pending(self, name: str) -> Any:
        """The operations on a source that wait for the row that they are about."""
        from ebbtide.engine.pending import PENDING_COLUMNS, pending

        declaration = self.definitions.source(name).declaration
        rows = [
            (*row, program)
            for program, run in self._runs.items()
            for row in pending(run.root, declaration)
        ]
        columns = (Column(column, STRING) for column in (*PENDING_COLUMNS, "query"))
        return self.host.rows(Schema(tuple(columns)), rows)

    def waiting(self, name: str) -> Any:
        """The rows of a source that wait to be replayed: REVISE EVERY, or ON DEMAND."""
        from ebbtide.engine.pending import PENDING_COLUMNS, waiting

        declaration = self.definitions.source(name).declaration
        rows = [
            (*row, program)
            for program, run in self._runs.items()
            for row in waiting(run.root, declaration)
        ]
        columns = (Column(column, STRING) for column in (*PENDING_COLUMNS, "query"))
        return self.host.rows(Schema(tuple(columns)), rows)

    def revise(self, clock: int | str | datetime | None = None) -> dict[str, Manifest]:
        """Replays what waits: in a step of every query that is fed by hand, and of others in the
        next step that they take."""
        for run in self._runs.values():
            if run.active:
                run.revise()
        return self.step(clock)

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
            bound = bind(statement, self.catalog, self.limits.operators)
            match bound:
                case Declared():
                    self._check_unread(bound.catalog)
                    if isinstance(statement, CreateView) and statement.progress:
                        # What it promises and does not keep is refused where it is declared.
                        examine(optimise(bound.catalog.get(statement.name.text).relation))
                    if bound.view is not None:
                        # One that may not run is refused where it is declared.
                        self._checked(Query(self, "", statement.span.text, bound.view))
                    return self.definitions.declare(statement, bound)
                case BoundQuery():
                    return self._query(statement.span.text, bound, None)
                case BoundExplain():
                    explanation = self._explained(bound.query)
                    if bound.json:
                        return explanation.json
                    return explanation.verbose if bound.verbose else explanation.text
                case BoundShow():
                    queries = bound.kind == "QUERY"
                    return self.definitions.query_names if queries else list(bound.names)
                case BoundInsert():
                    fed = not self.log_of(bound.target).is_empty
                    return self.definitions.insert(statement, bound, fed)

    def _explained(self, query: BoundQuery) -> Explanation:
        """What is proved of a query that need not run."""
        runs, lineage = prepared(query.plan, query.on_error), None
        if query.lineage:
            from ebbtide.engine.lineage_archive import lineage_analysis

            lineage = lineage_analysis(query)
        return explain_built(runs.plan, query.emit, expiry=query.expiry, lineage=lineage)

    def _check_unread(self, later: Catalog) -> None:
        """Refuses to drop or replace a source while a run reads it."""
        left = tuple(later)
        for entry in self.catalog:
            if isinstance(entry, ViewEntry) or entry in left:
                continue
            readers = [
                run.name
                for run in self._runs.values()
                if run.active and entry.declaration in run.program.lowered.declarations
            ]
            if readers:
                names = ", ".join(f'"{name}"' for name in readers)
                raise BindError(
                    "in-use",
                    f'"{entry.name}" cannot be dropped or replaced: that would stop {names}',
                    hint="stop what runs first: run.stop()",
                )

    def check_run(self, name: str, strict: bool) -> None:
        """Warns if the run of a query has failed; with ``strict`` that is an error."""
        runs = [run for run in self._runs.values() if name in run.program.views]
        status = runs[-1].status if runs else None
        if status is None or status.failure is None:
            return
        told = f'the run of "{name}" has {status}'
        if strict:
            raise StateError(
                "run-failed", told, hint="run.failure says why; start the query again"
            ) from status.failure
        warnings.warn(f"{told}; this is what it said before", RuntimeWarning, stacklevel=3)

    def __repr__(self) -> str:
        names = ", ".join(self.definitions.query_names)
        return f"Engine({self.location!r}, queries: {names or 'none'})"

    def _repr_html_(self) -> str:
        sources = [entry.name for entry in self.catalog if not isinstance(entry, ViewEntry)]
        views = [entry.name for entry in self.catalog if isinstance(entry, ViewEntry)]
        runs = "\n".join(f"{run.name}: {run.status}" for run in self._runs.values())
        return facts_html(
            "Engine",
            [
                ("location", self.location),
                ("transport", self._transport),
                ("sources", ", ".join(sources) or "none"),
                ("views", ", ".join(views) or "none"),
                ("queries", ", ".join(self.definitions.query_names) or "none"),
                ("runs", runs or "none"),
            ],
        )

    def _query(
        self, text: str, bound: BoundQuery, name: str | None, replace: bool = False
    ) -> Query:
        chosen = self.definitions.name_for_query(name, replace=replace)
        query = self._checked(Query(self, chosen, text, bound, replace))
        if replace:
            for run in self._runs.values():
                if chosen in run.program.views:
                    run.stop()
        self.definitions.add_query(query)
        return query

    def _checked(self, query: Query) -> Query:
        check_windows(query.bound.plan, self.limits.windows)
        query.analysis  # noqa: B018 - refuses what may not run
        return query


def _first_failure(failed: Mapping[str, Exception]) -> Exception:
    """The first error of several programs, with a note on each of the others."""
    (_, first), *others = failed.items()
    for name, error in others:
        first.add_note(f'the step of "{name}" has failed, too: {error}')
    return first


def _known_transport(name: str) -> str:
    if name not in ("spark", "local"):
        raise QueryError(
            "unknown-transport", f'there is no transport "{name}"', hint='"spark" or "local"'
        )
    return name


def _options(word: str | None, join_message: bool, compression: bool, lineage: bool) -> str:
    """The clause that says how rows expire, and whether their lineage is kept."""
    named = typed("expiry", word or "interval", str, 'expiry="negative"')
    messages = typed("join_message", join_message, bool, "join_message=True")
    compressed = typed("compression", compression, bool, "compression=False")
    kept = typed("lineage", lineage, bool, "lineage=True")
    return output_sql(AS_EMITTED, Expiry(strategy_of(named), messages, compressed), kept)


def _on_error(word: str) -> OnError:
    known = {on_error.value.casefold(): on_error for on_error in OnError}
    chosen = known.get(typed("on_error", word, str, 'on_error="fail"').casefold())
    if chosen is None:
        raise QueryError(
            "unknown-option", f'on_error cannot be "{word}"', hint='"quarantine" or "fail"'
        )
    return chosen


@contextmanager
def _placed(statement: Statement) -> Iterator[None]:
    """Gives errors that know no place that of the statement."""
    try:
        yield
    except EbbtideError as error:
        raise error.with_span(statement.span) from error.__cause__
