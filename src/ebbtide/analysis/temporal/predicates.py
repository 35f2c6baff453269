"""What scalar expressions say about times (paper 5, definition 12).

Law: in a row in which a condition is TRUE its ``when_true`` is, and in one in which it is FALSE its
``when_false``; an expression with a ``term`` has that term's value.  What is no matter of time says
nothing: it may always be so.

Understood are ``t +- INTERVAL``, GREATEST, LEAST, COALESCE, FLOOR and CEIL TO, comparisons, BETWEEN
(which is two of them), IN, IS NULL, AND, OR, NOT, and ``t - u`` compared with an INTERVAL.  A time
as a number of microseconds, milliseconds or seconds, and that number with a constant added, is a
term that is rounded to the unit; numbers of one unit are compared as their terms are, and so is
their difference with a constant.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ebbtide.algebra.expression import (
    And,
    Arithmetic,
    Call,
    Case,
    Cast,
    CeilTo,
    Comparison,
    Expression,
    FloorTo,
    InList,
    IsNull,
    Literal,
    Negation,
    Not,
    Or,
    Ref,
    Tried,
)
from ebbtide.analysis.formula.formula import (
    FALSE,
    TRUE,
    Compare,
    Formula,
    Ignore,
    Op,
    Truth,
    both,
    compare,
    either,
)
from ebbtide.analysis.formula.formula import Not as NotFormula
from ebbtide.analysis.formula.terms import Ceil, Coalesce, Const, Floor, Greatest, Least, Term, Var
from ebbtide.core.schema import Schema
from ebbtide.core.time import DAY, HOUR, MILLISECOND, SECOND, Duration
from ebbtide.core.tree import fold
from ebbtide.core.types import BIGINT, BOOLEAN, DATE, INTERVAL, TIMESTAMP

_LATTICE = {"GREATEST": Greatest, "LEAST": Least, "COALESCE": Coalesce}
_UNITS = {"UNIX_MICROS": 1, "UNIX_MILLIS": MILLISECOND, "UNIX_SECONDS": SECOND}
_BACK = {"TIMESTAMP_MICROS": 1, "TIMESTAMP_MILLIS": MILLISECOND, "TIMESTAMP_SECONDS": SECOND}
_SWAPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "<>": "<>"}


@dataclass(frozen=True, slots=True)
class Meaning:
    """What an expression says about times; ``ends`` are those whose difference it is.

    ``count`` is the term that it counts, in units of so many microseconds; a difference of such
    numbers has ``ends`` and their ``unit``.
    """

    term: Term | None = None
    when_true: Formula = TRUE
    when_false: Formula = TRUE
    ends: tuple[Term, Term] | None = None
    count: tuple[Term, Duration] | None = None
    unit: Duration | None = None


def meaning(expression: Expression, schema: Schema, columns: Mapping[int, Var]) -> Meaning:
    """What an expression over a schema says, the time columns being known as variables."""

    def step(node: Expression, below: tuple[Meaning, ...]) -> Meaning:
        if node.type == TIMESTAMP:
            return Meaning(_term(node, below, schema, columns))
        if node.type == BOOLEAN:
            return _condition(node, below)
        if node.type == INTERVAL:
            return Meaning(ends=_ends(node, below))
        ends, unit = _counted_ends(node, below)
        return Meaning(ends=ends, count=_count(node, below), unit=unit)

    return fold(expression, step)


def term_of(expression: Expression, schema: Schema, columns: Mapping[int, Var]) -> Term | None:
    """The temporal term that an expression is, or None."""
    return meaning(expression, schema, columns).term


def latest_of(expression: Expression, schema: Schema, columns: Mapping[int, Var]) -> Term | None:
    """A temporal term that an expression is, or is not after; None if none is known.

    What is cut off to a unit of the calendar, or to a day, is not after what it was.
    """
    exact = term_of(expression, schema, columns)
    if exact is not None:
        return exact
    match expression:
        case Tried(operand=operand) | Call(name="DATE_TRUNC", arguments=(_, operand)):
            return latest_of(operand, schema, columns)
        case Cast(operand=operand) if operand.type in (DATE, TIMESTAMP):
            return latest_of(operand, schema, columns)
        case Arithmetic(op="+", left=left, right=right):
            inner, by = latest_of(left, schema, columns), _length(right)
        case Call(name="DATE_ADD", arguments=(day, Literal(value=int(count)))):
            # The days of a zone are up to an hour or two longer than others.
            inner, by = latest_of(day, schema, columns), count * DAY + (2 * HOUR if count else 0)
        case Case(
            branches=((Comparison(op=">", left=left, right=last), value),), otherwise=otherwise
        ) if (left, last) == (otherwise, value):
            return latest_of(left, schema, columns)
        case Case(branches=branches, otherwise=otherwise):
            every = (*(value for _, value in branches), otherwise)
            terms = [latest_of(value, schema, columns) for value in every]
            known = tuple(term for term in terms if term is not None)
            return Greatest(known) if len(known) == len(terms) else None
        case _:
            return None
    return None if inner is None or by is None else inner + by


def holding(expression: Expression, schema: Schema, columns: Mapping[int, Var]) -> Formula:
    """What is true of the times of a row in which a condition is TRUE."""
    return meaning(expression, schema, columns).when_true


def _term(
    node: Expression, below: tuple[Meaning, ...], schema: Schema, columns: Mapping[int, Var]
) -> Term | None:
    match node:
        case Ref():
            return columns[schema.index(node.column)]
        case Literal(value=int(instant)):
            return Const(instant)
        case Arithmetic(op="+" | "-" as op, left=left, right=right):
            inner, by = below[0].term, _length(right)
            if inner is None and op == "+":
                inner, by = below[1].term, _length(left)
            if inner is None or by is None:
                return None
            return inner + by if op == "+" else inner - by
        case FloorTo(grid_us=grid):
            return None if below[0].term is None else Floor(below[0].term, grid)
        case CeilTo(grid_us=grid):
            return None if below[0].term is None else Ceil(below[0].term, grid)
        case Call(name="GREATEST" | "LEAST" | "COALESCE" as name):
            terms = tuple(part.term for part in below if part.term is not None)
            return _LATTICE[name](terms) if len(terms) == len(below) else None
        case Cast(operand=operand) if operand.type == TIMESTAMP:
            return below[0].term
        case Call(name="TIMESTAMP_MICROS" | "TIMESTAMP_MILLIS" | "TIMESTAMP_SECONDS" as name):
            count = below[0].count
            return count[0] if count is not None and count[1] == _BACK[name] else None
        case _:
            return None


def _count(node: Expression, below: tuple[Meaning, ...]) -> tuple[Term, Duration] | None:
    """The term that a number counts in a unit: it is that many units after the epoch."""
    match node:
        case Call(name="UNIX_MICROS" | "UNIX_MILLIS" | "UNIX_SECONDS" as name):
            return _counted(below[0].term, _UNITS[name])
        case Cast(operand=operand, to=to) if operand.type == TIMESTAMP and to == BIGINT:
            return _counted(below[0].term, SECOND)
        case Arithmetic(op="+" | "-" as op, left=left, right=right) if node.type == BIGINT:
            count, number = below[0].count, right
            if count is None and op == "+":
                count, number = below[1].count, left
            if (
                count is None
                or not isinstance(number, Literal)
                or not isinstance(number.value, int)
            ):
                return None
            term, unit = count
            by = number.value * unit
            return (term + by if op == "+" else term - by), unit
        case _:
            return None


def _counted(term: Term | None, unit: Duration) -> tuple[Term, Duration] | None:
    if term is None:
        return None
    return (term if unit == 1 else Floor(term, unit)), unit


def _condition(node: Expression, below: tuple[Meaning, ...]) -> Meaning:
    match node:
        case Literal(value=bool(value)):
            return Meaning(None, Truth(value), Truth(not value))
        case Literal():
            return Meaning(None, FALSE, FALSE)
        case And():
            return Meaning(
                None,
                both(*(part.when_true for part in below)),
                either(*(part.when_false for part in below)),
            )
        case Or():
            return Meaning(
                None,
                either(*(part.when_true for part in below)),
                both(*(part.when_false for part in below)),
            )
        case Not():
            return Meaning(None, below[0].when_false, below[0].when_true)
        case IsNull():
            match below[0].term:
                case Var() as variable:
                    return Meaning(None, Ignore(variable), NotFormula(Ignore(variable)))
                case _:
                    return Meaning()
        case Comparison():
            return _comparison(node, below)
        case InList():
            return _listed(below)
        case _:
            return Meaning()


def _comparison(node: Comparison, below: tuple[Meaning, ...]) -> Meaning:
    left, right = below[0].term, below[1].term
    if left is not None and right is not None:
        if node.op == "<=>":
            return _null_safe(left, right)
        return _compared(Compare(Op(node.op), left, right))
    one, other = below[0].count, below[1].count
    if one is not None and other is not None and one[1] == other[1] and node.op != "<=>":
        return _compared(Compare(Op(node.op), one[0], other[0]))
    for difference, constant, op in (
        (below[0], node.right, node.op),
        (below[1], node.left, _SWAPPED.get(node.op, "<=>")),
    ):
        length = _length(constant, difference.unit)
        if difference.ends is not None and length is not None and op != "<=>":
            later, earlier = difference.ends
            return _compared(compare(later, op, earlier + length))
    return Meaning()


def _compared(comparison: Compare) -> Meaning:
    opposite = Compare(comparison.op.negation, comparison.left, comparison.right)
    return Meaning(None, comparison, opposite)


def _null_safe(left: Term, right: Term) -> Meaning:
    equal = compare(left, "=", right)
    if isinstance(left, Var) and isinstance(right, Var):
        return Meaning(None, either(equal, both(Ignore(left), Ignore(right))), TRUE)
    if isinstance(left, Const) or isinstance(right, Const):
        return Meaning(None, equal, TRUE)
    return Meaning()


def _listed(below: tuple[Meaning, ...]) -> Meaning:
    operand, *options = (part.term for part in below)
    known = [option for option in options if option is not None]
    if operand is None or len(known) < len(options):
        return Meaning()
    return Meaning(
        None,
        either(*(compare(operand, "=", option) for option in known)),
        both(*(compare(operand, "<>", option) for option in known)),
    )


def _length(expression: Expression, unit: Duration | None = None) -> Duration | None:
    """The constant duration that an expression is, perhaps as a number of units, or None."""
    match expression:
        case Literal(value=int(length), of=of) if of == INTERVAL and unit is None:
            return length
        case Literal(value=int(number), of=of) if of == BIGINT and unit is not None:
            return number * unit
        case Negation(operand=operand):
            length_ = _length(operand, unit)
            return None if length_ is None else -length_
        case _:
            return None


def _ends(node: Expression, below: tuple[Meaning, ...]) -> tuple[Term, Term] | None:
    if not (isinstance(node, Arithmetic) and node.op == "-" and node.type == INTERVAL):
        return None
    left, right = below[0].term, below[1].term
    return None if left is None or right is None else (left, right)


def _counted_ends(
    node: Expression, below: tuple[Meaning, ...]
) -> tuple[tuple[Term, Term] | None, Duration | None]:
    """The times, rounded to a unit, of which a number is the difference in that unit."""
    if not (isinstance(node, Arithmetic) and node.op == "-" and node.type == BIGINT):
        return None, None
    one, other = below[0].count, below[1].count
    if one is None or other is None or one[1] != other[1]:
        return None, None
    return (one[0], other[0]), one[1]
