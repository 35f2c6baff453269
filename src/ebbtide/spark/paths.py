"""Paths of files that a source names, looked at before Spark is.

Only paths of this machine can be looked at: a URL, and a pattern, is left to Spark.
"""

from __future__ import annotations

import os
import re
from urllib.parse import urlsplit

from ebbtide.errors import SourceError

_PATTERN = "*?[{"


def check_path(name: str, path: str, directory: bool) -> None:
    """Refuses a path that is not there or cannot be read; a stream needs a directory."""
    if _is_pattern(path) and ":" in urlsplit(path).path:
        raise SourceError(
            "colon-in-pattern",
            f'Spark cannot look for the files of "{name}": their path is a pattern with a colon',
            detail=f"{path} has one of {' '.join(_PATTERN)}",
            hint="take the colon out of the names of the directories, or the signs of the pattern",
        )
    local = _local(path)
    if local is None:
        return
    if not os.path.exists(local):
        raise SourceError(
            "missing-path",
            f'the files of "{name}" are not there',
            detail=f"there is no {os.path.abspath(local)}",
            hint="make the directory first: files may come later",
        )
    if directory and not os.path.isdir(local):
        raise SourceError(
            "not-a-directory",
            f'"{name}" needs a directory of files, and {local} is a file',
            hint=f"FROM FILES '{os.path.dirname(local) or '.'}'",
        )
    mode = os.R_OK | (os.X_OK if os.path.isdir(local) else 0)
    if not os.access(local, mode, effective_ids=os.access in os.supports_effective_ids):
        raise SourceError(
            "unreadable-path",
            f'the files of "{name}" cannot be read',
            detail=f"no permission to read {os.path.abspath(local)}",
            hint=f"chmod u+rx {local}, or run as a user who may read it",
        )


def spark_path(path: str) -> str:
    """A path as Spark is to read it: what is there under its very name is not a pattern."""
    parts = urlsplit(path)
    if parts.scheme in ("", "file") and os.path.exists(parts.path if parts.scheme else path):
        return re.sub(r"([*?\[\]{}\\])", r"\\\1", path)
    return path


def _local(path: str) -> str | None:
    parts = urlsplit(path)
    if parts.scheme not in ("", "file") or _is_pattern(path):
        return None
    return parts.path if parts.scheme else path


def _is_pattern(path: str) -> bool:
    return any(sign in path for sign in _PATTERN)
