"""Rows in arrays of compiled loops: copied one by one, and in arrays that grow.

Law: only numbers are assigned to places of arrays.  An array that is assigned to a part of another
may not fit, and Numba takes three seconds to compile the text of that error.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from ebbtide.state.arrays import Ints


@njit(cache=True)
def copy_row(into: Ints, place: int, rows: Ints, row: int) -> None:
    """Puts a row of one array into a place of another, of the same width."""
    for column in range(into.shape[1]):
        into[place, column] = rows[row, column]


@njit(cache=True)
def doubled(rows: Ints) -> Any:
    """The same rows in an array with room for twice as many."""
    grown = np.empty((2 * len(rows), rows.shape[1]), np.int64)
    for row in range(len(rows)):
        copy_row(grown, row, rows, row)
    return grown
