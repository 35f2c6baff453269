"""Functions of text."""

from __future__ import annotations

from typing import TypeVar

from ebbtide.core.types import ArrayType, BinaryType
from ebbtide.core.values import Value
from ebbtide.errors import EvaluationError
from ebbtide.reference.functions.context import Context, Evaluation, plain

S = TypeVar("S", str, bytes)


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
    return _padding(text, length, pad) + _left(text, length)


def _rpad(text: str, length: int, pad: str = " ") -> str:
    return _left(text, length) + _padding(text, length, pad)


def _padding(text: str, length: int, pad: str) -> str:
    missing = max(length - len(text), 0)
    return (pad * missing)[:missing]


def _concat(context: Context, *parts: Value) -> Value:
    match context.type:
        case BinaryType():
            return b"".join(parts)
        case ArrayType():
            return tuple(item for part in parts for item in part)
        case _:
            return "".join(parts)


def _concat_ws(separator: str | None, *parts: Value) -> str | None:
    if separator is None:
        return None
    flat = [item for part in parts for item in (part if isinstance(part, tuple) else (part,))]
    return separator.join(item for item in flat if item is not None)


def _replace(text: str, search: str, replacement: str = "") -> str:
    return text.replace(search, replacement) if search else text


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


STRINGS: dict[str, Evaluation] = {
    "UPPER": plain(str.upper),
    "LOWER": plain(str.lower),
    "INITCAP": plain(_initcap),
    "LENGTH": plain(len),
    "SUBSTRING": plain(_substring),
    "LEFT": plain(_left),
    "RIGHT": plain(_right),
    "LPAD": plain(_lpad),
    "RPAD": plain(_rpad),
    "TRIM": plain(lambda text, characters=" ": text.strip(characters)),
    "LTRIM": plain(lambda text, characters=" ": text.lstrip(characters)),
    "RTRIM": plain(lambda text, characters=" ": text.rstrip(characters)),
    "CONCAT": _concat,
    "CONCAT_WS": plain(_concat_ws),
    "REPLACE": plain(_replace),
    "TRANSLATE": plain(_translate),
    "REVERSE": plain(lambda value: value[::-1]),
    "REPEAT": plain(lambda text, count: text * max(count, 0)),
    "SPLIT_PART": plain(_split_part),
    "STARTSWITH": plain(str.startswith),
    "ENDSWITH": plain(str.endswith),
    "CONTAINS": plain(lambda text, part: part in text),
    "INSTR": plain(lambda text, part: text.find(part) + 1),
    "LOCATE": plain(_locate),
    "ASCII": plain(lambda text: ord(text[0]) if text else 0),
    "CHR": plain(_chr),
}
