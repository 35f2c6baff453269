"""Spark's classes as a JVM has read them once, in a file from which the next one takes them.

Law: nothing depends on it.  A JVM that finds the archive maps it into memory, and does not read,
check and link thousands of classes again.  It takes one only if it was written by a JVM of the same
build, of the same jars; without one, or with one that does not fit, it starts as it always did.

Writing an archive takes far longer than a start, so it is done when somebody asks for it, and never
on the way to an answer.  What is archived is Java's own (class data sharing, JEP 350).
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from ebbtide.config import cache_directory
from ebbtide.spark.java import find_program
from ebbtide.spark.private import jars_directory

__all__ = ["archive_file", "is_archive", "reading", "writing"]

_MAGIC = 0xF00BABA8
"""What an archive begins with; a JVM writes it when all else is written."""

# What a JVM has to say of an archive goes where its errors go, and not into an answer.
_QUIET = "-Xshare:auto -Xlog:disable -Xlog:all=error:stderr"


def archive_file() -> str | None:
    """Where the archive for this Java and this Spark is, or would be; None if it can be nowhere."""
    directory = cache_directory()
    try:
        if directory is None or not _is_ours(directory):
            return None
        file = os.path.join(directory, f"spark-{_digest(find_program(), jars_directory())}.jsa")
    except OSError:
        return None
    # Options of a JVM travel in one text, with spaces between them.
    return None if any(sign in file for sign in " \t\n\"'\\") else file


def is_archive(file: str) -> bool:
    """Whether a file is an archive, written to its end."""
    try:
        with Path(file).open("rb") as opened:
            return int.from_bytes(opened.read(4), "little") == _MAGIC
    except OSError:
        return False


def reading(file: str | None) -> str:
    """What a JVM is started with to take its classes from an archive, if that is there."""
    if file is None or not is_archive(file):
        return ""
    return f"-XX:SharedArchiveFile={file} {_QUIET}"


def writing(file: str) -> str:
    """What a JVM is started with to write an archive when it ends."""
    return f"-XX:ArchiveClassesAtExit={file} {_QUIET}"


def _is_ours(directory: str) -> bool:
    """Whether nobody else can write into a directory, which is made if need be."""
    os.makedirs(directory, mode=0o700, exist_ok=True)
    found = os.stat(directory)
    return found.st_uid == os.getuid() and not found.st_mode & 0o022


def _digest(*paths: str) -> str:
    """A name for a Java and the jars that it reads: another one after either was installed anew."""
    found = hashlib.sha256()
    for path in paths:
        real = os.path.realpath(path)
        found.update(f"{real} {os.stat(real).st_mtime_ns}\n".encode())
    return found.hexdigest()[:16]
