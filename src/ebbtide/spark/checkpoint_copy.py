"""Copies of what Spark's checkpoint says of the last steps, from which it is put right again.

Law: no step is made again of other input, and no input is lost.  What the checkpoint says of a
batch has a durable copy before its step is made.  Where the checkpoint has lost it though the step
is there, it is written again before Spark starts; where it cannot be, the program is refused.

Spark does not sync its checkpoint.  After a power cut, or in a copy of a directory at work, it may
have fewer batches than there are steps, and would give their numbers to other rows.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping

from ebbtide.errors import StateError
from ebbtide.spark.batch_files import last_entries
from ebbtide.spark.checkpoint import checkpoint_of
from ebbtide.store.files import replace, sealed, unsealed

KEPT = 20
"""So many steps back a checkpoint can be put right."""

_DIRECTORY = "inputs"
_ENTRY = re.compile(r"(\d+)(\.compact)?")


def keep(root: str, batch: int) -> None:
    """Copies what the checkpoint says of a batch; the copy is durable."""
    replace(_place(root, batch), sealed(_said(root, batch)))
    _remove(_place(root, batch - KEPT))


def check_same(root: str, program: str, batch: int) -> None:
    """Refuses a batch whose step is there, and was made of other input."""
    copy = _copied(root, batch)
    if copy is not None and copy != _said(root, batch):
        raise _torn(program, f"batch {batch} has other input than the step that was made of it")


def restore(root: str, program: str, latest: int) -> None:
    """Puts right what the checkpoint says of the steps up to the latest."""
    if not os.path.isdir(f"{root}/{_DIRECTORY}"):
        return
    for batch in range(max(0, latest - KEPT + 1), latest + 1):
        for name, text in (_copied(root, batch) or {}).items():
            path = f"{checkpoint_of(root)}/{name}"
            if _read(path) != text and not _is_folded(path):
                # Spark holds a file against a sum of its own, which is not for this content.
                _remove(f"{os.path.dirname(path)}/.{os.path.basename(path)}.crc")
                replace(path, text)
    for path, _, names in os.walk(checkpoint_of(root)):
        for name in names:
            if name.startswith(".") and name.endswith(".crc") and name[1:-4] not in names:
                # Of a file that is lost; Spark would take it for another query at work.
                os.remove(f"{path}/{name}")
    if not os.path.exists(f"{checkpoint_of(root)}/offsets/{latest}"):
        raise _torn(program, f"it has no batch {latest}, of which a step was made")
    for source, last in last_entries(root, latest).items():
        if not _is_whole(f"{checkpoint_of(root)}/sources/{source}", last):
            raise _torn(program, f"the log of the files of {source} has gaps before {last}")


def _said(root: str, batch: int) -> dict[str, str]:
    """What the checkpoint says of a batch: files by their names in it."""
    found = {}
    before, now = (last_entries(root, number) for number in (batch - 1, batch))
    names = [f"offsets/{batch}"]
    for source, last in now.items():
        for entry in range(before.get(source, -1) + 1, last + 1):
            names += [f"sources/{source}/{entry}", f"sources/{source}/{entry}.compact"]
    for name in names:
        text = _read(f"{checkpoint_of(root)}/{name}")
        if text is not None:
            found[name] = text
    return found


def _is_whole(log: str, last: int) -> bool:
    """Whether a log has all entries up to one: each by itself, or folded into a later file."""
    entries = set(_entries(log))
    folded = max((n for n, compact in entries if compact and n <= last), default=-1)
    return all((entry, False) in entries for entry in range(folded + 1, last + 1))


def _is_folded(path: str) -> bool:
    """Whether Spark has folded an entry into a later file, and removed it."""
    number = _ENTRY.fullmatch(os.path.basename(path))
    later = _entries(os.path.dirname(path)) if "/sources/" in path else ()
    return number is not None and any(c and n > int(number[1]) for n, c in later)


def _entries(log: str) -> Iterator[tuple[int, bool]]:
    """The entries of a log, and whether those before are folded into them."""
    for name in os.listdir(log) if os.path.isdir(log) else ():
        found = _ENTRY.fullmatch(name)
        if found:
            yield int(found[1]), found[2] is not None


def _copied(root: str, batch: int) -> Mapping[str, str] | None:
    """The copy of a batch, if there is one and it is whole."""
    try:
        return unsealed((_read(_place(root, batch)) or "").encode())
    except ValueError:
        return None


def _place(root: str, batch: int) -> str:
    return f"{root}/{_DIRECTORY}/{batch}"


def _read(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8", newline="") as file:
            return file.read()
    except (FileNotFoundError, UnicodeDecodeError):
        return None


def _remove(path: str) -> None:
    if os.path.exists(path):
        os.remove(path)


def _torn(program: str, detail: str) -> StateError:
    return StateError(
        "checkpoint-behind",
        f'Spark\'s checkpoint of "{program}" does not fit its steps',
        detail=detail,
        hint="restore its directory from a copy that was made while it did not run, or start it "
        "under another name",
    )
