"""What is known about the times of the changes on an edge of a plan.

Law: every change on the edge, of either sign, satisfies ``facts`` for some values of the hidden
variables.  A change that is still to come does not pass ``bounds``: of some clause, every atom lies
beyond the progress of its bound (beyond the horizon, if the change may be late).

Variables: a time column is a variable named as the column is.  On an edge of snapshots there are
also ``from`` and ``to``, the ends of the change's interval.  Hidden variables stand for times that
are no columns any more but that a stream bound still speaks of, or for other rows by which a change
comes about; their nodes begin with ``~``.

A change on an edge of snapshots is one that an operator made: later on it may be cut or merged with
others of the same row.  So nothing that is stored is judged by its ``from``, nor by a fact about
its ``to``; see ``touching``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from ebbtide.algebra.kind import Kind
from ebbtide.analysis.formula.dnf import Dnf
from ebbtide.analysis.formula.formula import Formula, Ignore, both, compare, either
from ebbtide.analysis.formula.streambound import STATIC, Bounded, StreamBound
from ebbtide.analysis.formula.terms import Var
from ebbtide.core.schema import Column, Schema
from ebbtide.core.types import TimestampType

FROM, TO = Var("", "from"), Var("", "to")
HIDDEN = "~"


@dataclass(frozen=True, slots=True)
class Edge:
    """What is known about the changes that a node emits."""

    schema: Schema
    kind: Kind
    facts: Dnf
    bounds: StreamBound = STATIC
    always: bool = False
    """Whether every change is about all of the time line: ``from`` and ``to`` say nothing."""

    @property
    def is_snapshot(self) -> bool:
        """Whether changes have an interval."""
        return self.kind is Kind.SNAPSHOT

    @property
    def columns(self) -> dict[int, Var]:
        """The variables of the time columns, by position."""
        return time_columns(self.schema)

    @property
    def visible(self) -> tuple[Var, ...]:
        """The variables that are no hidden ones."""
        return (*self.columns.values(), *((FROM, TO) if self.is_snapshot else ()))

    @property
    def readable(self) -> Dnf:
        """The facts about the visible variables alone."""
        return self.facts.project(self.visible)

    @property
    def rows(self) -> Edge:
        """The edge without what its changes wait for: what is known of a row that is there."""
        return Edge(self.schema, self.kind, self.readable)

    def copy(self, tag: str) -> Copy:
        """The same over variables that are all hidden and of no other copy."""
        names = {*self.visible, *self.facts.variables, *self.bounds.variables}
        renaming = {v: _tagged(v, tag) for v in names}
        return Copy(self, self.facts.rename(renaming), self.bounds.rename(renaming), renaming)


@dataclass(frozen=True, slots=True)
class Copy:
    """An edge over variables of its own."""

    edge: Edge
    facts: Dnf
    bounds: StreamBound
    names: Mapping[Var, Var]

    @property
    def columns(self) -> dict[int, Var]:
        """The copy's variables of the time columns, by position."""
        return {place: self.names[v] for place, v in self.edge.columns.items()}

    @property
    def valid_from(self) -> Var:
        """The copy's ``from``."""
        return self.names[FROM]

    @property
    def valid_to(self) -> Var:
        """The copy's ``to``."""
        return self.names[TO]

    def covers(self, instant: Var) -> Formula:
        """That the change is about an instant; without an interval it is about all of them."""
        if not self.edge.is_snapshot:
            return both()
        return both(compare(self.valid_from, "<=", instant), compare(instant, "<", self.valid_to))


def time_columns(schema: Schema) -> dict[int, Var]:
    """The variables of a schema's time columns, by position."""
    return {
        place: column_variable(column)
        for place, column in enumerate(schema)
        if isinstance(column.type, TimestampType)
    }


def column_variable(column: Column) -> Var:
    """The variable of a time column; quotes tell a column ``from`` from a change's."""
    name = column.name
    if column.table is None and name in (FROM.attribute, TO.attribute):
        name = f'"{name}"'
    return Var(column.table or "", name)


def made(
    schema: Schema,
    kind: Kind,
    facts: Dnf,
    bounds: StreamBound,
    shown: Mapping[Var, Var] | None = None,
) -> Edge:
    """An edge whose visible variables are some of those known so far, under their new names."""
    renaming = shown or {}
    known = facts.rename(renaming)
    waits = bounds.rename(renaming)
    edge = Edge(schema, kind, known, waits)
    kept = known.project({*edge.visible, *waits.variables})
    return Edge(schema, kind, kept, waits)


def allowing_nulls(facts: Dnf, schema: Schema) -> Dnf:
    """The facts, with every time column that may be NULL and about which nothing is known."""
    fresh = {variable for place, variable in time_columns(schema).items() if schema[place].nullable}
    return Dnf(tuple(case.allowing_nulls(fresh - case.variables) for case in facts.cases))


def same_row(left: Copy, right: Copy) -> Formula:
    """That two rows are equal, as far as their times go; NULLs are equal."""
    return both(
        *(
            same(
                variable,
                right.columns[place],
                left.edge.schema[place].nullable or right.edge.schema[place].nullable,
            )
            for place, variable in left.columns.items()
            if place in right.columns
        )
    )


def same(a: Var, b: Var, nullable: bool) -> Formula:
    """That two times are equal, or both NULL."""
    equal = compare(a, "=", b)
    return either(equal, both(Ignore(a), Ignore(b))) if nullable else equal


def kind_of(kinds: Iterable[Kind]) -> Kind:
    """The kind of what is made from inputs of some kinds."""
    found = set(kinds)
    if Kind.SNAPSHOT in found:
        return Kind.SNAPSHOT
    return Kind.FACT if Kind.FACT in found else Kind.STATIC


def shown_as(columns: Mapping[int, Var], schema: Schema, offset: int = 0) -> dict[Var, Var]:
    """Columns as the columns of another schema, from a position on."""
    outside = time_columns(schema)
    return {
        variable: outside[place + offset]
        for place, variable in columns.items()
        if place + offset in outside
    }


def conjoined(copies: Collection[Copy]) -> Dnf:
    """The facts about several changes together."""
    first, *rest = copies
    facts = first.facts
    for copy in rest:
        facts = facts.conjoin(copy.facts)
    return facts


def reached(bounds: StreamBound, instant: Var) -> StreamBound:
    """What is said about an instant only once ``now`` has come to it waits for an input besides.

    ``now`` is at or beyond the progress of every input.
    """
    if bounds.is_static:
        return bounds
    heard = sorted({atom.bound for atom in bounds.atoms})
    return bounds.conjoin(StreamBound.of(*(Bounded(instant, bound) for bound in heard)))


def _tagged(variable: Var, tag: str) -> Var:
    inner = variable.node if variable.node.startswith(HIDDEN) else f":{variable.node}"
    return Var(f"{HIDDEN}{tag}{inner}", variable.attribute)
