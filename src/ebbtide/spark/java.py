"""The Java that Spark would use, looked at before Spark is started.

Like Spark, it is the one in JAVA_HOME, or else the first on the PATH.
"""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from ebbtide.config import java_program
from ebbtide.errors import UnsupportedError

NEEDED = 17
HINT = "install a JDK (Debian: apt-get install openjdk-17-jre-headless), or set JAVA_HOME to one"

# The line reads: openjdk version "17.0.15" 2025-04-15; before Java 9 it read: "1.8.0_402".
_VERSION = re.compile(r'version "((?:1\.)?(\d+)[^"]*)"')

# A line of the file that lies beside the program of most Javas.
_RELEASE = re.compile(r'^JAVA_VERSION="((?:1\.)?(\d+)[^"]*)"', re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Java:
    """A Java: its program, and its version."""

    program: str
    version: str
    major: int


def find_program() -> str:
    """The program of the Java that Spark would use, which is not run; it must be there."""
    program = java_program()
    if program is None or not os.access(program, os.X_OK):
        where = "java is not on the PATH" if program is None else f"there is no {program}"
        raise UnsupportedError(
            "missing-java", f"Spark needs Java {NEEDED} or later", detail=where, hint=HINT
        )
    return program


def check_java() -> Java:
    """The Java that Spark would use, as ``find_java`` has it, without running it if it can be."""
    program = find_program()
    home = Path(program).resolve().parent.parent
    try:
        found = _RELEASE.search((home / "release").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        found = None
    return find_java() if found is None else _new_enough(Java(program, found[1], int(found[2])))


def find_java() -> Java:
    """The Java that Spark would use, which is run; one that is missing or too old is refused."""
    program = find_program()
    try:
        said = subprocess.run(
            [program, "-version"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=60,
            check=False,
        ).stdout
    except (OSError, subprocess.TimeoutExpired) as error:
        said = str(error)
    found = _VERSION.search(said)
    if found is None:
        raise UnsupportedError(
            "missing-java",
            f"Spark needs Java {NEEDED} or later",
            detail=f"{program} does not tell its version",
            hint=HINT,
        )
    return _new_enough(Java(program, found[1], int(found[2])))


def _new_enough(java: Java) -> Java:
    if java.major < NEEDED:
        raise UnsupportedError(
            "old-java",
            f"Spark needs Java {NEEDED} or later, not {java.version}",
            detail=f"this is {java.program}",
            hint=HINT,
        )
    return java
