"""Temporal facts of the sources (paper 5, definition 11), and of declared views (definition 19).

Law: a row to come lies beyond the horizon in each attribute that progresses, so each of them alone
bounds the stream.  A table's change begins beyond the horizon of the table's time, whatever it
does; its row may be older.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ebbtide.algebra.kind import Kind
from ebbtide.algebra.relation import ChangingTable, Relation, StaticTable, Stream, Values, View
from ebbtide.analysis.formula.dnf import NOTHING_KNOWN
from ebbtide.analysis.formula.formula import compare
from ebbtide.analysis.formula.progress import NEVER, Bound
from ebbtide.analysis.formula.streambound import Bounded, StreamBound, propagated
from ebbtide.analysis.formula.terms import Var
from ebbtide.analysis.temporal.edge import FROM, TO, Edge, allowing_nulls
from ebbtide.core.admission import Op, allowed_ops
from ebbtide.core.declaration import Declaration, Late, TableDeclaration
from ebbtide.core.time import Duration
from ebbtide.core.tree import find
from ebbtide.errors import TemporalError


def stream(node: Stream) -> Edge:
    """Facts that progress as they are declared to."""
    columns = Edge(node.schema, Kind.FACT, NOTHING_KNOWN).columns
    atoms = (
        Bounded(columns[node.schema.position(p.attribute)], bound_of(node.declaration, p.attribute))
        for p in node.declaration.promises
    )
    facts = allowing_nulls(NOTHING_KNOWN, node.schema)
    return Edge(node.schema, Kind.FACT, facts, StreamBound.of(*atoms))


def static(node: StaticTable | Values) -> Edge:
    """Rows that are all there from the start."""
    return Edge(node.schema, Kind.STATIC, allowing_nulls(NOTHING_KNOWN, node.schema))


def table(node: ChangingTable) -> Edge:
    """Versions: a change begins at or after its version, and ends with its lifetime at latest."""
    declaration = node.declaration
    edge = Edge(node.schema, Kind.SNAPSHOT, allowing_nulls(NOTHING_KNOWN, node.schema))
    facts = edge.facts.where(compare(FROM, "<", TO))
    atoms: list[Bounded] = []
    if declaration.time is not None:
        begin = edge.columns[node.schema.position(declaration.time)]
        facts = facts.where(compare(begin, "<=", FROM))
        if declaration.lifetime_us is not None:
            facts = facts.where(compare(TO, "<=", begin + declaration.lifetime_us))
        end = _end(node, edge)
        facts = facts if end is None else facts.where(compare(TO, "<=", end))
        if table_progresses(declaration):
            atoms.append(Bounded(FROM, bound_of(declaration, declaration.time)))
    return Edge(node.schema, Kind.SNAPSHOT, facts, StreamBound.of(*atoms))


def _end(node: ChangingTable, edge: Edge) -> Var | None:
    """The column with the bound at which a version ends at latest, if every row has one."""
    declaration = node.declaration
    if declaration.until is None or declaration.summed:
        return None
    column = node.schema.column(declaration.until)
    return None if column.nullable else edge.columns[node.schema.index(column)]


def table_progresses(declaration: TableDeclaration) -> bool:
    """Whether progress is promised for the time at which versions begin."""
    promised = {promise.attribute.casefold() for promise in declaration.promises}
    return (declaration.time or "").casefold() in promised


def view(node: View, below: Edge) -> Edge:
    """The rows of the view's query, which has to progress as the view declares."""
    for attribute in node.promises or ():
        variable = below.columns.get(below.schema.position(attribute))
        if variable is None:
            raise TemporalError(
                "invalid-view",
                f'view "{node.name}" promises progress for "{attribute}", which is not a time',
                detail=f"{attribute} is {below.schema.column(attribute).type}",
                hint="promise progress for a TIMESTAMP",
            )
        if propagated(variable, below.facts, below.bounds) == NEVER:
            raise _invalid(node, attribute, below)
    return below


def bound_of(declaration: Declaration, attribute: str) -> Bound:
    """The bound that a declared promise gives."""
    return Bound(declaration.name, declaration.schema.column(attribute).name)


def retentions(plan: Relation) -> Mapping[Bound, Duration]:
    """How far behind the progress of each bound its horizon lies."""
    return {
        bound_of(source, promise.attribute): source.retain_us
        for source in _sources(plan)
        if source.late is Late.REVISE and source.retain_us
        for promise in source.promises
        if not promise.arrival
    }


def corrections(plan: Relation) -> Mapping[Bound, Duration]:
    """How far behind its progress a table may still be corrected by operations that are on time.

    A delete or replace at ``t`` alters a version that began up to RETAIN before ``t``; who feeds a
    table by hand names the operation, also if no column does.
    """
    return {
        bound: lag
        for node in find(plan, ChangingTable)
        if allowed_ops(node.declaration) & {Op.DELETE, Op.REPLACE}
        for bound, lag in retentions(node).items()
    }


def _sources(plan: Relation) -> Iterator[Declaration]:
    for stream_ in find(plan, Stream):
        yield stream_.declaration
    for table_ in find(plan, ChangingTable):
        yield table_.declaration


def _invalid(node: View, attribute: str, below: Edge) -> TemporalError:
    others = [
        str(column)
        for place, column in enumerate(below.schema)
        if place in below.columns
        and propagated(below.columns[place], below.facts, below.bounds) != NEVER
    ]
    return TemporalError(
        "invalid-view",
        f'view "{node.name}" promises progress for "{attribute}", and its query does not keep it',
        detail=f"what progresses is {', '.join(others)}" if others else "none of its times does",
        hint=f"PROGRESS FOR {others[0]}" if others else f"leave out PROGRESS FOR {attribute}",
    )
