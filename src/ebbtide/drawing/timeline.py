"""Rows over time as bars, as the papers draw streams: when each row holds, with now and progress.

A full bar is what holds in the end; a dashed one was said and taken back, and stands below where
another value of its lane holds.  A bar that goes on without end has a point instead of an edge.
Beyond ``most`` lanes only those that begin last are drawn, and a note says so.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, tzinfo
from itertools import groupby

from ebbtide.core.time import DAY, Instant, format_instant, is_finite
from ebbtide.drawing.axis import Axis, axis_over
from ebbtide.drawing.lanes import Given, Lane, Mark, Piece, last_lanes
from ebbtide.drawing.svg import (
    AMBER,
    BLUE,
    BLUE_PALE,
    INK,
    PAPER,
    QUIET,
    RED,
    RED_PALE,
    RULE,
    TEAL,
    TEAL_PALE,
    Picture,
    shortened,
    text_width,
)

WIDTH = 880.0
MARGIN = 20.0
EDGE = 40.0
LANE = 28.0
BAR = 16.0
BELOW = 16.0
POINT = 7.0
MOST_LANES = 40
MOST_PIECES = 400
LABEL_LENGTH = 34

_RESULT, _INPUT = (TEAL, TEAL_PALE), (BLUE, BLUE_PALE)


def timeline_svg(
    changes: Iterable[Given],
    *,
    now: Instant | None = None,
    progress: Instant | None = None,
    title: str = "",
    zone: tzinfo = UTC,
    most: int = MOST_LANES,
    subtitle: str = "",
    sort: bool = True,
    note: str = "",
) -> str:
    """A drawing of changes, each ``(label, from, to, diff)`` in microseconds.

    Equal labels share a line; without ``sort`` lines are in the order in which they come.
    Frontiers that are None or without end are not drawn.
    """
    drawn, left_out = _limited(*last_lanes(changes, most, sort))
    note = "; ".join(filter(None, (note, left_out)))
    frontiers = [
        (name, t, colour)
        for name, t, colour in (("now", now, INK), ("progress", progress, AMBER))
        if t is not None and is_finite(t)
    ]
    gutter = max((text_width(_label(lane), 13, mono=True) for lane in drawn), default=0)
    instants = [t for lane in drawn for p in lane.pieces for t in (p.valid_from, p.valid_to)]
    instants += [mark.at for lane in drawn for mark in lane.marks]
    axis = axis_over(
        [*instants, *(t for _, t, _ in frontiers)],
        MARGIN + max(gutter + 16, EDGE),
        WIDTH - MARGIN - EDGE,
        zone,
    )
    picture = Picture(title or "Rows over time")
    top = MARGIN
    if title:
        picture.text(MARGIN, top + 14, shortened(title, 100), size=16, bold=True)
        top += 30
    if subtitle:
        picture.text(MARGIN, top + 6, shortened(subtitle, 120), size=12, fill=QUIET)
        top += 20
    top += 20 * len(frontiers)
    bottom = _rows(picture, drawn, axis, top, dry=True)
    if frontiers or any(is_finite(t) for t in instants):
        _grid(picture, axis, top, bottom)
    if not drawn:
        picture.text(MARGIN, top + 18, "There are no rows.", fill=QUIET)
    _rows(picture, drawn, axis, top)
    for number, (name, t, colour) in enumerate(frontiers):
        _frontier(picture, axis, (name, t, colour), top - 20 * (len(frontiers) - number), bottom)
    end = _legend(picture, drawn, note, bottom + 44)
    return picture.finish(WIDTH, end)


def _limited(lanes: list[Lane], left_out: int) -> tuple[list[Lane], str]:
    """The lanes with as many bars as are drawn, and what is to be said about the others."""
    notes = [f"{left_out} earlier rows are not drawn"] if left_out else []
    if cut := sum(max(0, len(lane.pieces) - MOST_PIECES) for lane in lanes):
        notes.append(f"{cut} earlier bars are not drawn")
    kept = [Lane(d.group, d.label, d.pieces[-MOST_PIECES:], d.marks[-MOST_PIECES:]) for d in lanes]
    return kept, "; ".join(notes)


def _label(lane: Lane) -> str:
    return shortened(lane.label, LABEL_LENGTH)


def _rows(picture: Picture, lanes: list[Lane], axis: Axis, top: float, dry: bool = False) -> float:
    """Draws the lanes, or only measures them; where they end."""
    y = top + 4
    for group, members in groupby(lanes, key=lambda lane: lane.group):
        if group:
            y += 22
            if not dry:
                picture.text(MARGIN, y - 6, group, size=12, fill=QUIET, bold=True)
        colours = _RESULT if group == lanes[-1].group else _INPUT
        for lane in members:
            if not dry:
                _lane(picture, lane, axis, y, colours)
            y += LANE + (BELOW if lane.is_stacked else 0)
    return y + 4 if lanes else y + LANE


def _lane(picture: Picture, lane: Lane, axis: Axis, y: float, colours: tuple[str, str]) -> None:
    middle = y + LANE / 2
    picture.text(axis.left - 12, middle + 4.5, _label(lane), anchor="end", mono=True)
    below = BELOW if lane.is_stacked else 0
    for piece in lane.pieces:
        place = middle if piece.count else middle + below
        _piece(picture, lane, piece, axis, place, colours)
    for mark in lane.marks:
        _mark(picture, lane, mark, axis, middle, colours)


def _mark(
    picture: Picture, lane: Lane, mark: Mark, axis: Axis, middle: float, colours: tuple[str, str]
) -> None:
    x, r = axis.x(mark.at), BAR / 2
    diamond = [(x - r, middle), (x, middle - r), (x + r, middle), (x, middle + r)]
    said = f"{lane.label}: {mark.value}" if mark.value else lane.label
    hint = f"{said} at {format_instant(mark.at, axis.zone)}"
    if not mark.count:
        picture.shape(diamond, fill=RED_PALE, stroke=RED, dash="3 2", hint=f"{hint}, taken back")
        return
    picture.shape(diamond, fill=colours[0], stroke=PAPER, hint=hint)
    times = f"{mark.count}×" if mark.count > 1 else ""
    if written := " ".join(filter(None, (times, mark.value))):
        picture.text(x + r + 3, middle + 4, written, size=11, bold=True)


def _piece(
    picture: Picture,
    lane: Lane,
    piece: Piece,
    axis: Axis,
    middle: float,
    colours: tuple[str, str],
) -> None:
    start = axis.x(piece.valid_from) if is_finite(piece.valid_from) else axis.left - 4
    end = axis.x(piece.valid_to) if is_finite(piece.valid_to) else axis.right + 8
    end = max(end, start + 3)
    up, down = middle - BAR / 2, middle + BAR / 2
    left = [(start, down), (start, up)]
    if not is_finite(piece.valid_from):
        left = [(start + POINT, down), (start, middle), (start + POINT, up)]
    right = [(end, up), (end, down)]
    if not is_finite(piece.valid_to):
        right = [(end - POINT, up), (end, middle), (end - POINT, down)]
    interval = (
        f"[{format_instant(piece.valid_from, axis.zone)}, "
        f"{format_instant(piece.valid_to, axis.zone)})"
    )
    said = f"{lane.label}: {piece.value}" if piece.value else lane.label
    if piece.count:
        hint = f"{said} {interval}"
        picture.shape([*left, *right], fill=colours[1], stroke=colours[0], hint=hint)
        if is_finite(piece.valid_from):
            picture.line((start, up), (start, down), colours[0], width=2.5)
    else:
        hint = f"{said} {interval}, taken back"
        picture.shape([*left, *right], fill=RED_PALE, stroke=RED, dash="4 3", hint=hint)
    _written_in(picture, piece, start, end, middle)


def _written_in(picture: Picture, piece: Piece, start: float, end: float, middle: float) -> None:
    """The value of a bar, and how often it is there, where they fit."""
    times = f"{piece.count}×" if piece.count > 1 else ""
    said = " ".join(filter(None, (times, piece.value)))
    if said and text_width(said, 11, bold=True) + 8 < end - start:
        ink = INK if piece.count else RED
        picture.text(
            (start + end) / 2, middle + 4, said, size=11, anchor="middle", bold=True, fill=ink
        )


def _grid(picture: Picture, axis: Axis, top: float, bottom: float) -> None:
    for t, time, day in axis.labels:
        x = axis.x(t)
        picture.line((x, top), (x, bottom), RULE)
        picture.text(x, bottom + 17, time, size=11, fill=QUIET, anchor="middle", mono=True)
        if day:
            picture.text(x, bottom + 32, day, size=11, fill=QUIET, anchor="middle", mono=True)
    picture.line((axis.left, bottom), (axis.right + 8, bottom), QUIET)


def _frontier(
    picture: Picture, axis: Axis, given: tuple[str, Instant, str], y: float, bottom: float
) -> None:
    name, t, colour = given
    x = axis.x(t)
    dash = "5 3" if name == "progress" else ""
    picture.line((x, y + 4), (x, bottom), colour, width=1.6, dash=dash)
    written = format_instant(t, axis.zone)
    said = f"{name} {written if axis.step >= DAY else written.split(' ')[-1]}"
    width = text_width(said, 12, bold=True)
    # Progress trails now, so its text has more room on the left.
    left = x - MARGIN > width if name == "progress" else axis.right - x < width
    anchor, place = ("end", x - 6) if left else ("start", x + 6)
    picture.text(place, y + 14, said, size=12, fill=colour, anchor=anchor, bold=True, halo=True)


def _legend(picture: Picture, lanes: list[Lane], note: str, y: float) -> float:
    """What the dashed bars are, and what is left out; where it ends."""
    x = MARGIN
    if any(lane.is_revised for lane in lanes):
        for said, dash, fill, stroke in (
            ("holds", "", *reversed(_RESULT)),
            ("was said, and taken back", "4 3", RED_PALE, RED),
        ):
            sample = [(x, y + 3), (x + 26, y + 3), (x + 26, y + 14), (x, y + 14)]
            picture.shape(sample, fill=fill, stroke=stroke, dash=dash)
            picture.text(x + 33, y + 13, said, size=12, fill=QUIET)
            x += 33 + text_width(said, 12) + 22
    if note:
        picture.text(WIDTH - MARGIN, y + 13, note, size=12, fill=QUIET, anchor="end")
    shown = note or x > MARGIN
    return y + (30 if shown else 4)
