"""Split: the input as it is; its changes may be cut into pieces."""

import pytest

from ebbtide.algebra import Split
from ebbtide.errors import BindError
from ebbtide.testing import answer, relation

T = relation("t", x="INT")


def test_no_snapshot_changes() -> None:
    got = answer(Split(T, 4), {"t": "time | diff | x\n[0, 10) | +2 | 1"})
    assert got.around(0) == ([], [(1,), (1,)])
    assert got.around(4) == ([(1,), (1,)], [(1,), (1,)])
    assert got.around(10) == ([(1,), (1,)], [])


def test_pieces_have_a_size() -> None:
    with pytest.raises(BindError, match="SPLIT"):
        Split(T, 0)
