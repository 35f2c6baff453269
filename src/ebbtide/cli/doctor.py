"""``ebbtide doctor``: whether this machine has what Ebbtide needs, and what to do if not."""

from __future__ import annotations

import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

import click

from ebbtide.cli.error_display import DONE, FAILED
from ebbtide.cli.options import location_option
from ebbtide.cli.row_formats import console
from ebbtide.cli.version import version_text
from ebbtide.config import Config
from ebbtide.errors import EbbtideError

SPARK = "4.3."
PACKAGES = ("pyarrow", "numpy", "numba", "pandas", "sqlglot", "click", "rich")
_GB, _MB = 1 << 30, 1 << 20
_MEMORY, _DISK = 2 * _GB, 1 * _GB


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that was looked at: what was found, and if it is not right, what to do."""

    what: str
    found: str
    remedy: str | None = None


@click.command("doctor")
@location_option
@click.option(
    "--prepare", is_flag=True, help="Then make starts faster: store classes and kernels, once."
)
def command(location: str, prepare: bool) -> int:
    """Look at Java, Spark, Python, memory, packages and write access.

    Exit code 1 if something has to be put right.

    With --prepare, Spark runs once on a few rows, and what it has loaded is stored for the next
    starts, in EBBTIDE_CACHE or ~/.cache/ebbtide: about 200 MB. It takes a minute or two.
    """
    from rich.text import Text

    out = console()
    out.print(version_text())
    findings = list(examined(location))
    for finding in findings:
        style, word = ("green", "ok  ") if finding.remedy is None else ("bold red", "FAIL")
        out.print(Text(word, style=style) + f"  {finding.what:<10}  {finding.found}")
        if finding.remedy is not None:
            out.print(f"                  -> {finding.remedy}")
    wrong = sum(finding.remedy is not None for finding in findings)
    out.print(f"{wrong} to put right" if wrong else "all is well")
    if prepare and not wrong:
        from ebbtide.cli.preparation import prepared

        out.print("Running Spark once, and storing what it has loaded ...")
        file = prepared()
        out.print(f"stored in {file}, {os.path.getsize(file) / _MB:.0f} MB")
    return FAILED if wrong else DONE


def examined(location: str) -> Iterator[Finding]:
    """All that is looked at."""
    checks: list[Callable[[], Finding]] = [_python, _java, _spark, _memory, _zone, _start]
    yield from (check() for check in checks)
    yield from map(_package, PACKAGES)
    yield _writable("location", os.path.abspath(location), "name another with --location DIR")
    yield _writable("scratch", tempfile.gettempdir(), "set TMPDIR to a directory with room")


def _python() -> Finding:
    found = f"{platform.python_version()} at {sys.executable}"
    new = sys.version_info >= (3, 11)
    return Finding("python", found, None if new else "install Python 3.11 or later")


def _java() -> Finding:
    from ebbtide.spark.java import find_java

    try:
        java = find_java()
    except EbbtideError as error:
        return Finding("java", f"{error.message}: {error.detail}", error.hint)
    return Finding("java", f"{java.version} at {java.program}")


def _spark() -> Finding:
    found = _version("pyspark")
    if found is None or find_spec("pyspark") is None:
        return Finding("spark", "not installed", f"pip install 'pyspark=={SPARK}*'")
    right = found.startswith(SPARK)
    return Finding("spark", found, None if right else f"pip install 'pyspark=={SPARK}*'")


def _memory() -> Finding:
    free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    found = f"{total / _GB:.1f} GB, {free / _GB:.1f} GB of it free"
    enough = total >= _MEMORY
    return Finding("memory", found, None if enough else "Spark needs 2 GB: use a larger machine")


def _zone() -> Finding:
    try:
        return Finding("time zone", Config.from_environment().time_zone)
    except EbbtideError as error:
        return Finding("time zone", error.message, error.hint)


def _start() -> Finding:
    """Whether starts are prepared; it is nothing to put right if they are not."""
    from ebbtide.spark.class_archive import archive_file, is_archive

    try:
        file = archive_file()
    except EbbtideError:
        file = None
    if file is not None and is_archive(file):
        return Finding("start-up", f"prepared: {file}")
    return Finding("start-up", "not prepared: ebbtide doctor --prepare makes Spark start faster")


def _package(name: str) -> Finding:
    found = _version(name)
    if found is None or find_spec(name) is None:
        return Finding(name, "not installed", "pip install --force-reinstall ebbtide")
    return Finding(name, found)


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _writable(what: str, path: str, remedy: str) -> Finding:
    """Whether files can be written in a directory, or where it would be made."""
    there = path
    while not os.path.exists(there):
        there = os.path.dirname(there)
    try:
        with tempfile.TemporaryFile(dir=there) as file:
            file.write(b"ebbtide")
    except OSError as error:
        return Finding(what, f"{path}: {error.strerror}", remedy)
    free = shutil.disk_usage(there).free
    found = f"{path}, {free / _GB:.1f} GB free"
    return Finding(what, found, None if free >= _DISK else f"less than 1 GB is free: {remedy}")
