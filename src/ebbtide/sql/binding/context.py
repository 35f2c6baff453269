"""What the binding of a statement carries along: its source, the catalog, names, and places.

A context is a value, but for what grows while a statement is bound: the names that have been made
up (no two are alike, nor like one that is written), the places at which sources with or without a
window stand, from which the fact/snapshot rule is checked, the places of all operators, which nodes
have been read, and how much the names of views and of queries in WITH have brought.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TypeVar

from sqlglot import exp

from ebbtide.algebra.kind import Kind
from ebbtide.algebra.relation import Relation
from ebbtide.errors import EbbtideError, Span
from ebbtide.sql.binding.inlining import Inlined
from ebbtide.sql.binding.scope import Scope
from ebbtide.sql.catalog import Catalog
from ebbtide.sql.operator_spans import Written
from ebbtide.sql.spans import extent_of, span_of

__all__ = ["BoundPlan", "Context", "Names", "Place", "context_for"]

R = TypeVar("R", bound=Relation)


@dataclass(frozen=True, slots=True)
class Place:
    """A source in the text: whether it has a window, and how it would be written with one.

    ``time`` is the time of facts that stand first in FROM, as a column of theirs; ``alias`` is what
    follows the name of a relation that is joined, without a window.
    """

    kind: Kind
    name: str
    span: Span
    windowed: str | None = None
    time: str | None = None
    alias: str | None = None


@dataclass(frozen=True, slots=True)
class BoundPlan:
    """A query that has been bound: its plan, and the sources that it stands on."""

    plan: Relation
    places: tuple[Place, ...] = ()


@dataclass(slots=True)
class Names:
    """The names in use, without case."""

    used: set[str]

    def fresh(self, wanted: str) -> str:
        """A name like the one that is wanted and not like any in use."""
        name, number = wanted, 1
        while name.casefold() in self.used:
            number += 1
            name = f"{wanted}_{number}"
        self.used.add(name.casefold())
        return name


@dataclass(frozen=True, slots=True)
class Context:
    """Where a query stands.

    ``outer`` are the names of the block around it; ``beyond`` those that a query in FROM would see
    if it could.
    """

    source: str
    catalog: Catalog
    names: Names
    queries: Mapping[str, BoundPlan] = field(default_factory=dict)
    outer: Scope | None = None
    beyond: Scope | None = None
    places: list[Place] = field(default_factory=list)
    written: Written = field(default_factory=Written)
    read: set[int] = field(default_factory=set)
    inlined: Inlined = field(default_factory=Inlined)
    with_now: bool = False
    """Whether the block, or one around it, speaks of NOW()."""

    def span(self, node: exp.Expr) -> Span:
        """Where a node stands."""
        return span_of(node, self.source)

    def extent(self, node: exp.Expr) -> Span:
        """All that a node covers."""
        return extent_of(node, self.source)

    def placed(self, relation: R, node: exp.Expr) -> R:
        """The relation, the new operators of which stand at a node."""
        self.written.note(relation, self.span(node))
        return relation

    @contextmanager
    def at(self, node: exp.Expr) -> Iterator[None]:
        """Reads a node, and places errors in it that have no place of their own."""
        self.read.add(id(node))
        try:
            yield
        except EbbtideError as error:
            raise error.with_span(self.span(node)) from error.__cause__

    def inside(self, scope: Scope) -> Context:
        """The context of a subquery of a block, which sees the block's names."""
        return replace(self, outer=scope)

    def apart(self) -> Context:
        """The context of a query that sees no names of others."""
        return replace(self, outer=None, beyond=self.outer or self.beyond, with_now=False)

    def elsewhere(self) -> Context:
        """The context of a query whose sources do not count among ours."""
        return replace(self, places=[])

    def knowing(self, name: str, query: BoundPlan) -> Context:
        """The context in which WITH has given a query a name."""
        return replace(self, queries={**self.queries, name.casefold(): query})

    def alias(self, wanted: str) -> str:
        """The plan's name for a source: the one that is wanted, unless a block around has it."""
        taken = self.outer.chain() if self.outer is not None else ()
        clash = any(wanted.casefold() in scope.plan_tables for scope in taken)
        return self.names.fresh(wanted) if clash else wanted


def context_for(
    source: str, catalog: Catalog, root: exp.Expr, operators: int | None = None
) -> Context:
    """The context of a statement's query, in which names may bring so many ``operators``."""
    written = {node.name.casefold() for node in root.find_all(exp.Identifier)}
    names = Names(written | {n.casefold() for n in catalog.names()})
    return Context(source, catalog, names, inlined=Inlined(operators))
