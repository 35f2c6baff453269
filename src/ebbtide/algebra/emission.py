"""What a query shows of its answer."""

from __future__ import annotations

from enum import Enum


class Emit(Enum):
    """What a query shows: every change, or what will not change any more."""

    CHANGES = "CHANGES"
    FINAL = "FINAL"
