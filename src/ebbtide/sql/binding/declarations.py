"""CREATE and DROP: from what is written to what is declared."""

from __future__ import annotations

from collections.abc import Iterable

from ebbtide.algebra.identifiers import identifier
from ebbtide.algebra.relation import Relation, View
from ebbtide.core.declaration import (
    Histogram,
    Late,
    Promise,
    RowSample,
    StreamDeclaration,
    Summary,
    TableDeclaration,
    bag_key,
    deletable_arrival,
)
from ebbtide.core.schema import Column, Schema
from ebbtide.core.time import format_duration
from ebbtide.core.types import DecimalType, DoubleType, TimestampType
from ebbtide.errors import BindError
from ebbtide.sql.binding.encodings import known_encoding, with_encoding
from ebbtide.sql.binding.scope import meant
from ebbtide.sql.binding.sources import renamed
from ebbtide.sql.catalog import Catalog, FileSource, StreamEntry, TableEntry, ViewEntry, near
from ebbtide.sql.syntax import (
    ArchiveClause,
    CreateStream,
    CreateTable,
    CreateView,
    Drop,
    FilesClause,
    HistogramClause,
    Name,
    Period,
    Progress,
    SampleClause,
)

__all__ = ["create_stream", "create_table", "create_view", "drop", "summary_of"]


def create_stream(statement: CreateStream, catalog: Catalog) -> Catalog:
    """The catalog with one more stream."""
    if statement.if_not_exists and statement.name.text in catalog:
        return catalog
    schema, lifetime, archive = _schema(statement), statement.lifetime, statement.archive
    if lifetime is not None and not statement.progress:
        raise BindError(
            "time-needed",
            "LIFETIME counts from a time that progresses, and there is none",
            hint="declare PROGRESS FOR the time of the facts",
            span=lifetime.span,
        )
    declaration = StreamDeclaration(
        statement.name.text,
        schema,
        _names(statement.key, schema),
        (*_promises(statement.progress, schema), *_arrivals(statement)),
        _length(statement.retain) or 0,
        statement.late or Late.REVISE,
        _length(statement.idle_after),
        _length(statement.not_beyond),
        _name(statement.op, schema),
        statement.append_only or not statement.key,
        _length(lifetime) if isinstance(lifetime, Period) else None,
        _time(lifetime, schema) if isinstance(lifetime, Name) else None,
        None if archive is None else archive.length.us,
        _length(statement.revise),
        None
        if archive is None
        else summary_of(statement.name.text, archive, schema, _names(statement.key, schema)),
        statement.replay,
    )
    return _added(StreamEntry(declaration, _files(statement.files)), statement, catalog)


PARTS_OF_ARCHIVE = 1000
"""Into how many spans of time a histogram cuts an archive, if nothing else is said."""


def summary_of(
    name: str, archive: ArchiveClause, schema: Schema, key: tuple[str, ...]
) -> Summary | None:
    """What the archive of a stream has in the place of all rows."""
    clause = archive.summary
    match clause:
        case None:
            return None
        case SampleClause():
            impact = None
            if clause.by_impact:
                named = () if clause.impact is None else (clause.impact,)
                found = _measures(named, schema, key)
                if len(found) != 1:
                    raise BindError(
                        "which-measure",
                        f'"{name}" has {len(found) or "no"} columns of fractions, and '
                        "rows are chosen by one",
                        hint="name it: BY IMPACT OF price",
                        span=clause.span,
                    )
                (impact,) = found
            return RowSample(clause.per_million, impact, clause.seed)
        case HistogramClause():
            of = _measures(clause.of, schema, key)
            if not of:
                raise BindError(
                    "which-measure",
                    f'"{name}" has no columns of fractions to make bins of',
                    hint="name columns of numbers: AS HISTOGRAM OF price",
                    span=clause.span,
                )
            every = archive.length.us // PARTS_OF_ARCHIVE
            return Histogram(of, max(1, every if clause.every is None else clause.every.us))


def _measures(named: tuple[Name, ...], schema: Schema, key: tuple[str, ...]) -> tuple[str, ...]:
    """The columns that are named, or else those of fractions that are not in the key."""
    if named:
        return _names(named, schema)
    return tuple(
        column.name
        for column in schema
        if isinstance(column.type, DoubleType | DecimalType) and column.name not in key
    )


def create_table(statement: CreateTable, catalog: Catalog) -> Catalog:
    """The catalog with one more table."""
    if statement.if_not_exists and statement.name.text in catalog:
        return catalog
    schema = _schema(statement)
    if statement.encoding is not None:
        statement, schema = with_encoding(statement, schema)
    _check_changing(statement, schema)
    _check_without_arrival(statement)
    lifetime = statement.lifetime
    op, sequence = _name(statement.op, schema), _name(statement.sequence, schema)
    time, until = _time(statement.time, schema), None
    if isinstance(lifetime, Name):
        until = _time(lifetime, schema)
    bag = time is not None and not statement.key
    declaration = TableDeclaration(
        statement.name.text,
        schema,
        bag_key(schema, time, op, sequence, until) if bag else _names(statement.key, schema),
        time,
        op,
        sequence,
        _length(lifetime) if isinstance(lifetime, Period) else None,
        _promises(statement.progress, schema),
        _length(statement.retain) or 0,
        statement.late or Late.REVISE,
        _length(statement.idle_after),
        _length(statement.not_beyond),
        until,
        None if statement.encoding is None else known_encoding(statement.encoding),
        bag,
        time is not None and op is None and statement.files is not None,
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
    keep_us = None if statement.keep is None else statement.keep.us
    entry = ViewEntry(View(name, plan, promises), keep_us, statement.answer)
    return _added(entry, statement, catalog)


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


def _arrivals(statement: CreateStream) -> tuple[Promise, ...]:
    """The promises of ARRIVAL columns, which the clock keeps."""
    promised = {item.attribute.text.casefold() for item in statement.progress}
    found = []
    for column in statement.columns:
        name = column.name.text
        if not column.arrival:
            continue
        if not isinstance(column.type, TimestampType):
            raise BindError(
                "not-a-time",
                f'"{name}" is {column.type}, and an ARRIVAL is a TIMESTAMP',
                hint=f"write {name} TIMESTAMP ARRIVAL",
                span=column.span,
            )
        if name.casefold() in promised:
            raise BindError(
                "duplicate-promise",
                f'"{name}" is an ARRIVAL, and the clock alone moves its progress',
                hint=f"leave out PROGRESS FOR {name}",
                span=column.span,
            )
        if statement.op is not None and statement.op.text.casefold() == name.casefold():
            raise BindError("not-a-time", f'"{name}" cannot be OP and ARRIVAL', span=column.span)
        if statement.key and not statement.append_only:
            raise deletable_arrival(statement.name.text, name).with_span(column.span)
        found.append(Promise(name, arrival=True))
    return tuple(found)


def _check_without_arrival(statement: CreateTable) -> None:
    for column in statement.columns:
        if column.arrival:
            raise BindError(
                "arrival-in-a-table",
                f'"{column.name.text}" is an ARRIVAL, which only a column of a stream can be',
                hint="CREATE STREAM, or leave out ARRIVAL",
                span=column.span,
            )


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
            time = f"add TIME {identifier(times[0]) if times else '...'}"
            stream = f"for events write CREATE STREAM {identifier(statement.name.text)}"
            raise BindError(
                "time-needed",
                f"{clause} needs a table that changes, and this one has no TIME",
                hint=f"{stream}; for rows that change by their key, {time}"
                if clause == "PROGRESS"
                else time,
                span=part.span,
            )


def _length(period: Period | None) -> int | None:
    return None if period is None else period.us


def _files(files: FilesClause | None) -> FileSource | None:
    return None if files is None else FileSource(files.path, files.format.text, files.options)
