"""Functions of arrays and structs, which are tuples."""

from __future__ import annotations

from ebbtide.core.values import Value, sort_key
from ebbtide.errors import EvaluationError
from ebbtide.reference.functions.context import Evaluation, plain


def _array_contains(items: tuple[Value, ...], value: Value) -> bool | None:
    if any(sort_key(item) == sort_key(value) for item in items):
        return True
    return None if None in items else False


def _element_at(items: tuple[Value, ...], place: int) -> Value:
    if place == 0 or abs(place) > len(items):
        raise EvaluationError("out-of-bounds", f"there is no item {place} of {len(items)}")
    return items[place - 1 if place > 0 else place]


NESTED: dict[str, Evaluation] = {
    "ARRAY": plain(lambda *items: items),
    "STRUCT": plain(lambda *items: items),
    "SIZE": plain(len),
    "ARRAY_CONTAINS": plain(_array_contains),
    "ELEMENT_AT": plain(_element_at),
}
