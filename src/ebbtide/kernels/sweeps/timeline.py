"""Arithmetic on arrays of instants: what ``ebbtide.core.time`` does to one, to all at once.

Law: each function gives, element by element, what its namesake in ``ebbtide.core.time`` gives,
within the ends of the line.
"""

from __future__ import annotations

import numpy as np

from ebbtide.core.time import INF, NEG_INF, Duration
from ebbtide.state.arrays import Ints


def shift(times: Ints, by: Duration) -> Ints:
    """Each instant moved by a duration; the ends stay, and no result passes them."""
    if by >= 0:
        moved = np.where(times > INF - by, INF, times + by)
        return np.where(times == NEG_INF, NEG_INF, moved)
    moved = np.where(times < NEG_INF - by, NEG_INF, times + by)
    return np.where(times == INF, INF, moved)


def floor_to(times: Ints, grid: Duration, offset: Duration = 0) -> Ints:
    """The last multiple of ``grid`` at or before each instant, on a grid moved by ``offset``."""
    below = since(times, grid, offset)
    floored = np.where(times < NEG_INF + below, NEG_INF, times - below)
    return np.where(times == INF, INF, floored)


def since(times: Ints, grid: Duration, offset: Duration = 0) -> Ints:
    """How long ago the last point of a grid was."""
    return np.mod(np.mod(times, grid) - offset, grid) if offset else np.mod(times, grid)


def ceil_to(times: Ints, grid: Duration) -> Ints:
    """The first multiple of ``grid`` at or after each instant."""
    above = np.mod(-times, grid)
    raised = np.where(times > INF - above, INF, times + above)
    return np.where(times == NEG_INF, NEG_INF, raised)
