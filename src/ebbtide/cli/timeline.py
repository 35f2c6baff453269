"""``ebbtide timeline``: when the rows of a query hold, as bars over time, a lane for each key."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ebbtide.cli.options import location_of, location_option
from ebbtide.cli.row_formats import console, zone
from ebbtide.core.time import INF, NEG_INF, Instant, format_instant, instant, is_finite
from ebbtide.core.words import counted

if TYPE_CHECKING:
    from ebbtide.drawing.lanes import Lane, Piece
    from ebbtide.engine.lane_bars import LaneBars

_LABEL = 30
_HELD, _GONE = ("┣", "━"), ("┠", "┄")


@click.command("timeline")
@click.argument("view")
@click.option("--output", "-o", metavar="X.svg", help="Write a drawing to this file.")
@click.option("--since", metavar="T", help="Only rows that hold at or after this instant.")
@click.option("--until", metavar="T", help="Only rows that begin before this instant.")
@click.option(
    "--where", "condition", metavar="SQL", help="Only rows for which this condition holds."
)
@click.option(
    "--by",
    metavar="COLUMNS",
    help="A lane for each value of these columns, with commas between them; else of the key.",
)
@click.option("--lanes", default=40, show_default=True, help="At most so many lanes.")
@location_option
def command(
    view: str,
    output: str | None,
    since: str | None,
    until: str | None,
    condition: str | None,
    by: str | None,
    lanes: int,
    location: str,
) -> None:
    """Draw when the rows of VIEW hold, a lane for each key, with now and progress.

    Without -o, as text: ━ where a row holds, ┄ where that was said and taken back. The values
    stand in the bars, where there is room. The rows of a top-n are in the order of their ranks;
    of too many lanes, those are drawn in which something begins last.
    """
    from ebbtide.drawing import timeline_svg
    from ebbtide.drawing.lanes import lanes_of
    from ebbtide.engine.lane_bars import LaneChoice, lane_bars
    from ebbtide.store.readers import progress

    query = location_of(location).query(view)
    choice = LaneChoice(
        NEG_INF if since is None else instant(since, zone()),
        INF if until is None else instant(until, zone()),
        condition,
        tuple(name.strip() for name in by.split(",")) if by else (),
        lanes,
    )
    found = lane_bars(query, choice, zone())
    now, reached = progress(query.root, query.name)
    if output is None:
        width = shutil.get_terminal_size().columns
        lines = [_legend(found), *drawn(lanes_of(found.bars, sort=False), now, width)]
        console().print("\n".join([*filter(None, lines), *_left_out(found)]), soft_wrap=True)
        return
    svg = timeline_svg(
        found.bars,
        now=now,
        progress=reached,
        title=query.name,
        zone=zone(),
        most=lanes,
        subtitle=_legend(found),
        sort=False,
        note="; ".join(_left_out(found)),
    )
    try:
        Path(output).write_text(svg, encoding="utf-8")
    except OSError as error:
        raise click.FileError(output, error.strerror) from error


def _legend(found: LaneBars) -> str:
    """Which columns tell the lanes apart, and which stand in the bars."""
    lanes, bars = ", ".join(found.lane_columns), ", ".join(found.bar_columns)
    return ": ".join(filter(None, (lanes, bars)))


def _left_out(found: LaneBars) -> Iterator[str]:
    if found.lanes_left_out:
        yield f"{counted(found.lanes_left_out, 'lane')} left out: --lanes, --where"
    if found.bars_left_out:
        yield f"{counted(found.bars_left_out, 'earlier bar')} left out: --since, --until"


def drawn(lanes: Sequence[Lane], now: Instant, width: int) -> list[str]:
    """Lanes as lines of text, below a line of time; what was taken back has a line of its own."""
    ends = [t for lane in lanes for p in lane.pieces for t in (p.valid_from, p.valid_to)]
    ends += [mark.at for lane in lanes for mark in lane.marks]
    times = sorted({t for t in [*ends, now] if is_finite(t)})
    if not lanes or not times:
        return ["there are no rows"]
    gutter = min(_LABEL, max(len(lane.label) for lane in lanes))
    room = max(20, width - gutter - 3)
    first, last = times[0], max(times[-1], times[0] + 1)

    def place(t: Instant) -> int:
        return round((min(max(t, first), last) - first) / (last - first) * (room - 1))

    def row(label: str, pieces: Sequence[Piece], marks: Sequence[int] = ()) -> str:
        cells = [" "] * room
        for piece in pieces:
            start, end = place(piece.valid_from), place(piece.valid_to)
            cells[start : max(end, start + 1)] = _bar(piece, max(end - start, 1))
        for at in marks:
            cells[at] = "◆"
        short = label if len(label) <= gutter else label[: gutter - 1] + "…"
        return f"{short:>{gutter}}  {''.join(cells).rstrip()}"

    lines = []
    for lane in lanes:
        upper = [piece for piece in lane.pieces if piece.count or not lane.is_stacked]
        gone = [piece for piece in lane.pieces if not piece.count]
        lines.append(row(lane.label, upper, [place(mark.at) for mark in lane.marks]))
        if lane.is_stacked:
            lines.append(row("", gone))
    left, right = format_instant(first, zone()), format_instant(last, zone())
    head = f"{'':>{gutter}}  {left}{right:>{room - len(left)}}"
    mark = f"{'':>{gutter}}  {'':>{place(now)}}▲ now {format_instant(now, zone())}"
    return [head, *lines, *([mark] if is_finite(now) else [])]


def _bar(piece: Piece, width: int) -> str:
    """A bar of so many characters: where it begins, and its value if that fits."""
    begin, line = _HELD if piece.count else _GONE
    times = f"{piece.count}×" if piece.count > 1 else ""
    said = f"{begin if piece.value else line}{times}{' '.join(piece.value.split())}"
    if len(said) > width:
        said = (begin if piece.value else line) * (width > 0)
    return said.ljust(width, line)
