"""Replacing a file as a whole.

Law: after ``replace`` the file has the new content, and after a crash at any point the old one or
the new one, never a part; what was replaced before is there before what is replaced after.
"""

from __future__ import annotations

import os
import uuid

TEMPORARY = ".tmp"


def replace(path: str, content: str | bytes) -> None:
    """Writes a file under another name, syncs it, renames it, and syncs its directory."""
    data = content.encode() if isinstance(content, str) else content
    directory = os.path.dirname(path)
    os.makedirs(directory, exist_ok=True)
    temporary = f"{directory}/.{uuid.uuid4().hex}{TEMPORARY}"
    with open(temporary, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)
    sync_directory(directory)


def sync_directory(path: str) -> None:
    """Makes the names in a directory durable."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def is_unfinished(name: str) -> bool:
    """Whether a name is that of a file that was never renamed."""
    return name.startswith(".") and name.endswith(TEMPORARY)
