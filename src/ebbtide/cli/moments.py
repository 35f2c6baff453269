"""A moment at which something was said, as people type it: the number of a step, or a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ebbtide.cli.row_formats import zone
from ebbtide.core.time import instant

if TYPE_CHECKING:
    from ebbtide.store.readers import View

AS_OF = "STEP|TIME"


def step_of(view: View, text: str) -> int:
    """The step that a moment stands for."""
    from ebbtide.store.time_travel import step_at, step_named

    if text.strip().isdecimal():
        return step_named(view, int(text))
    return step_at(view, instant(text, zone()))
