"""A row that counts for nothing, as text.

Law: the text is JSON, and nothing of a value is lost.
"""

from __future__ import annotations

import json
import math
from base64 import b64encode
from collections.abc import Sequence
from typing import Any

import numpy as np

from ebbtide.core.schema import Schema
from ebbtide.core.time import Instant
from ebbtide.core.types import (
    ArrayType,
    BinaryType,
    DateType,
    DecimalType,
    DoubleType,
    StructType,
    TimestampType,
    Type,
)


def row_text(schema: Schema, values: Sequence[Any]) -> str:
    """A row as JSON, without its NULLs."""
    fields = (
        f"{json.dumps(c.name, ensure_ascii=False)}:{_text(v, c.type)}"
        for c, v in zip(schema, values, strict=True)
        if v is not None
    )
    return "{" + ",".join(fields) + "}"


def _text(value: Any, type_: Type) -> str:
    match type_:
        case _ if value is None:
            return "null"
        case TimestampType():
            return f'"{_moment(value)}"'
        case DecimalType():
            return f"{value:f}"
        case DateType():
            return f'"{value.isoformat()}"'
        case BinaryType():
            return f'"{b64encode(value).decode()}"'
        case DoubleType() if not math.isfinite(value):
            return f'"{_NOT_FINITE[str(value)]}"'
        case ArrayType(element=element):
            return "[" + ",".join(_text(item, element) for item in value) + "]"
        case StructType(fields=fields):
            items = value.values() if isinstance(value, dict) else value
            inner = (
                f"{json.dumps(name)}:{_text(item, its)}"
                for (name, its), item in zip(fields, items, strict=True)
            )
            return "{" + ",".join(inner) + "}"
        case _:
            return json.dumps(value, ensure_ascii=False)


_NOT_FINITE = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}


def _moment(time_us: Instant) -> str:
    """An instant of any year, in milliseconds where that is exact."""
    unit = "ms" if time_us % 1000 == 0 else "us"
    return f"{np.datetime64(time_us, 'us').astype(f'datetime64[{unit}]')}Z"
