"""In which encodings the sinks of views get their changes, and whether the views allow it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ebbtide.algebra.emission import CHANGE_COLUMNS, Emit
from ebbtide.algebra.kind import Kind
from ebbtide.algebra.relation import ChangingTable, Map, StaticTable, Stream
from ebbtide.analysis.analysis import Node
from ebbtide.core.codec.encoding import AS_EMITTED, Encoding, OutputForm, encoding_of
from ebbtide.core.declaration import Declaration, Late
from ebbtide.core.schema import Schema
from ebbtide.core.tree import find
from ebbtide.engine.arguments import typed
from ebbtide.errors import QueryError
from ebbtide.program.delivery import Outlet
from ebbtide.program.encoder import added_columns
from ebbtide.sinks import sinks_of
from ebbtide.sinks.encoded import Encoded
from ebbtide.sql.catalog import near

if TYPE_CHECKING:
    from ebbtide.engine.query import Query


def outlets(
    sinks: Mapping[str, Any], queries: Sequence[Query], encoding: str | Mapping[str, str] | None
) -> dict[str, tuple[Outlet, ...]]:
    """The sinks of each view, with how the changes are written that they get."""
    by_name = {query.name: query for query in queries}
    return {
        name: tuple(_outlet(sink, by_name[name], encoding) for sink in sinks_of(given))
        for name, given in sinks.items()
    }


def _outlet(sink: Any, query: Query, encoding: str | Mapping[str, str] | None) -> Outlet:
    """An encoding that a sink has of its own comes first, then what was asked at the start, then
    what the query says."""
    word = encoding.get(query.name) if isinstance(encoding, Mapping) else encoding
    if isinstance(sink, Encoded):
        return Outlet(sink.sink, output_of(query, sink.output, getattr(sink.sink, "key", ())))
    wanted = query.bound.output
    if word is not None:
        word = typed("encoding", word, str, 'encoding="upsert"')
        wanted = OutputForm(encoding_of(word), wanted.key, wanted.coalesce, wanted.split_us)
    return Outlet(sink, output_of(query, wanted, getattr(sink, "key", ())))


def output_of(query: Query, wanted: OutputForm, key: Sequence[str] = ()) -> OutputForm:
    """How a query's changes are written, with the key it is done by; ``key`` is a sink's own."""
    if wanted.is_plain:
        return AS_EMITTED
    encoding, schema = wanted.encoding, query.schema
    _check_names(query, encoding)
    if encoding is Encoding.TEMPORAL:
        _check_final(query)
    if encoding.follows_now and query.bound.emit is Emit.FINAL and not _is_facts(query):
        raise QueryError(
            "encoding-final",
            f'"{query.name}" emits rows when they are final, and {encoding.value} follows now',
            detail="a row that is final has often ended already",
            hint="EMIT CHANGES, or the encoding temporal",
        )
    if encoding.has_intervals or encoding is Encoding.POSITIVE_NEGATIVE:
        return replace(wanted, key=())
    asked = tuple(_column(query, name) for name in wanted.key or tuple(key))
    if asked:
        _check_key(query, asked)
        return replace(wanted, key=asked)
    candidates = query.analysis.keys.candidates
    if candidates:
        return replace(wanted, key=tuple(schema[i].name for i in sorted(candidates[0])))
    if encoding.needs_key:
        raise QueryError(
            "no-key",
            f'"{query.name}" cannot be written as {encoding.value}: its rows have no key',
            detail=_why(query.analysis.root),
            hint="select the columns of a key, or GROUP BY them; or the encoding changes",
        )
    return replace(wanted, key=())


def _check_names(query: Query, encoding: Encoding) -> None:
    taken = {column.name for column in added_columns(encoding)} - set(CHANGE_COLUMNS)
    for name in taken:
        if query.schema.matches(name):
            raise QueryError(
                "duplicate-column",
                f'the answer has a column "{name}", which the encoding {encoding.value} adds',
                hint="give it another name with AS",
            )


def _check_final(query: Query) -> None:
    """Temporal tuples are never taken back, so what they say must be final for good."""
    if query.bound.emit is not Emit.FINAL:
        raise QueryError(
            "not-final",
            f'"{query.name}" takes back what it said, and temporal tuples cannot say that',
            hint="EMIT FINAL, or the encoding changes",
        )
    plan = query.bound.plan
    declared: list[Declaration] = [source.declaration for source in find(plan, Stream)]
    declared += [source.declaration for source in find(plan, ChangingTable)]
    for declaration in declared:
        if declaration.retain_us and declaration.late is Late.REVISE:
            raise QueryError(
                "not-final",
                f'"{query.name}" is revised when late rows of "{declaration.name}" come, '
                "and temporal tuples cannot say that",
                hint=f'declare "{declaration.name}" with LATE QUARANTINE, '
                "or use the encoding changes",
            )


def _check_key(query: Query, asked: tuple[str, ...]) -> None:
    keys = query.analysis.keys
    if not keys.determines(query.schema.position(name) for name in asked):
        known = " or ".join(f"({', '.join(names)})" for names in keys.names(query.schema))
        raise QueryError(
            "not-a-key",
            f'rows of "{query.name}" may agree on {", ".join(asked)} and differ',
            detail=f"its keys are {known}" if known else _why(query.analysis.root),
            hint="name all columns of a key" if known else "use the encoding changes",
        )


def _column(query: Query, name: str) -> str:
    found = query.schema.matches(typed("key", name, str, 'key=["id"]'))
    if not found:
        close = near(name, query.schema.names)
        raise QueryError(
            "unknown-column",
            f'there is no column "{name}" in "{query.name}"',
            detail=f"there are {', '.join(query.schema.names)}",
            hint=f"did you mean {close}?" if close else None,
        )
    return found[0].name


def _is_facts(query: Query) -> bool:
    return query.bound.kind is Kind.FACT


def _why(node: Node) -> str:
    """Where a key is lost, or was never there."""
    below = next((one for one in node.inputs if not one.keys.candidates), None)
    if below is not None:
        return _why(below)
    relation = node.relation
    if isinstance(relation, Stream | StaticTable | ChangingTable):
        return f'"{relation.declaration.name}" declares no PRIMARY KEY'
    if isinstance(relation, Map):
        lost = [_named(one.relation.schema, one) for one in node.inputs]
        return f"the query does not select {' or '.join(lost)}"
    return f"rows can repeat after {type(relation).__name__}"


def _named(schema: Schema, node: Node) -> str:
    return ", ".join(schema[i].name for i in sorted(node.keys.candidates[0]))
