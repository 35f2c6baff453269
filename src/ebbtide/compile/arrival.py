"""The columns of a row as it arrives from a source."""

from __future__ import annotations

from ebbtide.core.declaration import Declaration
from ebbtide.core.schema import Column, Schema
from ebbtide.core.types import BIGINT, STRING

OP = Column("op", STRING, True, "arrival")
OFFSET = Column("offset", BIGINT, True, "arrival")
MALFORMED = Column("malformed", STRING, True, "arrival")


def arrival_schema(declaration: Declaration) -> Schema:
    """The declared columns, and what is known about the row: its operation, its place in the
    source, and its text if it is no row of the source."""
    return Schema((*declaration.schema, OP, OFFSET, MALFORMED))
