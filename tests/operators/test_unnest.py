"""Unnest: every row once for each item of its array."""

import pytest

from ebbtide.algebra import Ref, StaticTable, Unnest
from ebbtide.core.change import fact
from ebbtide.core.declaration import TableDeclaration
from ebbtide.core.schema import schema
from ebbtide.errors import BindError
from ebbtide.reference import evaluate_at

T = StaticTable(TableDeclaration("t", schema(k="INT", a="ARRAY<INT>")))
ROWS = {"t": (fact((1, (7, None, 7))), fact((2, ())), fact((3, None)), fact((4, (5,)), 2))}


def rows(plan: Unnest) -> dict[tuple, int]:
    """The rows without the array, and how often each is there."""
    found: dict[tuple, int] = {}
    for row, n in evaluate_at(plan, ROWS, 0).items():
        key = (row[0], *row[2:])
        found[key] = found.get(key, 0) + n
    return found


def items(**more: object) -> Unnest:
    return Unnest(T, Ref(T.schema.column("a")), "u", "item", **more)


def test_a_row_for_each_item() -> None:
    assert rows(items()) == {(1, 7): 2, (1, None): 1, (4, 5): 2}


def test_places_tell_equal_items_apart() -> None:
    numbered = {(1, 7, 1): 1, (1, None, 2): 1, (1, 7, 3): 1, (4, 5, 1): 2}
    assert rows(items(place="n")) == numbered


def test_rows_without_items_are_padded() -> None:
    padded = {(2, None): 1, (3, None): 1}
    assert rows(items(pads=True)) == {(1, 7): 2, (1, None): 1, (4, 5): 2, **padded}
    assert rows(items(pads=True, place="n"))[2, None, None] == 1


def test_what_is_no_array_is_refused() -> None:
    with pytest.raises(BindError, match="UNNEST needs an ARRAY, and this is INT"):
        Unnest(T, Ref(T.schema.column("k")), "u", "item")
