"""Java's regular expressions and LIKE, by means of Python's.

Java's syntax is taken over where Python has the same, and translated where it is spelled
otherwise: named groups, ``\\Q...\\E``, ``\\z``, ``\\Z``, ``\\h``, ``\\R`` and the POSIX classes
``\\p{Alpha}`` and their like.  Classes such as ``\\d`` and ``\\w`` are those of ASCII, as in Java.

Not understood, and refused: Unicode properties (``\\p{L}``), classes inside of classes and their
intersection (``[a-z&&[^b]]``), ``\\G`` and ``\\X``.  Different: ``.`` and ``$`` know ``\\n`` as the
only end of a line.
"""

from __future__ import annotations

import re
from functools import cache

from ebbtide.reference.functions.context import bad_argument

_POSIX = {
    "Lower": "a-z",
    "Upper": "A-Z",
    "ASCII": r"\x00-\x7f",
    "Alpha": "a-zA-Z",
    "Digit": "0-9",
    "Alnum": "a-zA-Z0-9",
    "Punct": r"!-/:-@\[-`{-~",
    "Graph": "!-~",
    "Print": " -~",
    "Blank": r" \t",
    "Cntrl": r"\x00-\x1f\x7f",
    "XDigit": "0-9a-fA-F",
    "Space": r" \t\n\x0b\f\r",
}
_ESCAPES = {
    "z": r"\Z",
    "Z": r"(?=\n?\Z)",
    "h": r"[ \t\xa0\u1680\u180e\u2000-\u200a\u202f\u205f\u3000]",
    "R": r"(?:\r\n|[\n\x0b\f\r\x85\u2028\u2029])",
    "e": r"\x1b",
}
_REFUSED = frozenset("GXN")
_TOKEN = re.compile(
    r"\\Q(?P<quoted>.*?)(?:\\E|\Z)|\\(?P<sign>[pP])\{(?P<class>\w+)\}|\\(?P<escape>.)"
    r"|(?P<name>\(\?<(?=[a-zA-Z]))|(?P<other>.)",
    re.DOTALL,
)


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """The Python expression that matches what a Java one does."""
    try:
        return re.compile(_translated(pattern), re.ASCII)
    except re.error as error:
        raise bad_argument(f"{pattern!r} is not a regular expression: {error}") from None


def _translated(pattern: str) -> str:
    parts, inside = [], False
    for token in _TOKEN.finditer(pattern):
        if token["quoted"] is not None:
            parts.append(re.escape(token["quoted"]))
        elif token["class"] is not None:
            parts.append(_posix(pattern, token["sign"] == "P", token["class"], inside))
        elif token["escape"] is not None:
            parts.append(_escape(pattern, token["escape"], inside))
        elif token["name"] is not None and not inside:
            parts.append("(?P<")
        else:
            inside = _bracket(pattern, token, inside)
            parts.append(token[0])
    return "".join(parts)


def _bracket(pattern: str, token: re.Match[str], inside: bool) -> bool:
    """Whether what follows the token is inside of a class."""
    if inside and (token[0] == "[" or pattern.startswith("&&", token.start())):
        raise bad_argument(f"{pattern!r} has a class inside of a class, which is not supported")
    if token[0] == "[":
        return True
    return inside and token[0] != "]"


def _posix(pattern: str, negated: bool, name: str, inside: bool) -> str:
    if name not in _POSIX or (negated and inside):
        raise bad_argument(f"{pattern!r} has a class \\p{{{name}}}, which is not supported")
    if inside:
        return _POSIX[name]
    return f"[{'^' if negated else ''}{_POSIX[name]}]"


def _escape(pattern: str, letter: str, inside: bool) -> str:
    if letter in _REFUSED or (inside and letter in "zZR"):
        raise bad_argument(f"{pattern!r} has \\{letter}, which is not supported")
    if letter in _ESCAPES:
        text = _ESCAPES[letter]
        return text.strip("[]") if inside else text
    return f"\\{letter}"


def expanded(replacement: str, match: re.Match[str]) -> str:
    """The replacement for a match: ``$1`` and ``${name}`` are groups, ``\\`` takes the next one."""
    parts, place = [], 0
    while place < len(replacement):
        character = replacement[place]
        if character not in "\\$":
            parts.append(character)
            place += 1
        elif character == "\\":
            parts.append(replacement[place + 1 : place + 2])
            place += 2
        else:
            group, place = _reference(replacement, place + 1, match.re)
            parts.append(match[group] or "")
    return "".join(parts)


def _reference(replacement: str, place: int, pattern: re.Pattern[str]) -> tuple[int | str, int]:
    """The group that stands after a ``$``, and where the replacement goes on."""
    if found := re.compile(r"\{([a-zA-Z]\w*)\}").match(replacement, place):
        if found[1] not in pattern.groupindex:
            raise bad_argument(f"there is no group {found[1]!r}")
        return found[1], found.end()
    if not replacement[place : place + 1].isdigit():
        raise bad_argument(f"in {replacement!r} there is no group after the $")
    group, end = int(replacement[place]), place + 1
    if group > pattern.groups:
        raise bad_argument(f"there is no group {group}")
    while (
        replacement[end : end + 1].isdigit()
        and (longer := group * 10 + int(replacement[end])) <= pattern.groups
    ):
        group, end = longer, end + 1
    return group, end


def like(text: str, pattern: str, escape: str) -> bool:
    """Whether a text has the form of a LIKE pattern."""
    return _like(pattern, escape).fullmatch(text) is not None


@cache
def _like(pattern: str, escape: str) -> re.Pattern[str]:
    parts, place = [], 0
    while place < len(pattern):
        character = pattern[place]
        if character == escape:
            place += 1
            if pattern[place : place + 1] not in ("_", "%", escape):
                raise bad_argument(f"in {pattern!r} the escape {escape!r} precedes no _, % or it")
            parts.append(re.escape(pattern[place]))
        else:
            parts.append({"_": ".", "%": ".*"}.get(character) or re.escape(character))
        place += 1
    return re.compile("".join(parts), re.DOTALL)
