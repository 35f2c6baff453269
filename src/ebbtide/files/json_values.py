"""Values of JSON as values of a type, one at a time.

Numbers come as they are written, so that no digit is lost on the way.  A column of text takes any
value: what is no text is given as JSON.
"""

from __future__ import annotations

import json
from math import isinf
from typing import Any, cast

from ebbtide.core.time import SECOND, day, is_in_calendar
from ebbtide.core.types import (
    ArrayType,
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    IntegerType,
    StringType,
    StructType,
    TimestampType,
    Type,
)
from ebbtide.core.words import with_article
from ebbtide.files.texts import WRITTEN, exact_decimal, instant_of
from ebbtide.state.types import AnyType


class WrittenNumber(str):
    """A number, as it is written."""

    __slots__ = ()


_WORDS = frozenset({"NaN", "Infinity", "-Infinity"})
_FEW = 18


def parsed(line: bytes) -> Any:
    """What is written in a line; ValueError if it is no JSON, RecursionError if it is too deep."""
    return _DECODER.decode(line.decode().strip(" \t"))


def is_json(type_: Type) -> bool:
    """Whether values of a type can be written in JSON."""
    match type_:
        case ArrayType(element=element):
            return is_json(element)
        case StructType(fields=fields):
            return all(is_json(its) for _, its in fields)
        case _:
            return isinstance(type_, WRITTEN)


def fitted(value: Any, type_: Type, zone: str) -> Any:
    """A value as one of a type; ValueError if it does not fit.  Times are microseconds."""
    if value is None:
        return None
    known = cast(AnyType, type_)
    match known:
        case StringType():
            return _text(value)
        case BooleanType() if isinstance(value, bool):
            return value
        case IntegerType(bits=bits) if isinstance(value, WrittenNumber):
            return _whole(value, bits)
        case DoubleType() if isinstance(value, WrittenNumber) or _is_word(value):
            return _double(value)
        case DecimalType(precision=precision, scale=scale) if isinstance(value, str):
            return exact_decimal(value, precision, scale)
        case DateType() if _is_text(value):
            return day(value.strip())
        case TimestampType() if isinstance(value, str):
            return _time(value, zone)
        case ArrayType(element=element) if isinstance(value, list):
            return [fitted(one, element, zone) for one in value]
        case StructType(fields=fields) if isinstance(value, JsonObject):
            given = value.by_name([name for name, _ in fields])
            return {name: fitted(given.get(name.casefold()), its, zone) for name, its in fields}
        case _:
            raise ValueError(f"{value} is not {with_article(type_)}")


class JsonObject(list[tuple[str, Any]]):
    """An object: names and their values, in order."""

    __slots__ = ()

    def by_name(self, wanted: list[str]) -> dict[str, Any]:
        """The values by names, in any case; ValueError if one that is wanted is there twice."""
        folded = {name.casefold() for name in wanted}
        found: dict[str, Any] = {}
        for name, value in self:
            key = name.casefold()
            if key in folded and key in found:
                raise ValueError(f"{name} is there twice")
            found[key] = value
        return found


_DECODER = json.JSONDecoder(
    object_pairs_hook=JsonObject, parse_float=WrittenNumber, parse_int=WrittenNumber
)


def _is_word(value: Any) -> bool:
    return isinstance(value, str) and value in _WORDS


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and not isinstance(value, WrittenNumber)


def _text(value: Any) -> str:
    text = value if isinstance(value, str) else _written(value)
    text.encode()  # half of a pair of surrogates is no text
    return text


def _written(value: Any) -> str:
    match value:
        case WrittenNumber():
            return value
        case JsonObject():
            inside = ",".join(f"{json.dumps(name)}:{_written(its)}" for name, its in value)
            return f"{{{inside}}}"
        case list():
            return f"[{','.join(_written(one) for one in value)}]"
        case _:
            return json.dumps(value, ensure_ascii=False)


def _whole(text: str, bits: int) -> int:
    value = int(text) if len(text) < _FEW and text.removeprefix("-").isdigit() else _large(text)
    if not -(1 << bits - 1) <= value < 1 << bits - 1:
        raise ValueError(text)
    return value


def _large(text: str) -> int:
    """A whole number that is written with a point, with an exponent or with many digits."""
    return int(exact_decimal(text, 20, 0))


def _double(text: str) -> float:
    value = float(text)
    if isinf(value) and text not in _WORDS:
        raise ValueError(text)
    return value


def _time(value: str, zone: str) -> int:
    """A text, or the whole seconds since the epoch."""
    if isinstance(value, WrittenNumber):
        found: int | None = _whole(value, 64) * SECOND
        if found is not None and not is_in_calendar(found):
            found = None
    else:
        found = instant_of(value, zone)
    if found is None:
        raise ValueError(value)
    return found
