"""A location: the directory of an engine, and the queries that have run there."""

from __future__ import annotations

import os
from dataclasses import dataclass

from ebbtide.errors import QueryError
from ebbtide.runtime.script import FILE, read_script
from ebbtide.sql.bound import BoundQuery
from ebbtide.sql.catalog import Catalog, near

DEFAULT = "ebbtide"
"""Where an engine keeps what it stores, unless it is told."""


@dataclass(frozen=True, slots=True)
class StoredQuery:
    """A query that has run: its directory, what was declared, and its plan."""

    name: str
    root: str
    catalog: Catalog
    bound: BoundQuery


@dataclass(frozen=True, slots=True)
class Location:
    """What an engine has left in a directory."""

    path: str

    def names(self) -> list[str]:
        """The names of all queries that were started here."""
        queries = os.path.join(self.path, "queries")
        if not os.path.isdir(queries):
            raise QueryError(
                "empty-location",
                f'nothing has run in "{self.path}"',
                hint="name the location of a run, with --location DIR",
            )
        return sorted(n for n in os.listdir(queries) if os.path.exists(f"{queries}/{n}/{FILE}"))

    def queries(self) -> list[StoredQuery]:
        """All queries."""
        return [self.query(name) for name in self.names()]

    def query(self, name: str) -> StoredQuery:
        """The query of that name; names do not depend on case."""
        known = self.names()
        found = [each for each in known if each.casefold() == name.casefold()]
        if not found:
            close = near(name, tuple(known))
            raise QueryError(
                "unknown-query",
                f'no query "{name}" has run in "{self.path}"',
                detail=f"there are {', '.join(known)}" if known else None,
                hint=f"did you mean {close}?" if close else None,
            )
        root = os.path.join(self.path, "queries", found[0])
        return StoredQuery(found[0], root, *read_script(root))
