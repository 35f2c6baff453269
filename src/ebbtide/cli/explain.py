"""``ebbtide explain``: what is to be expected of the queries of a script; nothing runs."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ebbtide.cli import scripts
from ebbtide.cli.error_display import DONE, USERS
from ebbtide.cli.options import location_option
from ebbtide.errors import EbbtideError, QueryError, Span

if TYPE_CHECKING:
    from ebbtide.algebra.relation import Relation
    from ebbtide.analysis import Explanation
    from ebbtide.sql.bound import BoundQuery
    from ebbtide.sql.catalog import Catalog, ViewEntry


@click.command("explain")
@click.argument("file", type=scripts.SCRIPT, required=False)
@click.option("--query", "-q", "text", metavar="SQL", help="A query, or a script, as text.")
@click.option("--view", metavar="NAME", help="Explain this view or query alone.")
@click.option("--verbose", "-v", is_flag=True, help="Add what is proved about every operator.")
@click.option(
    "--rate",
    "rates",
    multiple=True,
    metavar="SOURCE=N",
    help="Rows a second of a source, to say how many rows and bytes are kept; may be repeated. "
    "Without it, rates are those of the run in the location, if there was one.",
)
@click.option("--json", "as_json", is_flag=True, help="For programs: an object by query.")
@click.option("--svg", "as_svg", is_flag=True, help="A drawing of the plan with its facts.")
@click.option("--output", "-o", metavar="PATH", help="Write to this file.")
@location_option
def command(
    file: str | None,
    text: str | None,
    view: str | None,
    verbose: bool,
    rates: tuple[str, ...],
    as_json: bool,
    as_svg: bool,
    output: str | None,
    location: str,
) -> int:
    """Explain the queries of the script FILE, or of -q.

    How fresh and how final answers are, and how much is kept for them; with --verbose, what is
    proved about every operator. With both FILE and -q, FILE declares and -q asks.

    A query that may not run is explained too, with the reason; the exit code is then 2.
    """
    if file is None and text is None:
        raise click.UsageError("name a script, or give a query with -q")
    if as_json and as_svg:
        raise click.UsageError("--json and --svg exclude each other")
    reading = _Reading(dict(map(_rate, rates)), location)
    given = list(_scripts(file, text))
    # With both, the file only declares.
    refused = [reading.read(script, asks=script is given[-1]) for script in given]
    found = reading.found
    chosen = found if view is None else {view: reading.one(view)}
    if not chosen and not any(refused):
        raise QueryError("nothing-to-run", "there is no query to explain", hint="SELECT ...")
    if chosen:
        _write(_drawn(chosen) if as_svg else _written(chosen, as_json, verbose), output)
    for script, errors in zip(given, refused, strict=True):
        script.tell(errors, reading.catalog.names())
    return USERS if any(refused) else DONE


def _scripts(file: str | None, text: str | None) -> Iterator[scripts.Script]:
    if file is not None:
        yield scripts.read(file)
    if text is not None:
        yield scripts.Script(text, "-q")


def _rate(given: str) -> tuple[str, float]:
    name, _, number = given.partition("=")
    try:
        rate = float(number)
    except ValueError:
        rate = -1.0
    if not name or rate < 0:
        raise click.BadParameter(f"'{given}' is not like bids=100", param_hint="--rate")
    return name, rate


@dataclass(slots=True)
class _Reading:
    """Scripts, read one after the other: what they declare, and what is proved."""

    rates: Mapping[str, float]
    location: str
    found: dict[str, Explanation] = field(default_factory=dict)
    _catalog: Catalog | None = None

    @property
    def catalog(self) -> Catalog:
        """What is declared so far."""
        from ebbtide.sql.catalog import Catalog

        return self._catalog or Catalog()

    def read(self, script: scripts.Script, asks: bool) -> list[EbbtideError]:
        """Explains the queries of a script, and views that it declares and nothing in it reads.

        What is refused does not end the others.  One that does not ask only declares.
        """
        from ebbtide.algebra.relation import View
        from ebbtide.core.tree import find
        from ebbtide.sql.binder import bind
        from ebbtide.sql.binding.insertion import inserted
        from ebbtide.sql.bound import BoundExplain, BoundInsert, BoundQuery, Declared
        from ebbtide.sql.catalog import ViewEntry
        from ebbtide.sql.parser import parse

        refused: list[EbbtideError] = []
        read = {name.casefold() for name in self.catalog.names()}
        with script.placed():
            statements = parse(script.text)
        places = {entry.casefold(): span for entry, span in scripts.declared(statements)}
        for statement in statements:
            with _noted(refused, statement.span):
                bound = bind(statement, self.catalog)
                if isinstance(bound, Declared):
                    self._catalog = bound.catalog
                elif isinstance(bound, BoundQuery | BoundExplain | BoundInsert):
                    query = bound if isinstance(bound, BoundQuery) else bound.query
                    read |= {view.name.casefold() for view in find(query.plan, View)}
                    if isinstance(bound, BoundInsert):
                        self._catalog = inserted(bound.target, bound.query, self.catalog)
                    if asks:
                        only = isinstance(bound, BoundExplain)
                        self._explain(f"query{len(self.found)}", query, only)
        for entry in self.catalog if asks else ():
            unread = entry.name.casefold() not in read and not self.catalog.dependents(entry.name)
            if isinstance(entry, ViewEntry) and unread:
                with _noted(refused, places.get(entry.name.casefold())):
                    self._view(entry)
        return refused

    def one(self, name: str) -> Explanation:
        """What is proved about one view or query."""
        from ebbtide.sql.catalog import ViewEntry

        if name.casefold() in self.found:
            return self.found[name.casefold()]
        entry = self.catalog.find(name)
        if isinstance(entry, ViewEntry):
            return self._view(entry)
        names = [*self.catalog.names("VIEW"), *self.found]
        raise QueryError(
            "unknown-query",
            f'the script has no view "{name}"',
            detail=f"it has {', '.join(dict.fromkeys(names))}" if names else None,
        )

    def _explain(self, name: str, query: BoundQuery, only: bool) -> None:
        """Explains a query, and then, unless it is only to be explained, refuses it if need be."""
        from ebbtide.analysis import check
        from ebbtide.engine.building import check_built, explain_built
        from ebbtide.optimizer import guarded, optimise, written

        plan = optimise(query.plan, query.on_error)
        runs = guarded(plan, query.on_error)

        def place(node: Relation) -> Span | None:
            return query.written.span(written(query.plan, plan, runs.origin(node)))

        rates, lineage = self._rates(name), None
        if query.lineage:
            from ebbtide.engine.lineage_archive import lineage_analysis

            lineage = lineage_analysis(query)
        self.found[name] = explain_built(runs.plan, query.emit, rates, query.expiry, lineage)
        if not only:
            allowed, watched = query.allow_unbounded, runs.watched
            analysis = check(runs.plan, query.emit, allowed, place, watched, query.expiry)
            check_built(name, analysis)

    def _view(self, entry: ViewEntry) -> Explanation:
        """Explains a view, as it is given where it runs under its name."""
        from ebbtide.algebra.identifiers import identifier
        from ebbtide.algebra.kind import Kind, kind
        from ebbtide.sql.binder import bind_query
        from ebbtide.sql.operator_spans import Written
        from ebbtide.sql.parser import parse_query

        query = bind_query(parse_query(f"SELECT * FROM {identifier(entry.name)}"), self.catalog)
        plain = replace(query, plan=entry.view, written=Written())
        # What only gives its facts on may run in the queries that read it.
        passed_on = kind(entry.view) is Kind.FACT and not query.emit.needs_finality
        self._explain(entry.name, plain, passed_on)
        return self.found[entry.name]

    def _rates(self, name: str) -> Mapping[str, float]:
        """The rates that were given, or those of the run of that name."""
        if self.rates or not os.path.isdir(self.location):
            return self.rates
        from ebbtide.engine.location import Location
        from ebbtide.engine.measured import measured_rates

        root = Location(self.location).root_of_view(name)
        return {} if root is None else measured_rates(root)


@contextmanager
def _noted(refused: list[EbbtideError], span: Span | None) -> Iterator[None]:
    try:
        yield
    except EbbtideError as error:
        refused.append(error if span is None else error.with_span(span))


def _written(found: Mapping[str, Explanation], as_json: bool, verbose: bool) -> str:
    if as_json:
        return json.dumps({name: one.document for name, one in found.items()}, indent=2)
    texts = {name: one.verbose if verbose else one.text for name, one in found.items()}
    if len(texts) == 1:
        return next(iter(texts.values()))
    return "\n\n".join(f"-- {name}\n{text}" for name, text in texts.items())


def _drawn(found: Mapping[str, Explanation]) -> str:
    if len(found) > 1:
        raise click.UsageError(f"--svg draws one query; choose by --view: {', '.join(found)}")
    from ebbtide.drawing import plan_svg

    return plan_svg(next(iter(found.values())))


def _write(text: str, output: str | None) -> None:
    if output is None:
        click.echo(text)
        return
    try:
        Path(output).write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise click.FileError(output, error.strerror) from error
