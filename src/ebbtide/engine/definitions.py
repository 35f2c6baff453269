"""What an engine knows: its sources and views, the DataFrames behind them, and its queries.

Law: every name is found here, and nothing here runs; a JVM is not needed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import count
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from ebbtide.algebra.expression import Call
from ebbtide.algebra.printing import sql
from ebbtide.algebra.relation import Map, Relation, Stream
from ebbtide.analysis.analysis import examine
from ebbtide.core.declaration import Declaration, StreamDeclaration
from ebbtide.core.file_name import LONGEST
from ebbtide.core.tree import find
from ebbtide.engine.allowed_paths import AllowedPaths, paths_of
from ebbtide.engine.arguments import usable_path
from ebbtide.engine.script import declared_text
from ebbtide.errors import (
    BindError,
    EbbtideError,
    QueryError,
    SourceError,
    Span,
    TemporalError,
)
from ebbtide.sql.binding.insertion import inserted
from ebbtide.sql.bound import BoundInsert, Declared
from ebbtide.sql.catalog import Catalog, Entry, FileSource, StreamEntry, TableEntry, near
from ebbtide.sql.syntax import CreateStream, CreateTable, Statement

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from ebbtide.engine.query import Query

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:/")
_SECRET = re.compile(
    r"token|secret|passw|pwd|credential|signature|key|(?<![a-z])(sig|auth)", re.IGNORECASE
)
"""What names of secrets have in them."""


class Definitions:
    """The catalog, with the texts that declared it, the DataFrames of sources, and the queries."""

    def __init__(self, paths: AllowedPaths | None = None) -> None:
        self.paths = paths or AllowedPaths()
        self.catalog = Catalog()
        self.texts: list[str] = []
        self._frames: dict[str, DataFrame] = {}
        self._queries: dict[str, Query] = {}

    # --- sources -----------------------------------------------------------------------------

    def declare(self, statement: Statement, declared: Declared) -> None:
        """Takes over what a statement has declared; files must be such as can be read."""
        _check_files(statement, self.paths)
        self.catalog = declared.catalog
        self.texts.append(statement.span.text)

    def insert(self, statement: Statement, bound: BoundInsert, fed: bool) -> None:
        """Has a query feed a stream, for all queries to come; ``fed`` by hand it cannot be."""
        target = bound.target
        readers = [q.name for q in self._queries.values() if _reads(q.bound.plan, target.name)]
        if readers:
            raise QueryError(
                "in-use",
                f'"{target.name}" cannot be fed by a query once another one reads it',
                detail=f"it is read by {', '.join(readers)}",
                hint="INSERT INTO it first",
            )
        if fed or target.name.casefold() in self._frames:
            raise BindError(
                "not-derived",
                f'"{target.name}" has rows of its own, and cannot be fed by a query',
                hint="feed another stream, by INSERT INTO it SELECT * FROM this one, too",
            )
        catalog = inserted(target, bound.query, self.catalog)
        try:
            examine(catalog.get(target.name).relation)
        except TemporalError as error:
            if error.code == "recursion-not-later":
                raise
            raise TemporalError(
                "insert-without-progress",
                f'what is inserted into "{target.name}" does not progress as it is declared',
                detail=error.detail,
                hint=_later_time(bound) or error.hint,
            ) from None
        self.catalog = catalog
        self.texts.append(statement.span.text)

    def declare_frame(
        self,
        entry: StreamEntry | TableEntry,
        frame: DataFrame,
        *,
        streaming: bool,
        replace: bool = False,
    ) -> None:
        """Declares a source that is a DataFrame, perhaps in the place of another."""
        if frame.isStreaming is not streaming:
            kind = "streaming" if streaming else "static"
            raise SourceError("wrong-frame", f'"{entry.name}" needs a {kind} DataFrame')
        again = replace and self.catalog.find(entry.name) is not None
        self.catalog = self.catalog.add(entry, replace=replace)
        self.texts.append(declared_text(entry.declaration, replace=again))
        self._frames[entry.name.casefold()] = frame

    def entry_of(self, declaration: Declaration) -> Entry:
        """The catalog's entry of a source."""
        return self.catalog.get(declaration.name)

    def frame_of(self, declaration: Declaration) -> DataFrame | None:
        """The DataFrame that a source is bound to."""
        return self._frames.get(declaration.name.casefold())

    def source(self, name: str) -> StreamEntry | TableEntry:
        """The stream or table of that name."""
        entry = self.catalog.get(name)
        if not isinstance(entry, StreamEntry | TableEntry):
            raise SourceError(
                "not-a-source", f'"{entry.name}" is a view, which has no rows of its own'
            )
        return entry

    def fed_by_hand(self, name: str) -> Declaration:
        """The declaration of a source whose rows come from nowhere else."""
        entry = self.source(name)
        derived = isinstance(entry, StreamEntry) and bool(entry.rules)
        if entry.files is not None or derived or name.casefold() in self._frames:
            raise SourceError(
                "not-fed-by-hand",
                f'"{entry.name}" gets its rows from elsewhere, not by hand',
                hint="its progress follows its rows; run.finish() promises that no more come",
            )
        return entry.declaration

    # --- queries -----------------------------------------------------------------------------

    @property
    def query_names(self) -> list[str]:
        """The names of the queries, in the order in which they came."""
        return [query.name for query in self._queries.values()]

    def name_for_query(self, wanted: str | None, *, replace: bool = False) -> str:
        """A name that no query has yet: the wanted one, or one that is made up.

        One that is to be replaced has its name already.
        """
        if wanted is None:
            return self._free_name()
        check_name(wanted)
        if wanted.casefold() in self._queries and not replace:
            raise QueryError(
                "duplicate-name",
                f'there is a query "{wanted}" already',
                hint=f'replace=True puts this one in its place, or name="{self._free_name()}"',
            )
        return wanted

    def add_query(self, query: Query) -> None:
        """Keeps a query under its name."""
        self._queries[query.name.casefold()] = query

    def query(self, name: str) -> Query:
        """The query of that name."""
        query = self._queries.get(name.casefold())
        if query is None:
            close = near(name, tuple(self.query_names))
            raise QueryError(
                "unknown-query",
                f'there is no query "{name}"',
                hint=f"did you mean {close}?" if close else None,
            )
        return query

    def _free_name(self) -> str:
        names = (f"query{number}" for number in count(len(self._queries)))
        return next(name for name in names if name not in self._queries)


def check_name(name: str) -> None:
    """Refuses what cannot name a query or a program: it names a directory, too."""
    if not _NAME.fullmatch(name) or len(name) > LONGEST:
        raise QueryError(
            "bad-name",
            f'"{name}" cannot name a query',
            hint=f"use letters, digits, _, - and ., at most {LONGEST} of them",
        )


def _later_time(bound: BoundInsert) -> str | None:
    """What to choose in place of the earliest of several times, which need not progress."""
    declaration, plan = bound.target, bound.query.plan
    if not isinstance(declaration, StreamDeclaration) or not isinstance(plan, Map):
        return None
    promised = {promise.attribute for promise in declaration.promises}
    for named in plan.columns:
        match named.expression:
            case Call(name="LEAST") if named.name in promised:
                text = sql(named.expression)
                return f"choose the latest: GREATEST{text.removeprefix('LEAST')} AS {named.name}"
            case _:
                pass
    return None


def _reads(plan: Relation, name: str) -> bool:
    return any(leaf.declaration.name.casefold() == name.casefold() for leaf in find(plan, Stream))


def _refuse_secret(name: str, path: str, span: Span) -> None:
    """Refuses a secret in a path, which would be written to the directory of the program.

    The error shows the statement without it, for errors come to logs.
    """
    secrets = dict(_secrets(path))
    if secrets:
        parts = [span.source[: span.start], span.text, span.source[span.end :]]
        for secret, shown in secrets.items():
            parts = [part.replace(secret.replace("'", "''"), shown) for part in parts]
        before, here, after = parts
        raise QueryError(
            "secret-in-path",
            f'the path of "{name}" has a secret in it, and statements are stored as they are',
            hint="give credentials to Spark: spark.hadoop.fs.s3a.secret.key in its configuration",
            span=Span(before + here + after, len(before), len(before) + len(here)),
        )


def _secrets(path: str) -> Iterator[tuple[str, str]]:
    """The secrets in a URL, each with what is shown in its place.

    A ``?`` in a path without a scheme is a sign of a pattern.
    """
    try:
        password = urlsplit(path).password
    except ValueError:
        password = None
    if password:
        yield password, "***"
    for part in re.split("[?#&;]", path)[1:] if _URL.match(path) else ():
        name, equals, _ = part.partition("=")
        if equals and "/" not in name and _SECRET.search(unquote(name)):
            yield part, f"{name}=***"


def _check_files(statement: Statement, paths: AllowedPaths) -> None:
    if isinstance(statement, CreateStream | CreateTable) and statement.files is not None:
        from ebbtide.spark.sources import check_files

        files = statement.files
        source = FileSource(files.path, files.format.text, files.options)
        for path in paths_of(source):
            _refuse_secret(statement.name.text, path, files.span)
        try:
            for path in paths_of(source):
                usable_path(f'a path of "{statement.name.text}"', path, "FROM FILES 'data/in'")
            paths.check_files(source, f'"{statement.name.text}"')
            check_files(statement.name.text, source)
        except EbbtideError as error:
            span = files.format.span if error.code == "unknown-format" else files.span
            raise error.with_span(span) from None
