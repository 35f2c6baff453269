"""How an aggregate folds: what may stand in for rows that stay for ever.

Law: once nothing can change before some instant, the rows of a group that began by then and never
end are told apart by nothing but what the aggregate makes of them.  An aggregate declares once
what that is; the verdict, the state and the kernels read the declaration.
"""

from __future__ import annotations

from enum import Enum


class Fold(Enum):
    """What stands in for the rows of a group."""

    NUMBERS = "numbers"
    """Whole numbers, which rows can be added to and taken from."""

    ACCUMULATOR = "accumulator"
    """An accumulator of doubles that rounds nothing, which rows can be added to and taken from."""

    EXTREME = "extreme"
    """One row, the best of them; if rows can be taken back, all of them are needed."""

    ROWS = "rows"
    """Nothing less than all of the rows."""

    def holds_under(self, negatives: bool) -> bool:
        """Whether less than the rows is enough, where rows can or cannot be taken back."""
        match self:
            case Fold.NUMBERS | Fold.ACCUMULATOR:
                return True
            case Fold.EXTREME:
                return not negatives
            case Fold.ROWS:
                return False
