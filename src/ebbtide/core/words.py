"""Words of messages: articles, numbers of things, and amounts of bytes."""

from __future__ import annotations

__all__ = ["counted", "size", "with_article"]


def with_article(word: object) -> str:
    """A word, or the name of a type, with its article.

    >>> with_article("INT"), with_article("DOUBLE")
    ('an INT', 'a DOUBLE')
    """
    text = str(word)
    return f"{'an' if text[:1].upper() in 'AEIO' else 'a'} {text}"


def counted(count: int, thing: str) -> str:
    """A number of things.

    >>> counted(1, "row"), counted(1200, "row")
    ('1 row', '1,200 rows')
    """
    return f"{count:,} {thing}" if count == 1 else f"{count:,} {thing}s"


def size(count: int) -> str:
    """A number of bytes in the unit that fits.

    >>> size(312), size(45_300), size(2_500_000_000)
    ('312 B', '45 KB', '2.5 GB')
    """
    value, unit = float(count), "B"
    for larger in ("KB", "MB", "GB", "TB"):
        if value < 1000:
            break
        value, unit = value / 1000, larger
    return f"{value:.0f} {unit}" if unit in ("B", "KB") or value >= 100 else f"{value:.1f} {unit}"
