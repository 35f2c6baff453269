"""Values: given rows, the same at every instant."""

import pytest

from ebbtide.algebra import Kind, Values, kind
from ebbtide.core.schema import schema
from ebbtide.core.time import NEG_INF
from ebbtide.errors import BindError
from ebbtide.testing import answer

ROWS = schema(x="INT", y="STRING")


def test_given_rows_hold_always_and_as_often_as_given() -> None:
    plan = Values(ROWS, ((1, "a"), (1, "a"), (2, None)))
    got = answer(plan, {})
    assert got.ticks == []
    assert got.at(NEG_INF) == [(1, "a"), (1, "a"), (2, None)]
    assert kind(plan) is Kind.STATIC


def test_a_row_of_other_types_is_refused() -> None:
    with pytest.raises(BindError, match="is not a row of"):
        Values(ROWS, (("a", 1),))
