"""Words that are given in Python, as the values that they stand for."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, TypeVar
from zoneinfo import ZoneInfo

from ebbtide.core.declaration import Late, Way
from ebbtide.core.time import Duration, duration
from ebbtide.errors import QueryError

T = TypeVar("T")


def typed(argument: str, value: object, kind: type[T], example: str) -> T:
    """The value of an argument, which must be of a type."""
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise QueryError(
            "wrong-type",
            f"{argument} cannot be {value!r}",
            detail=f"it is {_named(type(value))}, and should be {_named(kind)}",
            hint=example,
        )
    return value


def _named(kind: type) -> str:
    article = "an" if kind.__name__[0].lower() in "aeiou" else "a"
    return f"{article} {kind.__name__}"


def names_of(argument: str, value: str | Sequence[str]) -> tuple[str, ...]:
    """Names of columns; one may stand for itself."""
    if isinstance(value, str):
        return (value,)
    example = f'{argument}=["id"]'
    if not isinstance(value, list | tuple):
        raise QueryError("wrong-type", f"{argument} cannot be {value!r}", hint=example)
    return tuple(typed(argument, name, str, example) for name in value)


def rates_of(value: Mapping[Any, Any]) -> dict[str, float]:
    """Rows a second, by the names of sources."""
    example = 'rates={"bids": 100}'
    if not isinstance(value, Mapping):
        raise QueryError("wrong-type", f"rates cannot be {value!r}", hint=example)
    for name, rate in value.items():
        good = isinstance(rate, int | float) and not isinstance(rate, bool) and rate >= 0
        if not isinstance(name, str) or not good:
            raise QueryError(
                "wrong-type", f"{rate!r} is not a number of rows a second of {name!r}", hint=example
            )
    return {name: float(rate) for name, rate in value.items()}


def path_of(argument: str, value: object) -> str:
    """A path, as text or as an object that stands for one."""
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    text = typed(argument, value, str, f'{argument}="ebbtide"')
    return usable_path(argument, text, f'{argument}="ebbtide"')


def usable_path(argument: str, path: str, example: str) -> str:
    """A path that some file could have."""
    if path and "\0" not in path:
        return path
    raise QueryError(
        "not-a-path",
        f"{argument} cannot be {path!r}",
        detail="it has the character NUL in it" if path else "it names no place",
        hint=example,
    )


def length_of(argument: str, value: str | int | timedelta) -> Duration:
    """A duration that is given as an argument."""
    try:
        return duration(value)
    except QueryError as error:
        message = f"{argument}: {error.message}"
        raise QueryError(error.code, message, hint=error.hint) from None


def zone_of(name: str) -> ZoneInfo:
    """The time zone of that name."""
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, KeyError):
        raise QueryError(
            "unknown-zone", f'there is no time zone "{name}"', hint='zone="Europe/Berlin"'
        ) from None


def way_of(word: str) -> Way:
    """How rows that operators have forgotten are replayed."""
    try:
        return Way[word.upper()]
    except KeyError:
        raise QueryError(
            "bad-replay",
            f'"{word}" is not a way in which rows can be replayed',
            hint="all, minimal or direct",
        ) from None


def late_of(word: str) -> Late:
    """What is done with late rows."""
    try:
        return Late[word.upper()]
    except KeyError:
        raise QueryError(
            "bad-late",
            f'"{word}" is not what can be done with late rows',
            hint="revise or quarantine",
        ) from None
