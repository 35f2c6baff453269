"""Rows on which an expression fails, on a multiset.

Law: an error is a value of its expression.  Whoever cannot go on with it leaves the row out and
says so here; without a place to say it, the error is raised.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TypeAlias

from ebbtide.algebra.expression import Expression, conjuncts
from ebbtide.algebra.quarantine import meets, operator_word
from ebbtide.algebra.relation import Relation
from ebbtide.core.change import Multiset
from ebbtide.core.row_text import object_text, told_apart
from ebbtide.core.schema import Schema
from ebbtide.core.values import Row
from ebbtide.errors import EvaluationError
from ebbtide.reference.failed import shown
from ebbtide.reference.scalar import evaluate

Truth: TypeAlias = bool | EvaluationError
"""Whether a condition lets a row pass, or why that cannot be said."""


class LeftOut:
    """What one operator leaves out of a snapshot, as rows of ``ERRORS``."""

    def __init__(self) -> None:
        self.rows: Multiset = Counter()

    def add(
        self, node: Relation, schema: Schema, row: Row, error: EvaluationError, copies: int = 1
    ) -> None:
        """A row of a schema on which an operator's expressions fail."""
        types = tuple(column.type for column in schema)
        text = object_text(told_apart(schema), types, shown(row))
        self.rows[(operator_word(node), error.expression, text, error.reason)] += copies


class Raised(LeftOut):
    """Leaves nothing out."""

    def add(
        self, node: Relation, schema: Schema, row: Row, error: EvaluationError, copies: int = 1
    ) -> None:
        raise error


def judged(
    predicate: Expression, schema: Schema, row: Row, inputs: tuple[Schema, ...] = ()
) -> Truth:
    """Whether all terms of a condition are TRUE of a row; an error if that hangs on one.

    A term that is FALSE decides; one over several inputs of a join decides if it is NULL, too.
    """
    failed: EvaluationError | None = None
    unknown = False
    for term in conjuncts(predicate):
        try:
            value = evaluate(term, schema, row)
        except EvaluationError as error:
            failed = failed or error
            continue
        if value is False or (value is None and meets(term, inputs)):
            return False
        unknown = unknown or value is None
    return failed or not unknown


def first_error(
    expressions: Iterable[Expression], schema: Schema, row: Row
) -> EvaluationError | None:
    """The error of the first of several expressions that fails on a row."""
    for expression in expressions:
        try:
            evaluate(expression, schema, row)
        except EvaluationError as error:
            return error
    return None


def sound(
    node: Relation,
    expressions: tuple[Expression, ...],
    schema: Schema,
    rows: Multiset,
    left_out: LeftOut,
) -> Multiset:
    """The rows on which none of an operator's expressions fails."""
    kept: Multiset = Counter()
    for row, copies in rows.items():
        error = first_error(expressions, schema, row)
        if error is None:
            kept[row] += copies
        else:
            left_out.add(node, schema, row, error, copies)
    return kept
