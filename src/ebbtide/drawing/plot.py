"""Lines over numbers, as SVG: one for each series, with its points.

Law: equal series give equal text; both axes begin at 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from ebbtide.drawing.svg import AMBER, BLUE, INK, QUIET, RED, RULE, TEAL, Picture

_COLOURS = (TEAL, RED, BLUE, AMBER, INK)
_LEFT, _TOP, _WIDTH, _HEIGHT, _LINE = 70, 40, 380, 200, 18

Points = Sequence[tuple[float, float]]


def plot_svg(title: str, across: str, up: str, series: Mapping[str, Points]) -> str:
    """Series of points by their names, joined by lines."""
    picture = Picture(title)
    picture.text(_LEFT, 22, title, bold=True)
    points = [point for line in series.values() for point in line]
    most_x = max((x for x, _ in points), default=1) or 1
    most_y = max((y for _, y in points), default=1) or 1
    _axes(picture, across, up, most_x, most_y)
    for number, (name, line) in enumerate(series.items()):
        colour = _COLOURS[number % len(_COLOURS)]
        placed = [(_x(x, most_x), _y(y, most_y)) for x, y in line]
        for start, end in pairwise(placed):
            picture.line(start, end, colour, width=2)
        for x, y in placed:
            picture.box(x - 3, y - 3, 6, 6, fill=colour, stroke=colour, radius=3)
        height = _TOP + 8 + number * _LINE
        picture.line((_LEFT + _WIDTH + 16, height), (_LEFT + _WIDTH + 36, height), colour, width=2)
        picture.text(_LEFT + _WIDTH + 42, height + 4, name, size=12)
    return picture.finish(_LEFT + _WIDTH + 230, _TOP + _HEIGHT + 50)


def _axes(picture: Picture, across: str, up: str, most_x: float, most_y: float) -> None:
    bottom = _TOP + _HEIGHT
    for part in range(5):
        x, y = most_x * part / 4, most_y * part / 4
        picture.line((_LEFT, _y(y, most_y)), (_LEFT + _WIDTH, _y(y, most_y)), RULE)
        picture.text(_LEFT - 8, _y(y, most_y) + 4, f"{y:.3g}", size=11, fill=QUIET, anchor="end")
        where = _x(x, most_x)
        picture.text(where, bottom + 18, f"{x:.3g}", size=11, fill=QUIET, anchor="middle")
    picture.text(_LEFT + _WIDTH / 2, bottom + 38, across, size=12, fill=QUIET, anchor="middle")
    picture.text(_LEFT, _TOP - 6, up, size=11, fill=QUIET)


def _x(value: float, most: float) -> float:
    return _LEFT + value / most * _WIDTH


def _y(value: float, most: float) -> float:
    return _TOP + _HEIGHT - value / most * _HEIGHT
