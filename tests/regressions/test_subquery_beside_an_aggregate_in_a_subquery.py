"""A subquery beside an aggregate, in a subquery that is a value, was not joined to anything.

`(SELECT MAX(k) + (SELECT MIN(a) FROM u) FROM v)` gave a plan that named a column of a relation that
was not in it.
"""

from collections import Counter

import pytest

from ebbtide.core.change import facts
from ebbtide.core.values import Row
from ebbtide.errors import UnsupportedError
from ebbtide.reference import evaluate_at
from ebbtide.sql import parse, parse_query
from ebbtide.sql.binder import bind_query, execute
from ebbtide.sql.catalog import Catalog


def answer(text: str) -> Counter[Row]:
    catalog = Catalog()
    for statement in parse("CREATE TABLE t (a INT); CREATE TABLE u (b INT)"):
        catalog = execute(statement, catalog)
    plan = bind_query(parse_query(text), catalog).plan
    return evaluate_at(plan, {"t": facts([(1,), (2,)]), "u": facts([(3,), (4,)])}, 0)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("SELECT MAX(b) + (SELECT MIN(b) FROM u) FROM u", 7),
        ("SELECT MAX(b) IN (SELECT b FROM u) FROM u", True),
        ("SELECT CASE WHEN EXISTS (SELECT 1 FROM u) THEN MIN(b) END FROM u", 3),
        ("SELECT MAX(b + (SELECT MIN(b) FROM u)) FROM u", 7),
    ],
)
def test_it_is_joined(value: str, expected: object) -> None:
    assert answer(f"SELECT a, ({value}) AS x FROM t") == Counter(
        {(1, expected): 1, (2, expected): 1}
    )


def test_it_is_refused_where_the_subquery_depends_on_the_query_around() -> None:
    with pytest.raises(UnsupportedError) as error:
        answer("SELECT (SELECT MAX(b) + (SELECT MIN(b) FROM u) FROM u WHERE b = a) AS x FROM t")
    assert error.value.code == "correlated-subquery"
