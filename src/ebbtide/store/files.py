"""Replacing a file as a whole, and files that prove what they say.

Law: after ``replace`` the file has the new content, and after a crash at any point the old one or
the new one, never a part; what was replaced before is there before what is replaced after.  What
``read_sealed`` gives is what ``sealed`` was given: a file in which anything else stands is refused.
"""

from __future__ import annotations

import json
import os
import re
import uuid
from collections.abc import Callable, Mapping
from typing import Any

from ebbtide.errors import StateError
from ebbtide.state.files import content_of, created, digest, make_directory, usable

_CHECKSUM = "checksum"
_UNFINISHED = re.compile(r"\.[0-9a-f]{32}\.tmp")


def replace(path: str, content: str | bytes) -> None:
    """Writes a file under another name, syncs it, renames it, and syncs its directory."""
    data = content.encode() if isinstance(content, str) else content
    directory = os.path.dirname(path)
    make_directory(directory)
    temporary = unfinished(directory)
    with created(temporary) as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    with usable(path):
        os.replace(temporary, path)
    sync_directory(directory)


def sync_directory(path: str) -> None:
    """Makes the names in a directory durable."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def unfinished(directory: str) -> str:
    """A path for a file that is renamed when it is whole."""
    return f"{directory}/.{uuid.uuid4().hex}.tmp"


def is_unfinished(name: str) -> bool:
    """Whether a name is that of a file that was never renamed."""
    return _UNFINISHED.fullmatch(name) is not None


def seal(values: Mapping[str, Any]) -> str:
    """What proves values: it depends on nothing but them."""
    text = json.dumps(values, sort_keys=True, separators=(",", ":"))
    return digest(text.encode("utf-8"))


def sealed(values: Mapping[str, Any], indent: int | None = None) -> str:
    """Values as JSON, beside what proves them.

    >>> print(sealed({"step": 3}), end="")
    {"checksum": "f2c76473acac2fa2146cd9615b918e8a", "step": 3}
    """
    return json.dumps({_CHECKSUM: seal(values), **values}, indent=indent) + "\n"


def unsealed(content: bytes) -> dict[str, Any]:
    """The values that were sealed; a ``ValueError`` says why they cannot be those."""
    try:
        values = json.loads(content)
    except RecursionError as error:
        raise ValueError("it is no JSON of ours") from error
    if not isinstance(values, dict) or _CHECKSUM not in values:
        raise ValueError("it has no checksum")
    proof = values.pop(_CHECKSUM)
    if proof != seal(values):
        raise ValueError("its checksum does not match")
    return values


def read_sealed(path: str, damaged: Callable[[str], StateError]) -> dict[str, Any] | None:
    """What a file says, or None if it is not there; ``damaged`` makes an error of a reason."""
    try:
        return unsealed(content_of(path))
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise damaged(str(error).partition("\n")[0]) from error
