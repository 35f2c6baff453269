"""What the verbs build is the query that a person would write, with the same plan."""

from datetime import UTC, datetime, timedelta

import pytest

from ebbtide.builder import Built, col, exists, fn, lit, source
from ebbtide.sql.binder import bind, execute
from ebbtide.sql.catalog import Catalog
from ebbtide.sql.parser import parse

DECLARATIONS = """
CREATE STREAM bids (auction BIGINT, price DOUBLE, at TIMESTAMP, PROGRESS FOR at AS at);
CREATE STREAM auctions (id BIGINT, seller STRING, at TIMESTAMP, PROGRESS FOR at AS at);
"""

BIDS = source("bids", window="RANGE 15 MINUTES")
NAMED = source("bids", window="RANGE 15 MINUTES", alias="b")
AUCTIONS = source("auctions", window="RANGE 1 HOUR", alias="a")

CASES = {
    "SELECT auction, AVG(price) AS mean FROM bids [RANGE 15 MINUTES] GROUP BY auction": BIDS.group(
        "auction", mean=fn.avg(col("price"))
    ),
    "SELECT auction FROM bids [RANGE 15 MINUTES] WHERE price > 5 AND auction <> 3": BIDS.where(
        col("price") > 5
    )
    .where(col("auction") != 3)
    .select("auction"),
    "SELECT b.price * 2 AS twice FROM bids [RANGE 15 MINUTES] AS b "
    "LEFT JOIN auctions [RANGE 1 HOUR] AS a ON b.auction = a.id": NAMED.join(
        AUCTIONS, col("b.auction") == col("a.id"), "left"
    ).select(twice=col("b.price") * 2),
    "SELECT auction, COUNT(*) AS n FROM bids [RANGE 15 MINUTES] GROUP BY auction "
    "HAVING COUNT(*) > 1": BIDS.group("auction", n=fn.count()).where(fn.count() > 1),
    "SELECT COUNT(DISTINCT auction) FILTER (WHERE price > 1) AS n FROM bids [RANGE 15 MINUTES]": (
        BIDS.group(n=fn.count(col("auction"), distinct=True, where=col("price") > 1))
    ),
    "SELECT auction FROM bids [RANGE 15 MINUTES] "
    "UNION ALL SELECT id FROM auctions [NOW]": BIDS.select("auction").union(
        source("auctions", window="NOW").select("id")
    ),
    "SELECT auction, price FROM bids [RANGE 15 MINUTES] ORDER BY price DESC LIMIT 3": BIDS.select(
        "auction", "price"
    ).top(3, col("price").descending()),
    "SELECT DISTINCT auction FROM bids [RANGE 15 MINUTES] WHERE auction IN (1, 2) "
    "OR NOT (price IS NULL)": BIDS.where(col("auction").is_in(1, 2) | ~col("price").is_null())
    .select("auction")
    .distinct(),
    "SELECT auction, FLOOR(at TO 1 HOUR) AS hour, COUNT(*) + auction AS n FROM bids "
    "GROUP BY auction, FLOOR(at TO 1 HOUR), price EMIT FINAL": source("bids")
    .group(
        "auction",
        col("at").floor(timedelta(hours=1)).named("hour"),
        hidden=("price",),
        n=fn.count() + col("auction"),
    )
    .final(),
    "SELECT auction, SUM(price) OVER (PARTITION BY auction, at ORDER BY price DESC "
    "ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS two, COUNT(*) OVER () AS n "
    "FROM bids [RANGE 15 MINUTES]": BIDS.select(
        "auction",
        two=fn.sum(col("price")).over(
            "auction",
            "at",
            order=col("price").descending(),
            frame="ROWS BETWEEN 1 PRECEDING AND CURRENT ROW",
        ),
        n=fn.count().over(),
    ),
    "SELECT b.auction FROM bids AS b WHERE NOT EXISTS (SELECT 1 FROM auctions AS a "
    "WHERE a.id = b.auction) OR EXISTS (SELECT MAX(a.id) AS id FROM auctions AS a "
    "HAVING MAX(a.id) > 3) ALLOW UNBOUNDED STATE EMIT CHANGES WITH FINALITY": (
        source("bids", alias="b")
        .where(
            ~exists(source("auctions", alias="a").where(col("a.id") == col("b.auction")))
            | exists(
                source("auctions", alias="a")
                .group(id=fn.max(col("a.id")))
                .where(fn.max(col("a.id")) > 3)
            )
        )
        .unbounded()
        .with_finality()
        .select("b.auction")
    ),
    "SELECT * FROM (SELECT auction FROM bids UNION ALL SELECT id FROM auctions) AS part "
    "WHERE auction > 1 EMIT FINAL": source("bids")
    .select("auction")
    .final()
    .union(source("auctions").select("id").final())
    .where(col("auction") > 1),
}


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    known = Catalog()
    for statement in parse(DECLARATIONS):
        known = execute(statement, known)
    return known


@pytest.mark.parametrize("text", CASES)
def test_the_plan_is_that_of_the_text(catalog: Catalog, text: str) -> None:
    built, written = (bind(parse(sql)[0], catalog) for sql in (CASES[text].sql, text))
    assert built == written


def test_a_verb_after_the_last_clause_starts_a_query_around_it(catalog: Catalog) -> None:
    best = BIDS.group("auction", top=fn.max(col("price"))).top(1, "top").where(col("top") > 1)
    assert best.sql == (
        "SELECT * FROM (SELECT auction, MAX(price) AS top FROM bids [RANGE 15 MINUTES] "
        "GROUP BY auction ORDER BY top LIMIT 1) AS part WHERE top > 1"
    )
    bind(parse(best.sql)[0], catalog)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "NULL"),
        (True, "TRUE"),
        (-1, "-1"),
        (0.5, "0.5D"),
        ("it's", r"'it\'s'"),
        (datetime(2026, 1, 1, tzinfo=UTC), "TIMESTAMP '2026-01-01 00:00:00+00:00'"),
        (timedelta(seconds=1), "INTERVAL 1000000 MICROSECONDS"),
    ],
)
def test_constants(value: object, text: str) -> None:
    assert lit(value).text == text


def test_a_condition_has_no_truth_value_in_python() -> None:
    with pytest.raises(TypeError, match="no truth value"):
        bool(col("a") == 1)


def test_nothing_is_changed_in_place() -> None:
    before = BIDS.sql
    BIDS.where(col("price") > 1).distinct()
    assert before == BIDS.sql
    assert isinstance(BIDS, Built)
