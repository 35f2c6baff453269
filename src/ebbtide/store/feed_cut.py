"""Cutting off what was fed by hand once no program of the location needs it any more.

Law: a row stays in its log as long as some program that reads the source has not taken it, or may
still have to give an account of the step that took it: until the step is older than all that its
views keep.  A program without a bound for each of its views needs all of it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from ebbtide.store.feed_log import FeedLog
from ebbtide.store.history import History
from ebbtide.store.program import Identity, program_names, root_of_program

LEAST = 1 << 16
"""The bytes that are worth a cut; it also has to halve the log."""


def cut_logs(root: str, logs: Mapping[str, FeedLog]) -> None:
    """Cuts the logs of sources that a program reads; ``root`` is its directory."""
    if not History.read(root).fed:
        return
    location = os.path.dirname(os.path.dirname(root))
    for source, log in logs.items():
        needed = min(_needed(location, source), default=0)
        first = log.first
        if needed - first >= max(LEAST, log.end - needed):
            log.cut(needed)


def _needed(location: str, source: str) -> list[int]:
    """The positions from which on the programs of a location need a log."""
    found = []
    for program in program_names(location):
        root = root_of_program(location, program)
        identity = Identity.read(root)
        if identity is not None and source in identity.sources:
            found.append(History.read(root).fed.get(source, 0))
    return found
