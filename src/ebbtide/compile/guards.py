"""What the guards of a plan do not let pass.

Law: it is taken from where the guard stands, so it costs no state, and is an output beside that of
the view.
"""

from __future__ import annotations

from dataclasses import replace

from ebbtide.algebra.expression import (
    Failure,
    FailurePart,
    Literal,
    Not,
    Probe,
    Ref,
    RowText,
    Succeeds,
)
from ebbtide.algebra.phases import phases
from ebbtide.algebra.quarantine import ERRORS
from ebbtide.algebra.relation import Aggregate, Filter, Relation
from ebbtide.compile.pipe import Pipe
from ebbtide.core.row_text import told_apart
from ebbtide.core.schema import Schema
from ebbtide.core.tree import find
from ebbtide.core.types import STRING


def guard_of(relation: Relation) -> Succeeds | None:
    """What an operator asks of the rows that come to it, if it is a guard."""
    if isinstance(relation, Filter):
        return relation.predicate if isinstance(relation.predicate, Succeeds) else None
    if not isinstance(relation, Aggregate):
        return None
    filters = (named.call.filter for named in relation.calls)
    asked = (condition.operand for condition in filters if isinstance(condition, Not))
    checks = (check for check in asked if isinstance(check, Succeeds))
    # A check that no operator asks for is a condition like others.
    return next((check for check in checks if check.operator), None)


def guarded(guard: Relation) -> Relation:
    """The rows that a guard does not let pass."""
    check = guard_of(guard)
    assert check is not None
    assert isinstance(guard, Filter | Aggregate)
    return Filter(guard.input, Not(check))


def left_out(pipe: Pipe, check: Succeeds) -> list[Pipe]:
    """What a check leaves out in each phase of a row; if NOW() is not in it, there is one."""
    found = []
    for phase in phases(check):
        (asked,) = phase.values
        if isinstance(asked, Succeeds):
            found.append(_errors(pipe.cut_to(phase), asked))
    return found


def _errors(pipe: Pipe, check: Succeeds) -> Pipe:
    """The rows behind a pipe on which a check says no, as rows of ``ERRORS``."""
    row = Schema(tuple(ref.column for ref in check.row if isinstance(ref, Ref)))
    refs = {ref.column.identity: ref for operand in check.operands for ref in find(operand, Ref)}
    given = tuple(refs.values())
    probe = Probe(check.operands, Schema(tuple(ref.column for ref in given)))
    columns = (
        Literal(check.operator, STRING),
        Failure(probe, given, FailurePart.EXPRESSION),
        RowText(told_apart(row), check.row),
        Failure(probe, given, FailurePart.ERROR),
    )
    return replace(
        pipe,
        schema=ERRORS,
        columns=tuple(map(pipe.resolve, columns)),
        conditions=(*pipe.conditions, pipe.resolve(Not(check))),
    )
