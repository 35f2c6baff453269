"""Frontiers in a manifest, and back: by the names of sources and of their time attributes."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Any

from ebbtide.core.declaration import Declaration
from ebbtide.core.frontier import Frontier, InputFrontier, first_frontier
from ebbtide.core.time import NEG_INF
from ebbtide.store.manifest import Manifest


def stored(frontiers: tuple[InputFrontier, ...]) -> Mapping[str, Any]:
    """The frontiers of all sources, for JSON."""
    return {
        frontier.name: {
            "lines": {line.attribute: _told(line) for line in frontier.lines},
            "clock": frontier.clock,
            "heard": frontier.heard,
        }
        for frontier in frontiers
    }


def _told(line: Frontier) -> list[int]:
    floor = [line.floor] if line.floor > NEG_INF else []
    return [line.progress, line.newest, *floor]


def restored(
    manifest: Manifest | None,
    declarations: tuple[Declaration, ...],
    replayed: AbstractSet[str] = frozenset(),
) -> tuple[InputFrontier, ...]:
    """The frontiers after a version, or before the first; some sources can be ``replayed``."""
    known = {} if manifest is None else manifest.frontiers
    first = (first_frontier(d, d.name in replayed) for d in declarations)
    return tuple(_restored(f, known[f.name]) if f.name in known else f for f in first)


def _restored(first: InputFrontier, known: Mapping[str, Any]) -> InputFrontier:
    lines = tuple(_line(line, known["lines"].get(line.attribute)) for line in first.lines)
    return replace(first, lines=lines, clock=known["clock"], heard=known["heard"])


def _line(first: Frontier, known: list[int] | None) -> Frontier:
    if known is None:
        return first
    progress, newest, *floor = known
    return replace(first, progress=progress, newest=newest, floor=max(floor, default=NEG_INF))
