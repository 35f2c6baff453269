"""Filter: the changes of the rows that a predicate selects.

Law: at every instant, the rows for which the predicate is TRUE; unknown is not TRUE.
State: none.
Emits: each selected change as it is.
Forgets: nothing, it holds nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ebbtide.kernels.kernel import Batch
from ebbtide.kernels.linear import Linear, rows


@dataclass(frozen=True, slots=True)
class Filter(Linear):
    """``predicate`` makes a column of truth values of a table of rows."""

    predicate: Callable[[Any], Any]

    def changes(self, changes: Batch) -> Batch:
        """The changes of the rows selected."""
        return changes.filter(self.predicate(rows(changes)))
