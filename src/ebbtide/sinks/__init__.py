"""Where a view's changes go, step by step: a file for each kind of sink.

Law: a sink gets the output of every step after the step is committed, in order, and once more if a
crash came before it was noted that it had; so a sink that keeps what it gets under the step's
number has everything once.  A step's output is a table: the columns of the answer, then
``valid_from``, ``valid_to``, ``diff`` and ``step``; a DataFrame on Spark, an Arrow table without.
A sink that is ``Encoded`` gets another table of the same changes.

A module here adds a sink: a class with ``write``.  One with a ``word`` is known by that word, and
needs nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from inspect import Parameter, signature
from pkgutil import iter_modules
from typing import Any, Protocol

from ebbtide.errors import QueryError
from ebbtide.sinks.encoded import Encoded


class Sink(Protocol):
    """Takes the output of a step; taking the same step again changes nothing."""

    def write(self, frame: Any, step: int) -> None:
        """Takes what a step emitted."""
        ...


def sinks_of(given: Any) -> tuple[Sink | Encoded, ...]:
    """The sinks that a user has named: a word, a sink, a function, or several of them."""
    if given is None:
        return ()
    if isinstance(given, list | tuple):
        return tuple(sink for one in given for sink in sinks_of(one))
    if isinstance(given, Encoded):
        return tuple(replace(given, sink=one) for one in sinks_of(given.sink))
    known = _by_word()
    if isinstance(given, str) and given in known:
        return (known[given](),)
    if hasattr(given, "write"):
        return (given,)
    if callable(given):
        from ebbtide.sinks.function import Function

        return (Function(given),)
    raise QueryError(
        "unknown-sink",
        f"{given!r} is not a sink",
        hint=f"{', '.join((*map(repr, known), *_made()))} or a function of (frame, step)",
    )


def shown(sink: Sink) -> str:
    """A sink as errors name it."""
    return str(sink) if type(sink).__str__ is not object.__str__ else type(sink).__name__


def _by_word() -> dict[str, Any]:
    """The sinks that need nothing more than their word."""
    return {_word(c): c for c in _classes() if isinstance(_word(c), str)}


def _made() -> list[str]:
    """How the other sinks are made, each with what it needs."""
    return [
        f"{c.__name__}({', '.join(_needed(c))})"
        for c in _classes()
        if _word(c) is None and hasattr(c, "write") and c.__name__ != "Function"
    ]


def _needed(class_: type) -> Iterator[str]:
    parameters = signature(class_).parameters.values()
    return (p.name for p in parameters if p.default is Parameter.empty)


def _classes() -> Iterator[type]:
    for found in iter_modules(__path__):
        module = import_module(f"{__name__}.{found.name}")
        own = (v for v in vars(module).values() if isinstance(v, type))
        yield from (c for c in own if c.__module__ == module.__name__)


def _word(class_: type) -> Any:
    return getattr(class_, "word", None)


def __getattr__(name: str) -> Any:
    """Sinks by the names of their classes: ``from ebbtide.sinks import Files``."""
    for found in iter_modules(__path__):
        module = import_module(f"{__name__}.{found.name}")
        if name in vars(module):
            return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
