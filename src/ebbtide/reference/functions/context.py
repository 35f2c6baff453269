"""What a function knows of the call that it computes, beside the values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import tzinfo
from typing import TypeAlias

from ebbtide.core.types import Type
from ebbtide.core.values import Value
from ebbtide.errors import EvaluationError


@dataclass(frozen=True, slots=True)
class Context:
    """The types of the arguments and of the result, and the session's zone."""

    types: tuple[Type, ...]
    type: Type
    zone: tzinfo


Evaluation: TypeAlias = Callable[..., Value]
"""From a context and the values of the arguments to the value of the call."""


def plain(function: Callable[..., Value]) -> Evaluation:
    """A function of the values alone."""
    return lambda context, *values: function(*values)


def bad_argument(message: str) -> EvaluationError:
    """The error for a value that the function is not defined on."""
    return EvaluationError("bad-argument", message)
