"""Frontiers in a manifest, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ebbtide.core.declaration import Declaration
from ebbtide.core.frontier import InputFrontier, first_frontier
from ebbtide.state.manifest import Manifest


def stored(frontiers: tuple[InputFrontier, ...]) -> Mapping[str, Any]:
    """The frontiers of all sources, for JSON."""
    return {
        "sources": [
            {
                "lines": [[line.progress, line.newest] for line in frontier.lines],
                "clock": frontier.clock,
                "heard": frontier.heard,
            }
            for frontier in frontiers
        ]
    }


def restored(
    manifest: Manifest | None, declarations: tuple[Declaration, ...]
) -> tuple[InputFrontier, ...]:
    """The frontiers after a version, or before the first."""
    first = tuple(map(first_frontier, declarations))
    if manifest is None:
        return first
    return tuple(
        replace(
            frontier,
            lines=tuple(
                replace(line, progress=progress, newest=newest)
                for line, (progress, newest) in zip(frontier.lines, known["lines"], strict=True)
            ),
            clock=known["clock"],
            heard=known["heard"],
        )
        for frontier, known in zip(first, manifest.frontiers["sources"], strict=True)
    )
