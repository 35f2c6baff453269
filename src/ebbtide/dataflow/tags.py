"""Tags of rows that belong to no route."""

from __future__ import annotations

DESCRIPTION, UNUSED = -1, -2
"""What a task has to say, and rows that count for nothing, each as a list in JSON."""
