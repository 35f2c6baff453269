"""Which queries of a script run, and whether anything can come to them.

Law: every query that stands in the script for itself runs, under its place among them (``query0``),
and so does every view that no query, view or INSERT of the script reads, under its own name and
with what it says of its answer.  Who names views gets these alone.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from ebbtide.algebra.identifiers import identifier
from ebbtide.algebra.relation import ChangingTable, Relation, StaticTable, Stream, View
from ebbtide.cli.scripts import Script, declared
from ebbtide.core.tree import find
from ebbtide.engine.query import Query
from ebbtide.engine.starting import is_stream
from ebbtide.errors import EbbtideError, QueryError, SourceError, Span, StateError
from ebbtide.spark.paths import check_path
from ebbtide.sql.catalog import StreamEntry, TableEntry, ViewEntry
from ebbtide.sql.parser import parse

if TYPE_CHECKING:
    from ebbtide.engine.engine import Engine


def chosen(
    engine: Engine,
    script: Script,
    views: Sequence[str],
    refused: list[EbbtideError] | None = None,
) -> tuple[list[Query], list[str]]:
    """The queries of a script that run, and what its EXPLAIN and SHOW statements say.

    The first that is refused ends it, unless there is a list for the errors: then others run.
    """
    said = engine.execute(script.text, refused=None if refused is None else refused.append)
    queries = [one for one in said if isinstance(one, Query)]
    texts = ["\n".join(one) if isinstance(one, list) else one for one in said if _is_text(one)]
    places = dict(declared(parse(script.text)))
    if views:
        return [_named(engine, name, queries, places) for name in views], texts
    for entry in _unread(engine, queries):
        try:
            queries.append(_view(engine, entry, places))
        except EbbtideError as error:
            if refused is None:
                raise
            refused.append(error)
    if not queries and not refused:
        raise QueryError(
            "nothing-to-run",
            f"{script.file} has no query",
            hint="end it with a SELECT, or name views with --view",
        )
    return queries, texts


def check_sources(engine: Engine, queries: Iterable[Query], script: Script) -> None:
    """Refuses sources to which nothing can come."""
    places = dict(declared(parse(script.text)))
    for name in dict.fromkeys(name for query in queries for name in _sources(query.bound.plan)):
        entry = engine.catalog.get(name)
        if not isinstance(entry, StreamEntry | TableEntry):
            continue
        try:
            if entry.files is None:
                raise _fed_by_hand(entry)
            check_path(entry.name, entry.files.path, is_stream(entry.declaration))
        except EbbtideError as error:
            raise error.with_span(places[name.casefold()]) from None


def check_location(path: str) -> None:
    """Refuses a location that cannot be written."""
    try:
        os.makedirs(path, exist_ok=True)
        writable = os.access(path, os.R_OK | os.W_OK | os.X_OK)
        reason = f"no permission to write {path}"
    except OSError as error:
        writable, reason = False, f"{error.strerror}: {error.filename}"
    if not writable:
        raise StateError(
            "unwritable-location",
            f'state cannot be kept in "{path}"',
            detail=reason,
            hint="name a directory that you may write, with --location DIR",
        )


def _is_text(said: object) -> bool:
    return isinstance(said, str | list)


def _fed_by_hand(entry: StreamEntry | TableEntry) -> SourceError:
    return SourceError(
        "fed-by-hand",
        f'{entry.kind.lower()} "{entry.name}" has no FROM, so nothing would ever come to it',
        hint=f"add FROM FILES 'data/{entry.name}' FORMAT json, or feed it from Python",
    )


def _unread(engine: Engine, queries: Iterable[Query]) -> list[ViewEntry]:
    """The views that nothing else reads."""
    plans = [query.bound.plan for query in queries]
    read = {view.name.casefold() for plan in plans for view in find(plan, View)}
    return [
        entry
        for entry in engine.catalog
        if isinstance(entry, ViewEntry)
        and entry.name.casefold() not in read
        and not engine.catalog.dependents(entry.name)
    ]


def _named(engine: Engine, name: str, queries: Sequence[Query], places: dict[str, Span]) -> Query:
    for query in queries:
        if query.name == name.casefold():
            return query
    entry = engine.catalog.find(name)
    if isinstance(entry, ViewEntry):
        return _view(engine, entry, places)
    names = [*engine.catalog.names("VIEW"), *(query.name for query in queries)]
    raise QueryError(
        "unknown-query",
        f'the script has no view "{name}"',
        detail=f"it has {', '.join(names)}" if names else None,
    )


def _view(engine: Engine, entry: ViewEntry, places: dict[str, Span]) -> Query:
    try:
        return engine.query(f"SELECT * FROM {identifier(entry.name)}", name=entry.name)
    except EbbtideError as error:
        # What is wrong is in the view, not in the query that was made of it.
        moved = type(error)(error.code, error.message, detail=error.detail, hint=error.hint)
        raise moved.with_span(places[entry.name.casefold()]) from error.__cause__


def _sources(plan: Relation) -> Iterator[str]:
    for node in find(plan, Relation):
        if isinstance(node, Stream | StaticTable | ChangingTable):
            yield node.declaration.name
