"""Calls of aggregates, as a kernel knows them: by position, with their arguments as columns.

Law: a call sees the rows of its group in which no argument is NULL (unless its function keeps
NULLs) and its filter is TRUE; under ``distinct``, equal arguments once.

| fold | functions | way |
|---|---|---|
| NUMBERS, ACCUMULATOR | COUNT and those of `results` | accumulators (`accumulation`) |
| EXTREME | MIN, MAX, BOOL_*, FIRST, LAST, ARG_* | the best valid row (`choice`) |
| ROWS | MEDIAN, PERCENTILE, PERCENTILE_DISC | the row at a place among the valid ones |
| ROWS | any object with the five functions | one state per group, from the valid rows |
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ebbtide.core.folds import Fold
from ebbtide.kernels.ordering import SortColumn
from ebbtide.state.arrays import Mask
from ebbtide.state.columns import column, present

PLACES = frozenset({"MEDIAN", "PERCENTILE", "PERCENTILE_DISC"})

KEEPS_NULLS = frozenset({"FIRST", "LAST", "ARG_MIN", "ARG_MAX"})
ORDERED = frozenset({"FIRST", "LAST", "ARG_MIN", "ARG_MAX"})


class Folding(Protocol):
    """An aggregate as five functions on states that are values; ``algebra`` has such objects.

    Where it is ``ordered``, the rows that it gets end with their place in the order.
    """

    @property
    def initial(self) -> Any: ...
    @property
    def accumulate(self) -> Callable[[Any, tuple[Any, ...]], Any]: ...
    @property
    def merge(self) -> Callable[[Any, Any], Any]: ...
    @property
    def result(self) -> Callable[[Any], Any]: ...
    @property
    def retract(self) -> Callable[[Any, tuple[Any, ...]], Any] | None: ...
    @property
    def ordered(self) -> bool: ...
    @property
    def keeps_nulls(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class Call:
    """An aggregate of columns.

    ``function`` is the name of one in the table above, or the five functions; ``fold`` is what it
    declares.  ``order`` and then the columns ``row`` make the order of rows, for those that have
    one; ``share`` is the percentile's.
    """

    function: str | Folding
    arguments: tuple[int, ...]
    type: Any
    fold: Fold
    distinct: bool = False
    filter: int | None = None
    order: tuple[SortColumn, ...] = ()
    row: tuple[int, ...] = ()
    share: float = 0.5
    reports: bool = False
    """Whether its result is the value and the error that the five functions have raised."""

    @property
    def name(self) -> str:
        """The name, for messages."""
        return self.function if isinstance(self.function, str) else "aggregate"

    @property
    def is_sum(self) -> bool:
        """Whether accumulators say it, which rows are added to and taken from."""
        return self.fold in (Fold.NUMBERS, Fold.ACCUMULATOR) and not self.distinct

    @property
    def is_choice(self) -> bool:
        """Whether it is a value of one of the rows, the best."""
        return self.fold is Fold.EXTREME and not self.distinct

    @property
    def keeps_nulls(self) -> bool:
        """Whether rows with a NULL argument count."""
        if isinstance(self.function, str):
            return self.function in KEEPS_NULLS
        return self.function.keeps_nulls

    @property
    def ordered(self) -> bool:
        """Whether the order of the rows matters."""
        if isinstance(self.function, str):
            return self.function in ORDERED
        return self.function.ordered

    def counted(self, table: Any) -> Mask:
        """The rows that the call sees."""
        mask = np.ones(table.num_rows, np.bool_)
        if not self.keeps_nulls:
            for index in self.arguments:
                valid = present(column(table, index))
                if valid is not None:
                    mask &= valid
        if self.filter is not None:
            mask &= is_true(column(table, self.filter))
        return mask


def is_true(array: Any) -> Mask:
    """Where a truth value is TRUE, neither FALSE nor NULL."""
    filled = array.fill_null(False) if array.null_count else array
    return np.asarray(filled.to_numpy(zero_copy_only=False), np.bool_)
