"""The Java that Spark would use, looked at before Spark is started.

Like Spark, it is the one in JAVA_HOME, or else the first on the PATH.
"""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass

from ebbtide.config import java_program
from ebbtide.errors import UnsupportedError

NEEDED = 17
HINT = "install a JDK (Debian: apt-get install openjdk-17-jre-headless), or set JAVA_HOME to one"

# The line reads: openjdk version "17.0.15" 2025-04-15; before Java 9 it read: "1.8.0_402".
_VERSION = re.compile(r'version "((?:1\.)?(\d+)[^"]*)"')


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


def find_java() -> Java:
    """The Java that Spark would use; one that is missing or too old is refused."""
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
    if int(found[2]) < NEEDED:
        raise UnsupportedError(
            "old-java",
            f"Spark needs Java {NEEDED} or later, not {found[1]}",
            detail=f"this is {program}",
            hint=HINT,
        )
    return Java(program, found[1], int(found[2]))
