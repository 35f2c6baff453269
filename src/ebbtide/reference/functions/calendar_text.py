"""Times as text by Java's patterns, and back.

The letters are ``y M L d D Q E a h H k K m s S X Z`` (in reading without ``D Q E k K``), text in
quotes stands for itself, and ``[`` and ``]`` enclose what may be missing when read.  Names are
English.  Other letters are refused, as Spark refuses most of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta, tzinfo
from functools import cache
from typing import NamedTuple

from ebbtide.core.text import read_zone
from ebbtide.core.time import from_datetime
from ebbtide.errors import EvaluationError
from ebbtide.reference.functions.context import bad_argument

_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_TOKEN = re.compile(r"''|'(?P<quoted>(?:[^']|'')*)'|(?P<field>([A-Za-z])\3*)|(?P<other>.)", re.S)


class _Token(NamedTuple):
    letter: str
    width: int
    text: str


@cache
def _tokens(pattern: str) -> tuple[_Token, ...]:
    return tuple(_read_tokens(pattern))


def _read_tokens(pattern: str) -> Iterator[_Token]:
    for match in _TOKEN.finditer(pattern):
        if match[0] == "''":
            yield _Token("", 0, "'")
        elif match["quoted"] is not None:
            yield _Token("", 0, match["quoted"].replace("''", "'"))
        elif match["field"] is not None:
            yield _Token(match[0][0], len(match[0]), match[0])
        elif match[0] in "[]":
            yield _Token(match[0], 1, match[0])
        elif match[0] in "{}#'":
            raise bad_argument(f"{match[0]!r} is not allowed in the pattern {pattern!r}")
        else:
            yield _Token("", 0, match[0])


def written(moment: datetime, pattern: str) -> str:
    """A time as text."""
    parts = []
    for letter, width, text in _tokens(pattern):
        if letter == "":
            parts.append(text)
        elif letter not in "[]":
            writer = _WRITERS.get(letter)
            if writer is None or width > _WIDEST.get(letter, 2):
                raise bad_argument(f"{text!r} means nothing in the pattern {pattern!r}")
            parts.append(writer(moment, width))
    return "".join(parts)


def _year(moment: datetime, width: int) -> str:
    return f"{moment.year % 100:02}" if width == 2 else f"{moment.year:0{width}}"


def _named(names: tuple[str, ...], place: int, width: int) -> str:
    return names[place] if width == 4 else names[place][:3]


def _month(moment: datetime, width: int) -> str:
    if width <= 2:
        return f"{moment.month:0{width}}"
    return _named(_MONTHS, moment.month - 1, width)


def _quarter(moment: datetime, width: int) -> str:
    quarter = (moment.month + 2) // 3
    if width <= 2:
        return f"{quarter:0{width}}"
    return f"Q{quarter}" if width == 3 else f"{('1st', '2nd', '3rd', '4th')[quarter - 1]} quarter"


def _offset(moment: datetime, width: int, colon: bool, zulu: bool) -> str:
    shift = moment.utcoffset() or timedelta()
    if zulu and not shift:
        return "Z"
    minutes = abs(shift) // timedelta(minutes=1)
    rest = f"{':' if colon else ''}{minutes % 60:02}"
    shown = width > 1 or minutes % 60
    return f"{'-' if shift < timedelta() else '+'}{minutes // 60:02}{rest if shown else ''}"


_WIDEST = {"y": 6, "M": 4, "L": 4, "D": 3, "Q": 4, "E": 4, "a": 1, "S": 9, "X": 3, "Z": 3}
_WRITERS: dict[str, Callable[[datetime, int], str]] = {
    "y": _year,
    "M": _month,
    "L": _month,
    "d": lambda moment, width: f"{moment.day:0{width}}",
    "D": lambda moment, width: f"{moment.timetuple().tm_yday:0{width}}",
    "Q": _quarter,
    "E": lambda moment, width: _named(_DAYS, moment.weekday(), width),
    "a": lambda moment, width: "AM" if moment.hour < 12 else "PM",
    "h": lambda moment, width: f"{(moment.hour + 11) % 12 + 1:0{width}}",
    "H": lambda moment, width: f"{moment.hour:0{width}}",
    "k": lambda moment, width: f"{(moment.hour + 23) % 24 + 1:0{width}}",
    "K": lambda moment, width: f"{moment.hour % 12:0{width}}",
    "m": lambda moment, width: f"{moment.minute:0{width}}",
    "s": lambda moment, width: f"{moment.second:0{width}}",
    "S": lambda moment, width: f"{moment.microsecond:06}000"[:width],
    "X": lambda moment, width: _offset(moment, width, colon=width == 3, zulu=True),
    "Z": lambda moment, width: _offset(moment, 2, colon=False, zulu=False),
}


def read(text: str, pattern: str, zone: tzinfo = UTC) -> int:
    """The instant that a text says by a pattern; what is left open is that of the epoch."""
    match = _reader(pattern).fullmatch(text)
    found = {name: part for name, part in match.groupdict().items() if part} if match else None
    try:
        if found is not None:
            return _instant(found, zone)
    except ValueError:
        pass
    raise EvaluationError("bad-cast", f"{text!r} is not a time of the form {pattern!r}")


@cache
def _reader(pattern: str) -> re.Pattern[str]:
    parts, seen = [], set()
    for letter, width, text in _tokens(pattern):
        if letter == "":
            parts.append(re.escape(text))
        elif letter in "[]":
            parts.append("(?:" if letter == "[" else ")?")
        else:
            body = _field(letter, width)
            if body is None or letter in seen:
                raise bad_argument(f"{text!r} cannot be read in the pattern {pattern!r}")
            seen.add(letter)
            parts.append(f"(?P<{letter}>{body})")
    try:
        return re.compile("".join(parts), re.IGNORECASE | re.ASCII)
    except re.error:
        raise bad_argument(f"the brackets in {pattern!r} do not match") from None


def _field(letter: str, width: int) -> str | None:
    """The expression for a field; None if it cannot be read."""
    match letter:
        case "y":
            return r"\d+" if width == 1 else rf"\d{{{width}}}"
        case "M" | "L" if width > 2:
            return "|".join(name if width == 4 else name[:3] for name in _MONTHS)
        case "M" | "L" | "d" | "H" | "h" | "m" | "s" if width <= 2:
            return r"\d{1,2}" if width == 1 else r"\d{2}"
        case "S" if width <= 9:
            return rf"\d{{1,{width}}}"
        case "a" if width == 1:
            return "AM|PM"
        case "X" | "Z":
            return r"Z|[+-]\d{2}(?::?\d{2})?"
        case _:
            return None


def _instant(found: dict[str, str], zone: tzinfo) -> int:
    year = found.get("y", "1970")
    month = found.get("M", found.get("L", "1"))
    shift = found.get("X", found.get("Z"))
    own = zone if shift is None else read_zone(shift.upper())
    if own is None:
        raise ValueError(shift)
    moment = datetime(
        int(year) + (2000 if len(year) == 2 else 0),
        int(month) if month.isdigit() else _month_number(month),
        int(found.get("d", "1")),
        _hour(found),
        int(found.get("m", "0")),
        int(found.get("s", "0")),
        int(found.get("S", "0")[:6].ljust(6, "0")),
    )
    return from_datetime(moment, own)


def _month_number(name: str) -> int:
    return next(n for n, known in enumerate(_MONTHS, 1) if known.lower().startswith(name.lower()))


def _hour(found: dict[str, str]) -> int:
    afternoon = found.get("a", "AM").upper() == "PM"
    if "H" in found:
        return int(found["H"])
    hour = int(found.get("h", "12"))
    if not 1 <= hour <= 12:
        raise ValueError(hour)
    return hour % 12 + (12 if afternoon else 0)
