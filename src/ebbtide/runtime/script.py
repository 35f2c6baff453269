"""The text of a started query, kept in its directory: ``query.sql``.

Law: the file is a script; its last statement is the query, the others declare what it may read, and
binding them gives the plan that runs.  So whoever finds the directory knows what its files say.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterable
from typing import Any

from ebbtide.core.declaration import Declaration, StreamDeclaration
from ebbtide.errors import Span, StateError
from ebbtide.sql.binder import bind
from ebbtide.sql.bound import BoundQuery, Declared
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

FILE = "query.sql"

_NOWHERE = Span("", 0, 0)
_UNSAID: dict[str, Any] = {
    "files": None,
    "op": None,
    "idle_after": None,
    "not_beyond": None,
    "or_replace": False,
    "if_not_exists": False,
}


def write_script(root: str, declared: Iterable[str], query: str) -> None:
    """Keeps a query and the statements that declare its sources."""
    text = "".join(f"{statement.strip().rstrip(';')};\n" for statement in (*declared, query))
    path = f"{root}/{FILE}"
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            if file.read() == text:
                return
    temporary = f"{root}/.{uuid.uuid4().hex}.tmp"
    with open(temporary, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)


def read_script(root: str) -> tuple[Catalog, BoundQuery]:
    """What was declared, and the query."""
    with open(f"{root}/{FILE}", encoding="utf-8") as file:
        text = file.read()
    catalog = Catalog()
    for statement in parse(text):
        bound = bind(statement, catalog)
        if isinstance(bound, Declared):
            catalog = bound.catalog
        elif isinstance(bound, BoundQuery):
            return catalog, bound
    raise StateError(
        "damaged-script",
        f'"{root}/{FILE}" has no query',
        hint="start the query again: it writes the file anew",
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
