"""The laws that an evaluator obeys, as values: `prove` tries them, `refute` wants one broken.

A law is a check over random cases. Properties prove all laws; mutants break the evaluator on
purpose and refute the law that should notice.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.strategies import SearchStrategy


@dataclass(frozen=True)
class Law:
    """A check over random cases; `effort` is its share of a profile's examples."""

    name: str
    over: SearchStrategy[Any]
    check: Callable[[Any], None]
    effort: float = 1

    def __str__(self) -> str:
        return re.sub(r"\W+", "-", self.name).strip("-")


def prove(law: Law) -> None:
    """Fails if some case breaks the law."""
    examples = max(5, int(settings.default.max_examples * law.effort))
    settings(max_examples=examples)(given(law.over)(_named(law)))()


def refute(law: Law, examples: int = 1500) -> None:
    """Fails unless some case breaks the law, among a number that does not vary."""
    quick = settings(
        max_examples=examples,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        deadline=None,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )
    with pytest.raises(AssertionError):
        quick(given(law.over)(_named(law)))()


def _named(law: Law) -> Callable[[Any], None]:
    # Hypothesis remembers failures, and derives its random numbers, by the name of the function.
    def run(case: Any) -> None:
        law.check(case)

    run.__name__ = run.__qualname__ = "law_" + str(law).replace("-", "_")
    return run
