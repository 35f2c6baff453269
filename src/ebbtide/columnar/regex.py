"""Java's regular expressions by means of Python's.

Java's syntax is taken over where Python has the same, and translated where it is spelled
otherwise: named groups, quotations, the ends of text, ``\\h``, ``\\R`` and the POSIX classes.
``\\d``, ``\\w`` and their like are those of ASCII, as in Java.

Refused: Unicode properties such as ``\\p{L}``, classes inside of classes and their intersection,
``\\G``, ``\\X`` and ``\\N``.  Different from Java: the only end of a line that ``.`` and ``$`` know
is ``\\n``.
"""

from __future__ import annotations

import re
from functools import lru_cache

from ebbtide.columnar.signature import bad_argument

_CLASSES = {
    "Lower": "a-z",
    "Upper": "A-Z",
    "ASCII": "\\x00-\\x7f",
    "Alpha": "A-Za-z",
    "Digit": "0-9",
    "Alnum": "A-Za-z0-9",
    "Punct": "!-/:-@\\[-`{-~",
    "Graph": "!-~",
    "Print": " -~",
    "Blank": " \\t",
    "Cntrl": "\\x00-\\x1f\\x7f",
    "XDigit": "0-9A-Fa-f",
    "Space": " \\t-\\r",
}
_BLANKS = " \\t\\xa0\\u1680\\u180e\\u2000-\\u200a\\u202f\\u205f\\u3000"
_OUTSIDE = {
    "z": "\\Z",
    "Z": "(?=\\n?\\Z)",
    "R": "(?:\\r\\n|[\\n-\\r\\x85\\u2028\\u2029])",
    "h": f"[{_BLANKS}]",
    "e": "\\x1b",
}
_INSIDE = {"h": _BLANKS, "e": "\\x1b"}
_PROPERTY = re.compile(r"\\([pP])\{(\w+)\}")
_GROUP_NAME = re.compile(r"\{([A-Za-z]\w*)\}")


@lru_cache(maxsize=10_000)
def compiled(pattern: str) -> re.Pattern[str]:
    """The Python expression that matches what a Java one does."""
    try:
        return re.compile(_Translation(pattern).text(), re.ASCII)
    except (re.error, OverflowError) as error:
        raise bad_argument(f"{pattern!r} is not a regular expression: {error}") from None


class _Translation:
    """A walk through a Java expression."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.place = 0
        self.inside = False

    def text(self) -> str:
        """The Python expression."""
        parts = []
        while self.place < len(self.pattern):
            parts.append(self._next())
        return "".join(parts)

    def _next(self) -> str:
        rest = self.pattern[self.place :]
        if rest.startswith("\\Q"):
            quoted, _, _ = rest[2:].partition("\\E")
            self.place += len(quoted) + (4 if rest[2 + len(quoted) :] else 2)
            return re.escape(quoted)
        if found := _PROPERTY.match(rest):
            self.place += found.end()
            return self._class(found[2], negated=found[1] == "P")
        if rest[0] == "\\" and len(rest) > 1:
            self.place += 2
            return self._escape(rest[1])
        if not self.inside and re.match(r"\(\?<[A-Za-z]", rest):
            self.place += 3
            return "(?P<"
        if self.inside and (rest[0] == "[" or rest.startswith("&&")):
            raise self._refused("a class inside of a class")
        if rest[0] == "[" or (rest[0] == "]" and self.inside):
            self.inside = rest[0] == "["
        self.place += 1
        return rest[0]

    def _class(self, name: str, negated: bool) -> str:
        if name not in _CLASSES or (negated and self.inside):
            raise self._refused(f"the class \\p{{{name}}}")
        members = _CLASSES[name]
        return members if self.inside else f"[{'^' if negated else ''}{members}]"

    def _escape(self, letter: str) -> str:
        known = _INSIDE if self.inside else _OUTSIDE
        if letter in known:
            return known[letter]
        if letter in "GXN" or letter in _OUTSIDE:
            raise self._refused(f"\\{letter}")
        return f"\\{letter}"

    def _refused(self, what: str) -> Exception:
        return bad_argument(f"{self.pattern!r} has {what}, which is not supported")


def expanded(replacement: str, match: re.Match[str]) -> str:
    """The text for a match: ``$1`` and ``${name}`` are groups, ``\\`` takes the next character."""
    text, place = "", 0
    while place < len(replacement):
        character = replacement[place]
        if character == "$":
            group, place = _group(replacement, place + 1, match.re)
            text += match[group] or ""
            continue
        if character == "\\":
            place += 1
        text += replacement[place : place + 1]
        place += 1
    return text


def _group(replacement: str, place: int, pattern: re.Pattern[str]) -> tuple[int | str, int]:
    """The group after a ``$``, and where the replacement goes on.

    A number has as many digits as there are groups for.
    """
    if name := _GROUP_NAME.match(replacement, place):
        if name[1] not in pattern.groupindex:
            raise bad_argument(f"there is no group {name[1]!r}")
        return name[1], name.end()
    digits = re.compile("[0-9]*").match(replacement, place)
    found = digits[0] if digits else ""
    if not found:
        raise bad_argument(f"in {replacement!r} there is no group after a $")
    length = 1
    while length < len(found) and int(found[: length + 1]) <= pattern.groups:
        length += 1
    if int(found[:length]) > pattern.groups:
        raise bad_argument(f"there is no group {found[:length]}")
    return int(found[:length]), place + length
