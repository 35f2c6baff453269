"""When comparisons with NOW() turn: the instants at which what grows with it reaches a value.

Law: for an expression g that grows with NOW() there are two times of each value y, the first
instants at which ``g >= y`` and at which ``g > y``; both are expressions over the row, and NULL or
an error where y is.

    g = NOW() - d                   y + d               y + d + 1 us
    g = FLOOR(NOW() TO 1 HOUR)      the hour at or      the hour after y
                                    after y

NOW() grows through durations that are added, grids, units of the calendar, days, numbers of units
since the epoch, differences, and through what multiplies and divides such numbers by constants.
A unit of the calendar is as long as the zone has it, so the next one is found by going a little
further than the longest, and back to its beginning.  What lies at the ends of the calendar, as the
day 9999-12-31 that stands for never, has no next one: there it is the last that there is.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta

from ebbtide.algebra.coercion import arithmetic, call, case, cast, compare, negate
from ebbtide.algebra.expression import (
    Arithmetic,
    Call,
    Cast,
    CeilTo,
    Comparison,
    Expression,
    FloorTo,
    Literal,
    SnapshotTime,
    Tried,
    depends_on_now,
)
from ebbtide.algebra.failing import can_fail
from ebbtide.core.time import DAY, HOUR, MILLISECOND, MINUTE, SECOND, instant
from ebbtide.core.types import (
    BIGINT,
    DATE,
    INT,
    INTERVAL,
    STRING,
    TIMESTAMP,
    DecimalType,
    admits,
)

__all__ = ["thresholds"]

_TICK = Literal(1, INTERVAL)
_ONE = Literal(1, BIGINT)
_DAY = Literal(1, INT)
_SWAPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_CLOCK = {"HOUR": HOUR, "MINUTE": MINUTE, "SECOND": SECOND, "MILLISECOND": MILLISECOND}
_CALENDAR = {
    "DAY": 26 * HOUR,
    "WEEK": 8 * DAY,
    "MONTH": 32 * DAY,
    "QUARTER": 93 * DAY,
    "YEAR": 367 * DAY,
}
_MICROS, _SECONDS = 6, 12
_END = Literal(instant("9998-12-29 00:00:00"), TIMESTAMP)
"""Up to here, a unit of the calendar is followed by one, in every zone."""

Turn = Callable[[Expression], Expression]


def thresholds(comparison: Comparison) -> tuple[Expression, Expression, str] | None:
    """From when on ``g(NOW()) >= y`` and ``g(NOW()) > y``, and the comparison of g(NOW()) with y.

    None if neither side alone grows with NOW().
    """
    grown, op, fixed = comparison.left, comparison.op, comparison.right
    if depends_on_now(fixed):
        grown, op, fixed = fixed, _SWAPPED.get(op, op), grown
    if depends_on_now(fixed):
        return None
    while (parts := _difference(grown)) is not None and depends_on_now(parts[1]):
        # e - g is compared with y as e - y is with g.
        if depends_on_now(parts[0]):
            return None
        fixed = _less(grown, parts[0], fixed)
        op, grown = _SWAPPED.get(op, op), parts[1]
    opposite = _opposite(grown)
    if opposite is not None:
        grown, op, fixed = opposite, _SWAPPED.get(op, op), negate(fixed)
    turns = _turns(grown)
    return None if turns is None else (turns[0](fixed), turns[1](fixed), op)


def _difference(expression: Expression) -> tuple[Expression, Expression] | None:
    match expression:
        case Arithmetic(op="-", left=left, right=right):
            return left, right
        case Call(name="DATEDIFF", arguments=(end, start)):
            return end, cast(start, DATE)
        case _:
            return None


def _opposite(falling: Expression) -> Expression | None:
    """A number that is made of e - g, made of g - e: what is cut off, is so towards zero."""
    below: Expression | None = None
    match falling:
        case Cast(operand=operand) if operand.type == INTERVAL:
            below = _opposite_difference(operand)
        case Arithmetic(op="DIV" | "*", left=operand):
            below = _opposite(operand)
        case _:
            return None
    return None if below is None else _with_first(falling, below)


def _with_first(node: Expression, child: Expression) -> Expression:
    return node.with_children((child, *node.children[1:]))


def _opposite_difference(expression: Expression) -> Expression | None:
    match expression:
        case Arithmetic(op="-", left=left, right=right) if not depends_on_now(left):
            return _minus(right, left)
        case _:
            return None


def _less(difference: Expression, end: Expression, by: Expression) -> Expression:
    """How much before the end something is of which the difference is so great."""
    return _minus(end, by) if isinstance(difference, Arithmetic) else _earlier(end, by)


def _turns(grown: Expression) -> tuple[Turn, Turn] | None:
    """For what grows with NOW(): from when on it is at least y, and from when on more than y."""
    match grown:
        case SnapshotTime():
            return (lambda y: y), (lambda y: _plus(y, _TICK))
        case Arithmetic(op="+", left=left, right=right) if not depends_on_now(right):
            return _inside(left, lambda y: _minus(y, right), lambda y: _minus(y, right))
        case Arithmetic(op="+", left=left, right=right) if not depends_on_now(left):
            return _inside(right, lambda y: _minus(y, left), lambda y: _minus(y, left))
        case Arithmetic(op="-", left=left, right=right) if not depends_on_now(right):
            return _inside(left, lambda y: _moved(y, right), lambda y: _moved(y, right))
        case FloorTo(operand=operand, grid_us=grid):
            below = Literal(grid, INTERVAL)
            return _first(
                operand, lambda y: CeilTo(y, grid), lambda y: _plus(FloorTo(y, grid), below)
            )
        case CeilTo(operand=operand, grid_us=grid):
            return _second(
                operand, lambda y: FloorTo(_minus(y, _TICK), grid), lambda y: FloorTo(y, grid)
            )
        case Call(name="UNIX_MICROS", arguments=(operand,)):
            return _inside(operand, _call("TIMESTAMP_MICROS"), _call("TIMESTAMP_MICROS"))
        case Call(name="UNIX_MILLIS", arguments=(operand,)):
            return _counted(operand, "TIMESTAMP_MILLIS")
        case Call(name="UNIX_SECONDS", arguments=(operand,)):
            return _counted(operand, "TIMESTAMP_SECONDS")
        case Cast(operand=operand, to=to) if operand.type == TIMESTAMP and to == BIGINT:
            return _counted(operand, "TIMESTAMP_SECONDS")
        case Cast(operand=operand, to=to) if operand.type == to:
            return _turns(operand)
        case Cast(operand=operand, to=to) if operand.type == TIMESTAMP and to == DATE:
            return _first(
                operand,
                lambda y: _proved(cast(y, TIMESTAMP), y),
                lambda y: _proved(cast(_later(y, _DAY), TIMESTAMP), y),
            )
        case Cast(operand=operand, to=to) if operand.type == DATE and to == TIMESTAMP:
            return _first(
                operand,
                lambda y: _proved(cast(_first_of("DAY", y), DATE), y),
                lambda y: _proved(cast(_next("DAY", y), DATE), y),
            )
        case Call(name="DATE_TRUNC", arguments=(Literal(value=str(unit)), operand)):
            return _truncated(operand, unit.upper())
        case Call(name="DATE_ADD", arguments=(day, count)) if not depends_on_now(count):
            return _inside(cast(day, DATE), *[lambda y: _earlier(y, count)] * 2)
        case Call(name="DATE_SUB", arguments=(day, count)) if not depends_on_now(count):
            return _inside(cast(day, DATE), *[lambda y: _later(y, count)] * 2)
        case Call(name="DATEDIFF", arguments=(end, start)) if not depends_on_now(start):
            return _inside(cast(end, DATE), *[lambda y: _later(start, y)] * 2)
        case _:
            return _number_turns(grown)


def _number_turns(grown: Expression) -> tuple[Turn, Turn] | None:
    """The same for numbers that are made of other numbers, or of times and durations."""
    match grown:
        case Cast(operand=operand, to=DecimalType() as to) if _has_micros(to):
            if isinstance(operand.type, DecimalType):
                return _turns(operand) if operand.type.precision <= to.precision else None
            if operand.type not in (TIMESTAMP, INTERVAL):
                return None
            return _inside(operand, *[lambda y: cast(y, operand.type)] * 2)
        case Cast(operand=operand, to=to) if operand.type == INTERVAL and to == BIGINT:
            return _divided(operand, lambda y: cast(y, INTERVAL), Literal(SECOND - 1, INTERVAL))
        case Arithmetic(op="DIV", left=left, right=Literal(value=int(by))) if by > 0:
            if left.type != BIGINT:
                return None
            return _divided(left, lambda y: _times(y, by), Literal(by - 1, BIGINT))
        case Arithmetic(op="*", left=left, right=Literal(value=int(by))) if by > 0:
            return _multiplied(left, by)
        case Arithmetic(op="*", left=Literal(value=int(by)), right=right) if by > 0:
            return _multiplied(right, by)
        case _:
            return None


def _has_micros(to: DecimalType) -> bool:
    """Whether all times are numbers of seconds of the type, each one another."""
    return to.scale == _MICROS and to.precision - to.scale >= _SECONDS


def _divided(operand: Expression, back: Turn, rest: Literal) -> tuple[Turn, Turn] | None:
    """A number of whole parts, cut off towards zero: what is not positive is reached earlier."""

    def least(y: Expression) -> Expression:
        whole = back(y)
        if isinstance(y, Literal) and isinstance(whole, Literal) and y.value is not None:
            return whole if y.value > 0 else Literal(whole.value - rest.value, rest.type)
        return case(((compare(">", y, Literal(0, BIGINT)), whole),), _minus(whole, rest))

    return _first(operand, least, lambda y: least(_plus_one(y)))


def _multiplied(operand: Expression, by: int) -> tuple[Turn, Turn] | None:
    if operand.type != BIGINT:
        return None
    return _inside(operand, lambda y: _quotient(y, by, up=True), lambda y: _quotient(y, by))


def _quotient(y: Expression, by: int, up: bool = False) -> Expression:
    """A number divided, rounded down or up."""
    if isinstance(y, Literal) and y.value is not None:
        return Literal(-(-y.value // by) if up else y.value // by, BIGINT)
    divisor, zero = Literal(by, BIGINT), Literal(0, BIGINT)
    whole, rest = arithmetic("DIV", y, divisor), arithmetic("%", y, divisor)
    op, turn = (">", "+") if up else ("<", "-")
    return arithmetic(turn, whole, case(((compare(op, rest, zero), _ONE),), zero))


def _times(y: Expression, by: int) -> Expression:
    if isinstance(y, Literal) and y.value is not None and admits(BIGINT, y.value * by):
        return Literal(y.value * by, BIGINT)
    return arithmetic("*", y, Literal(by, BIGINT))


def _plus_one(y: Expression) -> Expression:
    if isinstance(y, Literal) and y.value is not None and admits(BIGINT, y.value + 1):
        return Literal(y.value + 1, BIGINT)
    return arithmetic("+", y, _ONE)


def _truncated(operand: Expression, unit: str) -> tuple[Turn, Turn] | None:
    """The beginning of a unit of the calendar grows in jumps, to the next beginning."""
    name = _UNIT_NAMES.get(unit, unit)
    if name == "MICROSECOND":
        return _turns(operand)
    if name not in {**_CLOCK, **_CALENDAR}:
        return None
    return _first(
        operand,
        lambda y: y if _is_begun(name, y) else _proved(_first_of(name, y), y),
        lambda y: _proved(_next(name, y), y),
    )


_UNIT_NAMES = {"YYYY": "YEAR", "YY": "YEAR", "MM": "MONTH", "MON": "MONTH", "DD": "DAY"}


def _next(unit: str, y: Expression) -> Expression:
    """The first beginning of a unit after a time."""
    begun = _begun(unit, _at_most(y, _END))
    if unit in _CLOCK:
        return _plus(begun, Literal(_CLOCK[unit], INTERVAL))
    return _begun(unit, _plus(begun, Literal(_CALENDAR[unit], INTERVAL)))


def _first_of(unit: str, y: Expression) -> Expression:
    """The first beginning of a unit that is not before a time."""
    known = _at_most(y, _END)
    return case(((compare("=", _begun(unit, known), known), known),), _next(unit, y))


def _proved(made: Expression, *given: Expression) -> Expression:
    """What cannot fail, unless something that it is made of does."""
    return made if any(map(can_fail, given)) else Tried(made)


def _begun(unit: str, y: Expression) -> Expression:
    return call("DATE_TRUNC", (Literal(unit, STRING), y))


def _is_begun(unit: str, y: Expression) -> bool:
    match y:
        case Call(name="DATE_TRUNC", arguments=(Literal(value=str(name)), _)):
            return _UNIT_NAMES.get(name.upper(), name.upper()) == unit
        case _:
            return False


def _later(day: Expression, count: Expression) -> Expression:
    """So many days later; of a constant number, the last day if there is none."""
    match count:
        case Literal(value=int(days)) if abs(days) < (date.max - date.min).days:
            given = cast(day, DATE)
            edge = date.max if days > 0 else date.min
            last = Literal(edge - timedelta(days), DATE)
            known = _at_most(given, last) if days > 0 else _at_least(given, last)
            return _proved(call("DATE_ADD", (known, count)), given)
        case _:
            return call("DATE_ADD", (day, count))


def _earlier(day: Expression, count: Expression) -> Expression:
    if isinstance(count, Literal) and count.value is not None:
        return _later(day, Literal(-count.value, INT))
    return call("DATE_SUB", (day, count))


def _at_most(y: Expression, last: Literal) -> Expression:
    return case(((compare(">", y, last), last),), y)


def _at_least(y: Expression, first: Literal) -> Expression:
    return case(((compare("<", y, first), first),), y)


def _inside(operand: Expression, least: Turn, most: Turn) -> tuple[Turn, Turn] | None:
    """``f(g) >= y`` as ``g >= least(y)``, and ``f(g) > y`` as ``g > most(y)``."""
    inner = _turns(operand)
    if inner is None:
        return None
    reached, passed = inner
    return (lambda y: reached(least(y))), (lambda y: passed(most(y)))


def _first(operand: Expression, least: Turn, most: Turn) -> tuple[Turn, Turn] | None:
    """``f(g) >= y`` as ``g >= least(y)``, and ``f(g) > y`` as ``g >= most(y)``."""
    inner = _turns(operand)
    if inner is None:
        return None
    reached, _ = inner
    return (lambda y: reached(least(y))), (lambda y: reached(most(y)))


def _second(operand: Expression, least: Turn, most: Turn) -> tuple[Turn, Turn] | None:
    """``f(g) >= y`` as ``g > least(y)``, and ``f(g) > y`` as ``g > most(y)``."""
    inner = _turns(operand)
    if inner is None:
        return None
    _, passed = inner
    return (lambda y: passed(least(y))), (lambda y: passed(most(y)))


def _counted(operand: Expression, back: str) -> tuple[Turn, Turn] | None:
    """A number of units that have passed: more than y are y + 1."""
    return _first(operand, _call(back), lambda y: call(back, (arithmetic("+", y, _ONE),)))


def _call(name: str) -> Turn:
    return lambda y: call(name, (y,))


def _plus(left: Expression, right: Expression) -> Expression:
    return arithmetic("+", left, right)


def _moved(y: Expression, by: Expression) -> Expression:
    return _plus(by, y) if y.type == INTERVAL else _plus(y, by)


def _minus(left: Expression, right: Expression) -> Expression:
    return arithmetic("-", left, right)
