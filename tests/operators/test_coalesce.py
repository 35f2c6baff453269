"""Coalesce: the input as it is; adjacent changes of one row may be merged."""

from ebbtide.algebra import Coalesce
from ebbtide.testing import answer, relation

T = relation("t", x="INT")
PIECES = "time | diff | x\n[0, 5) | +1 | 1\n[5, 9) | +1 | 1\n[5, 9) | +1 | 1"


def test_no_snapshot_changes() -> None:
    """
    1    |====|====|
    1         |====|
         0    5    9
    """
    for limit in (None, 3):
        got = answer(Coalesce(T, limit), {"t": PIECES})
        assert got.around(0) == ([], [(1,)])
        assert got.around(5) == ([(1,)], [(1,), (1,)])
        assert got.around(9) == ([(1,), (1,)], [])
