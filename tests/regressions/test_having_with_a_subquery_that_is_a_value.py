"""A term of HAVING that holds a subquery was dropped from the plan.

The value of the subquery stands beside the groups, and was taken for a name of the query around;
such terms join a subquery to its outside, and a query that is no subquery has no use for them.
"""

from collections import Counter

import pytest

from ebbtide.core.change import facts
from ebbtide.core.values import Row
from ebbtide.reference import evaluate_at
from ebbtide.sql import parse, parse_query
from ebbtide.sql.binder import bind_query, execute
from ebbtide.sql.catalog import Catalog

GROUPED = "SELECT k, COUNT(*) AS n FROM s GROUP BY k HAVING"
ROWS = [("a", 1), ("b", 1), ("b", 2), ("c", 3), ("c", 4), ("c", 5)]


def answer(text: str) -> Counter[Row]:
    catalog = execute(parse("CREATE TABLE s (k STRING, v INT)")[0], Catalog())
    plan = bind_query(parse_query(text), catalog).plan
    return evaluate_at(plan, {"s": facts(ROWS)}, 0)


@pytest.mark.parametrize(
    "having",
    [
        "COUNT(*) > (SELECT MIN(v) FROM s)",
        "COUNT(*) > (SELECT MIN(o.v) FROM s AS o WHERE o.v < 3)",
        "(SELECT MIN(v) FROM s) < COUNT(*) AND k <> (SELECT 'z')",
        "MAX(v) > (SELECT MIN(o.v) FROM s AS o WHERE o.k = s.k)",
        "NOT (COUNT(*) IN (SELECT MIN(v) FROM s) OR FALSE)",
        "CASE WHEN EXISTS (SELECT * FROM s) THEN COUNT(*) > 1 END",
    ],
)
def test_groups_that_do_not_fulfil_the_term_are_left_out(having: str) -> None:
    assert answer(f"{GROUPED} {having}") == Counter({("b", 2): 1, ("c", 3): 1})
