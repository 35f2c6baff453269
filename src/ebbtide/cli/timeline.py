"""``ebbtide timeline``: when the rows of a query hold, as bars over time."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ebbtide.cli.options import location_of, location_option
from ebbtide.cli.row_formats import cell, columns_of, console, zone
from ebbtide.core.time import NEG_INF, Instant, format_instant, instant, is_finite

if TYPE_CHECKING:
    from ebbtide.drawing import Bar
    from ebbtide.drawing.lanes import Lane
    from ebbtide.engine.location import StoredQuery

_MOST = 40
_LABEL = 30


@click.command("timeline")
@click.argument("view")
@click.option("--output", "-o", metavar="X.svg", help="Write a drawing to this file.")
@click.option("--since", metavar="T", help="Only rows that hold at or after this instant.")
@location_option
def command(view: str, output: str | None, since: str | None, location: str) -> None:
    """Draw when the rows of VIEW hold, with now and progress.

    Without -o, as text: ━ where a row holds, ┄ where that was said and taken back.
    """
    from ebbtide.drawing import timeline_svg
    from ebbtide.drawing.lanes import lanes_of
    from ebbtide.store.readers import progress

    query = location_of(location).query(view)
    first = NEG_INF if since is None else instant(since, zone())
    bars = [bar for bar in _bars(query) if bar.valid_to > first]
    now, reached = progress(query.root, query.name)
    if output is None:
        lines = drawn(lanes_of(bars), now, shutil.get_terminal_size().columns)
        console().print("\n".join(lines), soft_wrap=True)
        return
    svg = timeline_svg(bars, now=now, progress=reached, title=query.name, zone=zone())
    try:
        Path(output).write_text(svg, encoding="utf-8")
    except OSError as error:
        raise click.FileError(output, error.strerror) from error


def _bars(query: StoredQuery) -> list[Bar]:
    from ebbtide.drawing import Bar

    columns, its_zone = columns_of(query.bound.schema), zone()
    return [
        Bar(
            ", ".join(
                cell(value, column.type, its_zone)
                for value, column in zip(change.row, columns, strict=True)
            ),
            change.valid_from,
            change.valid_to,
            change.diff,
        )
        for _, change in query.view.changes()
    ]


def drawn(lanes: Sequence[Lane], now: Instant, width: int) -> list[str]:
    """The last lanes as lines of text, below a line of time."""
    shown = sorted(lanes, key=lambda lane: lane.begins)[-_MOST:]
    ends = [t for lane in shown for p in lane.pieces for t in (p.valid_from, p.valid_to)]
    times = sorted({t for t in [*ends, now] if is_finite(t)})
    if not shown or not times:
        return ["there are no rows"]
    gutter = min(_LABEL, max(len(lane.label) for lane in shown))
    room = max(20, width - gutter - 3)
    first, last = times[0], max(times[-1], times[0] + 1)

    def place(t: Instant) -> int:
        return round((min(max(t, first), last) - first) / (last - first) * (room - 1))

    lines = []
    for lane in shown:
        cells = [" "] * room
        for piece in lane.pieces:
            start, end = place(piece.valid_from), place(piece.valid_to)
            for at in range(start, max(end, start + 1)):
                cells[at] = "━" if piece.count else "┄"
        label = lane.label if len(lane.label) <= gutter else lane.label[: gutter - 1] + "…"
        lines.append(f"{label:>{gutter}}  {''.join(cells).rstrip()}")
    left, right = format_instant(first, zone()), format_instant(last, zone())
    head = f"{'':>{gutter}}  {left}{right:>{room - len(left)}}"
    mark = f"{'':>{gutter}}  {'':>{place(now)}}▲ now {format_instant(now, zone())}"
    hidden = [f"{len(lanes) - len(shown)} earlier rows are not shown"] * (len(lanes) > len(shown))
    return [head, *lines, *([mark] if is_finite(now) else []), *hidden]
