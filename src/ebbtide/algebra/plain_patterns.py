"""Regular expressions that mean the same to everyone.

Law: of a plain pattern Java, Python and Arrow find the same first match and the same groups, and it
fails on no text.  Plain are letters, digits, some marks, simple classes, alternatives, groups and
``^``, with quantifiers that stand behind neither a group nor each other.

Of a pattern that has a linear form, Arrow finds out in a time that follows the length of the text
whether it matches at all; the others try one way to match after the other, of which a text of 40
characters may have more than there is time for.
"""

from __future__ import annotations

import re
from functools import lru_cache

_MARKS = r"A-Za-z0-9_=/:;,@%#!~ '\"<>&-"

CLASS = re.compile(rf"\[\^?[{_MARKS}]+\]")
"""A simple class of characters."""

_PLAIN = re.compile(rf"(?:{CLASS.pattern}[*+?]?|[{_MARKS}][*+?]?|[\^|()])*")
_QUANTIFIED = re.compile(r"\)[*+?]|[*+?][*+?]")


_ESCAPED = r"\\[dDwW.*+?^$|()\[\]{}\\/-]"
_PART = re.compile(
    rf"(?P<atom>\[\^?(?:[.*+?|(){_MARKS}]|{_ESCAPED})+\]|[.{_MARKS}]|{_ESCAPED}|\\s|\))"
    r"|(?P<times>[*+?]\??|\{\d{1,3}(?:,\d{0,3})?\}\??)|(?P<other>\((?:\?:)?|[|^]|\$(?=\)*\Z))"
)
_IN_ARROW = {"$": r"(?:\n?\z)", r"\s": r"[\t-\r ]"}


@lru_cache(maxsize=1000)
def plain_groups(pattern: str) -> int | None:
    """How many groups a plain pattern has; None for any other.

    >>> plain_groups("(&|^)channel_id=([^&]*)")
    2
    >>> plain_groups("a.b")
    """
    if _QUANTIFIED.search(pattern) or "&&" in pattern or not _PLAIN.fullmatch(pattern):
        return None
    try:
        return re.compile(pattern).groups
    except re.error:
        return None


@lru_cache(maxsize=1000)
def linear_form(pattern: str) -> str | None:
    r"""What Arrow matches in the same texts, where it is known to; None for any other pattern.

    >>> linear_form(r"^(a+)+\s$")
    '^(a+)+[\\t-\\r ](?:\\n?\\z)'
    >>> linear_form(r"(a)\1")
    """
    parts, place, repeatable = [], 0, False
    while place < len(pattern):
        part = _PART.match(pattern, place)
        if part is None or (part["times"] and not repeatable):
            return None
        parts.append(_IN_ARROW.get(part[0], part[0]))
        place, repeatable = part.end(), part["atom"] is not None
    try:
        re.compile(pattern)
    except re.error:
        return None
    return None if "&&" in pattern else "".join(parts)
