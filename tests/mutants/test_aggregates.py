"""Wrong aggregates on purpose: each breaks a law of the five functions."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from ebbtide.algebra.aggregates import AGGREGATES
from laws import refute
from laws.mutation import BY_NAME

MUTANTS = [
    ("SUM", "retract does nothing", {"retract": lambda f: lambda state, row: state}),
    ("SUM", "merge forgets a side", {"merge": lambda f: lambda a, b: a}),
    ("COUNT", "accumulate counts twice", {"accumulate": lambda f: lambda s, row: s + 1 + (s > 0)}),
    ("AVG", "merge adds a row", {"merge": lambda f: lambda a, b: f.accumulate(a, (1,))}),
    ("MAX", "retract keeps the state", {"retract": lambda f: lambda state, row: state}),
    ("FIRST", "the first to come stays", {"accumulate": lambda f: lambda s, row: s or row}),
    ("LAST", "the last to come stays", {"accumulate": lambda f: lambda s, row: row}),
    ("COLLECT", "the order of arrival stays", {"merge": lambda f: lambda a, b: a + b}),
    ("MODE", "retract takes another value", {"retract": lambda f: lambda s, row: s[1:]}),
    ("MEDIAN", "retract takes another value", {"retract": lambda f: lambda s, row: s[1:]}),
]


@pytest.mark.parametrize(
    ("name", "functions"),
    [
        pytest.param(name, functions, id=f"{name}: {mistake}")
        for name, mistake, functions in MUTANTS
    ],
)
def test_the_five_functions_are_watched(
    name: str, functions: dict[str, Callable[[Any], Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    right = AGGREGATES[name]

    def wrong(types: Any) -> Any:
        made = right(types)
        return replace(made, **{field: of(made) for field, of in functions.items()})

    monkeypatch.setitem(AGGREGATES, name, wrong)
    refute(BY_NAME[f"the five functions of {name}(BIGINT)"])
