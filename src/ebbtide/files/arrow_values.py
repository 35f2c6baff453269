"""Values of other Arrow types as values of a type.

Law: NULL where a value does not fit.  What is finer than a microsecond is cut off a time; days are
times at their beginning; numbers are none.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ebbtide.core.types import TimestampType, Type
from ebbtide.files.texts import WRITTEN, from_texts, in_range, local_times
from ebbtide.state.types import arrow_type


def fitted(values: Any, type_: Type, zone: str) -> Any:
    """The values as those of a type; NULL where one does not fit."""
    target = arrow_type(type_)
    if isinstance(type_, TimestampType):
        return _times(values, zone)
    if values.type == target:
        return values
    if _is_text(values.type) and isinstance(type_, WRITTEN):
        return from_texts(values.cast(pa.string()), type_, zone)
    try:
        return pc.cast(values, target)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return pa.array((_one(value, target) for value in values), target)


def _is_text(type_: Any) -> bool:
    return bool(pa.types.is_string(type_) or pa.types.is_large_string(type_))


def _one(value: Any, target: Any) -> Any:
    try:
        return value.cast(target).as_py()
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None


def _times(values: Any, zone: str) -> Any:
    """Instants: times with a zone or in ``zone``, days and texts."""
    if _is_text(values.type):
        return from_texts(values.cast(pa.string()), TimestampType(), zone)
    if pa.types.is_date(values.type):
        values = values.cast(pa.timestamp("s"))
    if not pa.types.is_timestamp(values.type):
        return pa.nulls(len(values), pa.int64())
    fine = values.cast(pa.timestamp("us", values.type.tz), safe=False)
    return in_range(fine.cast(pa.int64())) if fine.type.tz else local_times(fine, zone)
