"""Files that prove what they say.

Law: what ``read_sealed`` gives is what ``sealed`` was given: a file in which anything else stands
is refused.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from ebbtide.errors import StateError
from ebbtide.state.files import content_of, digest, is_unfinished, replace

__all__ = ["is_unfinished", "read_sealed", "replace", "seal", "sealed", "unsealed"]

_CHECKSUM = "checksum"


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
        raise ValueError("it is not JSON of ours") from error
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
