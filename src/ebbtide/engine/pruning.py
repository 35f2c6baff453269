"""Removing what a location keeps of programs that nobody has any more.

Law: nothing is removed that a program of the location needs or that another one put there: only
programs that were set aside for others of their names, and what a crash left of an evolution, of a
repair or of a pruning.  Each is renamed before it is removed, so a crash leaves it as it was or to
be removed.  Nothing is removed through a link.
"""

from __future__ import annotations

import os
import re
import shutil
import uuid
from collections.abc import Iterator
from dataclasses import dataclass

from ebbtide.engine.replacing import REPLACED
from ebbtide.errors import QueryError, StateError
from ebbtide.state.files import directories
from ebbtide.store.lock import Claim
from ebbtide.store.program import FILE, program_names, root_of_program

_LEFT = re.compile(r"\.(evolving|repairing)-[A-Za-z0-9_]+|\.pruned-[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class Pruned:
    """Something that is removed, or would be: what it is, where it is, and what it takes."""

    what: str
    path: str
    files: int
    bytes: int


def prune(location: str, dry_run: bool = False) -> list[Pruned]:
    """Removes what no program of a location needs; with ``dry_run`` only says what that is."""
    if not os.path.isdir(location):
        raise QueryError(
            "empty-location",
            f'nothing has run in "{location}"',
            hint="name the location of a run, with --location DIR",
        )
    found = [_measured(what, path) for what, path in _candidates(location)]
    for one in [] if dry_run else found:
        hidden = f"{location}/.pruned-{uuid.uuid4().hex}"
        os.rename(one.path, hidden)
        shutil.rmtree(hidden)
    return found


def _candidates(location: str) -> Iterator[tuple[str, str]]:
    for name in directories(f"{location}/{REPLACED}"):
        path = f"{location}/{REPLACED}/{name}"
        if os.path.isfile(f"{path}/{FILE}"):
            yield "a program that was replaced", path
    left = [name for name in directories(location) if _LEFT.fullmatch(name)]
    if left and _nobody_works(location):
        for name in left:
            yield "what a crash has left", f"{location}/{name}"


def _nobody_works(location: str) -> bool:
    """Whether no program runs or is being changed, so that nothing there is of use to one."""
    claims = []
    try:
        for name in program_names(location):
            claims.append(Claim(root_of_program(location, name), name))
    except StateError as error:
        if error.code != "state-in-use":
            raise
        return False
    finally:
        for claim in claims:
            claim.release()
    return True


def _measured(what: str, path: str) -> Pruned:
    sizes = [
        os.lstat(os.path.join(above, name)).st_size
        for above, _, names in os.walk(path)
        for name in names
    ]
    return Pruned(what, path, len(sizes), sum(sizes))
