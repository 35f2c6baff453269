"""Functions of arrays and structs.

A struct's field names are no arguments, because a result type depends on types alone: STRUCT
makes fields ``col1``, ``col2``, ..., and a CAST gives them other names.  NAMED_STRUCT and STRUCT
of columns, as SQL writes them, are forms that stand for that.
"""

from __future__ import annotations

from ebbtide.algebra.function_library.signature import (
    Types,
    alike,
    array,
    check_count,
    custom,
    define,
    form,
)
from ebbtide.algebra.type_rules import common_type
from ebbtide.core.types import BOOLEAN, INT, NULL, ArrayType, IntegerType, StructType, Type
from ebbtide.core.values import Value, sort_key
from ebbtide.errors import BindError, EvaluationError

FAMILY = "arrays and structs"


def _element(types: Types) -> Type:
    return types[0].element if isinstance(types[0], ArrayType) else NULL


def _known_array(given: Type) -> Type | None:
    return given if isinstance(given, ArrayType) else None


def _place(given: Type) -> Type | None:
    return INT if isinstance(given, IntegerType) and given.bits <= INT.bits else None


def _array_contains(types: Types) -> Types:
    check_count("ARRAY_CONTAINS(array, x)", types, 2, 2)
    items, value = types
    element = items.element if isinstance(items, ArrayType) and value != NULL else None
    common = None if element is None else common_type(element, value, strings=False)
    if common is None:
        raise BindError("type-mismatch", f"{items} cannot contain {value}")
    return ArrayType(common), common


def _contains(items: tuple[Value, ...], value: Value) -> bool | None:
    if any(sort_key(item) == sort_key(value) for item in items):
        return True
    return None if None in items else False


def _element_at(items: tuple[Value, ...], place: int) -> Value:
    if place == 0 or abs(place) > len(items):
        raise EvaluationError("out-of-bounds", f"there is no item {place} of {len(items)}")
    return items[place - 1 if place > 0 else place]


NESTED_FUNCTIONS = (
    alike(
        FAMILY,
        "ARRAY(x, ...)",
        "An array of the arguments.",
        lambda types: ArrayType(types[0] if types else NULL),
        least=0,
        strict=False,
        meaning=lambda *items: items,
    ),
    custom(
        FAMILY,
        "STRUCT(x, ...)",
        "A struct of the arguments; a field has the name of its column, or its place: `col1`.",
        lambda types: types,
        lambda types: StructType(tuple((f"col{n}", t) for n, t in enumerate(types, 1))),
        strict=False,
        meaning=lambda *items: items,
    ),
    define(
        FAMILY,
        "SIZE(array)",
        "The number of items.",
        (array,),
        INT,
        meaning=len,
    ),
    custom(
        FAMILY,
        "ARRAY_CONTAINS(array, x)",
        "Whether an item equals x; NULL if none does and some are NULL.",
        _array_contains,
        BOOLEAN,
        may_be_null=True,
        meaning=_contains,
    ),
    define(
        FAMILY,
        "ELEMENT_AT(array, place)",
        "The item at a place, from 1, or from the end if negative; an error outside of the array.",
        (_known_array, _place),
        _element,
        may_be_null=True,
        meaning=_element_at,
    ),
)

NESTED_FORMS = (
    form(FAMILY, "NAMED_STRUCT(name, x, ...)", "A struct with the names given as text."),
)
