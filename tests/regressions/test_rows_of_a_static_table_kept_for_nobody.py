"""A window of rows over what is all there from the start stores nothing, and EXPLAIN says so.

It said that the last rows are kept, while nothing was: no row is to come that could meet them.
"""

from ebbtide.algebra.relation import Values
from ebbtide.algebra.window import Rows, Window
from ebbtide.analysis import analyse
from ebbtide.core.schema import schema


def test_nothing_is_kept_where_nothing_is_to_come() -> None:
    rows = Values(schema(x="BIGINT", at="TIMESTAMP"), ((0, 1), (1, 3)))
    analysis = analyse(Window(rows, Rows(4, 4), "at"))
    assert analysis.root.stores == ()
    assert [str(kept.rule) for kept in analysis.root.kept] == ["keep nothing"]
