"""Words that are given in Python, as the values that they stand for."""

from __future__ import annotations

from zoneinfo import ZoneInfo

from ebbtide.core.declaration import Late
from ebbtide.errors import QueryError


def zone_of(name: str) -> ZoneInfo:
    """The time zone of that name."""
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, KeyError):
        raise QueryError(
            "unknown-zone", f'there is no time zone "{name}"', hint='zone="Europe/Berlin"'
        ) from None


def late_of(word: str) -> Late:
    """What is done with late rows."""
    try:
        return Late[word.upper()]
    except KeyError:
        raise QueryError(
            "bad-late",
            f'"{word}" is not what can be done with late rows',
            hint="revise or quarantine",
        ) from None
