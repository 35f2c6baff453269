"""Mistakes in what runs: how a part of the engine is replaced by a wrong one, and who notices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

import pytest
from tests.scenarios import FAR, FINE, SCENARIOS, WAYS, Scenario, Way, run

from ebbtide.errors import EbbtideError

Part = Any
"""A function, a method, a property's function or a constant."""


@dataclass(frozen=True)
class Mistake:
    """A part of the engine, the wrong one made from it, and the scenario that notices it.

    The target is ``module:name`` or ``module:Class.name`` below ``ebbtide``; some need a history of
    their own, by its ``seed``.
    """

    says: str
    target: str
    wrong: Callable[[Part], Part]
    scenario: str
    ways: tuple[Way, ...] = (FINE,)
    seed: int | None = None

    @property
    def run_with(self) -> Scenario:
        """The scenario; with a history of its own nothing is known of what it stores."""
        scenario = SCENARIOS[self.scenario]
        if self.seed is None:
            return scenario
        return replace(scenario, seed=self.seed, most=FAR, left=FAR)


def mistakes(*listed: Mistake) -> pytest.MarkDecorator:
    """A test for each mistake."""
    return pytest.mark.parametrize("mistake", listed, ids=[m.says for m in listed])


def assert_noticed(mistake: Mistake, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fails if the scenario passes with the mistake in place.

    It has to be noticed by what is checked, or by the engine itself: a mistake that makes Python
    stumble shows nothing.
    """
    if mistake.seed is not None or not set(mistake.ways) <= set(WAYS):
        # What no other test runs must hold without the mistake.
        run(mistake.run_with, mistake.ways)
    put(mistake, monkeypatch)
    with pytest.raises((AssertionError, EbbtideError)):
        run(mistake.run_with, mistake.ways)


def put(mistake: Mistake, monkeypatch: pytest.MonkeyPatch) -> None:
    """Replaces the part."""
    module, _, path = mistake.target.partition(":")
    owner: Any = import_module(f"ebbtide.{module}")
    *within, name = path.split(".")
    for part in within:
        owner = getattr(owner, part)
    found = vars(owner)[name]
    if isinstance(found, property):
        made: Any = property(mistake.wrong(found.fget))
    elif isinstance(found, staticmethod):
        made = staticmethod(mistake.wrong(found.__func__))
    else:
        made = mistake.wrong(found)
    monkeypatch.setattr(owner, name, made)


def always(value: Any) -> Callable[[Part], Part]:
    """A function that gives one answer to everything."""
    return lambda original: lambda *given, **named: value


def turned(change: Callable[[Any], Any]) -> Callable[[Part], Part]:
    """A function whose answer is changed."""
    return lambda original: lambda *given, **named: change(original(*given, **named))


def given(change: Callable[..., Sequence[Any]]) -> Callable[[Part], Part]:
    """A function whose arguments are changed."""
    return lambda original: lambda *old, **named: original(*change(*old), **named)
