"""Some plans were printed as SQL that is no SQL, or that is bound to another plan.

NOT stood in a list without parentheses; a subquery without FROM, or a query without FROM that a
subquery was joined to, had an empty SELECT in FROM; and the aggregates of BETWEEN and IN had their
columns in another order than the one in which they are printed.
"""

from collections.abc import Callable

import pytest

from ebbtide.algebra.combination import Join, UnionAll
from ebbtide.algebra.expression import Comparison, Ref
from ebbtide.algebra.relation import Alias, Distinct, Map, Named, Relation, StaticTable
from ebbtide.core.change import facts
from ebbtide.core.declaration import TableDeclaration
from ebbtide.core.schema import schema
from ebbtide.plan_text.plan_sql import plan_sql
from ebbtide.reference import evaluate_at
from ebbtide.sql import parse, parse_query
from ebbtide.sql.binder import bind_query, execute
from ebbtide.sql.bound import BoundQuery
from ebbtide.sql.catalog import Catalog


def bound(text: str) -> BoundQuery:
    catalog = execute(parse("CREATE TABLE t (a INT, f BOOLEAN)")[0], Catalog())
    return bind_query(parse_query(text), catalog)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT a FROM t WHERE f IN (TRUE, (NOT f))",
        "SELECT a FROM t WHERE f IN ((f OR a = 1), (f AND a = 2))",
        "SELECT a FROM t WHERE f NOT IN (FALSE, a NOT IN (1, 2))",
        "SELECT a FROM t WHERE a NOT IN (SELECT 1)",
        "SELECT a FROM t WHERE EXISTS (SELECT 1)",
        "SELECT a FROM t WHERE EXISTS (SELECT 1 WHERE t.a = 2)",
        "SELECT 1 IN (SELECT a FROM t) AS x",
        "SELECT 1 NOT IN (SELECT a FROM t) AS x, (SELECT MAX(a) FROM t) AS y",
        "SELECT 1 AS x WHERE 1 IN (SELECT a FROM t)",
        "SELECT MIN(a) BETWEEN COUNT(*) AND MAX(a) AS x FROM t",
        "SELECT MIN(a) IN (MAX(a), COUNT(*)) AS x FROM t GROUP BY f",
    ],
)
def test_what_is_printed_is_bound_to_the_same_plan(text: str) -> None:
    query = bound(text)
    again = bound(query.sql)
    assert again == query
    rows = {"t": facts([(1, True), (2, None), (2, False)])}
    assert evaluate_at(again.plan, rows, 0) == evaluate_at(query.plan, rows, 0)


@pytest.mark.parametrize("over", [Distinct, lambda join: UnionAll(join, join)])
def test_columns_of_two_tables_under_an_operator_are_printed(
    over: Callable[[Relation], Relation],
) -> None:
    """Plans made in Python may have them where a SELECT would have to list its columns."""
    table = StaticTable(TableDeclaration("t", schema(a="BIGINT")))
    left, right = Alias(table, "l"), Alias(table, "r")
    join = over(Join(left, right, Comparison("=", left.ref("a"), right.ref("a"))))
    plan = Map(join, (Named("x", Ref(left.ref("a").column)),))
    text = plan_sql(plan).replace("DISTINCT ", "")
    assert "SELECT l.a, r.a AS a_ FROM t AS l JOIN t AS r" in text
