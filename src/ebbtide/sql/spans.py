"""Where a node stands in the source.

Law: the span of a node covers the spans of its parts.  The parser marks what it reads with the
characters from the first token to the last; a node that was put together from others, such as
`a + b`, covers what they cover.  Joins and set operations stand where their words stand, for a
reader wants to see those and not the whole query.  Marks are kept beside the node and do not count
in comparisons.
"""

from sqlglot import exp

from ebbtide.errors import Span

__all__ = ["extent_of", "focus", "mark", "marked", "span_of"]

_MARK = "span"
_FOCUS = "focus"


def focus(node: exp.Expr, span: Span) -> None:
    """Notes the words that the node is known by, whatever it covers."""
    node.meta[_FOCUS] = (span.start, span.end)


def mark(node: exp.Expr, start: int, end: int) -> None:
    """Notes that the node was read from the characters [start, end), or from more."""
    known = marked(node)
    if known is not None:
        start, end = min(start, known[0]), max(end, known[1])
    node.meta[_MARK] = (start, end)


def marked(node: exp.Expr) -> tuple[int, int] | None:
    """What is noted of the node itself: by us, or by sqlglot for names and literals."""
    known: tuple[int, int] | None = node.meta_get(_MARK)
    if known is not None:
        return known
    start, end = node.meta_get("start"), node.meta_get("end")
    return None if start is None or end is None else (start, end + 1)


def span_of(node: exp.Expr, source: str) -> Span:
    """The part of the source to show for the node: its words, or else all that it covers."""
    words: tuple[int, int] | None = node.meta_get(_FOCUS)
    return extent_of(node, source) if words is None else Span(source, *words)


def extent_of(node: exp.Expr, source: str) -> Span:
    """The part of the source that the node was read from; all of it if that is not known."""
    places = [place for part in node.walk() if (place := marked(part)) is not None]
    if not places:
        return Span(source, 0, len(source))
    start, end = min(place[0] for place in places), max(place[1] for place in places)
    return Span(source, min(start, len(source)), min(end, len(source)))
