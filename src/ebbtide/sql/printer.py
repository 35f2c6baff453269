"""Statements as SQL again.

Law: `parse(sql(statement))` is `(statement,)`.  Comments and the choice among equal ways to write
the same are not kept.
"""

import re
from typing import assert_never

from sqlglot import exp

from ebbtide.core.time import INF, format_duration
from ebbtide.core.types import ArrayType, StructType, Type
from ebbtide.plan_text.output_sql import output_sql
from ebbtide.sql.dialect import Ebbtide
from ebbtide.sql.syntax import (
    AnswerOptions,
    ArchiveClause,
    ColumnDefinition,
    CreateStream,
    CreateTable,
    CreateView,
    Drop,
    EntryKind,
    Explain,
    FilesClause,
    HistogramClause,
    InsertInto,
    Name,
    Period,
    Query,
    SampleClause,
    Show,
    Statement,
)
from ebbtide.sql.words import KEYWORDS

__all__ = ["sql"]

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

# Names that could be taken for something else where statements have names.
_AMBIGUOUS = {*KEYWORDS, "PRIMARY", "PROGRESS", "TABLE", "IF"}


def sql(node: Statement | exp.Expr) -> str:
    """The text of a statement, or of a query or expression in one."""
    match node:
        case exp.Expr():
            return Ebbtide().generate(node, comments=False)
        case Query():
            return _query(node)
        case InsertInto():
            columns = f" ({_names(node.columns)})" if node.columns else ""
            return f"INSERT INTO {_name(node.target)}{columns} {_query(node.query)}"
        case Explain():
            how = "JSON " if node.json else "VERBOSE " if node.verbose else ""
            return f"EXPLAIN {how}{_query(node.query)}"
        case Show():
            return "SHOW QUERIES" if node.kind is EntryKind.QUERY else f"SHOW {node.kind.value}S"
        case Drop():
            exists = "IF EXISTS " if node.if_exists else ""
            return f"DROP {node.kind.value} {exists}{_name(node.name)}"
        case CreateView():
            return _view(node)
        case CreateStream() | CreateTable():
            return _declaration(node)
        case _:
            assert_never(node)


def _query(query: Query) -> str:
    output = output_sql(query.output, query.expiry, query.lineage)
    return f"{sql(query.body)}{_answer(query.answer)}{output}"


def _answer(answer: AnswerOptions) -> str:
    emit = f" EMIT {answer.emit.value}" if answer.emit else ""
    allow = " ALLOW UNBOUNDED STATE" if answer.allow_unbounded_state else ""
    on_error = f" ON ERROR {answer.on_error.value}" if answer.on_error else ""
    return f"{emit}{allow}{on_error}"


def _view(view: CreateView) -> str:
    listed = [_name(column) for column in view.columns or ()]
    listed += [f"PROGRESS FOR {_name(attribute)}" for attribute in view.progress or ()]
    columns = f" ({', '.join(listed)})" if listed else ""
    keep = f" KEEP CHANGES {format_duration(view.keep.us)}" if view.keep else ""
    return f"{_create(view, 'VIEW')}{columns}{keep} AS {sql(view.body)}{_answer(view.answer)}"


def _declaration(declared: CreateStream | CreateTable) -> str:
    elements = [_column(column) for column in declared.columns]
    if declared.key:
        elements.append(f"PRIMARY KEY ({_names(declared.key)})")
    for promise in declared.progress:
        name = _name(promise.attribute)
        delay = f" - INTERVAL {format_duration(promise.delay_us)}" if promise.delay_us else ""
        elements.append(f"PROGRESS FOR {name} AS {name}{delay}")
    kind = "STREAM" if isinstance(declared, CreateStream) else "TABLE"
    clauses = "".join(f" {clause}" for clause in _clauses(declared))
    return f"{_create(declared, kind)} ({', '.join(elements)}){clauses}"


def _clauses(declared: CreateStream | CreateTable) -> list[str]:
    clauses = [_files(declared.files)] if declared.files else []
    named: list[tuple[str, Name | Period | None]] = [("OP", declared.op)]
    if isinstance(declared, CreateTable):
        named = [("TIME", declared.time), *named, ("SEQUENCE", declared.sequence)]
        if declared.encoding is not None:
            clauses.append(f"ENCODING {_text(declared.encoding.text)}")
    else:
        clauses += ["APPEND ONLY"] if declared.append_only else []
        clauses += [_archive(declared.archive)] if declared.archive is not None else []
        demanded = declared.revise is not None and declared.revise.us >= INF
        clauses += ["REVISE ON DEMAND"] if demanded else []
        named += [] if demanded else [("REVISE EVERY", declared.revise)]
        clauses += [] if declared.replay is None else [f"REPLAY {declared.replay.value}"]
    until = isinstance(declared.lifetime, Name)
    named += [
        ("LIFETIME UNTIL" if until else "LIFETIME", declared.lifetime),
        ("RETAIN", declared.retain),
        ("IDLE AFTER", declared.idle_after),
        ("NOT BEYOND", declared.not_beyond),
    ]
    for words, value in named:
        if isinstance(value, Name):
            clauses.append(f"{words} {_name(value)}")
        elif isinstance(value, Period):
            clauses.append(f"{words} {format_duration(value.us)}")
    return [*clauses, f"LATE {declared.late.value}"] if declared.late else clauses


def _archive(clause: ArchiveClause) -> str:
    text, summary = f"ARCHIVE {format_duration(clause.length.us)}", clause.summary
    match summary:
        case None:
            return text
        case SampleClause():
            of = f" OF {_name(summary.impact)}" if summary.impact is not None else ""
            impact = f" BY IMPACT{of}" if summary.by_impact else ""
            seed = f" SEED {summary.seed}" if summary.seed else ""
            return f"{text} SAMPLE {_percent(summary)} PERCENT{impact}{seed}"
        case HistogramClause():
            of = f" OF {_names(summary.of)}" if summary.of else ""
            every = f" EVERY {format_duration(summary.every.us)}" if summary.every else ""
            return f"{text} AS HISTOGRAM{of}{every}"


def _percent(clause: SampleClause) -> str:
    whole, rest = divmod(clause.per_million, 10_000)
    return f"{whole}.{rest:04}".rstrip("0").rstrip(".")


def _create(node: CreateStream | CreateTable | CreateView, kind: str) -> str:
    replace = "OR REPLACE " if node.or_replace else ""
    missing = "IF NOT EXISTS " if node.if_not_exists else ""
    return f"CREATE {replace}{kind} {missing}{_name(node.name)}"


def _column(column: ColumnDefinition) -> str:
    nullable = "" if column.nullable else " NOT NULL"
    comment = f" COMMENT {_text(column.comment)}" if column.comment is not None else ""
    arrival = " ARRIVAL" if column.arrival else ""
    return f"{_name(column.name)} {_type(column.type)}{arrival}{nullable}{comment}"


def _type(type_: Type) -> str:
    """The name of a type, with the names of fields quoted where they have to be."""
    if isinstance(type_, ArrayType):
        return f"ARRAY<{_type(type_.element)}>"
    if isinstance(type_, StructType):
        fields = ", ".join(f"{_quoted(name)}: {_type(field)}" for name, field in type_.fields)
        return f"STRUCT<{fields}>"
    return type_.sql


def _files(files: FilesClause) -> str:
    options = ", ".join(f"{_text(key)} {_text(value)}" for key, value in files.options)
    listed = f" OPTIONS ({options})" if options else ""
    return f"FROM FILES {_text(files.path)} FORMAT {files.format}{listed}"


def _names(names: tuple[Name, ...]) -> str:
    return ", ".join(_name(name) for name in names)


def _name(name: Name) -> str:
    return _quoted(name.text)


def _quoted(name: str) -> str:
    plain = _PLAIN.fullmatch(name) is not None and name.upper() not in _AMBIGUOUS
    return sql(exp.Identifier(this=name, quoted=not plain))


def _text(text: str) -> str:
    return sql(exp.Literal.string(text))
