"""Which types go together: the least common type, and what may be cast to what.

Law: the rules are those of Spark SQL in ANSI mode.  ``common_type`` is commutative but for the
names of struct fields, which are the left ones; it is not associative (a string adopts the type
of whatever it meets), so a list of operands is folded from the left, as Spark does.
"""

from __future__ import annotations

from collections.abc import Iterable

from ebbtide.core.decimals import MAX_PRECISION
from ebbtide.core.types import (
    BIGINT,
    DOUBLE,
    NULL,
    TIMESTAMP,
    ArrayType,
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    IntegerType,
    IntervalType,
    NullType,
    StringType,
    StructType,
    TimestampType,
    Type,
    is_numeric,
)

_DIGITS = {8: 3, 16: 5, 32: 10, 64: 20}


def common_type(left: Type, right: Type, *, strings: bool = True) -> Type | None:
    """The type that values of both types fit, or None if there is none.

    A string adopts the other type, unless ``strings`` says that it must not.

    >>> from ebbtide.core.types import INT, STRING
    >>> str(common_type(INT, DecimalType(5, 2))), str(common_type(STRING, INT))
    ('DECIMAL(12, 2)', 'BIGINT')
    """
    if left == right or isinstance(right, NullType):
        return left
    if isinstance(left, NullType):
        return right
    if is_numeric(left) and is_numeric(right):
        return _common_number(left, right)
    if isinstance(left, StringType) or isinstance(right, StringType):
        other = right if isinstance(left, StringType) else left
        return _adopted(other) if strings else None
    if {type(left), type(right)} == {DateType, TimestampType}:
        return TIMESTAMP
    if isinstance(left, ArrayType) and isinstance(right, ArrayType):
        element = common_type(left.element, right.element, strings=strings)
        return None if element is None else ArrayType(element)
    if isinstance(left, StructType) and isinstance(right, StructType):
        return _common_struct(left, right, strings)
    return None


def common_type_of(types: Iterable[Type], *, strings: bool = True) -> Type | None:
    """The common type of several types, folded from the left; NULL of none."""
    result: Type | None = NULL
    for type_ in types:
        result = None if result is None else common_type(result, type_, strings=strings)
    return result


def decimal_for(type_: Type) -> DecimalType | None:
    """The decimals that hold every value of an exact numeric type."""
    if isinstance(type_, IntegerType):
        return DecimalType(_DIGITS[type_.bits], 0)
    return type_ if isinstance(type_, DecimalType) else None


def wider_decimal(left: DecimalType, right: DecimalType) -> DecimalType:
    """The decimals with all digits of both; past 38 digits those after the point are given up."""
    scale = max(left.scale, right.scale)
    whole = max(left.precision - left.scale, right.precision - right.scale)
    excess = max(0, whole + scale - MAX_PRECISION)
    return DecimalType(min(whole + scale, MAX_PRECISION), max(0, scale - excess))


def can_cast(source: Type, target: Type) -> bool:
    """Whether CAST from one type to the other is allowed."""
    if source == target or isinstance(source, NullType) or isinstance(target, StringType):
        return True
    match source, target:
        case ArrayType(), ArrayType():
            return can_cast(source.element, target.element)
        case StructType(), StructType():
            return len(source.fields) == len(target.fields) and all(
                can_cast(a, b) for (_, a), (_, b) in zip(source.fields, target.fields, strict=True)
            )
        case _:
            return type(target) in _CASTS.get(type(source), frozenset())


def can_coerce(source: Type, target: Type) -> bool:
    """Whether an argument of one type is taken for the other without a CAST."""
    if source == target or isinstance(source, NullType):
        return True
    match source, target:
        case ArrayType(), ArrayType():
            return can_coerce(source.element, target.element)
        case ArrayType() | StructType(), _:
            return False
        case _, StringType():
            return True
        case StringType(), _:
            return can_cast(source, target) and not isinstance(target, IntervalType)
        case _:
            times = {DateType, TimestampType}
            numbers = is_numeric(source) and is_numeric(target)
            return numbers or (type(source) in times and type(target) in times)


def _common_number(left: Type, right: Type) -> Type:
    if isinstance(left, IntegerType) and isinstance(right, IntegerType):
        return left if left.bits >= right.bits else right
    a, b = decimal_for(left), decimal_for(right)
    return DOUBLE if a is None or b is None else wider_decimal(a, b)


def _adopted(other: Type) -> Type | None:
    """The type that a string takes on when it meets another type."""
    match other:
        case IntegerType():
            return BIGINT
        case DoubleType() | DecimalType():
            return DOUBLE
        case DateType() | TimestampType() | BooleanType() | BinaryType():
            return other
        case _:
            return None


def _common_struct(left: StructType, right: StructType, strings: bool) -> Type | None:
    if [n.casefold() for n, _ in left.fields] != [n.casefold() for n, _ in right.fields]:
        return None
    fields = []
    for (name, mine), (_, other) in zip(left.fields, right.fields, strict=True):
        type_ = common_type(mine, other, strings=strings)
        if type_ is None:
            return None
        fields.append((name, type_))
    return StructType(tuple(fields))


_NUMBERS = frozenset({IntegerType, DoubleType, DecimalType})
_CASTS: dict[type[Type], frozenset[type[Type]]] = {
    BooleanType: _NUMBERS,
    IntegerType: _NUMBERS | {BooleanType, TimestampType, IntervalType},
    DoubleType: _NUMBERS | {BooleanType, TimestampType},
    DecimalType: _NUMBERS | {BooleanType, TimestampType, IntervalType},
    StringType: _NUMBERS | {BooleanType, BinaryType, DateType, TimestampType, IntervalType},
    DateType: frozenset({TimestampType}),
    TimestampType: _NUMBERS | {DateType},
    IntervalType: frozenset({IntegerType, DecimalType}),
}
