"""Functions of text and bytes.

Arrow computes what it computes by characters; what it counts in bytes, or knows only for simple
letters, it computes where all text is ASCII.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ebbtide.algebra.text_limit import LONGEST, checked_length
from ebbtide.columnar.arrays import constant_of, each, is_scalar
from ebbtide.columnar.signature import (
    Context,
    Implementation,
    by_value,
    by_value_with_nulls,
)
from ebbtide.core.types import INT, STRING, ArrayType, BinaryType, StringType
from ebbtide.core.values import Value
from ebbtide.errors import EvaluationError

S = TypeVar("S", str, bytes)


def _is_ascii(*texts: Any) -> bool:
    return all(
        text.as_py().isascii()
        if is_scalar(text)
        else pc.all(pc.string_is_ascii(text)).as_py() is not False
        for text in texts
    )


def _upper(context: Context, text: Any) -> Any:
    if _is_ascii(text):
        return pc.ascii_upper(text)
    return each(str.upper, context.types, STRING, text)


def _lower(context: Context, text: Any) -> Any:
    if _is_ascii(text):
        return pc.ascii_lower(text)
    return each(str.lower, context.types, STRING, text)


def _initcap(text: str) -> str:
    return " ".join(word[:1].title() + word[1:].lower() for word in text.split(" "))


def _length(context: Context, text: Any) -> Any:
    binary = isinstance(context.types[0], BinaryType)
    return pc.cast((pc.binary_length if binary else pc.utf8_length)(text), pa.int32())


def _substring(context: Context, text: Any, position: Any, length: Any = None) -> Any:
    first, count = constant_of(position), constant_of(length)
    plain = isinstance(context.types[0], StringType) and not is_scalar(text) and first is not None
    if plain and length is None:
        return pc.utf8_slice_codeunits(text, start=first - 1 if first > 0 else first)
    if plain and count is not None and first >= 0:
        start = max(first - 1, 0)
        return pc.utf8_slice_codeunits(text, start=start, stop=start + max(count, 0))
    given = (text, position) if length is None else (text, position, length)
    return each(_part, context.types, context.type, *given)


def _part(text: S, position: int, length: int | None = None) -> S:
    """The part of a text from a position, which may be before its beginning."""
    start = position - 1 if position > 0 else len(text) + position if position else 0
    end = len(text) if length is None else start + length
    return text[max(start, 0) : max(end, 0)]


def _left(context: Context, text: Any, length: Any) -> Any:
    count = constant_of(length)
    if isinstance(context.types[0], StringType) and count is not None:
        return pc.utf8_slice_codeunits(text, start=0, stop=max(count, 0))
    return each(_beginning, context.types, context.type, text, length)


def _beginning(text: S, length: int) -> S:
    return text[: max(length, 0)]


def _right(context: Context, text: Any, length: Any) -> Any:
    count = constant_of(length)
    if count is not None and count > 0:
        return pc.utf8_slice_codeunits(text, start=-count)
    return each(lambda t, n: t[-n:] if n > 0 else "", context.types, STRING, text, length)


def _padding(text: str, length: int, pad: str) -> str:
    missing = max(length - len(text), 0)
    return (pad * missing)[:missing]


def _lpad(text: str, length: int, pad: str = " ") -> str:
    return _padding(text, checked_length("LPAD", length), pad) + _beginning(text, length)


def _rpad(text: str, length: int, pad: str = " ") -> str:
    return _beginning(text, length) + _padding(text, checked_length("RPAD", length), pad)


def _trimming(trim: Any, strip: Any) -> Implementation:
    def compute(context: Context, text: Any, characters: Any = None) -> Any:
        if characters is None:
            return trim(text, characters=" ")
        if is_scalar(characters):
            return trim(text, characters=characters.as_py())
        return each(strip, context.types, STRING, text, characters)

    return compute


def _concat(context: Context, *parts: Any) -> Any:
    if not parts:
        return pa.array([""])
    if isinstance(context.type, ArrayType):
        return each(
            lambda *items: tuple(item for part in items for item in part),
            context.types,
            context.type,
            *parts,
        )
    binary = isinstance(context.type, BinaryType)
    return pc.binary_join_element_wise(*parts, pa.scalar(b"" if binary else ""))


def _concat_ws(context: Context, separator: Any, *parts: Any) -> Any:
    # Arrow gives no row at all where it skips all parts of one.
    sure = any(part.is_valid if is_scalar(part) else not part.null_count for part in parts)
    if sure and not any(isinstance(type_, ArrayType) for type_ in context.types):
        return pc.binary_join_element_wise(*parts, separator, null_handling="skip")
    return each(_joined, context.types, STRING, separator, *parts, strict=False)


def _joined(separator: str | None, *parts: Value) -> str | None:
    if separator is None:
        return None
    flat = (item for part in parts for item in (part if isinstance(part, tuple) else (part,)))
    return separator.join(item for item in flat if item is not None)


def _replace(context: Context, text: Any, search: Any, replacement: Any = None) -> Any:
    old = constant_of(search)
    new = "" if replacement is None else constant_of(replacement)
    plain = not is_scalar(text) and old and new is not None
    if plain and _grown(text, old, len(new) - len(old)) <= LONGEST:
        return pc.replace_substring(text, pattern=old, replacement=new)
    given = (text, search) if replacement is None else (text, search, replacement)
    return each(_replaced, context.types, STRING, *given)


def _grown(text: Any, old: str, more: int) -> int:
    """The length of the longest text that gets longer, if each part that is found does."""
    if more <= 0:
        return 0
    found = pc.count_substring(text, pattern=old)
    grown = pc.add(pc.utf8_length(text), pc.multiply(pc.cast(found, pa.int64()), more))
    longest: int = pc.max(pc.if_else(pc.greater(found, 0), grown, 0)).as_py() or 0
    return longest


def _replaced(text: str, search: str, replacement: str = "") -> str:
    if not search:
        return text
    more = text.count(search) * (len(replacement) - len(search))
    if more > 0:
        checked_length("REPLACE", len(text) + more)
    return text.replace(search, replacement)


def _translated(text: str, old: str, new: str) -> str:
    table: dict[int, str | None] = {}
    for place, character in enumerate(old):
        table.setdefault(ord(character), new[place] if place < len(new) else None)
    return text.translate(table)


def _reverse(context: Context, value: Any) -> Any:
    if isinstance(context.type, StringType):
        return pc.utf8_reverse(value)
    return each(lambda items: items[::-1], context.types, context.type, value)


def _repeat(context: Context, text: Any, count: Any) -> Any:
    times = constant_of(count)
    if times is not None and not is_scalar(text):
        longest = pc.max(pc.utf8_length(text)).as_py() or 0
        if longest * times <= LONGEST:
            return pc.binary_repeat(text, max(times, 0))
    return each(_repeated, context.types, STRING, text, count)


def _repeated(text: str, count: int) -> str:
    checked_length("REPEAT", len(text) * count)
    return text * max(count, 0)


def _split_parts(context: Context, text: Any, separator: Any, number: Any) -> Any:
    """Arrow splits, where separator and number are the same on all rows."""
    by, place = constant_of(separator), constant_of(number)
    if is_scalar(text) or not by or not place:
        return each(_split_part, context.types, STRING, text, separator, number)
    parts = pc.split_pattern(text, pattern=by)
    ends = parts.offsets.to_numpy()
    there = np.diff(ends) >= abs(place)
    wanted = np.where(there, ends[:-1] + place - 1 if place > 0 else ends[1:] + place, 0)
    found = parts.values.take(pa.array(wanted, mask=~there))
    return pc.if_else(pc.is_valid(text), pc.fill_null(found, ""), pa.scalar(None, text.type))


def _split_part(text: str, separator: str, number: int) -> str:
    if number == 0:
        raise EvaluationError("out-of-bounds", "there is no part 0")
    parts = text.split(separator) if separator else [text]
    place = number - 1 if number > 0 else len(parts) + number
    return parts[place] if 0 <= place < len(parts) else ""


def _substring_index(text: str, separator: str, count: int) -> str:
    if count == 0 or not separator:
        return ""
    place = -1 if count > 0 else len(text)
    for _ in range(abs(count)):
        # Separators may overlap: the next one may begin right after the beginning of this one.
        if count > 0:
            place = text.find(separator, place + 1)
        else:
            place = text.rfind(separator, 0, max(place - 1 + len(separator), 0))
        if place < 0:
            return text
    return text[:place] if count > 0 else text[place + len(separator) :]


def _levenshtein(text: str, other: str) -> int:
    """The distance of two texts, a row of the table at a time; equal ends cost nothing."""
    start = 0
    while start < min(len(text), len(other)) and text[start] == other[start]:
        start += 1
    text, other = text[start:], other[start:]
    end = 0
    while end < min(len(text), len(other)) and text[-1 - end] == other[-1 - end]:
        end += 1
    text, other = text[: len(text) - end], other[: len(other) - end]
    row = list(range(len(other) + 1))
    for first, a in enumerate(text, 1):
        diagonal, row[0] = row[0], first
        for j, b in enumerate(other, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (a != b))
    return row[-1]


def _searching(search: Any, find: Any) -> Implementation:
    """A test of text for a part, by Arrow if the part is the same everywhere."""

    def compute(context: Context, text: Any, part: Any) -> Any:
        if is_scalar(part):
            return search(text, pattern=part.as_py())
        return each(find, context.types, context.type, text, part)

    return compute


def _instr(context: Context, text: Any, part: Any) -> Any:
    if is_scalar(part) and _is_ascii(text):
        place = pc.find_substring(text, pattern=part.as_py())
        return pc.cast(pc.add(place, pa.scalar(1, pa.int32())), pa.int32())
    return each(lambda t, p: t.find(p) + 1, context.types, INT, text, part)


def _locate(part: str | None, text: str | None, position: int | None = 1) -> int | None:
    # NULL as a position is no position at all, as in Hive.
    if position is None:
        return 0
    if part is None or text is None:
        return None
    if part == "":
        return 1
    return text.find(part, position - 1) + 1 if position > 0 else 0


TEXTS: dict[str, Implementation] = {
    "UPPER": _upper,
    "LOWER": _lower,
    "INITCAP": by_value(_initcap),
    "LENGTH": _length,
    "SUBSTRING": _substring,
    "LEFT": _left,
    "RIGHT": _right,
    "LPAD": by_value(_lpad),
    "RPAD": by_value(_rpad),
    "TRIM": _trimming(pc.utf8_trim, str.strip),
    "LTRIM": _trimming(pc.utf8_ltrim, str.lstrip),
    "RTRIM": _trimming(pc.utf8_rtrim, str.rstrip),
    "CONCAT": _concat,
    "CONCAT_WS": _concat_ws,
    "REPLACE": _replace,
    "TRANSLATE": by_value(_translated),
    "REVERSE": _reverse,
    "REPEAT": _repeat,
    "SPLIT_PART": _split_parts,
    "SUBSTRING_INDEX": by_value(_substring_index),
    "LEVENSHTEIN": by_value(_levenshtein),
    "STARTSWITH": _searching(pc.starts_with, str.startswith),
    "ENDSWITH": _searching(pc.ends_with, str.endswith),
    "CONTAINS": _searching(pc.match_substring, lambda text, part: part in text),
    "INSTR": _instr,
    "LOCATE": by_value_with_nulls(_locate),
    "ASCII": by_value(lambda text: ord(text[0]) if text else 0),
    "CHR": by_value(lambda code: "" if code < 0 else chr(code % 256)),
}
