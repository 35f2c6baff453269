"""Functions of text.  Positions count characters, from 1; BINARY is counted in bytes."""

from __future__ import annotations

from typing import TypeVar

from ebbtide.algebra.function_library.signature import (
    Types,
    check_count,
    custom,
    define,
    exactly,
    first,
    text_or_bytes,
)
from ebbtide.algebra.text_limit import checked_length
from ebbtide.algebra.type_rules import common_type_of
from ebbtide.core.types import BINARY, BOOLEAN, INT, STRING, ArrayType, Type
from ebbtide.core.values import Value
from ebbtide.errors import BindError, EvaluationError

S = TypeVar("S", str, bytes)

FAMILY = "text"
TEXT = exactly(STRING)
COUNT = exactly(INT)


def _concat(types: Types) -> Types:
    if types and all(type_ == BINARY for type_ in types):
        return types
    if types and all(isinstance(type_, ArrayType) for type_ in types):
        common = common_type_of(types)
        return types if common is None else (common,) * len(types)
    return tuple(_texts("CONCAT(text, ...)", type_, False) for type_ in types)


def _concat_ws(types: Types) -> Types:
    usage = "CONCAT_WS(separator, text, ...)"
    check_count(usage, types, 1, None)
    return tuple(_texts(usage, type_, place > 0) for place, type_ in enumerate(types))


def _texts(usage: str, given: Type, arrays: bool) -> Type:
    if arrays and isinstance(given, ArrayType):
        return ArrayType(STRING)
    wanted = TEXT(given)
    if wanted is None:
        raise BindError("type-mismatch", f"{usage} cannot have an argument {given}")
    return wanted


def _text_or_array(given: Type) -> Type | None:
    return given if isinstance(given, ArrayType) else text_or_bytes(given)


def _joined(types: Types) -> Type:
    return types[0] if types else STRING


def _initcap(text: str) -> str:
    return " ".join(word[:1].title() + word[1:].lower() for word in text.split(" "))


def _substring(text: S, position: int, length: int | None = None) -> S:
    start = position - 1 if position > 0 else len(text) + position if position < 0 else 0
    end = len(text) if length is None else start + length
    return text[max(start, 0) : max(end, 0)]


def _left(text: S, length: int) -> S:
    return text[: max(length, 0)]


def _right(text: str, length: int) -> str:
    return text[-length:] if length > 0 else ""


def _lpad(text: str, length: int, pad: str = " ") -> str:
    return _padding(text, checked_length("LPAD", length), pad) + _left(text, length)


def _rpad(text: str, length: int, pad: str = " ") -> str:
    return _left(text, length) + _padding(text, checked_length("RPAD", length), pad)


def _padding(text: str, length: int, pad: str) -> str:
    missing = max(length - len(text), 0)
    return (pad * missing)[:missing]


def _trim(text: str, characters: str = " ") -> str:
    return text.strip(characters)


def _ltrim(text: str, characters: str = " ") -> str:
    return text.lstrip(characters)


def _rtrim(text: str, characters: str = " ") -> str:
    return text.rstrip(characters)


def _concatenated(*parts: Value) -> Value:
    if parts and isinstance(parts[0], bytes):
        return b"".join(parts)
    if parts and isinstance(parts[0], tuple):
        return tuple(item for part in parts for item in part)
    return "".join(parts)


def _with_separator(separator: str | None, *parts: Value) -> str | None:
    if separator is None:
        return None
    flat = [item for part in parts for item in (part if isinstance(part, tuple) else (part,))]
    return separator.join(item for item in flat if item is not None)


def _replace(text: str, search: str, replacement: str = "") -> str:
    if not search:
        return text
    more = text.count(search) * (len(replacement) - len(search))
    if more > 0:
        checked_length("REPLACE", len(text) + more)
    return text.replace(search, replacement)


def _repeat(text: str, count: int) -> str:
    checked_length("REPEAT", len(text) * count)
    return text * max(count, 0)


def _translate(text: str, old: str, new: str) -> str:
    table: dict[int, str | None] = {}
    for place, character in enumerate(old):
        table.setdefault(ord(character), new[place] if place < len(new) else None)
    return text.translate(table)


def _split_part(text: str, separator: str, number: int) -> str:
    if number == 0:
        raise EvaluationError("out-of-bounds", "there is no part 0")
    parts = text.split(separator) if separator else [text]
    place = number - 1 if number > 0 else len(parts) + number
    return parts[place] if 0 <= place < len(parts) else ""


def _substring_index(text: str, separator: str, count: int) -> str:
    places = [p for p in range(len(text)) if separator and text.startswith(separator, p)]
    if count == 0 or not separator:
        return ""
    if abs(count) > len(places):
        return text
    return text[: places[count - 1]] if count > 0 else text[places[count] + len(separator) :]


def _levenshtein(text: str, other: str) -> int:
    # cost[i][j] turns the first i characters of the text into the first j of the other.
    cost = [[i + j for j in range(len(other) + 1)] for i in range(len(text) + 1)]
    for i, a in enumerate(text, 1):
        for j, b in enumerate(other, 1):
            cost[i][j] = min(
                cost[i - 1][j] + 1, cost[i][j - 1] + 1, cost[i - 1][j - 1] + int(a != b)
            )
    return cost[-1][-1]


def _locate(part: str | None, text: str | None, position: int | None = 1) -> int | None:
    # NULL as a position is no position at all, as in Hive.
    if position is None:
        return 0
    if part is None or text is None:
        return None
    if part == "":
        return 1
    return text.find(part, position - 1) + 1 if position > 0 else 0


def _chr(code: int) -> str:
    return "" if code < 0 else chr(code & 0xFF)


STRING_FUNCTIONS = (
    define(
        FAMILY,
        "UPPER(text)",
        "The text in upper case.",
        (TEXT,),
        STRING,
        meaning=str.upper,
    ),
    define(
        FAMILY,
        "LOWER(text)",
        "The text in lower case.",
        (TEXT,),
        STRING,
        meaning=str.lower,
    ),
    define(
        FAMILY,
        "INITCAP(text)",
        "The text with the first letter of each word, after a space, in upper case and the rest "
        "in lower case.",
        (TEXT,),
        STRING,
        meaning=_initcap,
    ),
    define(
        FAMILY,
        "LENGTH(text)",
        "The number of characters, or of bytes of a BINARY.",
        (text_or_bytes,),
        INT,
        meaning=len,
    ),
    define(
        FAMILY,
        "SUBSTRING(text, position[, length])",
        "The part from a position on, at most `length` long; a negative position counts from the "
        "end.",
        (text_or_bytes, COUNT, COUNT),
        first,
        optional=1,
        meaning=_substring,
    ),
    define(
        FAMILY,
        "LEFT(text, length)",
        "The first characters of the text, or bytes of a BINARY.",
        (text_or_bytes, COUNT),
        first,
        meaning=_left,
    ),
    define(
        FAMILY,
        "RIGHT(text, length)",
        "The last characters of the text.",
        (TEXT, COUNT),
        STRING,
        meaning=_right,
    ),
    define(
        FAMILY,
        "LPAD(text, length[, pad])",
        "The text made `length` long: `pad` (a space) put in front of it as often as it takes, or "
        "its end cut off.",
        (TEXT, COUNT, TEXT),
        STRING,
        optional=1,
        meaning=_lpad,
    ),
    define(
        FAMILY,
        "RPAD(text, length[, pad])",
        "The text made `length` long: `pad` (a space) put after it as often as it takes, or its "
        "end cut off.",
        (TEXT, COUNT, TEXT),
        STRING,
        optional=1,
        meaning=_rpad,
    ),
    *(
        define(
            FAMILY,
            f"{name}(text[, characters])",
            f"The text without the spaces, or the characters, {place}.",
            (TEXT, TEXT),
            STRING,
            optional=1,
            meaning=meaning,
        )
        for name, place, meaning in (
            ("TRIM", "at both ends", _trim),
            ("LTRIM", "at its beginning", _ltrim),
            ("RTRIM", "at its end", _rtrim),
        )
    ),
    custom(
        FAMILY,
        "CONCAT(text, ...)",
        "The texts, BINARY values or arrays, one after the other.",
        _concat,
        _joined,
        meaning=_concatenated,
    ),
    custom(
        FAMILY,
        "CONCAT_WS(separator, text, ...)",
        "The texts, and the items of arrays of texts, with a separator between them; NULLs are "
        "left out.",
        _concat_ws,
        STRING,
        strict=False,
        meaning=_with_separator,
    ),
    define(
        FAMILY,
        "REPLACE(text, search[, replacement])",
        "The text with every `search` replaced, or removed.",
        (TEXT, TEXT, TEXT),
        STRING,
        optional=1,
        meaning=_replace,
    ),
    define(
        FAMILY,
        "TRANSLATE(text, from, to)",
        "The text with every character of `from` replaced by the one at its place in `to`, or "
        "removed if there is none.",
        (TEXT, TEXT, TEXT),
        STRING,
        meaning=_translate,
    ),
    define(
        FAMILY,
        "REVERSE(text)",
        "The characters of a text, bytes of a BINARY or items of an array in reverse order.",
        (_text_or_array,),
        first,
        meaning=lambda value: value[::-1],
    ),
    define(
        FAMILY,
        "REPEAT(text, count)",
        "The text that often.",
        (TEXT, COUNT),
        STRING,
        meaning=_repeat,
    ),
    define(
        FAMILY,
        "SPLIT_PART(text, separator, number)",
        "One of the parts between separators, from 1; a negative number counts from the end, and "
        "there is an empty text beyond.",
        (TEXT, TEXT, COUNT),
        STRING,
        meaning=_split_part,
    ),
    define(
        FAMILY,
        "SUBSTRING_INDEX(text, separator, count)",
        "The text in front of the separator with that number; a negative number counts from the "
        "end and gives what is after it, and there is the whole text where there are not so many.",
        (TEXT, TEXT, COUNT),
        STRING,
        meaning=_substring_index,
    ),
    define(
        FAMILY,
        "LEVENSHTEIN(text, other)",
        "How many characters have to be put in, taken out or replaced to make one text of the "
        "other.",
        (TEXT, TEXT),
        INT,
        meaning=_levenshtein,
    ),
    *(
        define(FAMILY, usage, summary, (TEXT, TEXT), BOOLEAN, meaning=meaning)
        for usage, summary, meaning in (
            ("STARTSWITH(text, part)", "Whether the text begins with the part.", str.startswith),
            ("ENDSWITH(text, part)", "Whether the text ends with the part.", str.endswith),
            ("CONTAINS(text, part)", "Whether the part occurs in the text.", str.__contains__),
        )
    ),
    define(
        FAMILY,
        "INSTR(text, part)",
        "The position at which the part first occurs in the text, or 0.",
        (TEXT, TEXT),
        INT,
        meaning=lambda text, part: text.find(part) + 1,
    ),
    define(
        FAMILY,
        "LOCATE(part, text[, position])",
        "The position, not before the given one, at which the part first occurs in the text, or 0.",
        (TEXT, TEXT, COUNT),
        INT,
        optional=1,
        strict=False,
        meaning=_locate,
    ),
    define(
        FAMILY,
        "ASCII(text)",
        "The code point of the first character, 0 of an empty text.",
        (TEXT,),
        INT,
        meaning=lambda text: ord(text[0]) if text else 0,
    ),
    define(
        FAMILY,
        "CHR(code)",
        "The character with that code, modulo 256; an empty text for a negative code.",
        (COUNT,),
        STRING,
        meaning=_chr,
    ),
)
