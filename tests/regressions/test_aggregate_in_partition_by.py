"""An aggregate in PARTITION BY was taken for the call that OVER follows, so nothing was grouped."""

from collections import Counter

from ebbtide.core.change import facts
from ebbtide.reference import evaluate_at
from ebbtide.sql import parse, parse_query
from ebbtide.sql.binder import bind_query, execute
from ebbtide.sql.catalog import Catalog


def test_a_query_with_an_aggregate_in_partition_by_is_grouped() -> None:
    catalog = execute(parse("CREATE TABLE t (a INT)")[0], Catalog())
    query = bind_query(
        parse_query("SELECT COUNT(*) OVER (PARTITION BY MIN(a)) AS n FROM t"), catalog
    )
    assert evaluate_at(query.plan, {"t": facts([(1,), (2,)])}, 0) == Counter({(1,): 1})
