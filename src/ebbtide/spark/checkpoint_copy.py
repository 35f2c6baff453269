"""Copies of what Spark's checkpoint says of the last steps, from which it is put right again.

Law: no step is made again of other input, and no input is lost.  What the checkpoint says of a
batch has a durable copy before its step is made.  Where the checkpoint has lost it, it is written
again before Spark starts; where it cannot be though the step is there, the program is refused.  A
batch after the latest step of which there is no copy has not begun: what is said of it is removed,
and Spark finds its input again.

Spark does not sync its checkpoint.  After a power cut, or in a copy of a directory at work, it may
have fewer batches than there are steps, and would give their numbers to other rows; or files that
are torn, on which it stops.
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
    is_commit,
    is_entry,
    is_metadata,
    last_entries,
    other_sources,
)
from ebbtide.spark.checkpoint import checkpoint_of, sources_lost
from ebbtide.state.files import content_of, directories, regular_files, remove
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


def restore(root: str, program: str, latest: int | None) -> None:
    """Puts right what the checkpoint says of the steps up to the latest, and of the next one."""
    if not os.path.isdir(checkpoint_of(root)) and latest is None:
        return
    if not os.path.isdir(f"{root}/{_DIRECTORY}") and latest is not None:
        return
    done = -1 if latest is None else latest
    for batch in range(max(0, done - KEPT + 1), done + 1):
        _write(root, _copied(root, batch) or {})
    begun = _copied(root, done + 1)
    if begun is None or f"commits/{done + 1}" in begun:
        # Nothing, or where a step that was never made would have let the checkpoint go on.
        _forget_after(root, done)
    else:
        _write(root, begun)
    _remove_torn(root, done)
    if latest is not None:
        _check(root, program, latest)


def _write(root: str, copy: Mapping[str, str]) -> None:
    """Lets the checkpoint say what a copy says."""
    for name, text in copy.items():
        path = f"{checkpoint_of(root)}/{name}"
        if os.path.exists(path) or not _is_folded(path):
            # Spark holds a file against a sum of its own, which may be torn, or for other content.
            _remove(root, _sum_of(name))
            if _read(path) != text:
                replace(path, text)


def _forget_after(root: str, done: int) -> None:
    """Removes what the checkpoint says of a batch after the last that is done.

    Files that it has noted stay noted, if that can be read; others are found again.
    """
    checkpoint, last = checkpoint_of(root), last_entries(root, done)
    for name in regular_files(f"{checkpoint}/offsets"):
        if name.isdigit() and int(name) > done:
            _remove(root, f"offsets/{name}")
    for source in sorted({*directories(f"{checkpoint}/sources")} - {*other_sources(root, done)}):
        for name in regular_files(f"{checkpoint}/sources/{source}"):
            number, entry = entry_number(name), f"sources/{source}/{name}"
            if number is not None and number > last.get(source, -1):
                _remove(root, _sum_of(entry))
                if not is_entry(_read(f"{checkpoint}/{entry}")):
                    _remove(root, entry)


def _remove_torn(root: str, done: int) -> None:
    """Removes what Spark writes anew: commits, sums, its own number for the query."""
    checkpoint = checkpoint_of(root)
    for name in regular_files(f"{checkpoint}/commits"):
        if name.isdigit():
            _remove(root, _sum_of(f"commits/{name}"))
            if int(name) > done or not is_commit(_read(f"{checkpoint}/commits/{name}")):
                _remove(root, f"commits/{name}")
    if not is_metadata(_read(f"{checkpoint}/metadata")):
        _remove(root, "metadata")
        _remove(root, _sum_of("metadata"))
    for path, _, names in os.walk(checkpoint):
        for name in names:
            if name.startswith(".") and name.endswith(".crc") and name[1:-4] not in names:
                # Of a file that is lost; Spark would take it for another query at work.
                remove(root, os.path.relpath(f"{path}/{name}", root))


def _remove(root: str, name: str) -> None:
    remove(root, os.path.relpath(f"{checkpoint_of(root)}/{name}", root))


def _sum_of(name: str) -> str:
    """Where Hadoop has the sum of a file of the checkpoint."""
    below, own = os.path.split(name)
    return os.path.join(below, f".{own}.crc")


def _check(root: str, program: str, latest: int) -> None:
    """Refuses a checkpoint that does not know what the steps up to the latest have read."""
    if goes_by_names(root, latest):
        sources_lost(root)
    if not os.path.exists(f"{checkpoint_of(root)}/offsets/{latest}"):
        raise _torn(program, f"it has no batch {latest}, of which a step was made")
    for source, last in last_entries(root, latest).items():
        log = f"{checkpoint_of(root)}/sources/{source}"
        if not _is_whole(log, max((entry for entry, _ in entries_of(log)), default=last)):
            raise _torn(program, f"the log of the files of {source} has gaps before {last}")


def _said(root: str, batch: int) -> dict[str, str]:
    """What the checkpoint says of a batch: files by their names in it."""
    found = {}
    before, now = (last_entries(root, number) for number in (batch - 1, batch))
    names = [f"offsets/{batch}"]
    for source, last in now.items():
        for entry in entries_between(root, source, before.get(source, -1), last):
            names += [f"sources/{source}/{entry}", f"sources/{source}/{entry}.compact"]
    # Other sources note where they have begun.
    names += [f"sources/{source}/0" for source in other_sources(root, batch)]
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
