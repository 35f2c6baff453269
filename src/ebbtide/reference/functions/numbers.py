"""Functions of numbers."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

from ebbtide.core.decimals import round_to
from ebbtide.core.types import BIGINT, DecimalType, Type
from ebbtide.core.values import Value
from ebbtide.errors import EvaluationError
from ebbtide.reference.arithmetic import checked, exact, real, whole
from ebbtide.reference.functions.context import Context, Evaluation, plain


def _abs(context: Context, value: Value) -> Value:
    # Python's own rounds a decimal to 28 digits.
    return checked(value.copy_abs() if isinstance(value, Decimal) else abs(value), context.type)


def _sign(value: float) -> float:
    return value if math.isnan(value) else float((value > 0) - (value < 0))


def _round(context: Context, value: Value, digits: int = 0) -> Value:
    if isinstance(value, float):
        return float(round_to(Decimal(repr(value)), digits)) if math.isfinite(value) else value
    rounded = round_to(Decimal(value), digits)
    return checked(rounded if isinstance(value, Decimal) else int(rounded), context.type)


def _floor(context: Context, value: Value) -> Value:
    return _to_whole(value, context.type, ROUND_FLOOR)


def _ceil(context: Context, value: Value) -> Value:
    return _to_whole(value, context.type, ROUND_CEILING)


def _to_whole(value: Value, type_: Type, rounding: str) -> Value:
    if isinstance(value, float) and not math.isfinite(value):
        raise EvaluationError("overflow", f"the result is out of the range of {BIGINT}")
    rounded = Decimal(value).to_integral_value(rounding)
    return checked(rounded if isinstance(type_, DecimalType) else int(rounded), type_)


def _power(x: float, y: float) -> float:
    if math.isnan(y) or (abs(x) == 1 and math.isinf(y)):
        return math.nan
    try:
        return math.pow(x, y)
    except OverflowError:
        return -math.inf if x < 0 and y % 2 == 1 else math.inf
    except ValueError:
        return math.inf if x == 0 else math.nan


def _exp(x: float) -> float:
    try:
        return math.exp(x)
    except OverflowError:
        return math.inf


def _log(base: float, x: float) -> float | None:
    if base <= 0 or x <= 0:
        return None
    above, below = math.log(x), math.log(base)
    if below == 0:
        return math.nan if above == 0 or math.isnan(above) else math.copysign(math.inf, above)
    return above / below


def _pmod(context: Context, a: Value, b: Value) -> Value:
    if b == 0:
        raise EvaluationError("division-by-zero", "division by zero")
    rest = _remainder(a, b)
    return checked(_remainder(_sum(rest, b), b) if rest < 0 else rest, context.type)


def _remainder(a: Value, b: Value) -> Value:
    if isinstance(a, Decimal):
        return exact("%", a, b)
    return real("%", a, b) if isinstance(a, float) else whole("%", a, b)


def _sum(a: Value, b: Value) -> Value:
    return exact("+", a, b) if isinstance(a, Decimal) else a + b


NUMBERS: dict[str, Evaluation] = {
    "ABS": _abs,
    "SIGN": plain(_sign),
    "ROUND": _round,
    "FLOOR": _floor,
    "CEIL": _ceil,
    "SQRT": plain(lambda x: math.nan if x < 0 else math.sqrt(x)),
    "POWER": plain(_power),
    "EXP": plain(_exp),
    "LN": plain(lambda x: None if x <= 0 else math.log(x)),
    "LOG10": plain(lambda x: None if x <= 0 else math.log10(x)),
    "LOG2": plain(lambda x: None if x <= 0 else math.log2(x)),
    "LOG": plain(_log),
    "PMOD": _pmod,
    "BIT_AND": plain(lambda x, y: x & y),
    "BIT_OR": plain(lambda x, y: x | y),
    "BIT_XOR": plain(lambda x, y: x ^ y),
    "BIT_NOT": plain(lambda x: ~x),
}
