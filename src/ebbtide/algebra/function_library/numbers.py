"""Functions of numbers."""

from __future__ import annotations

from ebbtide.algebra.arithmetic import arithmetic_type, rounded_type
from ebbtide.algebra.function_library.signature import (
    Types,
    check_count,
    custom,
    define,
    exactly,
    first,
    form,
    number,
    number_or_interval,
)
from ebbtide.algebra.type_rules import common_type, decimal_for
from ebbtide.core.types import (
    BIGINT,
    DOUBLE,
    INT,
    INTERVAL,
    NULL,
    DecimalType,
    IntegerType,
    NullType,
    Type,
    is_numeric,
)
from ebbtide.errors import BindError

FAMILY = "numbers"
REAL = exactly(DOUBLE)


def _whole(given: Type) -> Type | None:
    return BIGINT if isinstance(given, IntegerType) else number(given)


def _integer(given: Type) -> Type | None:
    if isinstance(given, NullType):
        return INT
    return given if isinstance(given, IntegerType) else None


def _whole_type(types: Types) -> Type:
    (type_,) = types
    if not isinstance(type_, DecimalType):
        return BIGINT
    return DecimalType(type_.precision - type_.scale + (1 if type_.scale else 0), 0)


def _round_type(types: Types) -> Type:
    """Rounding may carry into one more digit; `coercion` casts to the digits that are left."""
    type_ = types[0]
    return rounded_type(type_, type_.scale) if isinstance(type_, DecimalType) else type_


def _real_or_interval(given: Type) -> Type | None:
    return given if given == INTERVAL else REAL(given)


def _pmod(types: Types) -> Types:
    check_count("PMOD(dividend, divisor)", types, 2, 2)
    left, right = types
    common = common_type(left, right)
    if common is None or not is_numeric(common):
        raise BindError("type-mismatch", f"PMOD is not defined on {left} and {right}")
    decimals = decimal_for(left), decimal_for(right)
    if isinstance(common, DecimalType) and None not in decimals:
        return tuple(type_ for type_ in decimals if type_ is not None)
    return common, common


def _bits(types: Types) -> Types:
    check_count("BIT_AND(x, y)", types, 2, 2)
    common = common_type(*types)
    if common == NULL:
        common = INT
    if not isinstance(common, IntegerType):
        raise BindError("type-mismatch", f"bits are those of integers, not {types[0]}, {types[1]}")
    return common, common


NUMBER_FUNCTIONS = (
    define(FAMILY, "ABS(x)", "The size of a number or a duration.", (number_or_interval,), first),
    define(
        FAMILY,
        "SIGN(x)",
        "1.0, 0.0 or -1.0 for a positive, zero or negative number or duration.",
        (_real_or_interval,),
        DOUBLE,
    ),
    define(
        FAMILY,
        "ROUND(x[, digits])",
        "The number rounded half up to so many digits (0), a constant, after the point, or before "
        "it if negative.",
        (number, exactly(INT)),
        _round_type,
        optional=1,
    ),
    define(FAMILY, "FLOOR(x)", "The largest whole number not above x.", (_whole,), _whole_type),
    define(FAMILY, "CEIL(x)", "The smallest whole number not below x.", (_whole,), _whole_type),
    define(FAMILY, "SQRT(x)", "The square root; NaN of a negative number.", (REAL,), DOUBLE),
    define(FAMILY, "POWER(x, y)", "x to the power of y.", (REAL, REAL), DOUBLE),
    define(FAMILY, "EXP(x)", "e to the power of x.", (REAL,), DOUBLE),
    *(
        define(
            FAMILY, usage, f"{what}; NULL unless x is positive.", (REAL,), DOUBLE, may_be_null=True
        )
        for usage, what in (
            ("LN(x)", "The natural logarithm"),
            ("LOG10(x)", "The logarithm to base 10"),
            ("LOG2(x)", "The logarithm to base 2"),
        )
    ),
    define(
        FAMILY,
        "LOG(base, x)",
        "The logarithm to a base; NULL unless both are positive.",
        (REAL, REAL),
        DOUBLE,
        may_be_null=True,
    ),
    custom(
        FAMILY,
        "PMOD(dividend, divisor)",
        "The remainder, made positive by adding the divisor if it is negative.",
        _pmod,
        lambda types: arithmetic_type("%", *types),
    ),
    *(
        custom(FAMILY, f"{name}(x, y)", f"The bits of integers; written `x {op} y`.", _bits, first)
        for name, op in (("BIT_AND", "&"), ("BIT_OR", "|"), ("BIT_XOR", "^"))
    ),
    define(
        FAMILY,
        "BIT_NOT(x)",
        "The bits of an integer turned over; written `~x`.",
        (_integer,),
        first,
    ),
)

NUMBER_FORMS = (form(FAMILY, "MOD(dividend, divisor)", "The same as `dividend % divisor`."),)
