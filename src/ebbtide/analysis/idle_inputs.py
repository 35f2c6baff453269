"""Which inputs hold up others by being quiet.

Law: the rule of a store speaks of the progress of the sources that may still touch its rows.  A
source that brings no rows makes no progress, unless it declares IDLE AFTER (or the clock makes it,
for a column of arrival); while it is quiet,
rows of other sources that wait for it are kept.  That is right, and it is no bound that is missing,
but it may surprise; so it is said.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ebbtide.algebra.relation import ChangingTable, Relation, Stream
from ebbtide.analysis.advice import name_of
from ebbtide.analysis.analysis import Node
from ebbtide.analysis.formula.progress import Bound, bounds_of
from ebbtide.analysis.keep_rules import ByTime, Rule
from ebbtide.analysis.temporal.sources import bound_of
from ebbtide.core.declaration import Declaration, TableDeclaration, arrivals_of
from ebbtide.core.tree import find


@dataclass(frozen=True, slots=True)
class Waiting:
    """Rows that are kept while a source is quiet."""

    rows: str
    source: Declaration

    @property
    def hint(self) -> str:
        """What frees them."""
        kind = "TABLE" if isinstance(self.source, TableDeclaration) else "STREAM"
        return f"declare IDLE AFTER 5 MINUTES in CREATE {kind} {self.source.name}"

    def __str__(self) -> str:
        return f'rows of {self.rows} are kept while "{self.source.name}" is quiet'


def waiting(root: Node) -> tuple[Waiting, ...]:
    """All rows of a plan that wait for a source that is not their own."""
    sources = {source.name: source for source in _sources(root.relation)}
    by_clock = {bound_of(s, name) for s in sources.values() for name in arrivals_of(s)}
    found = (
        Waiting(name_of(below), sources[name])
        for node in root.walk()
        for store in node.stores
        if node.inputs
        for below in (node.relation.children[store.input],)
        for name in sorted({b.stream for b in _awaited(store.rule) if b not in by_clock})
        if name in sources and name not in {own.name for own in _sources(below)}
        if sources[name].idle_after_us is None
    )
    return tuple(dict.fromkeys(found))


def _sources(relation: Relation) -> Iterator[Declaration]:
    for stream in find(relation, Stream):
        yield stream.declaration
    for table in find(relation, ChangingTable):
        yield table.declaration


def _awaited(rule: Rule) -> Iterator[Bound]:
    """Whose progress has to come before a row is dropped."""
    if isinstance(rule, ByTime):
        for case in rule.keep.cases:
            for part in case:
                yield from bounds_of(part.value)
