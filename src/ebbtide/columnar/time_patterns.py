"""Times as text by Java's patterns, and back.

The letters are ``y M L d D Q E a h H k K m s S X Z`` (in reading without ``D Q E k K``), text in
quotes stands for itself, and ``[`` and ``]`` enclose what may be missing when read.  Names are
English.  Other letters are refused, as Spark refuses most of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo
from functools import lru_cache

from ebbtide.columnar.signature import bad_argument
from ebbtide.core.text import read_zone
from ebbtide.core.time import day_of, from_datetime
from ebbtide.errors import EvaluationError

_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_QUARTERS = ("1st quarter", "2nd quarter", "3rd quarter", "4th quarter")


@dataclass(frozen=True, slots=True)
class _Letters:
    """A run of one letter."""

    letter: str
    width: int

    def __str__(self) -> str:
        return self.letter * self.width


@dataclass(frozen=True, slots=True)
class _Bracket:
    """The beginning or the end of what may be missing."""

    opens: bool


_Piece = str | _Letters | _Bracket


@lru_cache(maxsize=1000)
def _pieces(pattern: str) -> tuple[_Piece, ...]:
    return tuple(_scanned(pattern))


def _scanned(pattern: str) -> Iterator[_Piece]:
    place = 0
    while place < len(pattern):
        character = pattern[place]
        if character == "'":
            text, place = _quoted(pattern, place + 1)
            yield text
            continue
        if character.isascii() and character.isalpha():
            end = place
            while end < len(pattern) and pattern[end] == character:
                end += 1
            yield _Letters(character, end - place)
            place = end
            continue
        if character in "{}#":
            raise bad_argument(f"{character!r} is not allowed in the pattern {pattern!r}")
        yield _Bracket(character == "[") if character in "[]" else character
        place += 1


def _quoted(pattern: str, start: int) -> tuple[str, int]:
    """The text of a quotation and where the pattern goes on; two quotes are one."""
    if pattern.startswith("'", start):
        return "'", start + 1
    text, place = "", start
    while place < len(pattern):
        if pattern[place] != "'":
            text, place = text + pattern[place], place + 1
        elif pattern.startswith("''", place):
            text, place = text + "'", place + 2
        else:
            return text, place + 1
    raise bad_argument(f"a quotation in the pattern {pattern!r} does not end")


def written(moment: datetime, pattern: str) -> str:
    """A time as text."""
    return "".join(_shown(moment, piece, pattern) for piece in _pieces(pattern))


def _shown(moment: datetime, piece: _Piece, pattern: str) -> str:
    match piece:
        case str():
            return piece
        case _Bracket():
            return ""
        case _Letters(letter, width):
            widest, write = _WRITERS.get(letter, (0, _digits("day")))
            if width > widest:
                raise bad_argument(f"{str(piece)!r} means nothing in the pattern {pattern!r}")
            return write(moment, width)


_Write = Callable[[datetime, int], str]


def _digits(part: str) -> _Write:
    return lambda moment, width: f"{getattr(moment, part):0{width}}"


def _number(value: Callable[[datetime], int]) -> _Write:
    return lambda moment, width: f"{value(moment):0{width}}"


def _year(moment: datetime, width: int) -> str:
    return f"{moment.year % 100:02}" if width == 2 else f"{moment.year:0{width}}"


def _month(moment: datetime, width: int) -> str:
    name = _MONTHS[moment.month - 1]
    return {3: name[:3], 4: name}.get(width) or f"{moment.month:0{width}}"


def _quarter(moment: datetime, width: int) -> str:
    quarter = (moment.month + 2) // 3
    return {3: f"Q{quarter}", 4: _QUARTERS[quarter - 1]}.get(width) or f"{quarter:0{width}}"


def _weekday(moment: datetime, width: int) -> str:
    name = _WEEKDAYS[moment.weekday()]
    return name if width == 4 else name[:3]


def _offset(moment: datetime, colon: str, minutes_wanted: bool) -> str:
    shift = moment.utcoffset() or timedelta()
    hours, minutes = divmod(abs(shift) // timedelta(minutes=1), 60)
    sign = "-" if shift < timedelta() else "+"
    return f"{sign}{hours:02}" + (f"{colon}{minutes:02}" if minutes_wanted or minutes else "")


def _zulu(moment: datetime, width: int) -> str:
    if not moment.utcoffset():
        return "Z"
    return _offset(moment, ":" if width == 3 else "", width > 1)


_WRITERS: Mapping[str, tuple[int, _Write]] = {
    "y": (6, _year),
    "M": (4, _month),
    "L": (4, _month),
    "d": (2, _digits("day")),
    "D": (3, _number(lambda moment: moment.timetuple().tm_yday)),
    "Q": (4, _quarter),
    "E": (4, _weekday),
    "a": (1, lambda moment, width: "AM" if moment.hour < 12 else "PM"),
    "h": (2, _number(lambda moment: moment.hour % 12 or 12)),
    "H": (2, _digits("hour")),
    "k": (2, _number(lambda moment: moment.hour or 24)),
    "K": (2, _number(lambda moment: moment.hour % 12)),
    "m": (2, _digits("minute")),
    "s": (2, _digits("second")),
    "S": (9, lambda moment, width: f"{moment.microsecond:06}000"[:width]),
    "X": (3, _zulu),
    "Z": (3, lambda moment, width: _offset(moment, "", True)),
}
"""The greatest width of each letter, and how it is written."""


def read_instant(text: str, pattern: str, zone: tzinfo) -> int:
    """The instant that a text says by a pattern; what is left open is that of the epoch."""
    moment, own = _read(text, pattern)
    return from_datetime(moment, own or zone)


def read_day(text: str, pattern: str, zone: tzinfo) -> date:
    """The day on which the instant falls that a text says by a pattern."""
    moment, own = _read(text, pattern)
    if own is None:
        return moment.date()
    try:
        return day_of(from_datetime(moment, own), zone)
    except OverflowError:
        raise _unreadable(text, pattern) from None


def _read(text: str, pattern: str) -> tuple[datetime, tzinfo | None]:
    found = _reader(pattern).fullmatch(text)
    if found is None:
        raise _unreadable(text, pattern)
    try:
        return _moment({name: part for name, part in found.groupdict().items() if part})
    except ValueError:
        raise _unreadable(text, pattern) from None


def _unreadable(text: str, pattern: str) -> EvaluationError:
    return EvaluationError("bad-cast", f"{text!r} is not a time of the form {pattern!r}")


@lru_cache(maxsize=1000)
def _reader(pattern: str) -> re.Pattern[str]:
    """The expression with a group for every field; a year of two digits is the group ``yy``."""
    seen: set[str] = set()
    parts = [_expected(piece, pattern, seen) for piece in _pieces(pattern)]
    try:
        return re.compile("".join(parts), re.IGNORECASE | re.ASCII)
    except re.error:
        raise bad_argument(f"the brackets in {pattern!r} do not match") from None


def _expected(piece: _Piece, pattern: str, seen: set[str]) -> str:
    """The expression for a piece; a field that was seen before it cannot be read."""
    match piece:
        case str():
            return re.escape(piece)
        case _Bracket(opens):
            return "(?:" if opens else ")?"
        case _Letters(letter, width):
            body = _field(letter, width)
            if body is None or letter in seen:
                raise bad_argument(f"{str(piece)!r} cannot be read in the pattern {pattern!r}")
            seen.add(letter)
            name = "yy" if (letter, width) == ("y", 2) else letter
            return f"(?P<{name}>{body})"


def _field(letter: str, width: int) -> str | None:
    """The expression for a field; None if it cannot be read."""
    if letter == "y":
        return r"\d+" if width == 1 else rf"\d{{{width}}}"
    if letter in "ML" and width in (3, 4):
        return "|".join(name[:3] if width == 3 else name for name in _MONTHS)
    if letter in "MLdHhms" and width <= 2:
        return r"\d{1,2}" if width == 1 else r"\d{2}"
    if letter == "S" and width <= 9:
        return rf"\d{{1,{width}}}"
    if letter == "a" and width == 1:
        return "AM|PM"
    return r"Z|[+-]\d{2}(?::?\d{2})?" if letter in "XZ" else None


def _moment(found: Mapping[str, str]) -> tuple[datetime, tzinfo | None]:
    """The local time of the fields, and the zone, if one of them says it."""
    shift = found.get("X", found.get("Z"))
    own = None if shift is None else read_zone(shift.upper())
    if shift is not None and own is None:
        raise ValueError(shift)
    moment = datetime(
        2000 + int(found["yy"]) if "yy" in found else int(found.get("y", "1970")),
        _month_number(found.get("M", found.get("L", "1"))),
        int(found.get("d", "1")),
        _hour(found),
        int(found.get("m", "0")),
        int(found.get("s", "0")),
        int(found.get("S", "")[:6].ljust(6, "0")),
    )
    return moment, own


def _month_number(given: str) -> int:
    if given.isdigit():
        return int(given)
    starts = [name[:3].lower() for name in _MONTHS]
    return starts.index(given[:3].lower()) + 1


def _hour(found: Mapping[str, str]) -> int:
    if "H" in found:
        return int(found["H"])
    hour = int(found.get("h", "12"))
    if not 1 <= hour <= 12:
        raise ValueError(hour)
    return hour % 12 + (12 if found.get("a", "").upper() == "PM" else 0)
