"""Alias: the rows of the input, their columns known as name.column."""

from ebbtide.algebra import Alias
from ebbtide.testing import answer, relation

T = relation("t", x="INT")


def test_an_alias_renames_and_nothing_else() -> None:
    plan = Alias(T, "a")
    assert [str(column) for column in plan.schema] == ["a.x"]
    got = answer(plan, {"t": "time | diff | x\n[0, 5) | +2 | NULL"})
    assert got.around(0) == ([], [(None,), (None,)])
    assert got.around(5) == ([(None,), (None,)], [])


def test_the_last_alias_counts() -> None:
    assert [str(column) for column in Alias(Alias(T, "a"), "b").schema] == ["b.x"]
