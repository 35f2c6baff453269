"""Functions that choose among their arguments."""

from __future__ import annotations

from ebbtide.algebra.function_library.signature import alike, first, form
from ebbtide.core.values import Value, sort_key

FAMILY = "conditions"


def _greatest(*values: Value) -> Value:
    return max((v for v in values if v is not None), key=sort_key, default=None)


def _least(*values: Value) -> Value:
    return min((v for v in values if v is not None), key=sort_key, default=None)


CONDITION_FUNCTIONS = (
    alike(
        FAMILY,
        "COALESCE(x, ...)",
        "The first argument that is not NULL; the ones after it are not evaluated.",
        first,
        strict=False,
    ),
    alike(
        FAMILY,
        "GREATEST(x, y, ...)",
        "The greatest argument, NULLs left out; NaN is greater than all numbers.",
        first,
        least=2,
        strings=False,
        strict=False,
        meaning=_greatest,
    ),
    alike(
        FAMILY,
        "LEAST(x, y, ...)",
        "The least argument, NULLs left out.",
        first,
        least=2,
        strings=False,
        strict=False,
        meaning=_least,
    ),
)

CONDITION_FORMS = (
    form(FAMILY, "IF(condition, x, y)", "x where the condition is TRUE, else y."),
    form(FAMILY, "NULLIF(x, y)", "NULL where x equals y, else x."),
    form(FAMILY, "NVL2(x, y, z)", "y where x is not NULL, else z."),
)
