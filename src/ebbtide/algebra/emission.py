"""What a query shows of its answer."""

from __future__ import annotations

from enum import Enum

from ebbtide.core.schema import Column, Schema
from ebbtide.core.types import BOOLEAN

IS_FINAL = "is_final"
"""The column that says whether a row may still change, under CHANGES WITH FINALITY."""

REVISION = "revision"
"""The mark of a change that only a late row can bring, to what was final before."""

CHANGE_COLUMNS = ("valid_from", "valid_to", "diff", "step")
"""What changes have beside the columns of the answer."""


class Emit(Enum):
    """What a query shows: every change, what will not change any more, or both."""

    CHANGES = "CHANGES"
    FINAL = "FINAL"
    CHANGES_WITH_FINALITY = "CHANGES WITH FINALITY"

    @property
    def needs_finality(self) -> bool:
        """Whether it is asked when rows are final."""
        return self is not Emit.CHANGES


def answer_schema(schema: Schema, emit: Emit) -> Schema:
    """The columns of what a query shows, from those of its plan."""
    if emit is not Emit.CHANGES_WITH_FINALITY:
        return schema
    return Schema((*schema.columns, Column(IS_FINAL, BOOLEAN, nullable=False)))
