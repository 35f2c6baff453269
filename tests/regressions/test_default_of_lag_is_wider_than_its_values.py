"""The default of LAG and LEAD was cast to the type of the values, which may not hold it."""

from collections import Counter
from decimal import Decimal

import pytest

from ebbtide.core.change import facts
from ebbtide.errors import BindError
from ebbtide.reference import evaluate_at
from ebbtide.sql import parse, parse_query
from ebbtide.sql.binder import bind_query, execute
from ebbtide.sql.bound import BoundQuery
from ebbtide.sql.catalog import Catalog


def bound(text: str) -> BoundQuery:
    catalog = execute(parse("CREATE TABLE t (a INT)")[0], Catalog())
    return bind_query(parse_query(text), catalog)


@pytest.mark.parametrize(
    ("call", "values"),
    [
        ("LAG(0.50, 1, 3.10)", [Decimal("0.50"), Decimal("3.10")]),
        ("LEAD(a, 1, 2.5)", [Decimal("2.0"), Decimal("2.5")]),
        ("LAG(a, 1, 3000000000)", [1, 3_000_000_000]),
    ],
)
def test_both_have_the_type_that_holds_either(call: str, values: list[object]) -> None:
    query = bound(f"SELECT {call} OVER (ORDER BY a) AS x FROM t")
    answer = evaluate_at(query.plan, {"t": facts([(1,), (2,)])}, 0)
    assert answer == Counter((value,) for value in values)


def test_types_without_a_common_one_are_refused() -> None:
    with pytest.raises(BindError) as error:
        bound("SELECT LAG(a, 1, DATE '2024-01-01') OVER (ORDER BY a) AS x FROM t")
    assert error.value.code == "type-mismatch"
