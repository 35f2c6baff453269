"""A plan as boxes and arrows, each operator with what is proved about it.

The answer is on top and data flows upwards, as EXPLAIN prints it.  An arrow is red where rows can
be taken back on it, and a box is tinted where its operator stores something.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from ebbtide.drawing.svg import (
    BLUE,
    BLUE_PALE,
    EDGE,
    INK,
    PAPER,
    QUIET,
    RED,
    RULE,
    TEAL,
    TEAL_PALE,
    Picture,
    text_width,
    wrapped,
)

MARGIN = 24.0
GAP = 46.0
BESIDE = 28.0
LINE = 17.0
PAD = 12.0
LABEL = 46.0
TITLE_LENGTH = 48
FACT_LENGTH = 58
HEAD_LENGTH = 92


class Explained(Protocol):
    """What ``EXPLAIN`` gives: a document of plain values."""

    @property
    def document(self) -> dict[str, Any]: ...


@dataclass(frozen=True, slots=True)
class _Box:
    """A node with its text, laid out."""

    title: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]
    stores: bool
    negatives: bool
    inputs: tuple[_Box, ...]

    @property
    def width(self) -> float:
        titles = [text_width(line, 13, mono=True, bold=True) for line in self.title]
        facts = [LABEL + text_width(line, 12) for _, line in self.facts]
        return max(*titles, *facts, 150) + 2 * PAD

    @property
    def height(self) -> float:
        return 2 * PAD + LINE * (len(self.title) + len(self.facts)) + 4

    @property
    def span(self) -> float:
        """The width of the box with all that is below it."""
        below = sum(box.span for box in self.inputs) + BESIDE * (len(self.inputs) - 1)
        return max(self.width, below)


def plan_svg(explanation: Explained) -> str:
    """A drawing of an explained query."""
    document = explanation.document
    root = _box(document["plan"])
    head = list(_head(document))
    width = (
        max(root.span, 540, *(LABEL + 30 + text_width(line, 13) for _, line in head)) + 2 * MARGIN
    )
    picture = Picture(f"Plan of {document['plan']['operator']}")
    y = MARGIN + 6
    for label, line in head:
        picture.text(MARGIN, y + 6, label, fill=QUIET)
        picture.text(MARGIN + LABEL + 20, y + 6, line)
        y += LINE + 3
    y += 10
    picture.line((MARGIN, y), (width - MARGIN, y), RULE)
    y += 22
    tops = _tops(root, y)
    _draw(picture, root, (width - root.span) / 2, tops, 0)
    bottom = tops[-1]
    _legend(picture, bottom)
    return picture.finish(width, bottom + 30)


def _head(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The verdict, on the lines that it takes."""
    finality, state = document["verdict"]["finality"], document["verdict"]["state"]
    final = finality["text"]
    if finality["progress"]:
        final = f"{finality['reason']}, {final}"
    kept = f"{state['size']}: {state['reason']}" if state["reason"] else state["size"]
    for label, said in (("final", final), ("state", kept)):
        for number, line in enumerate(wrapped(said, HEAD_LENGTH)):
            yield label if number == 0 else "", line


def _box(node: Mapping[str, Any]) -> _Box:
    return _Box(
        tuple(wrapped(node["operator"], TITLE_LENGTH)),
        tuple(_facts(node)),
        bool(node["stores"]),
        bool(node["class"]["negatives"]),
        tuple(_box(child) for child in node["inputs"]),
    )


def _facts(node: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    key = node["key"]
    said = "rows may repeat" if key is None else ", ".join(key) or "one row at most"
    facts = [("key", said), ("class", node["class"]["value"])]
    for store in node["stores"]:
        instead = store["instead"]
        facts.append(("keeps", instead or f"rows of {store['rows']}"))
        facts.append(("", store["keep"].removeprefix("keep ")))
    facts.append(("final", node["final"]["text"]))
    for label, text in facts:
        for number, line in enumerate(wrapped(text, FACT_LENGTH)):
            yield label if number == 0 else "", line


def _tops(root: _Box, y: float) -> list[float]:
    """Where each level begins, and where the last one ends."""
    tops, level = [y], [root]
    while level:
        tops.append(tops[-1] + max(box.height for box in level) + GAP)
        level = [child for box in level for child in box.inputs]
    tops[-1] -= GAP - 14
    return tops


def _draw(picture: Picture, box: _Box, left: float, tops: list[float], depth: int) -> float:
    """Draws a box with all that is below it; the middle of the box."""
    middle, top = left + box.span / 2, tops[depth]
    x = middle - box.width / 2
    line, fill = (TEAL, TEAL_PALE) if box.stores else (EDGE, PAPER)
    if not box.inputs:
        line, fill = BLUE, BLUE_PALE
    picture.box(x, top, box.width, box.height, fill=fill, stroke=line)
    y = top + PAD + 10
    for title in box.title:
        picture.text(x + PAD, y, title, mono=True, bold=True)
        y += LINE
    y += 4
    for label, said in box.facts:
        picture.text(x + PAD, y, label, size=12, fill=QUIET)
        picture.text(x + PAD + LABEL, y, said, size=12, fill=INK)
        y += LINE
    below = sum(child.span for child in box.inputs) + BESIDE * (len(box.inputs) - 1)
    start = middle - below / 2
    for number, child in enumerate(box.inputs, 1):
        at = _draw(picture, child, start, tops, depth + 1)
        target = x + box.width * number / (len(box.inputs) + 1)
        _arrow(picture, (at, tops[depth + 1]), (target, top + box.height), child.negatives)
        start += child.span + BESIDE
    return middle


def _arrow(
    picture: Picture, start: tuple[float, float], end: tuple[float, float], negatives: bool
) -> None:
    colour = RED if negatives else TEAL
    turn = end[1] + 24
    picture.line(start, (start[0], turn), colour, width=1.6)
    picture.line((start[0], turn), (end[0], turn), colour, width=1.6)
    picture.line((end[0], turn), (end[0], end[1] + 6), colour, width=1.6)
    tip = [(end[0], end[1] + 1), (end[0] - 5, end[1] + 9), (end[0] + 5, end[1] + 9)]
    picture.shape(tip, fill=colour, stroke=colour)


def _legend(picture: Picture, y: float) -> None:
    x = MARGIN
    for stroke, fill, said in (
        (BLUE, BLUE_PALE, "source"),
        (TEAL, TEAL_PALE, "keeps rows"),
        (TEAL, "", "rows only come"),
        (RED, "", "rows can be taken back"),
    ):
        if fill:
            picture.box(x, y, 24, 12, fill=fill, stroke=stroke, radius=3)
        else:
            picture.line((x, y + 6), (x + 24, y + 6), stroke, width=1.6)
        picture.text(x + 31, y + 10, said, size=12, fill=QUIET)
        x += 31 + text_width(said, 12) + 18
