"""Kernels made ready for queries before their first step, in this process and for all that follow.

Law: nothing that is asked for here is kept.  The queries run once on a row or two of no meaning, in
a directory that goes away; what stays is what Numba has compiled for them, in its cache, where the
workers of Spark find it.  Whatever goes wrong is left for the queries themselves to tell.
"""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from ebbtide.core.declaration import Declaration
from ebbtide.core.time import SECOND
from ebbtide.core.types import (
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    IntegerType,
    IntervalType,
    StringType,
    TimestampType,
    Type,
)
from ebbtide.sql.catalog import ViewEntry
from ebbtide.sql.parser import parse
from ebbtide.sql.printer import sql
from ebbtide.sql.syntax import CreateStream, CreateTable

if TYPE_CHECKING:
    from ebbtide.engine.engine import Engine
    from ebbtide.engine.query import Query

__all__ = ["warm", "warming"]

_PATIENCE = 120.0
"""Seconds after which nobody waits for kernels any more."""


@contextmanager
def warming(engine: Engine, queries: Sequence[Query]) -> Iterator[threading.Thread]:
    """Makes kernels ready beside what is done inside, and waits for them at its end.

    After a failure, too: a process that ends while a thread of it compiles may crash.
    """
    thread = threading.Thread(target=_try, args=(engine, queries), daemon=True, name="warming")
    thread.start()
    try:
        yield thread
    finally:
        thread.join(_PATIENCE)


def warm(engine: Engine, queries: Sequence[Query]) -> None:
    """Runs queries once, on rows of no meaning, in a directory that goes away."""
    from ebbtide.engine.engine import Engine as Local

    with tempfile.TemporaryDirectory(prefix="ebbtide-") as location:
        other = Local(location, transport="local", shards=1, zone=engine.zone.key)
        for text in engine.definitions.texts:
            for statement in parse(text):
                if isinstance(statement, CreateStream | CreateTable):
                    other.execute(sql(replace(statement, files=None)))
                else:
                    other.execute(text)
        run = other.start(*(other.query(q.text, name=q.name) for q in queries), name="warming")
        for entry in other.catalog:
            if not isinstance(entry, ViewEntry) and not getattr(entry, "rules", ()):
                other.feed(entry.name, [_row(entry.declaration, at) for at in (0, SECOND)])
        other.step()
        run.stop()


def _try(engine: Engine, queries: Sequence[Query]) -> None:
    with suppress(Exception):
        warm(engine, queries)


def _row(declaration: Declaration, at: int) -> dict[str, Any]:
    return {column.name: _value(column.type, at) for column in declaration.row_schema}


def _value(type_: Type, at: int) -> Any:
    match type_:
        case BooleanType():
            return True
        case IntegerType():
            return 1
        case DoubleType():
            return 1.0
        case DecimalType(scale=scale):
            return Decimal(0).scaleb(-scale)
        case StringType():
            return "1"
        case BinaryType():
            return b"1"
        case DateType():
            return date(1970, 1, 1)
        case TimestampType() | IntervalType():
            return at
        case _:
            return None
