"""From statements to plans.

    bind(statement, catalog, operators) -> Bound            any statement
    bind_query(query, catalog, operators) -> BoundQuery     a query
    execute(statement, catalog, operators) -> Catalog       CREATE and DROP

Law: binding is a function of the statement and the catalog, and reads nothing else; beyond so many
``operators`` that names bring into a plan it refuses, if there is such a limit.  Every error
has a place in the text.  Every name and every call in the text has a part in the plan: what no
clause has read is an error of ours, not something to pass over.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from sqlglot import exp

from ebbtide.algebra.emission import CHANGE_COLUMNS, IS_FINAL, REVISION
from ebbtide.algebra.kind import Kind, kind
from ebbtide.algebra.quarantine import OnError
from ebbtide.algebra.relation import Relation
from ebbtide.core.codec.encoding import AS_EMITTED, OutputForm
from ebbtide.core.declaration import StreamDeclaration
from ebbtide.core.expiry import BY_INTERVAL, Expiry
from ebbtide.errors import BindError, EbbtideError, InternalError, TemporalError
from ebbtide.sql import nodes
from ebbtide.sql.binding.context import Context, context_for
from ebbtide.sql.binding.declarations import create_stream, create_table, create_view, drop
from ebbtide.sql.binding.insertion import columns_into, target_of
from ebbtide.sql.binding.instants import check_now
from ebbtide.sql.binding.places import check, kind_of
from ebbtide.sql.binding.queries import query as query_plan
from ebbtide.sql.binding.view_answers import answer_of_views, completed
from ebbtide.sql.bound import (
    Bound,
    BoundExplain,
    BoundInsert,
    BoundQuery,
    BoundShow,
    Declared,
)
from ebbtide.sql.catalog import Catalog
from ebbtide.sql.syntax import (
    NOTHING_SAID,
    AnswerOptions,
    CreateStream,
    CreateTable,
    CreateView,
    Drop,
    Emit,
    Explain,
    InsertInto,
    Query,
    Show,
    Statement,
)

__all__ = ["bind", "bind_query", "execute"]


def bind(statement: Statement, catalog: Catalog, operators: int | None = None) -> Bound:
    """What a statement means."""
    match statement:
        case Query():
            return bind_query(statement, catalog, operators)
        case InsertInto():
            return _insert(statement, catalog, operators)
        case Explain():
            explained = bind_query(statement.query, catalog, operators)
            return BoundExplain(explained, statement.json, statement.verbose)
        case Show():
            kind_name = statement.kind.value
            return BoundShow(kind_name, catalog.names(kind_name))
        case CreateView():
            return _view(statement, catalog, operators)
        case CreateStream() | CreateTable() | Drop():
            return Declared(execute(statement, catalog, operators))
        case _:
            assert_never(statement)


def bind_query(query: Query, catalog: Catalog, operators: int | None = None) -> BoundQuery:
    """The plan of a query."""
    plan, context = _planned(query.body, catalog, query.span.source, operators)
    with context.at(query.body):
        _check_columns(plan, CHANGE_COLUMNS, "its changes have too")
    return _bound(query.answer, plan, context, query.output, query.expiry, query.lineage)


def execute(statement: Statement, catalog: Catalog, operators: int | None = None) -> Catalog:
    """The catalog after a declaration; other statements are refused."""
    try:
        match statement:
            case CreateStream():
                return create_stream(statement, catalog)
            case CreateTable():
                return create_table(statement, catalog)
            case CreateView():
                return _view(statement, catalog, operators).catalog
            case Drop():
                return drop(statement, catalog)
            case _:
                raise BindError("no-declaration", "only CREATE and DROP change the catalog")
    except EbbtideError as error:
        raise error.with_span(statement.span) from error.__cause__


def _planned(
    body: exp.Expr, catalog: Catalog, source: str, operators: int | None
) -> tuple[Relation, Context]:
    context = context_for(source, catalog, body, operators)
    return _plan(body, context), context


def _view(statement: CreateView, catalog: Catalog, operators: int | None) -> Declared:
    """The catalog with a view; one that says how its answer is given is a query, too."""
    try:
        plan, context = _planned(statement.body, catalog, statement.span.source, operators)
        later = create_view(statement, plan, catalog)
        if statement.answer == NOTHING_SAID:
            return Declared(later)
        with context.at(statement.body):
            _check_columns(plan, CHANGE_COLUMNS, "its changes have too")
        return Declared(later, _bound(statement.answer, plan, context))
    except EbbtideError as error:
        raise error.with_span(statement.span) from error.__cause__


def _bound(
    said: AnswerOptions,
    plan: Relation,
    context: Context,
    output: OutputForm = AS_EMITTED,
    expiry: Expiry = BY_INTERVAL,
    lineage: bool = False,
) -> BoundQuery:
    of_views = answer_of_views(plan, context.catalog)
    answer = completed(said, (of_views,))
    emit = answer.emit or Emit.CHANGES
    its = kind_of(context.places)
    added = [IS_FINAL] if emit is Emit.CHANGES_WITH_FINALITY else []
    added += [REVISION] if emit.needs_finality else []
    _check_columns(plan, added, f"EMIT {emit.value} adds")
    on_error, allowed = answer.on_error or OnError.QUARANTINE, answer.allow_unbounded_state
    written = context.written
    return BoundQuery(
        plan, emit, allowed, its, on_error, output, expiry, written, of_views, lineage
    )


def _check_columns(plan: Relation, added: Iterable[str], whose: str) -> None:
    for name in added:
        if plan.schema.matches(name):
            raise BindError(
                "duplicate-column",
                f'the answer has a column "{name}", which {whose}',
                hint="give it another name with AS",
            )


def _plan(body: exp.Expr, context: Context) -> Relation:
    plan = query_plan(body, context)
    _check_read(body, context)
    check(context.places)
    with context.at(body):
        check_now(plan)
        kind(plan)
    return plan


def _check_read(body: exp.Expr, context: Context) -> None:
    for node in body.find_all(exp.Column, exp.Table, nodes.Call):
        starred = isinstance(node.this, exp.Star) or isinstance(node.parent, exp.Star)
        if not starred and id(node) not in context.read:
            span = context.span(node)
            raise InternalError("not-bound", f"{span.text} has no part in the plan", span=span)


def _insert(statement: InsertInto, catalog: Catalog, operators: int | None) -> BoundInsert:
    target = target_of(statement, catalog)
    query = statement.query
    known = catalog.without_rules(target.name)
    context = context_for(query.span.source, known, query.body, operators)
    plan = _plan(query.body, context)
    if kind_of(context.places) is Kind.SNAPSHOT and isinstance(target, StreamDeclaration):
        text = query.span.source
        span = context.span(query.body)
        raise TemporalError(
            "facts-needed",
            f'"{target.name}" takes facts, and this query is a relation that changes with time',
            hint=f"write ISTREAM({text[span.start : span.end]})",
            span=span,
        )
    plan = columns_into(plan, target, statement, context)
    bound = _bound(query.answer, plan, context, query.output, query.expiry, query.lineage)
    return BoundInsert(target, bound)
