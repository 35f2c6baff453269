"""A refusal points to the operator that is the reason for it."""

import pytest

from analysed import World
from ebbtide.errors import TemporalError

WORLD = World(
    """
    CREATE STREAM orders (id BIGINT, total DOUBLE, at TIMESTAMP NOT NULL, PROGRESS FOR at AS at);
    CREATE STREAM payments (id BIGINT, at TIMESTAMP NOT NULL, PROGRESS FOR at AS at);
    CREATE STREAM customers (id BIGINT, at TIMESTAMP NOT NULL, PRIMARY KEY (id),
      PROGRESS FOR at AS at) RETAIN 1 HOUR;
    CREATE VIEW paid AS SELECT o.id, p.at FROM orders o JOIN payments p ON o.id = p.id;
    """
)
BAND = "o.at BETWEEN p.at AND p.at + INTERVAL 1 HOUR"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT o.id FROM orders o «JOIN» payments p ON o.id = p.id",
        "SELECT o.id FROM orders o «LEFT JOIN» payments p ON o.id = p.id WHERE o.total > 5",
        "SELECT o.id FROM orders o«,» payments p WHERE o.id = p.id",
        "SELECT o.id FROM orders o WHERE «o.id IN (SELECT id FROM payments)»",
        "SELECT o.id FROM orders o WHERE NOT «EXISTS (SELECT 1 FROM payments p WHERE p.id = o.id)»",
        f"SELECT x.id FROM (SELECT o.id, o.at FROM orders o JOIN payments p ON {BAND}) x "
        "«JOIN» payments q ON x.id = q.id",
        "SELECT x.id FROM (SELECT o.id, o.at FROM orders o «JOIN» payments p ON o.id = p.id) x "
        "JOIN payments q ON x.at = q.at",
        "SELECT id, MEDIAN(total) AS m FROM orders «GROUP BY id»",
        "SELECT «MEDIAN(total) AS m» FROM orders WHERE total > 5",
        "SELECT id, «MEDIAN(total) OVER (PARTITION BY id)» AS m FROM orders WHERE total > 5",
        "SELECT id, at FROM «paid»",
        "WITH w AS (SELECT o.id FROM orders o «JOIN» payments p ON o.id = p.id) SELECT id FROM w",
        "SELECT id FROM customers «EXCEPT ALL» SELECT id FROM orders WHERE total > 5",
        "«SELECT DISTINCT id FROM customers»",
        "«ISTREAM(SELECT id FROM customers [UNBOUNDED])»",
        "SELECT id FROM customers «LIMIT 5»",
        "SELECT id, COUNT(*) AS n FROM orders «GROUP BY id» EMIT FINAL",
    ],
)
def test_the_operator_is_underlined(sql: str) -> None:
    before, rest = sql.split("«")
    words, after = rest.split("»")
    with pytest.raises(TemporalError) as refused:
        WORLD.checked(before + words + after)
    span = refused.value.span
    assert span is not None
    assert (span.start, span.text) == (len(before), words)


def test_where_it_was_written_is_no_part_of_a_query() -> None:
    one = WORLD.bound("SELECT o.id FROM orders o JOIN payments p ON o.id = p.id")
    other = WORLD.bound("SELECT  o.id  FROM orders  o JOIN  payments p  ON o.id = p.id")
    assert one == other
    assert one.plan == other.plan
    assert one.written.span(one.plan) != other.written.span(other.plan)
