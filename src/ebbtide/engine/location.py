"""A location: the directory of an engine, and the programs that have run there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ebbtide.algebra.quarantine import ERRORS
from ebbtide.analysis import Analysis, analyse
from ebbtide.core.output_name import errors_name
from ebbtide.engine.script import read_script
from ebbtide.errors import QueryError
from ebbtide.optimizer import prepared
from ebbtide.sql.bound import BoundQuery
from ebbtide.sql.catalog import Catalog, near
from ebbtide.store.lock import Claim
from ebbtide.store.program import Identity, program_names, root_of_program
from ebbtide.store.readers import View

if TYPE_CHECKING:
    from ebbtide.compile.lowering import Lowered

DEFAULT = "ebbtide"
"""Where an engine keeps what it stores, unless it is given another place."""


@dataclass(frozen=True, slots=True)
class StoredQuery:
    """A view that has run: its program's name and directory, what was declared, and its plan."""

    name: str
    program: str
    root: str
    catalog: Catalog
    bound: BoundQuery

    @property
    def key(self) -> tuple[str, ...] | None:
        """The columns that tell the rows of every snapshot apart, if any do."""
        return self.analysis.key

    @property
    def analysis(self) -> Analysis:
        """What is proved of it as it runs."""
        runs = prepared(self.bound.plan, self.bound.on_error)
        found = analyse(runs.plan, self.bound.emit, runs.watched, self.bound.expiry)
        if not self.bound.lineage:
            return found
        from ebbtide.engine.lineage_archive import lineage_analysis

        return replace(found, lineage=lineage_analysis(self.bound))

    @property
    def view(self) -> View:
        """What it has left."""
        return View(self.root, self.name, self.bound.schema, self.bound.emit.needs_finality)

    @property
    def left_out(self) -> View:
        """What it leaves out because expressions fail."""
        return View(self.root, errors_name(self.name), ERRORS)

    @property
    def lineage(self) -> View:
        """What it has stored of the lineage of its rows."""
        from ebbtide.engine.lineage_archive import lineage_view

        return lineage_view(self.root, self.name, self.bound)


@dataclass(frozen=True, slots=True)
class StoredProgram:
    """A program that has run: its directory, what was declared, and its views in their order."""

    name: str
    root: str
    catalog: Catalog
    queries: tuple[StoredQuery, ...]

    @property
    def lowered(self) -> Lowered:
        """What its steps run."""
        from ebbtide.compile.lowering import lower

        return lower({query.name: query.analysis for query in self.queries})


@contextmanager
def claimed(location: str, name: str) -> Iterator[StoredProgram]:
    """The program of that name, or with such a view, which nobody runs or changes meanwhile."""
    place = Location(location)
    program = place.program_name(name)
    claim = Claim(root_of_program(location, program), program)
    try:
        yield place.program(program)
    finally:
        claim.release()


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

    def program_name(self, name: str) -> str:
        """The name of the program of that name, or with such a view."""
        views = self.views()
        known = {view.casefold(): program for view, program in views.items()}
        known |= {program.casefold(): program for program in views.values()}
        return known.get(name.casefold()) or self.query(name).program  # says what there is

    def program(self, name: str) -> StoredProgram:
        """The program of that name."""
        program, root = name, root_of_program(self.path, name)
        catalog, queries = read_script(root)
        return StoredProgram(
            program,
            root,
            catalog,
            tuple(StoredQuery(n, program, root, catalog, q) for n, q in queries.items()),
        )

    def root_of_view(self, name: str) -> str | None:
        """The directory of the program in which a view has run."""
        for program in program_names(self.path):
            root = root_of_program(self.path, program)
            identity = Identity.read(root)
            if identity is not None and name in identity.views:
                return root
        return None
