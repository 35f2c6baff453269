"""Scalar expressions as functions from tables to columns.

Law: the value on each row is that of Spark SQL in ANSI mode, with an error as a value of its own:
``FALSE AND error`` is FALSE and ``TRUE OR error`` is TRUE in either order, what CASE and COALESCE
do not reach does not count, and everything else with an error in it is an error.  Of several
errors of a row the one counts that comes first in the text.  Results have one NaN and no negative
zero.

An expression is compiled to a program for a machine with a stack, so its depth does not matter,
and what depends on no column is computed when it is compiled.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import tzinfo
from functools import partial
from typing import Any, TypeAlias, assert_never
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.compute as pc

from ebbtide.algebra.expression import (
    And,
    Arithmetic,
    Call,
    Case,
    Cast,
    CeilTo,
    Comparison,
    Expression,
    Fails,
    Failure,
    Field,
    FloorTo,
    InList,
    IsNull,
    Item,
    Like,
    Literal,
    Negation,
    Not,
    Or,
    Probe,
    Ref,
    RowText,
    SnapshotTime,
    Succeeds,
    Tried,
)
from ebbtide.algebra.functions import function
from ebbtide.algebra.printing import sql
from ebbtide.algebra.scalars import scalar
from ebbtide.columnar import errors, logic, nested
from ebbtide.columnar.arithmetic import calculated, negated
from ebbtide.columnar.arrays import array_of
from ebbtide.columnar.casts import cast
from ebbtide.columnar.comparison import compared, not_distinct
from ebbtide.columnar.functions import IMPLEMENTATIONS
from ebbtide.columnar.patterns import like
from ebbtide.columnar.signature import Context
from ebbtide.columnar.times import on_grid
from ebbtide.columnar.vectors import Computed, Failures, Vector, earliest, rows_of, without
from ebbtide.core.schema import Schema
from ebbtide.core.text import read_zone
from ebbtide.core.tree import fold
from ebbtide.core.types import StructType
from ebbtide.core.values import normalise
from ebbtide.errors import EvaluationError
from ebbtide.state.types import arrow_type

Operation: TypeAlias = Callable[..., Vector]


@dataclass(frozen=True, slots=True)
class _Column:
    """A step that reads the column at a place."""

    place: int


@dataclass(frozen=True, slots=True)
class _Apply:
    """A step that applies an operation to the last so many results."""

    operation: Operation
    count: int


Step: TypeAlias = _Column | _Apply | Vector


@dataclass(frozen=True, slots=True, eq=False)
class Evaluated:
    """The values of an expression on the rows of a table, NULL where it failed, and how it did.

    ``failures`` is None if it failed on no row.
    """

    values: Any
    failures: Failures | None


@dataclass(frozen=True, slots=True)
class Columnar:
    """An expression as a function from a table with the columns of a schema to a column."""

    expression: Expression
    schema: Schema
    zone: str = "UTC"
    _program: tuple[Step, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        program = _compiled(self.expression, self.schema, _zone(self.zone))
        object.__setattr__(self, "_program", program)

    def __reduce__(self) -> tuple[type[Columnar], tuple[Expression, Schema, str]]:
        # The program has functions in it that do not travel; it is made anew.
        return Columnar, (self.expression, self.schema, self.zone)

    def __call__(self, table: Any) -> Any:
        """The column of values; an EvaluationError if the expression fails on a row."""
        evaluated = self.evaluate(table)
        if evaluated.failures is not None:
            raise evaluated.failures.first
        return evaluated.values

    def evaluate(self, table: Any) -> Evaluated:
        """The column of values, and where the expression fails."""
        whole = _run(self._program, table)
        return Evaluated(whole.values, whole.failures)


def _run(program: tuple[Step, ...], table: Any) -> Vector:
    """What the steps make of a table."""
    stack: list[Vector] = []
    for step in program:
        match step:
            case Vector():
                stack.append(step)
            case _Column(place):
                stack.append(Vector(_contiguous(table.column(place))))
            case _Apply(operation, count):
                stack[-count:] = [operation(*stack[-count:])]
            case _:
                assert_never(step)
    (result,) = stack
    return result.repeated(table.num_rows)


def _contiguous(column: Any) -> Any:
    """A column of a table as one array, without a copy where it is one."""
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _zone(name: str) -> tzinfo:
    return read_zone(name) or ZoneInfo(name)


def _compiled(expression: Expression, schema: Schema, zone: tzinfo) -> tuple[Step, ...]:
    """The steps whose last result is the expression."""
    program: list[Step] = []

    def add(node: Expression, constants: tuple[bool, ...]) -> bool:
        """Appends a node after the steps of its operands; says whether it is a constant."""
        match node:
            case Ref():
                program.append(_Column(schema.index(node.column)))
                return False
            case Literal():
                program.append(Vector(array_of([normalise(node.value)], node.type), None, True))
                return True
            case _:
                count = len(constants)
                operation = _operation(node, zone)
                if not all(constants):
                    program.append(_Apply(operation, count))
                    return False
                start = len(program) - count
                below = [step for step in program[start:] if isinstance(step, Vector)]
                program[start:] = [operation(*below)]
                return True

    fold(expression, add)
    return tuple(program)


def _operation(given: Expression, zone: tzinfo) -> Operation:
    """What a node makes of the vectors of its operands."""
    node = scalar(given)
    match node:
        case And():
            return logic.conjunction
        case Or():
            return logic.disjunction
        case Case():
            return logic.case
        case InList():
            return partial(logic.in_list, node.operand.type)
        case Call(name="COALESCE"):
            return logic.coalesce
        case IsNull():
            return _applied(node, pc.is_null, strict=False)
        case Not():
            return _applied(node, pc.invert)
        case Comparison(op="<=>"):
            return _applied(node, partial(not_distinct, node.left.type), strict=False)
        case Comparison():
            return _applied(node, partial(compared, node.op, node.left.type))
        case Arithmetic():
            types = node.left.type, node.right.type, node.type
            return _applied(node, partial(calculated, node.op, *types, zone))
        case Negation():
            return _applied(node, partial(negated, node.type))
        case Like():
            return _applied(node, partial(like, node.escape))
        case Cast():
            return _applied(node, partial(_cast, node, zone))
        case FloorTo():
            return _applied(node, partial(on_grid, node.grid_us, False))
        case CeilTo():
            return _applied(node, partial(on_grid, node.grid_us, True))
        case Field():
            return _applied(node, partial(nested.field, _place(node)))
        case Item():
            return _applied(node, nested.item)
        case Call():
            context = Context(tuple(a.type for a in node.arguments), node.type, zone)
            implementation = partial(IMPLEMENTATIONS[node.name], context)
            return _applied(node, implementation, strict=function(node.name).strict)
        case Tried():
            return errors.tried
        case Fails():
            return partial(errors.failing_where, node)
        case Succeeds():
            return partial(errors.succeeding, len(node.operands))
        case Failure():
            return partial(errors.told, node.part, partial(_probed, node.probe, zone))
        case RowText():
            of = tuple(operand.type for operand in node.operands)
            return partial(errors.row_texts, node.names, of)
        case Ref() | Literal() | SnapshotTime():
            raise AssertionError(f"{node} is no operation on columns")
        case _:
            assert_never(node)


def _probed(probe: Probe, zone: tzinfo, table: Any) -> Failures | None:
    """The first failures of the expressions of a probe on a table with its columns."""
    programs = (_compiled(operand, probe.schema, zone) for operand in probe.operands)
    return earliest(*(_run(program, table).failures for program in programs))


def _applied(node: Expression, compute: Callable[..., Any], *, strict: bool = True) -> Operation:
    """The operation on vectors that a function of operands makes.

    A failure of an operand is one of the result.  A strict function is not asked where an operand
    is NULL on all rows.
    """

    def operation(*vectors: Vector) -> Vector:
        rows = rows_of(vectors)
        below = earliest(*logic.failures_on(rows, vectors))
        if strict and any(_is_null(vector) for vector in vectors):
            return _nothing(node, below)
        found = compute(*logic.operands(vectors))
        if not isinstance(found, Computed):
            found = Computed(found)
        own = None if found.failures is None else found.failures.told(_teller(node))
        values = found.values
        if below is not None and not strict:
            values = without(values, below.mask)
            own = None if own is None else own.only(~below.mask)
        return Vector(values, earliest(below, own), rows is None)

    return operation


def _is_null(vector: Vector) -> bool:
    return pa.types.is_null(vector.values.type) or (
        vector.constant and not vector.values[0].is_valid
    )


def _nothing(node: Expression, failures: Failures | None) -> Vector:
    """NULL on all rows."""
    if failures is None or len(failures) == 1:
        return Vector(pa.nulls(1, arrow_type(node.type)), failures, True)
    return Vector(pa.nulls(len(failures), arrow_type(node.type)), failures)


def _teller(node: Expression) -> Callable[[EvaluationError], EvaluationError]:
    """Errors of a node as it tells them: with its name, and what can be written instead."""
    text, hints = sql(node), _hints(node)

    return lambda error: error.of(text, hints.get(error.code))


def _hints(node: Expression) -> dict[str, str]:
    """What gives NULL instead of an error, by the code of the error."""
    match node:
        case Cast():
            safe = sql(Cast(node.operand, node.to, safe=True))
            return {"bad-cast": safe, "overflow": safe}
        case Arithmetic():
            return {"division-by-zero": f"NULLIF({sql(node.right)}, 0)"}
        case _:
            return {}


def _cast(node: Cast, zone: tzinfo, operand: Any) -> Computed:
    outcome = cast(node.operand.type, node.to, zone, operand)
    return Computed(outcome.values) if node.safe else outcome


def _place(node: Field) -> int:
    assert isinstance(node.operand.type, StructType)
    names = [name.casefold() for name, _ in node.operand.type.fields]
    return names.index(node.name.casefold())
