"""LIKE, and functions of regular expressions.

A LIKE whose pattern is the same on all rows is Arrow's; regular expressions are matched one value
at a time, because Arrow's do not know all of Java's.  What a plain one extracts, in which all that
is written means the same to both, is Arrow's too; and so is whether something matches at all, for
Python may have more ways to try than there is time for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import count
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ebbtide.algebra.plain_patterns import CLASS, linear_form, plain_groups
from ebbtide.columnar.arrays import constant_of, each, is_scalar, present
from ebbtide.columnar.regex import compiled, expanded
from ebbtide.columnar.signature import Context, Implementation, bad_argument, by_value
from ebbtide.columnar.vectors import Computed, Failures, failing
from ebbtide.core.types import BOOLEAN, STRING
from ebbtide.errors import EvaluationError

ANY_TEXT, ANY_CHARACTER = "%", "_"

_REPEATED_GROUP = re.compile(r"\)[*+{]")
"""What makes so many ways to match that a text of 40 characters takes for ever."""


def like(escape: str, text: Any, pattern: Any) -> Computed:
    """Whether texts have the form of patterns."""
    if is_scalar(pattern):
        try:
            return Computed(_like_one(text, _parts(pattern.as_py(), escape)))
        except EvaluationError as error:
            mask = present(True, text)
            return failing(pa.nulls(len(text), pa.bool_()), Failures.where(mask, error))

    def decide(given: str, form: str) -> bool:
        return _has_form(given, _segments(form, escape))

    return each(decide, (STRING, STRING), BOOLEAN, text, pattern)


@lru_cache(maxsize=1000)
def _parts(pattern: str, escape: str) -> tuple[tuple[bool, str], ...]:
    return tuple(_scanned(pattern, escape))


def _scanned(pattern: str, escape: str) -> Iterator[tuple[bool, str]]:
    """The characters of a pattern, each with whether it stands for others."""
    place = 0
    while place < len(pattern):
        character = pattern[place]
        if character == escape:
            place += 1
            if pattern[place : place + 1] not in (ANY_TEXT, ANY_CHARACTER, escape):
                raise bad_argument(f"in {pattern!r} the escape {escape!r} precedes no _, % or it")
            yield False, pattern[place]
        else:
            yield character in (ANY_TEXT, ANY_CHARACTER), character
        place += 1


def _like_one(text: Any, parts: tuple[tuple[bool, str], ...]) -> Any:
    """LIKE of one pattern: a search for text where it has ``%`` at its ends only."""
    stars = [part == (True, ANY_TEXT) for part in parts]
    opens, closes = bool(stars[:1] == [True]), bool(stars[1:][-1:] == [True])
    inner = parts[opens : len(parts) - closes]
    if any(special for special, _ in inner):
        return pc.match_substring_regex(text, pattern=rf"(?s)\A(?:{_expression(parts)})\z")
    plain = "".join(character for _, character in inner)
    if opens and (closes or not inner):
        return pc.match_substring(text, pattern=plain)
    if opens:
        return pc.ends_with(text, pattern=plain)
    if closes:
        return pc.starts_with(text, pattern=plain)
    return pc.equal(text, pa.scalar(plain))


def _expression(parts: tuple[tuple[bool, str], ...]) -> str:
    return "".join(
        {ANY_TEXT: ".*", ANY_CHARACTER: "."}[character] if special else re.escape(character)
        for special, character in parts
    )


@dataclass(frozen=True, slots=True)
class _Segment:
    """A part of a pattern without ``%``, and how many characters it stands for."""

    pattern: re.Pattern[str]
    length: int


@lru_cache(maxsize=10_000)
def _segments(pattern: str, escape: str) -> tuple[_Segment, ...]:
    """What stands before, between and behind the ``%`` of a pattern."""
    found: list[list[tuple[bool, str]]] = [[]]
    for part in _parts(pattern, escape):
        if part == (True, ANY_TEXT):
            found.append([])
        else:
            found[-1].append(part)
    return tuple(
        _Segment(re.compile(_expression(tuple(parts)), re.DOTALL), len(parts)) for parts in found
    )


def _has_form(text: str, segments: tuple[_Segment, ...]) -> bool:
    """Whether segments follow each other from the beginning of a text to its end.

    Each is taken where it comes first: if the others fit anywhere, they fit behind it.
    """
    first, *others = segments
    if not others:
        return first.pattern.fullmatch(text) is not None
    found = first.pattern.match(text)
    for segment in others[:-1]:
        found = found and segment.pattern.search(text, found.end())
    last = len(text) - others[-1].length
    return found is not None and found.end() <= last and bool(others[-1].pattern.match(text, last))


@lru_cache(maxsize=1000)
def _named_groups(pattern: str) -> tuple[str, int] | None:
    """A plain pattern with names for its groups, and how many there are."""
    groups = plain_groups(pattern)
    if groups is None:
        return None
    number = count(1)
    named = re.sub(rf"{CLASS.pattern}|\(", lambda m: _group(m[0], number), pattern)
    return f"(?P<g0>{named})", groups


def _group(part: str, number: Iterator[int]) -> str:
    return f"(?P<g{next(number)}>" if part == "(" else part


def _extracts(context: Context, text: Any, pattern: Any, group: Any = None) -> Any:
    form = constant_of(pattern)
    wanted = 1 if group is None else constant_of(group)
    named = None if form is None or is_scalar(text) else _named_groups(form)
    if named is None or wanted is None or not 0 <= wanted <= named[1]:
        given = (text, pattern) if group is None else (text, pattern, group)
        return each(_extract, context.types, STRING, *given)
    found = pc.struct_field(pc.extract_regex(text, pattern=named[0]), f"g{wanted}")
    return pc.if_else(pc.is_valid(text), pc.fill_null(found, ""), pa.scalar(None, text.type))


def _may_match(pattern: str, text: str, place: int = 0) -> bool:
    """Whether it cannot be excluded that a pattern matches in the text from a place on."""
    form = linear_form(pattern) if _REPEATED_GROUP.search(pattern) else None
    if form is None:
        return True
    try:
        return bool(pc.match_substring_regex(pa.scalar(text[place:]), pattern=form).as_py())
    except pa.ArrowInvalid:
        return True


def _matches(pattern: str, text: str) -> Iterator[re.Match[str]]:
    """All matches, one after the other; where there is none, Python does not look for it."""
    found, place = compiled(pattern).finditer(text), 0
    while _may_match(pattern, text, place) and (match := next(found, None)) is not None:
        place = match.end()
        yield match


def _is_like(text: str, pattern: str) -> bool:
    return next(_matches(pattern, text), None) is not None


def _are_like(context: Context, text: Any, pattern: Any) -> Any:
    given = constant_of(pattern)
    form = None if given is None or is_scalar(text) else linear_form(given)
    if form is not None:
        try:
            return pc.match_substring_regex(text, pattern=form)
        except pa.ArrowInvalid:  # it repeats more often than Arrow takes
            pass
    return each(_is_like, context.types, BOOLEAN, text, pattern)


def _extract(text: str, pattern: str, group: int = 1) -> str:
    match = next(_matches(pattern, text), None)
    if match is None:
        return ""
    if not 0 <= group <= match.re.groups:
        raise bad_argument(f"there is no group {group} in {pattern!r}")
    return match[group] or ""


def _replace(text: str, pattern: str, replacement: str, position: int = 1) -> str:
    if position < 1:
        raise bad_argument(f"a position is 1 or more, not {position}")
    parts, rest, place = [text[: position - 1]], text[position - 1 :], 0
    for match in _matches(pattern, rest):
        parts += [rest[place : match.start()], expanded(replacement, match)]
        place = match.end()
    return "".join((*parts, rest[place:]))


def _split(text: str, pattern: str, limit: int = -1) -> tuple[str, ...]:
    """Java's split: an empty match at the very beginning splits nothing off."""
    parts: list[str] = []
    start = 0
    for match in _matches(pattern, text):
        if 0 < limit == len(parts) + 1:
            break
        if match.end() == 0 or (pattern == "" and match.start() == len(text)):
            continue
        parts.append(text[start : match.start()])
        start = match.end()
    return (*parts, text[start:])


PATTERNS: dict[str, Implementation] = {
    "RLIKE": _are_like,
    "REGEXP_EXTRACT": _extracts,
    "REGEXP_REPLACE": by_value(_replace),
    "SPLIT": by_value(_split),
}
