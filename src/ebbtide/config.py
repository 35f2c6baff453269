"""The settings of Ebbtide, and the only place that reads the environment.

    EBBTIDE_TIME_ZONE   the zone in which times without one are read and shown (UTC)
    EBBTIDE_ALLOWED_PATHS  what SQL may read and sinks may write, with : between (everything)
    EBBTIDE_MAX_WINDOWS    how many windows HOP and CUMULATE may put a row in (10000)
    EBBTIDE_MAX_STATEMENT  how many characters a statement may have (1048576)
    EBBTIDE_MAX_OPERATORS  how many operators the names in a statement may stand for (2000)
    EBBTIDE_MAX_UNPACKED   how many bytes a compressed file may unpack to (17179869184)
    EBBTIDE_CACHE       where it is kept what makes the next start faster, or off (~/.cache/ebbtide)
    EBBTIDE_PROFILE     how hard property tests try: quick, ci or long (ci)
    PYSPARK_PYTHON      the Python of Spark's workers (the one that runs this)
    JAVA_HOME           where Spark's Java is (the first on the PATH)
    XDG_CACHE_HOME      where caches are (~/.cache)

A `Config` is a value: read once at an edge of the package and passed on. Settings that belong to a
query are in the query, not here.
"""

import os
import re
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args
from zoneinfo import ZoneInfo

from ebbtide.errors import UnsupportedError

__all__ = [
    "NURSERY",
    "Config",
    "Limits",
    "Profile",
    "cache_directory",
    "environment",
    "java_options",
    "java_program",
    "nursery_address",
    "replace_environment",
    "share_python_with_workers",
    "workers_python",
]

NURSERY = "EBBTIDE_NURSERY"
"""What workers find their nursery by; a session sets it for them."""

Profile = Literal["quick", "ci", "long"]


@dataclass(frozen=True, slots=True)
class Limits:
    """How far something small may grow: windows for a row, characters of a statement, operators
    that the names in it stand for, bytes that a compressed file unpacks to."""

    windows: int = 10_000
    statement: int = 1 << 20
    operators: int = 2_000
    unpacked: int = 1 << 34


@dataclass(frozen=True, slots=True)
class Config:
    """The settings, with what holds when nothing is set."""

    time_zone: str = "UTC"
    profile: Profile = "ci"
    allowed_paths: tuple[str, ...] | None = None
    limits: Limits = Limits()

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> "Config":
        """The settings that the environment makes; a variable that is empty is as if unset.

        >>> Config.from_environment({"EBBTIDE_TIME_ZONE": "Europe/Berlin"}).time_zone
        'Europe/Berlin'
        """
        return cls(
            time_zone=_time_zone(environment.get("EBBTIDE_TIME_ZONE") or cls().time_zone),
            profile=_profile(environment.get("EBBTIDE_PROFILE") or cls().profile),
            allowed_paths=_paths(environment.get("EBBTIDE_ALLOWED_PATHS")),
            limits=Limits(
                **{
                    f.name: _count(environment, f"EBBTIDE_MAX_{f.name.upper()}", f.default)
                    for f in fields(Limits)
                }
            ),
        )


def share_python_with_workers() -> None:
    """Lets Spark's workers run this Python, unless the user chose another: they need the package.

    Spark reads that choice from the environment alone.
    """
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)


def workers_python(environment: Mapping[str, str] = os.environ) -> str | None:
    """The Python that the user has chosen for Spark's workers, if any."""
    return environment.get("PYSPARK_PYTHON") or None


def java_program(environment: Mapping[str, str] = os.environ) -> str | None:
    """The Java that Spark would start, whether it is there or not; None if nothing names one.

    >>> java_program({"JAVA_HOME": "/usr/jdk"})
    '/usr/jdk/bin/java'
    """
    home = environment.get("JAVA_HOME")
    if home:
        return os.path.join(home, "bin", "java")
    return shutil.which("java", path=environment.get("PATH", ""))


def environment() -> dict[str, str]:
    """All of the environment, for a process that is to have the same."""
    return dict(os.environ)


def replace_environment(variables: Mapping[str, str]) -> None:
    """Gives this process the environment of another, in whose place it goes on."""
    os.environ.clear()
    os.environ.update(variables)


def nursery_address(environment: Mapping[str, str] = os.environ) -> str | None:
    """Where a process waits that has imported what workers need, if one was started for them."""
    return environment.get(NURSERY)


def java_options(environment: Mapping[str, str] = os.environ) -> str:
    """What the user has Java, or Spark's Java, set to; both read it from the environment.

    >>> java_options({"JAVA_TOOL_OPTIONS": "-Xmx4g", "SPARK_SUBMIT_OPTS": "-XX:+UseZGC"})
    '-Xmx4g -XX:+UseZGC'
    """
    named = ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "SPARK_SUBMIT_OPTS", "_JAVA_OPTIONS")
    return " ".join(environment[name] for name in named if environment.get(name))


def cache_directory(environment: Mapping[str, str] = os.environ) -> str | None:
    """Where it is kept what makes the next start faster; None if nothing is to be kept.

    >>> cache_directory({"EBBTIDE_CACHE": "/var/cache/ebbtide"})
    '/var/cache/ebbtide'
    >>> cache_directory({"XDG_CACHE_HOME": "/var/caches"})
    '/var/caches/ebbtide'
    >>> cache_directory({"EBBTIDE_CACHE": "off"})
    """
    chosen = environment.get("EBBTIDE_CACHE")
    if chosen:
        return None if chosen == "off" else chosen
    caches = environment.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.path.join(caches, "ebbtide") if os.path.isabs(caches) else None


def _time_zone(name: str) -> str:
    try:
        return ZoneInfo(name).key
    except (ValueError, OSError, KeyError) as error:
        raise UnsupportedError(
            "unknown-setting",
            f'EBBTIDE_TIME_ZONE: there is no time zone "{name}"',
            hint="EBBTIDE_TIME_ZONE=Europe/Berlin",
        ) from error


def _paths(text: str | None) -> tuple[str, ...] | None:
    """Paths with colons between them; one before two slashes belongs to a URL.

    >>> _paths("/data:s3://bucket/in")
    ('/data', 's3://bucket/in')
    """
    parts = re.split(r":(?!//)", text) if text else []
    return tuple(part for part in parts if part) or None


def _count(environment: Mapping[str, str], name: str, default: Any) -> int:
    text = environment.get(name) or str(default)
    if text.isascii() and text.isdigit() and int(text) > 0:
        return int(text)
    raise UnsupportedError(
        "unknown-setting",
        f'{name}: "{text}" is not a whole number above 0',
        hint=f"{name}={default}",
    )


def _profile(name: str) -> Profile:
    for profile in get_args(Profile):
        if name == profile:
            return profile  # type: ignore[no-any-return]
    raise UnsupportedError(
        "unknown-setting",
        f'EBBTIDE_PROFILE: there is no profile "{name}"',
        detail=f"the profiles are {', '.join(get_args(Profile))}",
        hint="EBBTIDE_PROFILE=long",
    )
