"""A location: the directory of an engine, and the programs that have run there."""

from __future__ import annotations

from dataclasses import dataclass

from ebbtide.engine.script import read_script
from ebbtide.errors import QueryError
from ebbtide.sql.bound import BoundQuery
from ebbtide.sql.catalog import Catalog, near
from ebbtide.store.program import Identity, program_names, root_of_program
from ebbtide.store.readers import View

DEFAULT = "ebbtide"
"""Where an engine keeps what it stores, unless it is told."""


@dataclass(frozen=True, slots=True)
class StoredQuery:
    """A view that has run: its program's name and directory, what was declared, and its plan."""

    name: str
    program: str
    root: str
    catalog: Catalog
    bound: BoundQuery

    @property
    def view(self) -> View:
        """What it has left."""
        return View(self.root, self.name, self.bound.schema, self.bound.emit.needs_finality)


@dataclass(frozen=True, slots=True)
class Location:
    """What an engine has left in a directory."""

    path: str

    def views(self) -> dict[str, str]:
        """The names of all views that have run here, each with its program's."""
        found: dict[str, str] = {}
        for program in program_names(self.path):
            identity = Identity.read(root_of_program(self.path, program))
            if identity is not None:
                found |= dict.fromkeys(identity.views, program)
        if not found:
            raise QueryError(
                "empty-location",
                f'nothing has run in "{self.path}"',
                hint="name the location of a run, with --location DIR",
            )
        return found

    def queries(self) -> list[StoredQuery]:
        """All views."""
        return [self.query(name) for name in sorted(self.views())]

    def query(self, name: str) -> StoredQuery:
        """The view of that name; names do not depend on case."""
        known = self.views()
        found = [each for each in known if each.casefold() == name.casefold()]
        if not found:
            close = near(name, tuple(known))
            raise QueryError(
                "unknown-query",
                f'no query "{name}" has run in "{self.path}"',
                detail=f"there are {', '.join(sorted(known))}",
                hint=f"did you mean {close}?" if close else None,
            )
        program = known[found[0]]
        root = root_of_program(self.path, program)
        catalog, queries = read_script(root)
        return StoredQuery(found[0], program, root, catalog, queries[found[0]])

    def root_of_view(self, name: str) -> str | None:
        """The directory of the program in which a view has run."""
        for program in program_names(self.path):
            root = root_of_program(self.path, program)
            identity = Identity.read(root)
            if identity is not None and name in identity.views:
                return root
        return None
