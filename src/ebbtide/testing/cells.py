"""Values as text, one cell of a table each, and back.

Law: ``from_text(to_text(v, type), type)`` is ``v`` for every value of every type.

| type | text |
|---|---|
| any | ``NULL`` |
| BOOLEAN | ``TRUE``, ``FALSE`` |
| numbers | ``-5``, ``2.50``, ``1e300``, ``nan``, ``inf`` |
| STRING | ``'it''s'``, or bare without quotes; ``\\n`` and ``\\\\`` are escapes |
| BINARY | ``X'00ff'`` |
| DATE, TIMESTAMP | ISO; a TIMESTAMP may be a plain count of microseconds |
| INTERVAL | ``15 MINUTES``, or a plain count of microseconds |
| ARRAY, STRUCT | ``[1, NULL]``, ``(1, 'a')``, with strings in quotes |
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import date
from decimal import Context, Decimal, InvalidOperation

from ebbtide.core.time import (
    SECOND,
    Instant,
    duration,
    format_duration,
    format_instant,
    instant,
    is_finite,
)
from ebbtide.core.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    IntegerType,
    IntervalType,
    StringType,
    StructType,
    TimestampType,
    Type,
    admits,
)
from ebbtide.core.values import Value, normalise
from ebbtide.errors import EbbtideError

_WHOLE = re.compile(r"[+-]?\d+")
# More digits than any DECIMAL has, so that nothing is rounded on the way.
_EXACT = Context(prec=80)
_TRUTH = {"TRUE": True, "FALSE": False}


def to_text(value: Value, type_: Type, iso: bool = True) -> str:
    """The cell that stands for a value; without ``iso``, times are counts of microseconds.

    >>> from ebbtide.core.types import STRING
    >>> to_text("it's", STRING), to_text(None, STRING)
    ("'it''s'", 'NULL')
    """
    if value is None:
        return "NULL"
    match type_:
        case StringType():
            text = str(value).replace("\\", "\\\\").replace("\n", "\\n").replace("'", "''")
            return f"'{text}'"
        case BinaryType():
            return f"X'{value.hex()}'"
        case TimestampType():
            return time_to_text(value, iso)
        case IntervalType():
            return format_duration(value)
        case BooleanType():
            return str(value).upper()
        case ArrayType(element=element):
            return f"[{', '.join(to_text(item, element, iso) for item in value)}]"
        case StructType(fields=fields):
            items = (to_text(v, t, iso) for (_, t), v in zip(fields, value, strict=True))
            return f"({', '.join(items)})"
        case DoubleType():
            return repr(value)
        case _:
            return str(value)


def from_text(text: str, type_: Type) -> Value:
    """The value that a cell stands for; ValueError if it stands for none of the type."""
    text = text.strip()
    if text == "NULL":
        return None
    try:
        value = normalise(_parsed(text, type_))
    except (EbbtideError, InvalidOperation, KeyError) as error:
        raise ValueError(text) from error
    if not admits(type_, value):
        raise ValueError(text)
    return value


def time_to_text(t: Instant, iso: bool = True) -> str:
    """An instant as ISO text, or as a count of microseconds; the ends of the line by name."""
    try:
        named = format_instant(t)
    except (OverflowError, ValueError):
        return str(t)  # ISO text ends with the year 9999
    return named if iso or named.endswith("inf") else str(t)


def time_from_text(text: str) -> Instant:
    """The instant that a text stands for: ISO, a count of microseconds, ``-inf`` or ``inf``."""
    text = text.strip()
    return int(text) if _WHOLE.fullmatch(text) else instant(text)


def in_iso(times: Iterable[Instant | None]) -> bool:
    """Whether some time lies so far from 0 that nobody counted up to it: a second or more."""
    return any(t is not None and is_finite(t) and abs(t) >= SECOND for t in times)


def split(text: str, separator: str, nested: bool = True) -> Iterator[tuple[int, int]]:
    """Where the parts between separators lie that stand outside quotes (and brackets).

    >>> [(a, b) for a, b in split("a|'b|c'", "|")]
    [(0, 1), (2, 7)]
    """
    start, depth, quoted = 0, 0, False
    for place, character in enumerate(text):
        if character == "'":
            quoted = not quoted
        elif quoted:
            continue
        elif nested and character in "[(":
            depth += 1
        elif nested and character in "])":
            depth -= 1
        elif character == separator and depth == 0:
            yield start, place
            start = place + 1
    if quoted:
        raise ValueError("a quote is not closed")
    yield start, len(text)


def _parsed(text: str, type_: Type) -> Value:
    match type_:
        case StringType():
            return _unquoted(text)
        case BinaryType():
            if not (text[:2].upper() == "X'" and text.endswith("'")):
                raise ValueError(text)
            return bytes.fromhex(text[2:-1])
        case BooleanType():
            return _TRUTH[text.upper()]
        case IntegerType():
            return int(text)
        case DoubleType():
            return float(text)
        case DecimalType(scale=scale):
            return _decimal(text, scale)
        case DateType():
            return date.fromisoformat(text)
        case TimestampType():
            return time_from_text(text)
        case IntervalType():
            return int(text) if _WHOLE.fullmatch(text) else duration(text)
        case ArrayType(element=element):
            return tuple(from_text(item, element) for item in _items(text, "[]"))
        case StructType(fields=fields):
            items = _items(text, "()")
            return tuple(from_text(i, t) for i, (_, t) in zip(items, fields, strict=True))
        case _:
            raise ValueError(text)


def _decimal(text: str, scale: int) -> Decimal:
    value = Decimal(text)
    exact = value.quantize(Decimal(1).scaleb(-scale), context=_EXACT)
    if exact != value:
        raise ValueError(text)
    return exact


def _unquoted(text: str) -> str:
    if not text.startswith("'"):
        if "'" in text:
            raise ValueError(text)
        return text
    if len(text) < 2 or not text.endswith("'"):
        raise ValueError(text)
    escapes = {"\\n": "\n", "\\\\": "\\", "''": "'"}
    return re.sub(r"\\n|\\\\|''", lambda match: escapes[match[0]], text[1:-1])


def _items(text: str, brackets: str) -> list[str]:
    if len(text) < 2 or (text[0], text[-1]) != (brackets[0], brackets[1]):
        raise ValueError(text)
    inner = text[1:-1]
    return [inner[a:b] for a, b in split(inner, ",")] if inner.strip() else []
