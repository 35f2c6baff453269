"""Durations and comparisons as people write them.

Law: the text of ``a <= b + c`` says exactly that, on integer time; where the next microsecond is a
rounder number it says ``a < b + (c + 1)``, so that a window reads ``at < start + 1 min``.
"""

from __future__ import annotations

from collections.abc import Iterable

from ebbtide.core.time import DAY, HOUR, MICROSECOND, MILLISECOND, MINUTE, SECOND, Duration

_UNITS = (
    ("d", DAY),
    ("h", HOUR),
    ("min", MINUTE),
    ("s", SECOND),
    ("ms", MILLISECOND),
    ("us", MICROSECOND),
)


def duration_text(d: Duration) -> str:
    """A duration as a count of the largest unit that fits.

    >>> duration_text(15 * MINUTE), duration_text(90 * SECOND), duration_text(7)
    ('15 min', '90 s', '7 us')
    """
    for name, unit in _UNITS:
        if d != 0 and d % unit == 0:
            return f"{d // unit} {name}"
    return "0 s"


def plus(text: str, d: Duration) -> str:
    """``text`` moved by a duration; a tick beside a round one is told apart.

    >>> plus("at", -2 * MINUTE), plus("at", 0), plus("at", 1 - MINUTE)
    ('at - 2 min', 'at', 'at - 1 min + 1 us')
    """
    if d == 0:
        return text
    for tick in (1, -1):
        if d != tick and is_rounder(d - tick, than=d):
            return plus(plus(text, d - tick), tick)
    return f"{text} {'-' if d < 0 else '+'} {duration_text(abs(d))}"


def is_rounder(c: Duration, than: Duration) -> bool:
    """Whether ``c`` counts larger units than another duration does; zero is the roundest."""
    return than != 0 and (c == 0 or _unit(c) > _unit(than))


def at_most(left: str, right: str, c: Duration) -> str:
    """``left <= right + c``.

    >>> at_most("from", "to", -1), at_most("at", "start", MINUTE - 1), at_most("a", "b", 3)
    ('from < to', 'at < start + 1 min', 'a <= b + 3 us')
    """
    if is_rounder(c + 1, than=c):
        return f"{left} < {plus(right, c + 1)}"
    return f"{left} <= {plus(right, c)}"


def above(left: str, right: str, c: Duration) -> str:
    """``left > right + c``.

    >>> above("at", "progress(bids.at)", -2 * MINUTE), above("at", "progress(bids.at)", -1)
    ('at > progress(bids.at) - 2 min', 'at >= progress(bids.at)')
    """
    if is_rounder(c + 1, than=c):
        return f"{left} >= {plus(right, c + 1)}"
    return f"{left} > {plus(right, c)}"


def joined(word: str, parts: Iterable[str], empty: str) -> str:
    """Parts with ``and`` or ``or`` between them, in parentheses where there are several words."""
    texts = list(parts)
    if len(texts) < 2:
        return texts[0] if texts else empty
    other = " or " if word == "and" else " and "
    return f" {word} ".join(f"({text})" if other in text else text for text in texts)


def _unit(d: Duration) -> Duration:
    return next(unit for _, unit in _UNITS if d % unit == 0)
