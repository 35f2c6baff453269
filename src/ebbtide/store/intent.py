"""Files of a program's directory that change together with a version of its state.

Law: they are what they were before the version until its manifest is there, and the new ones from
then on, whatever crashes in between: what is to change is written down first, and whoever next has
the directory does it if the version is there, and forgets it if it is not.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from ebbtide.errors import StateError
from ebbtide.state.files import remove
from ebbtide.store.files import read_sealed, replace, sealed
from ebbtide.store.journal import Journal

FILE = "intent.json"


def announce(root: str, version: int, files: Mapping[str, str]) -> None:
    """Writes down which files have another text from a version on."""
    replace(f"{root}/{FILE}", sealed({"version": version, "files": dict(files)}))


def due(root: str, version: int) -> Mapping[str, str]:
    """The files that have another text as of a version than they may have yet, if there are any."""

    def damaged(why: str) -> StateError:
        return StateError(
            "damaged-intent",
            f'"{root}/{FILE}" cannot be read',
            detail=why,
            hint="restore the directory from a savepoint",
        )

    told = read_sealed(f"{root}/{FILE}", damaged) if os.path.lexists(f"{root}/{FILE}") else None
    files: Mapping[str, str] = {} if told is None else told["files"]
    return files if told is not None and version >= told["version"] else {}


def settle(root: str) -> None:
    """Does what was written down, if its version is there; only for who holds the directory."""
    if not os.path.lexists(f"{root}/{FILE}"):
        return
    latest = Journal(root).latest()
    for name, text in due(root, -1 if latest is None else latest.version).items():
        replace(f"{root}/{name}", text)
    remove(root, FILE)
