"""Map: for every row, the row of the expressions' values."""

from ebbtide.algebra import IsNull, Literal, Map, Named
from ebbtide.core.types import STRING
from ebbtide.testing import answer, relation

T = relation("t", x="INT", y="INT")
DATA = """
    time    | diff | x | y
    [0, 10) | +1   | 1 | 5
    [5, 15) | +2   | 1 | 6
"""


def test_rows_that_become_equal_count_together() -> None:
    """
    x = 1 (y = 5)  |=========|
    x = 1 (y = 6)       |=========|   twice
                   1    3    2    0
    """
    got = answer(Map(T, (Named("x", T.ref("x")),)), {"t": DATA})
    assert got.around(0) == ([], [(1,)])
    assert got.around(5) == ([(1,)], [(1,)] * 3)
    assert got.around(10) == ([(1,)] * 3, [(1,)] * 2)
    assert got.around(15) == ([(1,)] * 2, [])


def test_columns_are_made_and_named() -> None:
    plan = Map(T, (Named("word", Literal("a", STRING)), Named("missing", IsNull(T.ref("x")))))
    assert plan.schema.names == ("word", "missing")
    assert [column.nullable for column in plan.schema] == [False, False]
    assert answer(plan, {"t": DATA}).at(0) == [("a", False)]
