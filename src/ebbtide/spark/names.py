"""Names in Spark's SQL: the one place where a name becomes a part of a text that Spark parses.

Law: whatever stands in a name, Spark reads it as that name and as nothing else.
"""

from __future__ import annotations


def quoted(name: str) -> str:
    """A name in backticks, its own doubled.

    >>> quoted("a`b")
    '`a``b`'
    """
    doubled = name.replace("`", "``")
    return f"`{doubled}`"
