"""The catalog: what the names of streams, tables and views stand for.

Law: a catalog is a value; adding and dropping give another one.  Names do not depend on case, and
keep the one in which they were written.  A view holds its plan, so what a view is made of can be
neither dropped nor replaced while the view is there.

Nothing here reads a source or knows SQL.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import reduce
from typing import TypeAlias, TypeVar, cast

from ebbtide.algebra.combination import UnionAll
from ebbtide.algebra.identifiers import identifier
from ebbtide.algebra.recursion import Recurrence, Recursion
from ebbtide.algebra.relation import ChangingTable, Relation, StaticTable, Stream, View
from ebbtide.core.declaration import StreamDeclaration, TableDeclaration
from ebbtide.core.schema import Schema
from ebbtide.core.time import Duration
from ebbtide.core.tree import find, rewrite
from ebbtide.errors import BindError
from ebbtide.sql.syntax import NOTHING_SAID, AnswerOptions

__all__ = ["Catalog", "Entry", "FileSource", "StreamEntry", "TableEntry", "ViewEntry", "near"]


@dataclass(frozen=True, slots=True)
class FileSource:
    """FROM FILES 'path' FORMAT format OPTIONS (...)."""

    path: str
    format: str
    options: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class StreamEntry:
    """A stream, and the files or the queries that it comes from; without any it is fed by hand.

    A derived stream is the union of its ``rules``, the queries that INSERT INTO it; where one of
    them reads the stream itself, it is a recursion, in the time that is promised first.
    """

    declaration: StreamDeclaration
    files: FileSource | None = None
    rules: tuple[Relation, ...] = ()

    @property
    def name(self) -> str:
        """The name as it was declared."""
        return self.declaration.name

    @property
    def kind(self) -> str:
        """What the catalog calls it."""
        return "STREAM"

    @property
    def relation(self) -> Relation:
        """What the name stands for in a FROM clause."""
        if not self.rules:
            return Stream(self.declaration)
        promises = tuple(promise.attribute for promise in self.declaration.promises)
        united = reduce(UnionAll, self.rules)
        if self.is_recursive:
            united = Recursion(self.name, united, promises[0])
        return View(self.name, united, promises or None)

    @property
    def recurrence(self) -> Recurrence:
        """What the name stands for in a query that feeds the stream."""
        return Recurrence(self.name, self.declaration.row_schema)

    @property
    def is_recursive(self) -> bool:
        """Whether one of its queries reads the stream."""
        return any(leaf.name == self.name for rule in self.rules for leaf in find(rule, Recurrence))


@dataclass(frozen=True, slots=True)
class TableEntry:
    """A table, and the files that it comes from; without any it is fed by hand."""

    declaration: TableDeclaration
    files: FileSource | None = None

    @property
    def name(self) -> str:
        """The name as it was declared."""
        return self.declaration.name

    @property
    def kind(self) -> str:
        """What the catalog calls it."""
        return "TABLE"

    @property
    def relation(self) -> Relation:
        """What the name stands for in a FROM clause."""
        static = self.declaration.static
        return StaticTable(self.declaration) if static else ChangingTable(self.declaration)


@dataclass(frozen=True, slots=True)
class ViewEntry:
    """A view: a plan with a name, how far back its changes are kept (None is for ever), and how its
    answer is given."""

    view: View
    keep_us: Duration | None = None
    answer: AnswerOptions = NOTHING_SAID

    @property
    def name(self) -> str:
        """The name as it was declared."""
        return self.view.name

    @property
    def kind(self) -> str:
        """What the catalog calls it."""
        return "VIEW"

    @property
    def relation(self) -> Relation:
        """What the name stands for in a FROM clause."""
        return self.view


Entry: TypeAlias = StreamEntry | TableEntry | ViewEntry
R = TypeVar("R", bound=Relation)


@dataclass(frozen=True, slots=True)
class Catalog:
    """Streams, tables and views by name.

    >>> Catalog().names("STREAM")
    ()
    """

    entries: tuple[Entry, ...] = field(default=())

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)

    def __contains__(self, name: str) -> bool:
        return self.find(name) is not None

    def names(self, kind: str | None = None) -> tuple[str, ...]:
        """The names of all entries, or of one kind of them, in the order of declaration."""
        return tuple(entry.name for entry in self.entries if kind in (None, entry.kind))

    def find(self, name: str) -> Entry | None:
        """The entry of that name, if there is one."""
        for entry in self.entries:
            if entry.name.casefold() == name.casefold():
                return entry
        return None

    def get(self, name: str) -> Entry:
        """The entry of that name."""
        entry = self.find(name)
        if entry is None:
            raise self.unknown(name)
        return entry

    def unknown(self, name: str, kind: str | None = None) -> BindError:
        """The error of a name that stands for nothing."""
        what = "stream, table or view" if kind is None else kind.lower()
        known = self.names(kind)
        close = near(name, known)
        return BindError(
            "unknown-name",
            f'there is no {what} "{name}"',
            detail=f"there are {', '.join(known)}" if known else "nothing is declared yet",
            hint=f"did you mean {identifier(close)}?" if close else None,
        )

    def add(self, entry: Entry, *, replace: bool = False) -> Catalog:
        """The catalog with one more entry, or with another one of the same name."""
        known = self.find(entry.name)
        if known is None:
            return Catalog((*self.entries, entry))
        if not replace or known.kind != entry.kind:
            raise BindError(
                "duplicate-name",
                f'there is a {known.kind.lower()} "{known.name}" already',
                detail="streams, tables and views share one set of names",
            )
        if known != entry:
            self._check_unused(known, "replaced")
        return Catalog(tuple(entry if other is known else other for other in self.entries))

    def drop(self, name: str, kind: str) -> Catalog:
        """The catalog without an entry, which no view may depend on."""
        entry = self.find(name)
        if entry is None:
            raise self.unknown(name, kind)
        if entry.kind != kind:
            raise BindError(
                "wrong-kind",
                f'"{entry.name}" is a {entry.kind.lower()}, not a {kind.lower()}',
                hint=f"write DROP {entry.kind} {identifier(name)}",
            )
        self._check_unused(entry, "dropped")
        return Catalog(tuple(other for other in self.entries if other is not entry))

    def dependents(self, name: str) -> tuple[str, ...]:
        """The views and derived streams that read from an entry, directly or through others."""
        return tuple(
            entry.name
            for entry in self.entries
            if isinstance(entry.relation, View) and name.casefold() in _read_by(entry.relation)
        )

    def without_rules(self, name: str) -> Catalog:
        """The catalog as the queries that feed a stream see it: the stream is a source to them."""
        entry = self.find(name)
        if not isinstance(entry, StreamEntry) or not entry.rules:
            return self
        source = replace(entry, rules=())
        return Catalog(tuple(source if other is entry else other for other in self.entries))

    def insert(self, name: str, plan: Relation) -> Catalog:
        """The catalog in which a query feeds a stream, beside others that do.

        What reads the stream and is read by the query lies on a cycle with it, and reads from then
        on what the stream has become.  Where another stream has closed that cycle, it stays the
        recursion: the cycle is opened at it, the query added, and the cycle closed again.
        """
        entry = _stream(self, name)
        cycle = {view.name for rule in (*entry.rules, plan) for view in find(rule, View)}
        head = self._recursion_around(entry)
        if head is None:
            for view in find(plan, View):
                if view.name == name:
                    _check_nulls(name, view.schema, entry.recurrence.schema, plan)
            return self._fed(entry, plan, cycle)
        opened = self._reading(head.name, head.recurrence, cycle)
        rule = _with_source(plan, head.name, head.recurrence)
        fed = opened._fed(_stream(opened, name), rule, cycle)
        _check_nulls(name, entry.relation.schema, fed.get(name).relation.schema, plan)
        return fed._reading(head.name, fed.get(head.name).relation, cycle)

    def _fed(self, entry: StreamEntry, plan: Relation, cycle: AbstractSet[str]) -> Catalog:
        """The catalog in which a query feeds a stream, and all on the cycle reads the result."""
        self._check_unused(entry, "fed by a query", cycle)
        rule = _with_source(plan, entry.name, entry.recurrence)
        fed = replace(entry, rules=(*entry.rules, rule))
        entries = (fed if other is entry else other for other in self.entries)
        return Catalog(tuple(entries))._reading(entry.name, fed.relation, cycle)

    def _reading(self, name: str, source: Relation, cycle: AbstractSet[str]) -> Catalog:
        """The catalog in which all others on a cycle read a relation in the place of a stream."""
        return Catalog(
            tuple(
                _with_its_source(entry, name, source)
                if entry.name in cycle and entry.name != name
                else entry
                for entry in self.entries
            )
        )

    def _recursion_around(self, entry: StreamEntry) -> StreamEntry | None:
        """The recursive stream on whose cycle another one lies."""
        read = {view.name for view in find(entry.relation, View)} - {entry.name}
        around = (
            other
            for other in self.entries
            if isinstance(other, StreamEntry) and other.name in read and other.is_recursive
        )
        return next((o for o in around if entry.name.casefold() in _read_by(o.relation)), None)

    def _check_unused(
        self, entry: Entry, verb: str, but_for: AbstractSet[str] = frozenset()
    ) -> None:
        views = [name for name in self.dependents(entry.name) if name not in but_for]
        if views:
            last = self.get(views[-1])
            raise BindError(
                "in-use",
                f'"{entry.name}" cannot be {verb} while others depend on it',
                detail=f"it is read by {', '.join(views)}",
                hint=f"first DROP {last.kind} {identifier(last.name)}",
            )


def near(name: str, known: tuple[str, ...]) -> str | None:
    """The known name that is most like a name, if one is at all.

    >>> near("bidz", ("bids", "auctions"))
    'bids'
    """
    folded = {other.casefold(): other for other in known}
    close = get_close_matches(name.casefold(), folded, 1)
    return folded[close[0]] if close else None


def _check_nulls(name: str, seen: Schema, is_now: Schema, plan: Relation) -> None:
    """Refuses NULLs in columns of a stream that others on its cycle took to have none."""
    pairs = zip(seen, is_now, plan.schema, strict=True)
    found = [(was.name, fed) for was, now, fed in pairs if now.nullable and not was.nullable]
    if found:
        names = ", ".join(identifier(column) for column, _ in found)
        declared = f"declare {names} NOT NULL in CREATE STREAM {identifier(name)}"
        earlier = f"put it, and what it reads, before all else that is inserted into {name}"
        raise BindError(
            "in-use",
            f'"{name}" is read by a view or stream that took {names} to be never NULL',
            detail="the query that closes a cycle, or feeds it, says what can be NULL on it",
            hint=earlier if any(fed.nullable for _, fed in found) else declared,
        )


def _stream(catalog: Catalog, name: str) -> StreamEntry:
    entry = catalog.get(name)
    assert isinstance(entry, StreamEntry)
    return entry


def _with_its_source(entry: Entry, name: str, source: Relation) -> Entry:
    """An entry that reads another relation in the place of a stream."""
    match entry:
        case StreamEntry():
            rules = tuple(_with_source(rule, name, source) for rule in entry.rules)
            return replace(entry, rules=rules)
        case ViewEntry():
            return replace(entry, view=_with_source(entry.view, name, source))
        case TableEntry():
            return entry


def _with_source(plan: R, name: str, source: Relation) -> R:
    """A plan in which another relation takes the place of a stream, or of its recurrence."""

    def rule(node: Relation) -> Relation:
        known = node.declaration.name if isinstance(node, Stream) else None
        known = node.name if isinstance(node, View | Recurrence) else known
        return source if known == name else node

    return cast(R, rewrite(cast(Relation, plan), rule))


def _read_by(view: Relation) -> set[str]:
    names = [other.name for other in find(view, View) if other is not view]
    names += [leaf.declaration.name for leaf in find(view, Stream)]
    names += [leaf.declaration.name for leaf in find(view, StaticTable)]
    names += [leaf.declaration.name for leaf in find(view, ChangingTable)]
    return {name.casefold() for name in names}
