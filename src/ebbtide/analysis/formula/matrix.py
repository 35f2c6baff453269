"""Difference bounds as closed matrices.

Law: ``rows[u][v]`` is the largest value that ``v - u`` can take, ``inf`` if there is none: the
length of the shortest path from ``u`` to ``v``.  A matrix is *closed*: no path whose inner points
are all ``through`` points is shorter than its entry, and the diagonal is zero.

A point that may be absent is no ``through`` point: a bound at it holds where it is there, but two
such bounds prove nothing about each other's other ends.

Rows are never changed in place, so matrices share them.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import TypeAlias

Row: TypeAlias = tuple[float, ...]
Rows: TypeAlias = tuple[Row, ...]


def picked(rows: Sequence[Row], order: Sequence[int | None]) -> list[Row]:
    """The matrix over other points: each an old one, by its position, or a new one."""
    size = len(order)
    result = []
    for i, old in enumerate(order):
        if old is None:
            result.append(tuple([inf] * i + [0] + [inf] * (size - i - 1)))
        else:
            row = rows[old]
            result.append(tuple([inf if k is None else row[k] for k in order]))
    return result


def tightened(rows: list[Row], through: Sequence[bool], u: int, v: int, bound: float) -> bool:
    """Put ``v <= u + bound`` into a closed matrix and close it; False if it contradicts."""
    if bound >= rows[u][v]:
        return True
    if through[u] and through[v] and rows[v][u] + bound < 0:
        return False
    tail = rows[v]
    for i, row in enumerate(rows) if through[u] else ((u, rows[u]),):
        reach = row[u] + bound
        if i == v or reach >= row[v]:
            continue
        if through[v]:
            rows[i] = _shortened(i, row, reach, tail)
        else:
            rows[i] = (*row[:v], reach, *row[v + 1 :])
    return True


def passed(rows: list[Row], through: Sequence[bool], k: int) -> bool:
    """Shorten all paths that lead through one point; False if one of them contradicts.

    Once for each ``through`` point this is the algorithm of Floyd and Warshall.
    """
    tail = rows[k]
    for i, row in enumerate(rows):
        reach = row[k]
        if i == k or reach == inf:
            continue
        if reach + tail[i] < 0 and through[i]:
            return False
        rows[i] = _shortened(i, row, reach, tail)
    return True


def closed(rows: list[Row], through: Sequence[bool]) -> bool:
    """Close a matrix; False if its bounds contradict each other."""
    return all(passed(rows, through, k) for k in range(len(rows)) if through[k])


def _shortened(i: int, row: Row, reach: float, tail: Row) -> Row:
    short = [a if a <= reach + b else reach + b for a, b in zip(row, tail, strict=True)]
    # Below zero only for a point that cannot be there; the others have been seen to.
    short[i] = 0
    return tuple(short)
