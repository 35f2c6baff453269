"""Copies of what Spark's checkpoint says of the last steps, from which it is put right again.

Law: no step is made again of other input, and no input is lost.  What the checkpoint says of a
batch has a durable copy before its step is made.  Where the checkpoint has lost it though the step
is there, it is written again before Spark starts; where it cannot be, the program is refused.

Spark does not sync its checkpoint.  After a power cut, or in a copy of a directory at work, it may
have fewer batches than there are steps, and would give their numbers to other rows.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from ebbtide.errors import StateError
from ebbtide.spark.batch_files import (
    entries_between,
    entries_of,
    entry_number,
    goes_by_names,
    last_entries,
)
from ebbtide.spark.checkpoint import checkpoint_of, sources_lost
from ebbtide.state.files import content_of, remove
from ebbtide.store.files import replace, sealed, unsealed

KEPT = 20
"""So many steps back a checkpoint can be put right."""

_DIRECTORY = "inputs"


def keep(root: str, batch: int) -> None:
    """Copies what the checkpoint says of a batch; the copy is durable."""
    replace(_place(root, batch), sealed(_said(root, batch)))
    remove(root, f"{_DIRECTORY}/{batch - KEPT}")


def go_back(root: str, program: str, batch: int, to: int) -> None:
    """Lets the checkpoint go on after a batch from where another one had come to.

    What is written here takes effect at the next start, if the batch has a step by then.
    """
    offsets = f"offsets/{to}"
    known = _read(f"{checkpoint_of(root)}/{offsets}") or (_copied(root, to) or {}).get(offsets)
    commits = [_read(f"{checkpoint_of(root)}/commits/{n}") for n in (to, batch - 1, batch - 2)]
    commit = next(filter(None, commits), None)
    if known is None or commit is None:
        raise _torn(program, f"it does not say any more what batch {to} had read")
    # Spark asks for the last batch again when it starts: it has to begin where it ends.
    said = {f"offsets/{number}": known for number in (batch - 1, batch)}
    replace(_place(root, batch), sealed({**said, f"commits/{batch}": commit}))


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
            below, own = os.path.split(os.path.relpath(path, root))
            if _read(path) != text and not _is_folded(path):
                # Spark holds a file against a sum of its own, which is not for this content.
                remove(root, f"{below}/.{own}.crc")
                replace(path, text)
    for path, _, names in os.walk(checkpoint_of(root)):
        for name in names:
            if name.startswith(".") and name.endswith(".crc") and name[1:-4] not in names:
                # Of a file that is lost; Spark would take it for another query at work.
                remove(root, os.path.relpath(f"{path}/{name}", root))
    if goes_by_names(root, latest):
        sources_lost(root)
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
        for entry in entries_between(root, source, before.get(source, -1), last):
            names += [f"sources/{source}/{entry}", f"sources/{source}/{entry}.compact"]
    for name in names:
        text = _read(f"{checkpoint_of(root)}/{name}")
        if text is not None:
            found[name] = text
    return found


def _is_whole(log: str, last: int) -> bool:
    """Whether a log has all entries up to one: each by itself, or folded into a later file."""
    entries = set(entries_of(log))
    folded = max((n for n, compact in entries if compact and n <= last), default=-1)
    alone = [entry for entry, compact in entries if not compact and folded < entry <= last]
    return len(alone) == last - folded


def _is_folded(path: str) -> bool:
    """Whether Spark has folded an entry into a later file, and removed it."""
    number = entry_number(path)
    later = entries_of(os.path.dirname(path)) if "/sources/" in path else ()
    return number is not None and any(c and n > number for n, c in later)


def _copied(root: str, batch: int) -> Mapping[str, str] | None:
    """The copy of a batch, if there is one and it is whole."""
    try:
        told = unsealed((_read(_place(root, batch)) or "").encode())
    except ValueError:
        return None
    texts = all(isinstance(text, str) for text in told.values())
    return told if texts and f"offsets/{batch}" in told else None


def _place(root: str, batch: int) -> str:
    return f"{root}/{_DIRECTORY}/{batch}"


def _read(path: str) -> str | None:
    try:
        return content_of(path).decode()
    except (FileNotFoundError, UnicodeDecodeError):
        return None


def _torn(program: str, detail: str) -> StateError:
    return StateError(
        "checkpoint-behind",
        f'Spark\'s checkpoint of "{program}" does not fit its steps',
        detail=detail,
        hint="restore its directory from a copy that was made while it did not run, or start it "
        "under another name",
    )
