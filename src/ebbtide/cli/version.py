"""The version and the build, as ``ebbtide --version`` says them."""

from __future__ import annotations

from importlib.resources import files

from ebbtide import __version__

BUILD_FILE = "build.txt"
"""Written into the wheel when it is built: the commit it was built of."""


def build() -> str:
    """The commit that the installed wheel was built of; a working tree has none."""
    found = files("ebbtide").joinpath(BUILD_FILE)
    return found.read_text(encoding="utf-8").strip() if found.is_file() else "working tree"


def version_text() -> str:
    """Version and build in one line."""
    return f"ebbtide {__version__} ({build()})"
