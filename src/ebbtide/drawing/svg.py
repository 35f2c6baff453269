"""A picture in SVG, by the few shapes that the drawings need.

Law: equal calls give equal text.  Widths of text are estimated from above, since the font is that
of whoever looks at it.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from xml.etree import ElementTree

SANS = "Inter, 'Segoe UI', 'Helvetica Neue', 'DejaVu Sans', Arial, sans-serif"
MONO = "ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace"

INK = "#22313f"
QUIET = "#5d6d7e"
RULE = "#e3e8ed"
EDGE = "#aebbc7"
PAPER = "#ffffff"
TEAL = "#1f8a80"
TEAL_PALE = "#d9f0ed"
BLUE = "#4a6fa5"
BLUE_PALE = "#e4ecf7"
RED = "#c0483c"
RED_PALE = "#fdf1ef"
AMBER = "#a5670b"

# Characters that XML has no way to write.
_UNWRITTEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NARROW = frozenset("iljtfrI.,:;'|()[]! ")
_WIDE = frozenset("mwMW@%")


class Picture:
    """A picture that grows shape by shape, and is text in the end."""

    def __init__(self, title: str) -> None:
        self._root = ElementTree.Element(
            "svg", {"xmlns": "http://www.w3.org/2000/svg", "role": "img"}
        )
        ElementTree.SubElement(self._root, "title").text = written(title)

    def text(
        self,
        x: float,
        y: float,
        said: str,
        *,
        size: float = 13,
        fill: str = INK,
        anchor: str = "start",
        mono: bool = False,
        bold: bool = False,
        halo: bool = False,
    ) -> None:
        """Text whose baseline is at ``y``; a halo keeps it apart from lines behind it."""
        made = self._add(
            "text",
            x=x,
            y=y,
            font_family=MONO if mono else SANS,
            font_size=size,
            fill=fill,
            text_anchor=anchor,
        )
        if bold:
            made.set("font-weight", "600")
        if halo:
            made.attrib |= {"stroke": PAPER, "stroke-width": "4", "paint-order": "stroke"}
        made.text = written(said)

    def line(
        self,
        start: tuple[float, float],
        end: tuple[float, float],
        stroke: str = RULE,
        *,
        width: float = 1,
        dash: str = "",
    ) -> None:
        """A straight line."""
        made = self._add(
            "line",
            x1=start[0],
            y1=start[1],
            x2=end[0],
            y2=end[1],
            stroke=stroke,
            stroke_width=width,
        )
        if dash:
            made.set("stroke-dasharray", dash)

    def box(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        *,
        fill: str = PAPER,
        stroke: str = RULE,
        radius: float = 6,
    ) -> None:
        """A rectangle with round corners."""
        self._add("rect", x=x, y=y, width=width, height=height, rx=radius, fill=fill, stroke=stroke)

    def shape(
        self,
        points: Sequence[tuple[float, float]],
        *,
        fill: str,
        stroke: str,
        dash: str = "",
        hint: str = "",
    ) -> None:
        """A closed shape; ``hint`` is shown to who points at it."""
        made = self._add(
            "polygon",
            points=" ".join(f"{_number(x)},{_number(y)}" for x, y in points),
            fill=fill,
            stroke=stroke,
            stroke_linejoin="round",
        )
        if dash:
            made.set("stroke-dasharray", dash)
        if hint:
            ElementTree.SubElement(made, "title").text = written(hint)

    def finish(self, width: float, height: float) -> str:
        """The picture as text, on white paper of a size."""
        root = self._root
        root.set("viewBox", f"0 0 {_number(width)} {_number(height)}")
        root.set("width", _number(width))
        root.set("height", _number(height))
        paper = {"width": "100%", "height": "100%", "fill": PAPER}
        root.insert(1, ElementTree.Element("rect", paper))
        ElementTree.indent(root)
        return ElementTree.tostring(root, encoding="unicode") + "\n"

    def _add(self, tag: str, **attributes: object) -> ElementTree.Element:
        written = {
            name.replace("_", "-"): _number(value) if isinstance(value, int | float) else str(value)
            for name, value in attributes.items()
        }
        return ElementTree.SubElement(self._root, tag, written)


def text_width(said: str, size: float = 13, *, mono: bool = False, bold: bool = False) -> float:
    """About how wide a text is, rather too much than too little.

    >>> text_width("abc", 10, mono=True)
    18.3
    """
    if mono:
        return round(len(said) * size * 0.61, 2)
    ems = sum(0.4 if c in _NARROW else 0.95 if c in _WIDE else 0.64 for c in said)
    return round(ems * size * (1.08 if bold else 1), 2)


def written(said: str) -> str:
    """A text without the characters that XML cannot hold."""
    return _UNWRITTEN.sub("�", said)


def shortened(said: str, most: int) -> str:
    """A text of at most so many characters, cut with a sign.

    >>> shortened("a long name", 7)
    'a long…'
    """
    one_line = " ".join(said.split())
    return one_line if len(one_line) <= most else one_line[: most - 1].rstrip() + "…"


def wrapped(said: str, most: int) -> list[str]:
    """A text in lines of at most so many characters."""
    return textwrap.wrap(said, most, subsequent_indent="  ") or [""]


def _number(value: float) -> str:
    return f"{round(value, 2):g}" if abs(value) < 1e5 else str(round(value))
