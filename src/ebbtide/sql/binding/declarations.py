"""CREATE and DROP: from what is written to what is declared."""

from __future__ import annotations

from collections.abc import Iterable

from ebbtide.algebra.relation import Relation, View
from ebbtide.core.declaration import Late, Promise, StreamDeclaration, TableDeclaration
from ebbtide.core.schema import Column, Schema
from ebbtide.core.time import format_duration
from ebbtide.core.types import TimestampType
from ebbtide.errors import BindError
from ebbtide.sql.binding.scope import meant
from ebbtide.sql.binding.sources import renamed
from ebbtide.sql.catalog import Catalog, FileSource, StreamEntry, TableEntry, ViewEntry, near
from ebbtide.sql.syntax import (
    CreateStream,
    CreateTable,
    CreateView,
    Drop,
    FilesClause,
    Name,
    Period,
    Progress,
)

__all__ = ["create_stream", "create_table", "create_view", "drop"]


def create_stream(statement: CreateStream, catalog: Catalog) -> Catalog:
    """The catalog with one more stream."""
    if statement.if_not_exists and statement.name.text in catalog:
        return catalog
    schema = _schema(statement)
    declaration = StreamDeclaration(
        statement.name.text,
        schema,
        _names(statement.key, schema),
        _promises(statement.progress, schema),
        _length(statement.retain) or 0,
        statement.late or Late.REVISE,
        _length(statement.idle_after),
        _length(statement.not_beyond),
        _name(statement.op, schema),
        statement.append_only or not statement.key,
    )
    return _added(StreamEntry(declaration, _files(statement.files)), statement, catalog)


def create_table(statement: CreateTable, catalog: Catalog) -> Catalog:
    """The catalog with one more table."""
    if statement.if_not_exists and statement.name.text in catalog:
        return catalog
    schema = _schema(statement)
    _check_changing(statement, schema)
    declaration = TableDeclaration(
        statement.name.text,
        schema,
        _names(statement.key, schema),
        _time(statement.time, schema),
        _name(statement.op, schema),
        _name(statement.sequence, schema),
        _length(statement.lifetime),
        _promises(statement.progress, schema),
        _length(statement.retain) or 0,
        statement.late or Late.REVISE,
        _length(statement.idle_after),
        _length(statement.not_beyond),
    )
    return _added(TableEntry(declaration, _files(statement.files)), statement, catalog)


def create_view(statement: CreateView, plan: Relation, catalog: Catalog) -> Catalog:
    """The catalog with one more view."""
    name = statement.name.text
    if statement.if_not_exists and name in catalog:
        return catalog
    if statement.columns is not None:
        columns = tuple(column.text for column in statement.columns)
        try:
            plan = renamed(plan, columns, name)
        except BindError as error:
            raise error.with_span(statement.columns[0].span) from None
    promises = None
    if statement.progress is not None:
        promises = tuple(_time(attribute, plan.schema) or "" for attribute in statement.progress)
    return _added(ViewEntry(View(name, plan, promises)), statement, catalog)


def drop(statement: Drop, catalog: Catalog) -> Catalog:
    """The catalog without an entry."""
    if statement.if_exists and statement.name.text not in catalog:
        return catalog
    try:
        return catalog.drop(statement.name.text, statement.kind.value)
    except BindError as error:
        whole = error.code == "wrong-kind"
        raise error.with_span(statement.span if whole else statement.name.span) from None


def _added(
    entry: StreamEntry | TableEntry | ViewEntry,
    statement: CreateStream | CreateTable | CreateView,
    catalog: Catalog,
) -> Catalog:
    try:
        return catalog.add(entry, replace=statement.or_replace)
    except BindError as error:
        raise error.with_span(statement.name.span) from None


# --- parts -------------------------------------------------------------------------------------


def _schema(statement: CreateStream | CreateTable) -> Schema:
    seen: set[str] = set()
    columns = []
    for definition in statement.columns:
        name = definition.name.text
        if name.casefold() in seen:
            raise BindError(
                "duplicate-column",
                f'there are two columns "{name}"',
                span=definition.name.span,
            )
        seen.add(name.casefold())
        columns.append(Column(name, definition.type, definition.nullable))
    return Schema(tuple(columns))


def _name(name: Name | None, schema: Schema) -> str | None:
    if name is None:
        return None
    found = schema.matches(name.text)
    if not found:
        close = near(name.text, schema.names)
        raise BindError(
            "unknown-column",
            f'there is no column "{name.text}"',
            detail=f"there are {', '.join(schema.names)}",
            hint=meant(close),
            span=name.span,
        )
    return found[0].name


def _names(names: Iterable[Name], schema: Schema) -> tuple[str, ...]:
    return tuple(known for name in names if (known := _name(name, schema)) is not None)


def _time(name: Name | None, schema: Schema) -> str | None:
    known = _name(name, schema)
    if name is None or known is None:
        return None
    type_ = schema.column(known).type
    if not isinstance(type_, TimestampType):
        times = [c.name for c in schema if isinstance(c.type, TimestampType)]
        raise BindError(
            "not-a-time",
            f'"{known}" is {type_}, not TIMESTAMP',
            hint=f"write {times[0]}" if len(times) == 1 else None,
            span=name.span,
        )
    return known


def _promises(progress: Iterable[Progress], schema: Schema) -> tuple[Promise, ...]:
    promises: list[Promise] = []
    for item in progress:
        attribute = _promised(item, schema)
        if any(promise.attribute == attribute for promise in promises):
            raise BindError(
                "duplicate-promise",
                f'there are two promises for "{attribute}"',
                span=item.span,
            )
        promises.append(Promise(attribute, item.delay_us))
    return tuple(promises)


def _promised(item: Progress, schema: Schema) -> str:
    """The attribute of a promise; the whole promise is where an error points."""
    try:
        return _time(item.attribute, schema) or ""
    except BindError as error:
        times = [c.name for c in schema if isinstance(c.type, TimestampType)]
        close = near(item.attribute.text, tuple(times)) or (times[0] if len(times) == 1 else None)
        delay = f" - INTERVAL {format_duration(item.delay_us)}" if item.delay_us else ""
        hint = f"write PROGRESS FOR {close} AS {close}{delay}" if close else None
        raise BindError(
            error.code, error.message, detail=error.detail, hint=hint, span=item.span
        ) from None


def _check_changing(statement: CreateTable, schema: Schema) -> None:
    """What keyed operations need makes no sense in a static table."""
    if statement.time is not None:
        return
    for clause, part in (
        ("OP", statement.op),
        ("SEQUENCE", statement.sequence),
        ("LIFETIME", statement.lifetime),
        ("PROGRESS", statement.progress[0] if statement.progress else None),
    ):
        if part is not None:
            times = [c.name for c in schema if isinstance(c.type, TimestampType)]
            raise BindError(
                "time-needed",
                f"{clause} is of a table that changes, and this one has no TIME",
                hint=f"add TIME {times[0] if times else '...'}",
                span=part.span,
            )


def _length(period: Period | None) -> int | None:
    return None if period is None else period.us


def _files(files: FilesClause | None) -> FileSource | None:
    return None if files is None else FileSource(files.path, files.format.text, files.options)
