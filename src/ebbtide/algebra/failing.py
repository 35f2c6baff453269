"""Whether an expression can fail.

Law: if ``can_fail`` says no, the expression is an error on no row that its columns admit, as long
as its times lie within half of the time line around the epoch, as those of the years 1 to 9999 do.
It is cautious: what it cannot prove it takes for an expression that fails.

Whole numbers, times and durations are followed as ranges, so that ``at + INTERVAL 1 HOUR`` and the
sum of two INTs as a BIGINT are known to fit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from ebbtide.algebra.call import AggregateCall
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
    Ref,
    RowText,
    SnapshotTime,
    Succeeds,
    Tried,
)
from ebbtide.algebra.plain_patterns import plain_groups
from ebbtide.algebra.scalars import scalar
from ebbtide.core.decimals import MAX_PRECISION
from ebbtide.core.time import MILLISECOND, SECOND, Duration, instant
from ebbtide.core.tree import fold
from ebbtide.core.types import (
    BIGINT,
    INT,
    TIMESTAMP,
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    IntegerType,
    IntervalType,
    NullType,
    StringType,
    TimestampType,
    Type,
)

_UNITS = {"UNIX_MICROS": 1, "UNIX_MILLIS": MILLISECOND, "UNIX_SECONDS": SECOND}

_TIMES = range(1 - 2**62, 2**62)
"""Where the times of rows are taken to lie: the difference of two of them fits, too."""

_CALENDAR = range(instant("0001-01-03 00:00:00"), instant("9999-12-29 00:00:00"))
"""Times that lie in the calendar, in every zone; what is made of NOW() is computed of no others."""

NEVER_FAIL = frozenset(
    {
        *("COALESCE", "GREATEST", "LEAST", "ARRAY", "STRUCT", "SIZE", "ARRAY_CONTAINS"),
        *("UPPER", "LOWER", "INITCAP", "LENGTH", "SUBSTRING", "LEFT", "RIGHT"),
        *("CONCAT", "CONCAT_WS", "TRANSLATE", "REVERSE", "TRIM", "LTRIM", "RTRIM"),
        *("SUBSTRING_INDEX", "LEVENSHTEIN", "INSTR", "LOCATE", "ASCII"),
        *("CONTAINS", "STARTSWITH", "ENDSWITH", "HEX", "MD5", "SHA1"),
        *("SQRT", "POWER", "EXP", "LN", "LOG", "LOG2", "LOG10"),
        *("BIT_AND", "BIT_OR", "BIT_XOR", "BIT_NOT"),
        *("UNIX_MICROS", "UNIX_MILLIS", "UNIX_SECONDS", "UNIX_DATE", "DATEDIFF"),
        *("JSON_GET", "JSON_GET_TEXT", "JSON_ITEMS", "JSON_ITEMS_TEXT"),
    }
)
"""Functions that are defined on all values of their arguments' types."""


@dataclass(frozen=True, slots=True)
class _Known:
    """Whether an expression can fail, and the range of its values if they are whole numbers."""

    fails: bool
    values: range | None = None


def can_fail(expression: Expression) -> bool:
    """Whether the expression may be an error on some row."""
    return fold(expression, _known).fails


def call_can_fail(call: AggregateCall) -> bool:
    """Whether what an aggregate takes of a row may be an error."""
    filters = () if call.filter is None else (call.filter,)
    order = (key.expression for key in call.order)
    return any(map(can_fail, (*filters, *call.arguments, *order)))


def result_can_fail(call: AggregateCall) -> bool:
    """Whether a sum or a mean may not fit its type, a subquery that is a value has several rows, or
    the aggregate is the user's own.

    A sum of INTs or less needs more than 2**32 rows for that, which no group has.
    """
    if call.name == "SINGLE" or call.function.own:
        return True
    if call.name not in ("SUM", "AVG"):
        return False
    match call.arguments[0].type:
        case DoubleType():
            return False
        case IntegerType(bits=bits):
            return call.name == "SUM" and bits > INT.bits
        case DecimalType(precision=precision):
            # A sum has room for 10**10 of the greatest numbers; a mean has four digits more.
            return precision + (10 if call.name == "SUM" else 4) > MAX_PRECISION
        case _:
            return True


def _known(given: Expression, below: tuple[_Known, ...]) -> _Known:
    node = scalar(given)
    fails = any(known.fails for known in below)
    match node:
        case Ref():
            return _Known(False, _of_type(node.type))
        case SnapshotTime():
            return _Known(False, _CALENDAR)
        case Literal(value=value):
            whole = isinstance(value, int) and not isinstance(value, bool)
            return _Known(False, range(value, value + 1) if whole else None)
        case Arithmetic():
            return _arithmetic(node, below, fails)
        case Negation():
            return _negation(node, below[0], fails)
        case Cast():
            return _cast(node, below[0], fails)
        case FloorTo(grid_us=grid) | CeilTo(grid_us=grid):
            span = below[0].values or _widest(TIMESTAMP)
            return _fitting(range(span.start - grid, span.stop + grid), TIMESTAMP, fails)
        case Like(pattern=pattern, escape=escape):
            plain = isinstance(pattern, Literal) and escape not in str(pattern.value)
            return _Known(fails or not plain)
        case Item():
            return _Known(True)
        case Case():
            values = [known.values for known in (*below[1:-1:2], below[-1])]
            return _Known(fails, _all_of(values, node))
        case Call(name="COALESCE" | "GREATEST" | "LEAST"):
            return _Known(fails, _all_of([known.values for known in below], node))
        case Call():
            return _call(node, below, fails)
        case Tried():
            return _Known(False, below[0].values)
        case Fails():
            return _Known(True)
        case Succeeds() | Failure() | RowText():
            return _Known(False)
        case And() | Or() | Not() | Comparison() | IsNull() | InList() | Field():
            return _Known(fails, _of_type(node.type))
        case _:
            assert_never(node)


def _call(node: Call, below: tuple[_Known, ...], fails: bool) -> _Known:
    match node.name, node.arguments:
        case (("ABS" | "SIGN"), (argument,)) if isinstance(argument.type, DoubleType | DecimalType):
            return _Known(fails)
        case (("FLOOR" | "CEIL"), (argument,)) if isinstance(argument.type, IntegerType):
            return _Known(fails, below[0].values)
        case "PMOD", (_, Literal(value=int(divisor))) if divisor not in (0, -1):
            return _Known(fails, _of_type(node.type))
        case (("JSON_VALUE" | "JSON_QUERY" | "JSON_EXISTS" | "GET_JSON_OBJECT"), (_, Literal())):
            # A constant path has been read when the query was bound.
            return _Known(fails)
        case (("UNIX_MICROS" | "UNIX_MILLIS" | "UNIX_SECONDS") as name, (_,)):
            return _Known(fails, _in_units(below[0].values, _UNITS[name]))
        case "DATE_TRUNC", (Literal(), _):
            return _Known(fails or not _is_in_calendar(below[1].values), _of_type(node.type))
        case "SPLIT_PART", (_, _, Literal(value=int(part))) if part != 0:
            return _Known(fails)
        case "REGEXP_EXTRACT", arguments if _finds_a_group(arguments):
            return _Known(fails)
        case name, _:
            return _Known(fails or name not in NEVER_FAIL, _of_type(node.type))


def _is_in_calendar(times: range | None) -> bool:
    return times is not None and times.start >= _CALENDAR.start and times.stop <= _CALENDAR.stop


def _in_units(times: range | None, unit: Duration) -> range:
    """Times and durations as numbers of units, rounded down or towards zero."""
    span = times or _widest(TIMESTAMP)
    return range(span.start // unit, max((span.stop - 1) // unit, 0) + 1)


def _finds_a_group(arguments: tuple[Expression, ...]) -> bool:
    """Whether a plain pattern has the group that is asked for."""
    match arguments:
        case (_, Literal(value=str(pattern))):
            groups, wanted = plain_groups(pattern), 1
        case (_, Literal(value=str(pattern)), Literal(value=int(group))):
            groups, wanted = plain_groups(pattern), group
        case _:
            return False
    return groups is not None and 0 <= wanted <= groups


def _arithmetic(node: Arithmetic, below: tuple[_Known, ...], fails: bool) -> _Known:
    left, right = node.left.type, node.right.type
    if NullType() in (left, right):
        return _Known(fails)
    if node.op in ("/", "%", "DIV"):
        return _division(node, below[1], fails)
    if isinstance(node.type, DoubleType):
        return _Known(fails)
    if isinstance(node.type, DecimalType):
        return _Known(fails or _decimal_digits(node) > MAX_PRECISION)
    spans = [
        known.values or _widest(side) for known, side in zip(below, (left, right), strict=True)
    ]
    if isinstance(left, DateType) or isinstance(right, DateType):
        return _Known(fails or left != right, _of_type(node.type))
    if not all(isinstance(t, IntegerType | TimestampType | IntervalType) for t in (left, right)):
        return _Known(True)
    return _fitting(_combined(node.op, *spans), node.type, fails)


def _division(node: Arithmetic, divisor: _Known, fails: bool) -> _Known:
    """By a constant that is not 0 nothing fails that is not too large then."""
    by = node.right.value if isinstance(node.right, Literal) else None
    if isinstance(node.right, Cast) and isinstance(node.right.operand, Literal):
        by = node.right.operand.value
    if by is None or by in (0, -1) or isinstance(node.type, IntervalType):
        return _Known(True)
    if isinstance(node.type, DecimalType):
        return _Known(True)
    return _Known(fails, _of_type(node.type))


def _decimal_digits(node: Arithmetic) -> int:
    """How many digits an exact sum, difference or product can have."""
    left, right = node.left.type, node.right.type
    assert isinstance(left, DecimalType)
    assert isinstance(right, DecimalType)
    if node.op == "*":
        return left.precision + right.precision + 1
    ahead = max(left.precision - left.scale, right.precision - right.scale)
    return ahead + max(left.scale, right.scale) + 1


def _combined(op: str, a: range, b: range) -> range:
    ends = (a.start, a.stop - 1), (b.start, b.stop - 1)
    match op:
        case "+":
            found = [x + y for x in ends[0] for y in ends[1]]
        case "-":
            found = [x - y for x in ends[0] for y in ends[1]]
        case _:
            found = [x * y for x in ends[0] for y in ends[1]]
    return range(min(found), max(found) + 1)


def _negation(node: Negation, operand: _Known, fails: bool) -> _Known:
    if not isinstance(node.type, IntegerType | IntervalType):
        return _Known(fails)
    span = operand.values or _widest(node.type)
    return _fitting(range(1 - span.stop, 1 - span.start), node.type, fails)


def _cast(node: Cast, operand: _Known, fails: bool) -> _Known:
    source, target = node.operand.type, node.to
    if source == target:
        return operand
    if node.safe:
        return _Known(fails, _of_type(target))
    match source, target:
        case NullType(), _:
            return _Known(fails)
        case IntegerType(), IntegerType():
            return _fitting(operand.values or _widest(source), target, fails)
        case ((IntegerType() | BooleanType() | DecimalType()), DoubleType()):
            return _Known(fails)
        case BooleanType(), (IntegerType() | StringType()):
            return _Known(fails)
        case IntegerType(), DecimalType(precision=precision, scale=scale):
            span = operand.values or _widest(source)
            digits = len(str(max(abs(span.start), abs(span.stop))))
            return _Known(fails or digits > precision - scale)
        case DecimalType(), DecimalType():
            # Rounding may carry into one more digit.
            carry = 1 if target.scale < source.scale else 0
            room = target.precision - target.scale
            return _Known(fails or source.precision - source.scale + carry > room)
        case ((IntegerType() | DoubleType() | DecimalType() | DateType()), StringType()):
            return _Known(fails)
        case StringType(), BinaryType():
            return _Known(fails)
        case TimestampType(), DateType():
            return _Known(fails or not _is_in_calendar(operand.values))
        case DateType(), TimestampType():
            return _Known(fails, _of_type(target))
        case ((TimestampType() | IntervalType()), IntegerType(bits=64)):
            return _Known(fails, _in_units(operand.values, SECOND))
        case _:
            return _Known(True, _of_type(target))


def _fitting(span: range, type_: Type, fails: bool) -> _Known:
    """Values of a range, which fail where their type does not hold them."""
    room = _widest(type_)
    fits = room.start <= span.start and span.stop <= room.stop
    return _Known(fails or not fits, span if fits else room)


def _all_of(spans: list[range | None], node: Expression) -> range | None:
    known = [span for span in spans if span is not None]
    if len(known) < len(spans) or not known:
        return _of_type(node.type)
    return range(min(span.start for span in known), max(span.stop for span in known))


def _of_type(type_: Type) -> range | None:
    match type_:
        case TimestampType():
            return _TIMES
        case IntegerType() | IntervalType():
            return _widest(type_)
        case _:
            return None


def _widest(type_: Type) -> range:
    bounds = type_ if isinstance(type_, IntegerType) else BIGINT
    return range(bounds.least, bounds.greatest + 1)
