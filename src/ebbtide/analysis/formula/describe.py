"""A conjunction of difference bounds, in as few readable facts as say it all.

Law: the facts imply every bound between the given points.  Points at a fixed distance are given by
an equality with the first of them, opposite bounds as one range, and what follows from other facts
is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf

from ebbtide.analysis.formula.matrix import Row
from ebbtide.analysis.formula.printing import at_most, is_rounder, plus
from ebbtide.analysis.formula.terms import Const, Point
from ebbtide.core.time import Duration, format_instant


def facts(points: Sequence[Point], rows: Sequence[Row], through: Sequence[bool]) -> Iterator[str]:
    """The facts of a closed matrix over some points."""
    leaders: list[int] = []
    for v, point in enumerate(points):
        fixed = (u for u in leaders if through[u] and through[v])
        leader = next((u for u in fixed if rows[u][v] == -rows[v][u]), None)
        if leader is None:
            leaders.append(v)
        else:
            yield f"{point} = {_shifted(points[leader], int(rows[leader][v]))}"
    for place, u in enumerate(leaders):
        for v in leaders[place + 1 :]:
            high, low = _needed(u, v, leaders, rows, through), _needed(v, u, leaders, rows, through)
            if low is not None and high is not None:
                yield _range(points[u], points[v], -low, high)
            elif high is not None:
                yield _upper(points[v], points[u], high)
            elif low is not None:
                yield _upper(points[u], points[v], low)


def _needed(
    u: int, v: int, leaders: Sequence[int], rows: Sequence[Row], through: Sequence[bool]
) -> Duration | None:
    """The bound of ``v - u``, None if there is none or it follows from two others."""
    row, bound = rows[u], rows[u][v]
    if bound == inf:
        return None
    for k in leaders:
        if row[k] + rows[k][v] <= bound and k not in (u, v) and through[k]:
            return None
    return int(bound)


def _shifted(point: Point, by: Duration) -> str:
    return format_instant(by) if isinstance(point, Const) else plus(str(point), by)


def _upper(target: Point, source: Point, bound: Duration) -> str:
    """``target <= source + bound``."""
    if isinstance(source, Const):
        return f"{target} <= {format_instant(bound)}"
    if isinstance(target, Const):
        return f"{format_instant(-bound)} <= {source}"
    return at_most(str(target), str(source), bound)


def _range(u: Point, v: Point, low: Duration, high: Duration) -> str:
    """``u + low <= v <= u + high``."""
    if not isinstance(u, Const) and is_rounder(low - 1, than=low):
        return f"{_shifted(u, low - 1)} < {_upper(v, u, high)}"
    return f"{_shifted(u, low)} <= {_upper(v, u, high)}"
