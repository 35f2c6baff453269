"""The text of a started program, kept in its directory: ``program.sql``.

Law: the file is a script; its queries are the program's views, in the order of their names in
``program.json``, and the other statements declare what they may read; binding them gives the plans
that run.  So whoever finds the directory knows what its files say.  Its last line is a comment with
the checksum of what is above it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from functools import lru_cache
from typing import Any

from ebbtide.core.declaration import (
    Declaration,
    Histogram,
    RowSample,
    StreamDeclaration,
    TableDeclaration,
    arrivals_of,
)
from ebbtide.core.schema import Column
from ebbtide.core.time import Duration
from ebbtide.errors import Span, StateError
from ebbtide.sql.binder import bind
from ebbtide.sql.binding.encodings import READABLE
from ebbtide.sql.binding.insertion import inserted
from ebbtide.sql.bound import BoundInsert, BoundQuery, Declared
from ebbtide.sql.catalog import Catalog
from ebbtide.sql.parser import parse
from ebbtide.sql.printer import sql
from ebbtide.sql.syntax import (
    ArchiveClause,
    ColumnDefinition,
    CreateStream,
    CreateTable,
    HistogramClause,
    Name,
    Period,
    Progress,
    SampleClause,
)
from ebbtide.state.files import content_of, digest
from ebbtide.store.files import replace
from ebbtide.store.program import Identity

FILE = "program.sql"
_PROOF = "-- checksum "

_NOWHERE = Span("", 0, 0)


def write_script(root: str, declared: Iterable[str], queries: Iterable[str]) -> None:
    """Keeps queries and the statements that declare their sources."""
    path = f"{root}/{FILE}"
    content = script_text(declared, queries).encode()
    try:
        if content_of(path) == content:
            return
    except FileNotFoundError:
        pass
    replace(path, content)


def script_text(declared: Iterable[str], queries: Iterable[str]) -> str:
    """What the file says of queries and of the statements that declare their sources."""
    text = "".join(f"{statement.strip().rstrip(';')};\n" for statement in (*declared, *queries))
    return f"{text}{_PROOF}{digest(text.encode())}\n"


def read_script(root: str) -> tuple[Catalog, dict[str, BoundQuery]]:
    """What was declared, and the views by their names."""
    catalog, queries = _understood(_text(root))
    identity = Identity.read(root)
    if identity is None or len(identity.views) != len(queries):
        raise _damaged(root, "it does not have the queries of its program")
    return catalog, dict(zip(identity.views, queries, strict=True))


@lru_cache(maxsize=16)
def _understood(text: str) -> tuple[Catalog, tuple[BoundQuery, ...]]:
    """What a script declares, and its queries: values, so that each view may ask again."""
    catalog, queries = Catalog(), []
    for statement in parse(text):
        bound = bind(statement, catalog)
        if isinstance(bound, Declared):
            catalog = bound.catalog
        elif isinstance(bound, BoundInsert):
            catalog = inserted(bound.target, bound.query, catalog)
        elif isinstance(bound, BoundQuery):
            queries.append(bound)
    return catalog, tuple(queries)


def _text(root: str) -> str:
    try:
        text, found, proof = content_of(f"{root}/{FILE}").decode().rpartition(_PROOF)
    except FileNotFoundError as error:
        raise _damaged(root, "it is not there") from error
    except UnicodeDecodeError as error:
        raise _damaged(root, str(error)) from error
    if not found or proof != f"{digest(text.encode())}\n":
        raise _damaged(root, "its checksum does not match")
    return text


def _damaged(root: str, why: str) -> StateError:
    return StateError(
        "damaged-script",
        f'"{root}/{FILE}" does not say what the program is',
        detail=why,
        hint="start the program again: it writes the file anew",
    )


def declared_text(declaration: Declaration, *, replace: bool = False) -> str:
    """A source that was declared in Python, as the statement that says the same."""
    is_stream = isinstance(declaration, StreamDeclaration)
    told: dict[str, Any] = {
        "name": _name(declaration.name),
        "columns": tuple(
            _column(column, column.name in arrivals_of(declaration))
            for column in _declared(declaration)
        ),
        "key": () if _is_bag(declaration) else tuple(map(_name, declaration.key)),
        "progress": tuple(
            Progress(_name(promise.attribute), promise.delay_us, _NOWHERE)
            for promise in declaration.promises
            if not promise.arrival
        ),
        "op": _named(declaration.op),
        "retain": _period(declaration.retain_us or None),
        "late": declaration.late if declaration.promises else None,
        "idle_after": _period(declaration.idle_after_us),
        "not_beyond": _period(declaration.not_beyond_us),
        "or_replace": replace,
        "if_not_exists": False,
        "span": _NOWHERE,
    }
    if isinstance(declaration, StreamDeclaration):
        told["append_only"] = bool(declaration.key) and declaration.append_only
        told["archive"] = _archive(declaration)
        told["revise"] = _period(declaration.revise_us)
        told["replay"] = declaration.replay
    elif declaration.encoding is not None:
        # It says when a row holds and what it does.
        told |= {"encoding": _name(declaration.encoding.value), "op": None}
    else:
        told["time"] = _named(declaration.time)
        told["sequence"] = _named(declaration.sequence)
        told["lifetime"] = _period(declaration.lifetime_us)
    kind = CreateStream if is_stream else CreateTable
    # What DataFrames have no word for is not said.
    return sql(kind(**{**dict.fromkeys(field.name for field in fields(kind)), **told}))


def _archive(declaration: StreamDeclaration) -> ArchiveClause | None:
    length, summary = _period(declaration.archive_us), declaration.summary
    if length is None:
        return None
    match summary:
        case None:
            return ArchiveClause(length)
        case RowSample(per_million, impact, seed):
            by_impact = impact is not None
            clause = SampleClause(per_million, by_impact, _named(impact), seed, _NOWHERE)
            return ArchiveClause(length, clause)
        case Histogram(of, every_us):
            bins = HistogramClause(tuple(map(_name, of)), _period(every_us), _NOWHERE)
            return ArchiveClause(length, bins)


def _named(text: str | None) -> Name | None:
    return None if text is None else _name(text)


def _period(length: Duration | None) -> Period | None:
    return None if length is None else Period(length, _NOWHERE)


def _declared(declaration: Declaration) -> Iterable[Column]:
    """The columns that a statement declares: those of an encoding come with it."""
    encoding = None if isinstance(declaration, StreamDeclaration) else declaration.encoding
    added = () if encoding is None else READABLE[encoding].columns
    return (column for column in declaration.schema if column not in added)


def _column(column: Column, arrival: bool) -> ColumnDefinition:
    name = _name(column.name)
    return ColumnDefinition(name, column.type, column.nullable, None, _NOWHERE, arrival)


def _name(text: str) -> Name:
    return Name(text, _NOWHERE)


def _is_bag(declaration: Declaration) -> bool:
    return isinstance(declaration, TableDeclaration) and declaration.bag
