"""Paths into JSON: `$.order.lines[0]['unit price']`.

A path is `$`, and steps behind it: `.name` or `['name']` into an object, `[0]` into an array, from
its beginning.  A path leads to one value at most, so there are no wildcards and no filters.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TypeAlias

__all__ = ["DEEPEST", "Steps", "steps_of"]

Steps: TypeAlias = tuple[str | int, ...]

DEEPEST = 100
"""How deep arrays and objects may stand in each other; deeper text is not read as JSON."""

_STEP = re.compile(
    r"""\.(?P<name>[^.\[\]'"*$?@ ]+) | \[(?P<place>[0-9]{1,9})\] """
    r"""| \[(?:'(?P<single>[^']*)'|"(?P<double>[^"]*)")\]""",
    re.VERBOSE,
)


@lru_cache(maxsize=256)
def steps_of(path: str) -> Steps:
    """The steps of a path; ValueError if it is not one.

    >>> steps_of("$.lines[0]['unit price']")
    ('lines', 0, 'unit price')
    """
    if not path.startswith("$"):
        raise ValueError(path)
    steps: list[str | int] = []
    position = 1
    while position < len(path):
        step = _STEP.match(path, position)
        if step is None:
            raise ValueError(path)
        place = step["place"]
        name = next(
            (step[key] for key in ("name", "single", "double") if step[key] is not None), ""
        )
        steps.append(name if place is None else int(place))
        position = step.end()
    return tuple(steps)
