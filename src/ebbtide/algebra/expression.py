"""Typed scalar expressions.

Law: an expression is a total description of a value per row; its ``type`` is known when it is
built, and an ill-typed one cannot be built.  Operands have the types that the node demands:
``coercion`` has the constructors that insert the casts, as Spark SQL does.

The truth values are those of SQL: TRUE, FALSE and NULL for unknown.  Arithmetic that leaves its
type is an error, never a wrong number.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Self

from ebbtide.algebra.functions import arithmetic_type, function
from ebbtide.core.schema import Column, Schema
from ebbtide.core.time import Duration
from ebbtide.core.tree import Node, find
from ebbtide.core.types import (
    BIGINT,
    BOOLEAN,
    INT,
    STRING,
    TIMESTAMP,
    ArrayType,
    IntegerType,
    IntervalType,
    NullType,
    StructType,
    Type,
    admits,
    is_numeric,
)
from ebbtide.core.values import Value
from ebbtide.errors import BindError

COMPARISONS = ("=", "<>", "<", "<=", ">", ">=", "<=>")
ARITHMETIC = ("+", "-", "*", "/", "%", "DIV")


@dataclass(frozen=True, slots=True)
class Expression(Node):
    """A scalar expression; the subclasses in this module are all there are."""

    type: Type = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "type", self._infer())

    def _infer(self) -> Type:
        raise NotImplementedError


Expression.family = Expression


@dataclass(frozen=True, slots=True)
class Ref(Expression):
    """The value of a column."""

    column: Column

    def _infer(self) -> Type:
        return self.column.type


@dataclass(frozen=True, slots=True)
class Literal(Expression):
    """A constant of a type; ``value`` None is NULL."""

    value: Value
    of: Type

    @property
    def children(self) -> tuple[Self, ...]:
        """None: lists of many thousand constants are walked often."""
        return ()

    def _infer(self) -> Type:
        if not admits(self.of, self.value):
            raise _mismatch(f"{self.value!r} is not a value of type {self.of}")
        return self.of


@dataclass(frozen=True, slots=True)
class SnapshotTime(Expression):
    """``NOW()``: the instant of the snapshot that the row is in; see ``phases``."""

    def _infer(self) -> Type:
        return TIMESTAMP


@dataclass(frozen=True, slots=True)
class Arithmetic(Expression):
    """``left op right`` on numbers, times and durations."""

    op: str
    left: Expression
    right: Expression

    def _infer(self) -> Type:
        return arithmetic_type(self.op, self.left.type, self.right.type)


@dataclass(frozen=True, slots=True)
class Negation(Expression):
    """``-operand``."""

    operand: Expression

    def _infer(self) -> Type:
        if not (is_numeric(self.operand.type) or isinstance(self.operand.type, IntervalType)):
            raise _mismatch(f"- is not defined on {self.operand.type}")
        return self.operand.type


@dataclass(frozen=True, slots=True)
class Comparison(Expression):
    """``left op right``; NULL if a side is NULL, except for ``<=>``, which is never NULL."""

    op: str
    left: Expression
    right: Expression

    def _infer(self) -> Type:
        if self.op not in COMPARISONS:
            raise _mismatch(f"there is no comparison {self.op}")
        if self.left.type != self.right.type:
            raise _mismatch(f"cannot compare {self.left.type} with {self.right.type}")
        return BOOLEAN


@dataclass(frozen=True, slots=True)
class And(Expression):
    """FALSE if a side is FALSE, else NULL if a side is NULL, else TRUE."""

    left: Expression
    right: Expression

    def _infer(self) -> Type:
        return _boolean("AND", self.left, self.right)


@dataclass(frozen=True, slots=True)
class Or(Expression):
    """TRUE if a side is TRUE, else NULL if a side is NULL, else FALSE."""

    left: Expression
    right: Expression

    def _infer(self) -> Type:
        return _boolean("OR", self.left, self.right)


@dataclass(frozen=True, slots=True)
class Not(Expression):
    """The opposite truth value; NULL of NULL."""

    operand: Expression

    def _infer(self) -> Type:
        return _boolean("NOT", self.operand)


@dataclass(frozen=True, slots=True)
class IsNull(Expression):
    """Whether the operand is NULL; never NULL itself."""

    operand: Expression

    def _infer(self) -> Type:
        return BOOLEAN


@dataclass(frozen=True, slots=True)
class InList(Expression):
    """Whether the operand equals an option; NULL if that is unknown."""

    operand: Expression
    options: tuple[Expression, ...]

    def _infer(self) -> Type:
        if not self.options:
            raise _mismatch("IN needs at least one option")
        for option in self.options:
            if option.type != self.operand.type:
                raise _mismatch(f"cannot compare {self.operand.type} with {option.type}")
        return BOOLEAN


@dataclass(frozen=True, slots=True)
class Like(Expression):
    """Whether a text has the form of a pattern of ``%`` (any text) and ``_`` (a character)."""

    operand: Expression
    pattern: Expression
    escape: str = "\\"

    def _infer(self) -> Type:
        if (self.operand.type, self.pattern.type) != (STRING, STRING):
            raise _mismatch(f"cannot match {self.operand.type} with {self.pattern.type}")
        if len(self.escape) != 1:
            raise _mismatch(f"the escape of LIKE is one character, not {self.escape!r}")
        return BOOLEAN


@dataclass(frozen=True, slots=True)
class Case(Expression):
    """The value of the first branch whose condition is TRUE, else ``otherwise``."""

    branches: tuple[tuple[Expression, Expression], ...]
    otherwise: Expression

    def _infer(self) -> Type:
        if not self.branches:
            raise _mismatch("CASE needs at least one WHEN")
        for condition, value in self.branches:
            _boolean("WHEN", condition)
            if value.type != self.otherwise.type:
                raise _mismatch(f"a CASE cannot be {value.type} and {self.otherwise.type}")
        return self.otherwise.type


@dataclass(frozen=True, slots=True)
class Cast(Expression):
    """The operand as another type; what does not fit is an error, or NULL if ``safe``."""

    operand: Expression
    to: Type
    safe: bool = False

    def _infer(self) -> Type:
        return self.to


@dataclass(frozen=True, slots=True)
class FloorTo(Expression):
    """``FLOOR(t TO d)``: the last multiple of ``grid_us`` at or before ``t``."""

    operand: Expression
    grid_us: Duration

    def _infer(self) -> Type:
        return _on_grid("FLOOR", self.operand, self.grid_us)


@dataclass(frozen=True, slots=True)
class CeilTo(Expression):
    """``CEIL(t TO d)``: the first multiple of ``grid_us`` at or after ``t``."""

    operand: Expression
    grid_us: Duration

    def _infer(self) -> Type:
        return _on_grid("CEIL", self.operand, self.grid_us)


@dataclass(frozen=True, slots=True)
class Field(Expression):
    """A field of a struct."""

    operand: Expression
    name: str

    def _infer(self) -> Type:
        if isinstance(self.operand.type, StructType):
            for name, type_ in self.operand.type.fields:
                if name.casefold() == self.name.casefold():
                    return type_
        raise _mismatch(f'{self.operand.type} has no field "{self.name}"')


@dataclass(frozen=True, slots=True)
class Item(Expression):
    """The element of an array at a position, from 0; an error outside of the array."""

    operand: Expression
    index: Expression

    def _infer(self) -> Type:
        if not isinstance(self.operand.type, ArrayType):
            raise _mismatch(f"{self.operand.type} has no items")
        if not isinstance(self.index.type, IntegerType):
            raise _mismatch(f"an item's position is an integer, not {self.index.type}")
        return self.operand.type.element


@dataclass(frozen=True, slots=True)
class Call(Expression):
    """A function of the library applied to arguments; ``name`` is in upper case."""

    name: str
    arguments: tuple[Expression, ...]

    def _infer(self) -> Type:
        return function(self.name).result_type(tuple(a.type for a in self.arguments))


# --- errors as values: made when a plan is prepared to run, never by the binder -----------------


@dataclass(frozen=True, slots=True)
class Tried(Expression):
    """The operand's value, and NULL where it is an error."""

    operand: Expression

    def _infer(self) -> Type:
        return self.operand.type


@dataclass(frozen=True, slots=True)
class Fails(Expression):
    """An error where the condition is TRUE, else TRUE; ``text`` is the expression that failed.

    ``told``, if it is there, is the code and the reason of each row, as ``code: reason``.
    """

    condition: Expression
    text: str
    code: str
    reason: str
    told: Expression | None = None

    def _infer(self) -> Type:
        return _boolean("FAILS", self.condition)


@dataclass(frozen=True, slots=True)
class Succeeds(Expression):
    """Whether no operand is an error; never NULL and never an error itself.

    ``operator`` is who asks, and ``row`` what it asks about, to be shown where the answer is no;
    nobody, if nothing is to be shown.
    """

    operator: str
    operands: tuple[Expression, ...]
    row: tuple[Expression, ...] = ()

    def _infer(self) -> Type:
        return BOOLEAN


class FailurePart(Enum):
    """What is asked of an error: which expression it is of, or what it says."""

    EXPRESSION = "expression"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Probe:
    """Expressions over the columns of a schema, in the words of whoever wrote them.

    They are no part of the tree that they stand in, so nobody rewrites them.
    """

    operands: tuple[Expression, ...]
    schema: Schema


@dataclass(frozen=True, slots=True)
class Failure(Expression):
    """A part of the first error in a probe, as text; NULL where there is none.

    ``given`` are the values of the probe's columns.
    """

    probe: Probe
    given: tuple[Expression, ...]
    part: FailurePart

    def _infer(self) -> Type:
        return STRING


@dataclass(frozen=True, slots=True)
class RowText(Expression):
    """The operands as a JSON object with these names, without those that are NULL."""

    names: tuple[str, ...]
    operands: tuple[Expression, ...]

    def _infer(self) -> Type:
        return STRING


def literal(value: bool | int | str) -> Literal:
    """A constant of the type that SQL gives such a literal."""
    if isinstance(value, bool):
        return Literal(value, BOOLEAN)
    if isinstance(value, int):
        return Literal(value, INT if admits(INT, value) else BIGINT)
    return Literal(value, STRING)


def depends_on_now(expression: Expression) -> bool:
    """Whether NOW() stands in an expression."""
    return any(True for _ in find(expression, SnapshotTime))


def conjunction(terms: tuple[Expression, ...]) -> Expression:
    """The AND of the terms, TRUE if there is none."""
    if not terms:
        return Literal(True, BOOLEAN)
    result = terms[0]
    for term in terms[1:]:
        result = And(result, term)
    return result


def conjuncts(predicate: Expression) -> tuple[Expression, ...]:
    """The terms whose AND a predicate is, in order."""
    if isinstance(predicate, And):
        return conjuncts(predicate.left) + conjuncts(predicate.right)
    return (predicate,)


def _boolean(op: str, *operands: Expression) -> Type:
    for operand in operands:
        if operand.type != BOOLEAN:
            raise _mismatch(f"{op} needs BOOLEAN, not {operand.type}")
    return BOOLEAN


def _on_grid(name: str, operand: Expression, grid_us: Duration) -> Type:
    if operand.type != TIMESTAMP and not isinstance(operand.type, NullType):
        raise _mismatch(f"{name}(... TO ...) needs TIMESTAMP, not {operand.type}")
    if grid_us <= 0:
        raise _mismatch(f"the grid of {name} must be longer than nothing")
    return TIMESTAMP


def _mismatch(message: str) -> BindError:
    return BindError("type-mismatch", message)
