"""A window function before IN with a subquery was bound to a plan that could not be run.

The subquery is joined below the operator that computes the window function, where its column is
not there yet.
"""

import pytest

from ebbtide.errors import BindError
from ebbtide.sql import parse, parse_query
from ebbtide.sql.binder import bind_query, execute
from ebbtide.sql.catalog import Catalog

RANK = "RANK() OVER (ORDER BY a)"


@pytest.mark.parametrize(
    "text",
    [
        f"SELECT {RANK} IN (SELECT a FROM t) AS x FROM t",
        f"SELECT ({RANK} + 1, a) NOT IN (SELECT a, 1 FROM t) AS x FROM t",
        f"SELECT a FROM t ORDER BY {RANK} IN (SELECT a FROM t) LIMIT 1",
        "SELECT SUM(COUNT(*)) OVER () IN (SELECT a FROM t) AS x FROM t GROUP BY a",
    ],
)
def test_it_is_refused(text: str) -> None:
    catalog = execute(parse("CREATE TABLE t (a INT)")[0], Catalog())
    with pytest.raises(BindError) as error:
        bind_query(parse_query(text), catalog)
    assert error.value.code == "misplaced-window-function"
    assert "in a subquery" in str(error.value.hint)
