"""The text of a started program, kept in its directory: ``program.sql``.

Law: the file is a script; its queries are the program's views, in the order of their names in
``program.json``, and the other statements declare what they may read; binding them gives the plans
that run.  So whoever finds the directory knows what its files say.  Its last line is a comment with
the checksum of what is above it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ebbtide.core.declaration import Declaration, StreamDeclaration
from ebbtide.errors import Span, StateError
from ebbtide.sql.binder import bind
from ebbtide.sql.binding.insertion import inserted
from ebbtide.sql.bound import BoundInsert, BoundQuery, Declared
from ebbtide.sql.catalog import Catalog
from ebbtide.sql.parser import parse
from ebbtide.sql.printer import sql
from ebbtide.sql.syntax import (
    ColumnDefinition,
    CreateStream,
    CreateTable,
    Name,
    Period,
    Progress,
)
from ebbtide.state.files import content_of, digest
from ebbtide.store.files import replace
from ebbtide.store.program import Identity

FILE = "program.sql"
_PROOF = "-- checksum "

_NOWHERE = Span("", 0, 0)
_UNSAID: dict[str, Any] = {
    "files": None,
    "op": None,
    "idle_after": None,
    "not_beyond": None,
    "or_replace": False,
    "if_not_exists": False,
}


def write_script(root: str, declared: Iterable[str], queries: Iterable[str]) -> None:
    """Keeps queries and the statements that declare their sources."""
    text = "".join(f"{statement.strip().rstrip(';')};\n" for statement in (*declared, *queries))
    path = f"{root}/{FILE}"
    content = f"{text}{_PROOF}{digest(text.encode())}\n".encode()
    try:
        if content_of(path) == content:
            return
    except FileNotFoundError:
        pass
    replace(path, content)


def read_script(root: str) -> tuple[Catalog, dict[str, BoundQuery]]:
    """What was declared, and the views by their names."""
    text = _text(root)
    catalog, queries = Catalog(), []
    for statement in parse(text):
        bound = bind(statement, catalog)
        if isinstance(bound, Declared):
            catalog = bound.catalog
        elif isinstance(bound, BoundInsert):
            catalog = inserted(bound.target, bound.query, catalog)
        elif isinstance(bound, BoundQuery):
            queries.append(bound)
    identity = Identity.read(root)
    if identity is None or len(identity.views) != len(queries):
        raise _damaged(root, "it does not have the queries of its program")
    return catalog, dict(zip(identity.views, queries, strict=True))


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


def declared_text(declaration: Declaration) -> str:
    """A stream or static table that was declared in Python, as the statement that says the same."""
    retain = declaration.retain_us
    told: dict[str, Any] = {
        "name": _name(declaration.name),
        "columns": tuple(
            ColumnDefinition(_name(column.name), column.type, column.nullable, None, _NOWHERE)
            for column in declaration.schema
        ),
        "key": tuple(map(_name, declaration.key)),
        "progress": tuple(
            Progress(_name(promise.attribute), promise.delay_us, _NOWHERE)
            for promise in declaration.promises
        ),
        "retain": Period(retain, _NOWHERE) if retain else None,
        "late": declaration.late if declaration.promises else None,
        "span": _NOWHERE,
    }
    if isinstance(declaration, StreamDeclaration):
        return sql(CreateStream(**_UNSAID, **told, append_only=bool(declaration.key)))
    return sql(CreateTable(**_UNSAID, **told, time=None, sequence=None, lifetime=None))


def _name(text: str) -> Name:
    return Name(text, _NOWHERE)
