"""Regular expressions that mean the same to everyone.

Law: of a plain pattern Java, Python and Arrow find the same first match and the same groups, and it
fails on no text.  Plain are letters, digits, some marks, simple classes, alternatives, groups and
``^``, with quantifiers that stand behind neither a group nor each other.
"""

from __future__ import annotations

import re
from functools import lru_cache

_MARKS = r"A-Za-z0-9_=/:;,@%#!~ '\"<>&-"

CLASS = re.compile(rf"\[\^?[{_MARKS}]+\]")
"""A simple class of characters."""

_PLAIN = re.compile(rf"(?:{CLASS.pattern}[*+?]?|[{_MARKS}][*+?]?|[\^|()])*")
_QUANTIFIED = re.compile(r"\)[*+?]|[*+?][*+?]")


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
