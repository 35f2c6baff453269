"""Hatch's hook: the wheel says which commit it was built of (`ebbtide --version`).

A wheel built where there is no repository says "unknown".
"""

import subprocess
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class BuildHook(BuildHookInterface):
    """Adds `build.txt` to the package."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called before a wheel is built; one for a working tree has no commit."""
        if version == "editable":
            return
        path = Path(mkdtemp()) / "build.txt"
        path.write_text(f"{commit(self.root)}\n", encoding="utf-8")
        build_data["force_include"][str(path)] = "ebbtide/build.txt"


def commit(root: str) -> str:
    """The commit of a directory, with a plus if something was changed since."""
    try:
        git = ["git", "-C", root]
        found = subprocess.run(
            [*git, "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True, check=True
        )
        changed = subprocess.run([*git, "diff", "--quiet", "HEAD", "--", "src"], check=False)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return f"build {found.stdout.strip()}{'+' if changed.returncode else ''}"
