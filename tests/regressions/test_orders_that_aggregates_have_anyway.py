"""An aggregate that is written with the order that it has by default reads back as the same plan.

Its column was named by the text with the order, and printed without it.
"""

import pytest

from ebbtide.plan_text.plan_sql import plan_sql
from ebbtide.sql import parse
from ebbtide.sql.binder import bind, execute
from ebbtide.sql.bound import BoundQuery
from ebbtide.sql.catalog import Catalog

STREAM = """CREATE STREAM s (id BIGINT, x DOUBLE, at TIMESTAMP NOT NULL, PRIMARY KEY (id),
  PROGRESS FOR at AS at)"""
CALLS = [
    "COLLECT(x) WITHIN GROUP (ORDER BY at)",
    "COLLECT(x ORDER BY at, id)",
    "FIRST(x ORDER BY at), FIRST(x)",
    "COLLECT(DISTINCT x ORDER BY at) FILTER (WHERE x > 0)",
    "STRING_AGG(CAST(x AS STRING), ',' ORDER BY at)",
]


@pytest.mark.parametrize("calls", CALLS)
def test_it_reads_back(calls: str) -> None:
    catalog = execute(parse(STREAM)[0], Catalog())
    first = bind(parse(f"SELECT {calls} FROM s [RANGE 1 HOUR]")[0], catalog)
    assert isinstance(first, BoundQuery)
    second = bind(parse(plan_sql(first.plan))[0], catalog)
    assert isinstance(second, BoundQuery)
    assert second.plan == first.plan
