"""How long a text may get that a function makes of shorter ones.

Law: the limit is part of what such a function means, so it is the same wherever it runs; a longer
text is an error of the row.
"""

from __future__ import annotations

from ebbtide.errors import EvaluationError

__all__ = ["LONGEST", "checked_length"]

LONGEST = 1 << 16
"""So many characters a text may have that REPEAT, LPAD, RPAD or REPLACE makes."""


def checked_length(function: str, length: int) -> int:
    """The length of a text that is to be made, unless it is too long."""
    if length > LONGEST:
        raise EvaluationError(
            "text-too-long",
            f"{function} would make a text of {length:,} characters",
            detail=f"it may make {LONGEST:,}",
        )
    return length
