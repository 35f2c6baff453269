"""How the rows of a store lie: what the class of its edge allows (paper 1, section 2.2).

| structure | of a key, rows lie in the order of | for edges on which |
|---|---|---|
| ``FIFO`` | their beginnings, which is that of their ends | every row stays equally long |
| ``BY_END`` | their ends | a row says when it comes how long it stays |
| ``BY_KEY`` | their beginnings | a row may be taken back, or never ends |

The last is the most general: it holds any rows.  The other two find what ends next, and what holds
at some time, without a look at the other rows of the key, and need no index beside the rows.
In archives, which no edge leads to, rows lie ``BY_TIME``, whatever their keys.
"""

from __future__ import annotations

from enum import Enum


class Structure(Enum):
    """The structures, by their names."""

    FIFO = "first in, first out"
    BY_END = "by end"
    BY_KEY = "by key"
    BY_TIME = "by time"
