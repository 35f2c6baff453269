"""INSERT INTO: which columns of a query feed which columns of a stream or a table.

Law: without a list of columns they are those of a fact (or of a row), in order.  A column that is
not fed is NULL, and must allow that.  Values are cast as Spark stores them: numbers to numbers,
anything to STRING, but no STRING to anything.
"""

from __future__ import annotations

from ebbtide.algebra.coercion import cast
from ebbtide.algebra.emission import Emit
from ebbtide.algebra.expression import Expression, Literal, Ref
from ebbtide.algebra.identifiers import identifier
from ebbtide.algebra.printing import sql
from ebbtide.algebra.relation import Alias, Map, Named, Relation, Stream, View
from ebbtide.algebra.type_rules import can_coerce
from ebbtide.core.codec.encoding import AS_EMITTED
from ebbtide.core.declaration import Declaration, Late
from ebbtide.core.expiry import BY_INTERVAL
from ebbtide.core.schema import Column
from ebbtide.core.tree import find
from ebbtide.core.types import (
    ArrayType,
    DateType,
    DecimalType,
    DoubleType,
    IntegerType,
    StringType,
    StructType,
    TimestampType,
    Type,
)
from ebbtide.errors import BindError
from ebbtide.plan_text.output_sql import output_sql
from ebbtide.sql import refusals
from ebbtide.sql.binding.context import Context
from ebbtide.sql.binding.scope import meant
from ebbtide.sql.bound import BoundQuery
from ebbtide.sql.catalog import Catalog, StreamEntry, ViewEntry, near
from ebbtide.sql.syntax import InsertInto, Name

__all__ = ["columns_into", "inserted", "target_of"]


def target_of(statement: InsertInto, catalog: Catalog) -> Declaration:
    """The stream or table that is fed."""
    name = statement.target
    entry = catalog.find(name.text)
    if entry is None:
        raise _nothing_to_feed(name, catalog)
    if isinstance(entry, ViewEntry):
        raise BindError(
            "wrong-kind", f'"{entry.name}" is a view, and a view cannot be fed', span=name.span
        )
    return entry.declaration


def _nothing_to_feed(name: Name, catalog: Catalog) -> BindError:
    """The error for what is not declared, which elsewhere would be where answers go."""
    streams = catalog.names("STREAM")
    close, text = near(name.text, streams), identifier(name.text)
    return BindError(
        "unknown-name",
        f'there is no stream "{name.text}" to insert into',
        detail=f"there are {', '.join(streams)}" if streams else "no stream is declared yet",
        hint=meant(close)
        or f"answers go to a sink where a query starts: leave out INSERT INTO {text}, and use "
        "ebbtide run --to DIR or query.start(sink=...); a stream that queries feed is declared "
        f"first: CREATE STREAM {text} (...)",
        span=name.span,
    )


def columns_into(
    plan: Relation, target: Declaration, statement: InsertInto, context: Context
) -> Relation:
    """The query with the columns of its target."""
    columns = _chosen(target, statement)
    if len(columns) != len(plan.schema):
        raise BindError(
            "column-count",
            f"{len(columns)} columns are fed, and the query has {len(plan.schema)}",
            detail=f"fed are {', '.join(column.name for column in columns)}",
            hint=_of_so_many(plan, target, [column.name for column in columns]),
            span=context.span(statement.query.body),
        )
    if not isinstance(plan, Map):
        source = Alias(plan, context.names.fresh("source"))
        plan = Map(source, tuple(Named(column.name, Ref(column)) for column in source.schema))
    values = {
        column.name: _stored(named.expression, column, context, statement)
        for column, named in zip(columns, plan.columns, strict=True)
    }
    rest = (column for column in target.schema if column.name not in values)
    values |= {column.name: Literal(None, column.type) for column in rest if _fed(column, target)}
    ordered = (column.name for column in target.schema if column.name in values)
    return Map(plan.input, tuple(Named(name, values[name]) for name in ordered))


def inserted(target: Declaration, query: BoundQuery, catalog: Catalog) -> Catalog:
    """The catalog in which a query feeds a stream, which is derived from then on."""
    entry = catalog.get(target.name)
    if not isinstance(entry, StreamEntry):
        raise refusals.INTO_A_TABLE(name=target.name)
    if query.output != AS_EMITTED:
        raise BindError(
            "insert-emit",
            "a stream is fed by the changes of a query, however these are written for sinks",
            hint=f"leave out{output_sql(query.output)}",
        )
    if query.expiry != BY_INTERVAL:
        raise BindError(
            "insert-emit",
            "how rows expire is for the queries that read a stream to say",
            hint=f"leave out{output_sql(AS_EMITTED, query.expiry)}",
        )
    if query.lineage:
        raise BindError(
            "insert-emit",
            "what feeds a stream has no answer of its own whose lineage could be kept",
            hint="leave out WITH (lineage = TRUE): the queries that read the stream can keep it",
        )
    if query.emit is not Emit.CHANGES:
        raise BindError(
            "insert-emit",
            f"a stream is fed by all that a query says, not by EMIT {query.emit.value}",
            hint="write EMIT CHANGES in its place, or behind a query that reads such a view; "
            "whoever reads the stream may ask for more",
        )
    _check_derived(entry)
    read = {view.name.casefold() for view in find(query.plan, View)}
    read |= {leaf.declaration.name.casefold() for leaf in find(query.plan, Stream)}
    if target.name.casefold() in read and not entry.declaration.promises:
        raise refusals.RECURSIVE_STREAM(name=entry.name)
    for fed in query.plan.schema:
        column = target.schema.column(fed.name)
        if fed.nullable and not column.nullable:
            raise BindError(
                "null-column",
                f'"{column.name}" of "{target.name}" cannot be NULL, and the query may have one',
                hint=f"declare {column.name} {column.type} without NOT NULL, or COALESCE it",
            )
    return catalog.insert(target.name, query.plan)


def _check_derived(entry: StreamEntry) -> None:
    """Refuses streams whose rows, or whose promises, come from elsewhere."""
    declaration = entry.declaration
    if entry.files is not None:
        raise BindError(
            "not-derived",
            f'"{entry.name}" gets its rows from files, and cannot be fed by a query',
            hint="feed another stream, by INSERT INTO it SELECT * FROM this one, too",
        )
    said = {
        "OP": declaration.op is not None,
        "RETAIN": declaration.retain_us > 0,
        "LATE QUARANTINE": declaration.late is Late.QUARANTINE,
        "ARCHIVE": declaration.archive_us is not None,
        "REVISE": declaration.revise_us is not None,
        "REPLAY": declaration.replay is not None,
        "IDLE AFTER": declaration.idle_after_us is not None,
        "NOT BEYOND": declaration.not_beyond_us is not None,
        "a delay of PROGRESS": any(promise.delay_us for promise in declaration.promises),
        "ARRIVAL": any(promise.arrival for promise in declaration.promises),
    }
    given = [what for what, is_said in said.items() if is_said]
    if given:
        raise BindError(
            "not-derived",
            f'"{entry.name}" is declared with {given[0]}, which its queries decide',
            detail="what queries insert is never late; progress is that of the slowest of them",
            hint=f"leave out {given[0]}; PROGRESS FOR at AS at names a time that progresses",
        )


def _chosen(target: Declaration, statement: InsertInto) -> list[Column]:
    if statement.columns is None:
        return list(target.row_schema)
    chosen = [_column(target, name) for name in statement.columns]
    for column in target.row_schema:
        if not column.nullable and column.name not in (other.name for other in chosen):
            raise BindError(
                "missing-column",
                f'"{column.name}" of "{target.name}" cannot be NULL, and is not fed',
                hint=f"feed {column.name}, too",
                span=statement.target.span,
            )
    for place, column in enumerate(chosen):
        if column in chosen[:place]:
            raise BindError(
                "duplicate-column",
                f'"{column.name}" is fed twice',
                span=statement.columns[place].span,
            )
    return chosen


def _column(target: Declaration, name: Name) -> Column:
    found = target.schema.matches(name.text)
    if not found:
        close = near(name.text, target.schema.names)
        raise BindError(
            "unknown-column",
            f'"{target.name}" has no column "{name.text}"',
            detail=f"it has {', '.join(target.schema.names)}",
            hint=meant(close),
            span=name.span,
        )
    return found[0]


def _of_so_many(plan: Relation, target: Declaration, fed: list[str]) -> str:
    """What to write where a query has other columns than are fed."""
    found = [column.name for column in plan.schema]
    named = [name for name in found if name in target.row_schema.names]
    missing = (c for c in target.row_schema if c.name not in named)
    if len(found) < len(fed) and named == found and all(c.nullable for c in missing):
        return f"INSERT INTO {target.name} ({', '.join(named)})"
    return f"SELECT {', '.join(fed)}"


def _fed(column: Column, target: Declaration) -> bool:
    return column.name in target.row_schema.names


def _stored(
    expression: Expression, column: Column, context: Context, statement: InsertInto
) -> Expression:
    if not _storable(expression.type, column.type):
        raise BindError(
            "type-mismatch",
            f'"{column.name}" is {column.type}, and the query has {expression.type} for it',
            hint=f"CAST({sql(expression)} AS {column.type}) AS {column.name}",
            span=context.span(statement.query.body),
        )
    return cast(expression, column.type)


def _storable(source: Type, target: Type) -> bool:
    """Whether values are stored as another type without a CAST: none of them is bent by it."""
    match source, target:
        case ArrayType(), ArrayType():
            return _storable(source.element, target.element)
        case StructType(), StructType():
            return len(source.fields) == len(target.fields) and all(
                _storable(a, b) for (_, a), (_, b) in zip(source.fields, target.fields, strict=True)
            )
        case StringType(), _:
            return source == target
        case (DoubleType() | DecimalType(), IntegerType()) | (TimestampType(), DateType()):
            return False
        case _:
            return can_coerce(source, target)
