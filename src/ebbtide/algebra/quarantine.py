"""What becomes of a row on which an expression fails.

Law: under QUARANTINE an error is a value.  A row on which a filter or a projection is an error is
left out, and so is the row of a group that has such a row in it.  What is left out is a relation of
its own, with the columns of ``ERRORS``: it has a row for every row on which an operator's
expressions fail, over the instants at which they do.  Under FAIL the step fails.

Of the terms of a condition, those that AND connects at its top, one that is FALSE decides, and one
that is NULL does not: beside a term that fails it is an error.  A term over several inputs of a
join is what its rows meet by; NULL meets nothing there, and decides like FALSE.  The sides of an
equality by which an inner join joins, and of the comparisons by which an ASOF JOIN does, are
computed of the rows of its inputs, each like a projection, so that a row without such a value is
left out once and not with every partner.  What else an ASOF JOIN asks of a pair counts as far as
its nearest partner: a row is left out where the first pair that is TRUE or fails does fail.
"""

from __future__ import annotations

import re
from enum import Enum

from ebbtide.algebra.call import AggregateCall
from ebbtide.algebra.combination import Join, OuterJoin, Product
from ebbtide.algebra.expression import Comparison, Expression, Fails, Ref
from ebbtide.algebra.printing import sql
from ebbtide.algebra.relation import SCALAR, Aggregate, Alias, Filter, Map, Relation
from ebbtide.core.schema import Column, Schema
from ebbtide.core.tree import find
from ebbtide.core.types import STRING, TIMESTAMP
from ebbtide.errors import EvaluationError


class OnError(Enum):
    """What an expression that fails on a row does: it leaves the row out, or fails the step."""

    QUARANTINE = "QUARANTINE"
    FAIL = "FAIL"


ERRORS = Schema(
    (
        Column("operator", STRING, False),
        Column("expression", STRING, False),
        Column("row", STRING, False),
        Column("error", STRING, False),
    )
)
"""Whose expressions failed, the first of them in the text, on which row, and how."""


MAY_HAVE_NO_VALUE = ("SUM", "AVG", "SINGLE")
"""The aggregates that are errors where their value does not fit, or of a subquery with several
rows; besides these the user's own are where they raise something."""

SHOWN_ERRORS = Schema(
    (*ERRORS.columns, Column("valid_from", TIMESTAMP), Column("valid_to", TIMESTAMP))
)
"""The same with from when to when that is so; NULL is for ever."""


HIDDEN = "error "
"""With this begin the names of columns of a subquery that is a value which say how it fails."""

_VALUE = re.compile(rf"{SCALAR}(_\d+)?")


def subquery_of(node: OuterJoin) -> Aggregate | None:
    """The group that is joined to rows because a subquery is a value of theirs.

    What it shows are its columns, as they are.
    """
    known = node.right
    if not (isinstance(known, Alias) and isinstance(known.input, Map)):
        return None
    group = known.input.input
    if not (isinstance(group, Aggregate) and _VALUE.fullmatch(known.name)):
        return None
    read = [n.expression for n in known.input.columns if isinstance(n.expression, Ref)]
    plain = [c.identity for c in group.schema] == [ref.column.identity for ref in read]
    return group if plain else None


def is_hidden(column: Column) -> bool:
    """Whether a column only says how a subquery fails."""
    named = column.table is not None and _VALUE.fullmatch(column.table) is not None
    return named and column.name.startswith(HIDDEN)


def row_of(schema: Schema) -> tuple[Ref, ...]:
    """All that is shown of a row."""
    return tuple(Ref(column) for column in schema if not is_hidden(column))


def subquery_value(text: str, fails: Expression) -> Fails:
    """The error of a value of a subquery, if there are rows of it on which its aggregates fail."""
    return Fails(fails, text, SUBQUERY_FAILS.code, SUBQUERY_FAILS.message)


SUBQUERY_FAILS = EvaluationError("failed-subquery", "an expression fails on a row of the subquery")
"""What a value of a subquery is if an aggregate of it fails on a row."""


def operator_word(node: Relation) -> str:
    """What an operator is called among errors and in EXPLAIN."""
    return type(node).__name__.lower()


def sides_of(term: Expression, left: Schema, right: Schema) -> tuple[Expression, Expression] | None:
    """The sides of an equality between two inputs of a join, that of the left input first."""
    return compared(term, left, right) if isinstance(term, Comparison) and term.op == "=" else None


def compared(term: Expression, left: Schema, right: Schema) -> tuple[Expression, Expression] | None:
    """The sides of any comparison between two inputs of a join, that of the left input first."""
    if not isinstance(term, Comparison):
        return None
    for one, other in ((term.left, term.right), (term.right, term.left)):
        if _is_of(one, left) and _is_of(other, right):
            return one, other
    return None


def inputs_of(relation: Relation) -> tuple[Schema, ...]:
    """The inputs of the inner joins that a relation is, below its filters."""
    if isinstance(relation, Filter):
        return inputs_of(relation.input)
    if isinstance(relation, Product | Join):
        return (*inputs_of(relation.left), *inputs_of(relation.right))
    return (relation.schema,)


def meets(term: Expression, inputs: tuple[Schema, ...]) -> bool:
    """Whether a term is over several inputs of a join, so that rows meet where it is TRUE."""
    columns = {ref.column.identity for ref in find(term, Ref)}
    return sum(not columns.isdisjoint(c.identity for c in schema) for schema in inputs) > 1


def _is_of(expression: Expression, schema: Schema) -> bool:
    columns = [ref.column.identity for ref in find(expression, Ref)]
    return bool(columns) and {*columns} <= {column.identity for column in schema}


def call_word(call: AggregateCall) -> str:
    """What a call of an aggregate is called among errors."""
    return f"{call.name}({', '.join(map(sql, call.arguments))})"
