"""Which paths queries may read and sinks may write: all, or those below some directories.

Law: a path is allowed if what it leads to, through every symbolic link that is there now, lies
below one of the directories; each list that is set has to allow it.  What cannot be judged so is
not allowed: a URL that no list names, a pattern that could leave its directory.

A file that somebody else links into an allowed directory later is read like any other: what is
limited is SQL, not those who may write there.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from glob import glob

from ebbtide.errors import SourceError
from ebbtide.sql.catalog import FileSource

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_SIGNS = re.compile(r"[*?\[]")


@dataclass(frozen=True, slots=True)
class AllowedPaths:
    """Lists of directories; a path has to be allowed by each.  Without lists, all are."""

    lists: tuple[tuple[str, ...], ...] = ()

    @staticmethod
    def of(*lists: Iterable[str | os.PathLike[str]] | None) -> AllowedPaths:
        """What lists allow; None is no list, and an empty one allows nothing."""
        given = (paths for paths in lists if paths is not None)
        return AllowedPaths(tuple(tuple(_resolved(os.fspath(p)) for p in paths) for paths in given))

    def check(self, path: str, user: str) -> None:
        """Refuses a path that some list does not allow; ``user`` says whose it is."""
        for allowed in self.lists:
            outside = next((p for p in _reached(path) if not _below(p, allowed)), None)
            if outside is not None:
                raise SourceError(
                    "forbidden-path",
                    f'{user} may not use "{path}"',
                    detail=f"{outside} is not below {', '.join(allowed) or 'any allowed path'}",
                    hint=f"Engine(paths=[{os.path.dirname(path)!r}]), or EBBTIDE_ALLOWED_PATHS",
                )

    def check_files(self, files: FileSource, user: str) -> None:
        """Refuses files whose path, or a path among whose options, some list does not allow."""
        for path in paths_of(files):
            self.check(path, user)


PATH_OPTIONS = frozenset({"basepath", "sourcearchivedir", "rowvalidationxsdpath"})
"""The options of files, of any format, that name a place; case does not matter."""


def paths_of(files: FileSource) -> list[str]:
    """The path of files, and those that options name."""
    named = (value for option, value in files.options if option.casefold() in PATH_OPTIONS)
    return [files.path, *named]


def _reached(path: str) -> Iterator[str]:
    """All that a path leads to, resolved; text in angle brackets where nobody can know."""
    local = _local(path)
    if local is None:
        parts = path.split("/")
        yield "<a pattern or a way up in a URL>" if _is_pattern(path) or ".." in parts else path
        return
    if not _is_pattern(local):
        yield from _with_links(os.path.realpath(local))
        return
    fixed = _SIGNS.split(local, maxsplit=1)[0]
    if ".." in local[len(fixed) :] or any(sign in local for sign in "\\{}"):
        yield "<a pattern that can leave its directory>"
        return
    yield os.path.realpath(os.path.dirname(fixed) or ".")
    for found in glob(local, include_hidden=True):
        yield from _with_links(os.path.realpath(found))


def _with_links(path: str) -> Iterator[str]:
    """A path, and what links below it lead to, and links below those."""
    found, seen = [path], {path}
    while found:
        reached = found.pop()
        yield reached
        for directory, directories, files in os.walk(reached):
            places = (os.path.join(directory, name) for name in (*directories, *files))
            links = {os.path.realpath(place) for place in places if os.path.islink(place)}
            found += sorted(links - seen)
            seen |= links


def _is_pattern(path: str) -> bool:
    return any(sign in path for sign in "*?[{}\\")


def _below(path: str, allowed: Sequence[str]) -> bool:
    return any(path == root or path.startswith(f"{root.rstrip('/')}/") for root in allowed)


def _resolved(path: str) -> str:
    local = _local(path)
    return path.rstrip("/") if local is None else os.path.realpath(os.path.expanduser(local))


def _local(path: str) -> str | None:
    """A path of this machine; None for a URL of another kind.  Spark reads no ``%`` escapes."""
    scheme = _SCHEME.match(path)
    if scheme is None:
        return path
    if scheme[1].casefold() != "file":
        return None
    rest = path[scheme.end() :]
    return f"/{rest[2:].partition('/')[2]}" if rest.startswith("//") else rest
