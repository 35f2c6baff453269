"""Tags of rows that belong to no route."""

from __future__ import annotations

DESCRIPTION, UNUSED = -1, -2
"""What a task has to say, and rows that count for nothing, each as a list in JSON."""

UNUSED_COLUMNS = ("source", "reason", "row", "op")
"""What is said about a row that counts for nothing."""
