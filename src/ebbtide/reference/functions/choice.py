"""The greatest and the least of several values."""

from __future__ import annotations

from ebbtide.core.values import Value, sort_key
from ebbtide.reference.functions.context import Evaluation, plain


def _greatest(*values: Value) -> Value:
    return max((v for v in values if v is not None), key=sort_key, default=None)


def _least(*values: Value) -> Value:
    return min((v for v in values if v is not None), key=sort_key, default=None)


CHOICES: dict[str, Evaluation] = {"GREATEST": plain(_greatest), "LEAST": plain(_least)}
