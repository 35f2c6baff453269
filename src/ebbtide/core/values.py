"""SQL values as Python values, their equality and their order.

| SQL | Python |
|---|---|
| BOOLEAN, integers, DOUBLE, STRING, BINARY | bool, int, float, str, bytes |
| DECIMAL(p, s) | decimal.Decimal with exponent -s |
| DATE | datetime.date |
| TIMESTAMP | int, microseconds since the epoch |
| INTERVAL (day to second) | int, microseconds |
| ARRAY, STRUCT | tuple |
| NULL | None |

Law: two values are the same iff SQL groups them together: NULL with NULL, NaN with NaN, 0.0
with -0.0.  ``normalise`` makes Python's ``==`` and ``hash`` agree with that.  The order puts
NULL first and NaN last.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, TypeAlias

Value: TypeAlias = Any
Row: TypeAlias = tuple[Value, ...]

NAN = math.nan


def normalise(value: Value) -> Value:
    """``value`` in the one form that stands for all values SQL does not tell apart."""
    if isinstance(value, float):
        if value != value:
            return NAN
        return value + 0.0
    if isinstance(value, tuple):
        return tuple(normalise(item) for item in value)
    return value


def row(*values: Value) -> Row:
    """A row of normalised values."""
    return tuple(normalise(value) for value in values)


def sort_key(value: Value) -> tuple[Any, ...]:
    """A key that orders values of one type: NULL first, NaN last.

    >>> sorted([2.0, None, NAN, 1.0], key=sort_key)
    [None, 1.0, 2.0, nan]
    """
    if value is None:
        return (0,)
    if isinstance(value, float) and value != value:
        return (2,)
    if isinstance(value, tuple):
        return (1, tuple(sort_key(item) for item in value))
    return (1, value)


def row_key(values: Iterable[Value]) -> tuple[Any, ...]:
    """A key that orders rows column by column, by ``sort_key``."""
    return tuple(sort_key(value) for value in values)
