"""Mistakes on purpose: how a function of the reference is replaced by a wrong one."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

import pytest

from laws import aggregates, groups, joins, judge, reducibility, refute, sets, streams, windows

MODULES = (aggregates, groups, joins, judge, reducibility, sets, streams, windows)
BY_NAME = {law.name: law for module in MODULES for law in module.LAWS}

Function = Callable[..., Any]


@dataclass(frozen=True)
class Mutant:
    """A mistake in one function, made from the function as it is, and the laws that it breaks."""

    mistake: str
    target: str
    wrong: Callable[[Function], Function]
    breaks: tuple[str, ...]


def pairs(mutants: list[Mutant]) -> pytest.MarkDecorator:
    """Every mutant with every law that it breaks."""
    return pytest.mark.parametrize(
        ("mutant", "law"),
        [(mutant, law) for mutant in mutants for law in mutant.breaks],
        ids=lambda value: value.mistake if isinstance(value, Mutant) else value,
    )


def assert_noticed(mutant: Mutant, law: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fails if the law still holds with the mistake in place."""
    module, name = f"ebbtide.reference.{mutant.target}".rsplit(".", 1)
    original = getattr(import_module(module), name)
    monkeypatch.setattr(f"{module}.{name}", mutant.wrong(original))
    refute(BY_NAME[law])


def changed(**fields: Any) -> Callable[[Function], Function]:
    """The function with other fields in its first argument."""
    return lambda original: lambda first, *rest: original(replace(first, **fields), *rest)
