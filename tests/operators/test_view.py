"""View: the rows of the input, known by a name."""

import pytest

from ebbtide.algebra import View
from ebbtide.errors import QueryError
from ebbtide.testing import answer, relation

T = relation("t", x="INT")


def test_a_view_is_its_query() -> None:
    got = answer(View("v", T), {"t": "time | diff | x\n[0, 5) | +2 | 1"})
    assert got.around(0) == ([], [(1,), (1,)])
    assert got.around(5) == ([(1,), (1,)], [])


def test_a_view_declares_progress_only_for_columns_it_has() -> None:
    with pytest.raises(QueryError, match='no column "at"'):
        View("v", T, promises=("at",))
