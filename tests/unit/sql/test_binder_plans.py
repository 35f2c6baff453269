"""The plans that clauses become, as trees."""

from textwrap import dedent

import pytest

from corpus import statements
from ebbtide.algebra import Kind, Range, Rows, Stream, TopN, View, Window
from ebbtide.core.tree import find
from ebbtide.plan_text.plan_tree import plan_tree
from ebbtide.sql import parse, parse_query
from ebbtide.sql.binder import bind, bind_query, execute
from ebbtide.sql.bound import BoundInsert, BoundQuery, BoundShow
from ebbtide.sql.catalog import Catalog
from ebbtide.sql.syntax import Emit


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    known = Catalog()
    for text in statements("schema.sql"):
        known = execute(parse(text)[0], known)
    return known


def declared(catalog: Catalog, script: str) -> Catalog:
    for statement in parse(script):
        catalog = execute(statement, catalog)
    return catalog


def query(text: str, catalog: Catalog) -> BoundQuery:
    return bind_query(parse_query(text), catalog)


PLANS = {
    "a window stands inside its alias": (
        "SELECT auction, AVG(price) AS mean FROM bids [RANGE 15 MINUTES] AS b GROUP BY auction",
        """
        Map auction, mean := AVG(b.price)
          Aggregate AVG(b.price) by auction
            Alias b
              Window [RANGE 15 MINUTES] on at
                Stream bids
        """,
    ),
    "NOT EXISTS is an anti join, with what is local to the subquery below": (
        "SELECT a.id FROM auctions AS a WHERE a.category = 3 AND NOT EXISTS "
        "(SELECT 1 FROM bids AS b WHERE b.price > 5 AND b.auction = a.id)",
        """
        Map id
          AntiJoin b.auction = a.id
            Filter a.category = 3
              Alias a
                Stream auctions
            Filter b.price > 5.0D
              Alias b
                Stream bids
        """,
    ),
    "NOT IN is TRUE where the comparison is unknown": (
        "SELECT id FROM auctions WHERE seller NOT IN (SELECT bidder FROM bids)",
        """
        Map id
          AntiJoin COALESCE(auctions.seller = bids.bidder, TRUE)
            Alias auctions
              Stream auctions
            Alias bids
              Stream bids
        """,
    ),
    "NOT IN of what is never NULL is an equality": (
        "SELECT id FROM auctions WHERE id NOT IN (SELECT bidder FROM bids)",
        """
        Map id
          AntiJoin auctions.id = bids.bidder
            Alias auctions
              Stream auctions
            Alias bids
              Stream bids
        """,
    ),
    "an inner table of the same name gets another one": (
        "SELECT auction FROM bids WHERE EXISTS (SELECT 1 FROM bids WHERE price > 3)",
        """
        Map auction
          SemiJoin TRUE
            Alias bids
              Stream bids
            Filter bids_2.price > 3.0D
              Alias bids_2
                Stream bids
        """,
    ),
    "a scalar subquery is one row beside every row": (
        "SELECT price FROM bids WHERE price > (SELECT AVG(price) FROM bids AS c)",
        """
        Map price
          Filter bids.price > `scalar subquery`.`AVG(c.price)`
            Product
              Alias bids
                Stream bids
              Alias scalar subquery
                Map AVG(c.price)
                  Aggregate AVG(c.price)
                    Alias c
                      Stream bids
        """,
    ),
    "a correlated scalar subquery is a left join with groups, and counts 0 where there is none": (
        "SELECT a.id, (SELECT COUNT(*) FROM bids AS b WHERE b.auction = a.id) AS n"
        " FROM auctions AS a",
        """
        Map id, n := COALESCE(`scalar subquery`.`COUNT(*)`, 0L)
          OuterJoin LEFT on a.id = `scalar subquery`.auction
            Alias a
              Stream auctions
            Alias scalar subquery
              Map auction, COUNT(*)
                Aggregate COUNT(*) by auction
                  Alias b
                    Stream bids
        """,
    ),
    "a scalar subquery of many rows is checked to have one": (
        "SELECT (SELECT price FROM bids AS b WHERE b.auction = 1) AS p FROM categories",
        """
        Map p := `scalar subquery`.`SINGLE(b.price)`
          Product
            Alias categories
              StaticTable categories
            Alias scalar subquery
              Map SINGLE(b.price)
                Aggregate SINGLE(b.price)
                  Filter b.auction = 1L
                    Alias b
                      Stream bids
        """,
    ),
    "a bounded ROW_NUMBER is a top-n, its ties broken by time and key": (
        "SELECT auction FROM (SELECT auction, ROW_NUMBER() OVER "
        "(PARTITION BY auction ORDER BY price DESC) AS n FROM bids AS b) AS r WHERE n <= 3",
        """
        Map auction
          Alias r
            Map auction, n := ROW_NUMBER() OVER (PARTITION BY b.auction ORDER BY b.price DESC)
              TopN 3 by b.price DESC, b.at, b.auction, b.bidder, for each b.auction, with ROW_NUMBER
                Alias b
                  Stream bids
        """,
    ),
    "ORDER BY LIMIT is a top-n below the list": (
        "SELECT auction AS a FROM bids [NOW] ORDER BY price DESC, a LIMIT 3 OFFSET 1",
        """
        Map a := bids.auction
          TopN 3 from 2 by bids.price DESC, bids.auction, bids.at, bids.bidder
            Alias bids
              Window [NOW] on at
                Stream bids
        """,
    ),
    "one Over for each definition of a window": (
        "SELECT SUM(price) OVER (PARTITION BY at) AS s, MAX(at) OVER (PARTITION BY at) AS m,"
        " COUNT(*) OVER () AS n FROM bids AS b",
        """
        Map s := SUM(b.price) OVER (PARTITION BY b.at), m := MAX(b.at) OVER (PARTITION BY b.at), \
n := COUNT(*) OVER ()
          Over COUNT(*) OVER ()
            Over SUM(b.price) OVER (PARTITION BY b.at), MAX(b.at) OVER (PARTITION BY b.at)
              Alias b
                Stream bids
        """,
    ),
    "ordered aggregates see rows by time and key": (
        "SELECT FIRST(price) AS f FROM bids",
        """
        Map f := FIRST(bids.price)
          Aggregate FIRST(bids.price) WITHIN GROUP (ORDER BY bids.at, bids.auction, bids.bidder)
            Alias bids
              Stream bids
        """,
    ),
    "set operations widen their columns": (
        "SELECT category FROM auctions UNION SELECT auction FROM bids",
        """
        Distinct
          UnionAll
            Map category := CAST(auctions.category AS BIGINT)
              Alias auctions
                Stream auctions
            Map auction
              Alias bids
                Stream bids
        """,
    ),
    "a comma binds less tightly than JOIN": (
        "SELECT c.id FROM categories AS c, bids AS b JOIN auctions AS a ON a.id = b.auction",
        """
        Map id
          Product
            Alias c
              StaticTable categories
            Join a.id = b.auction
              Alias b
                Stream bids
              Alias a
                Stream auctions
        """,
    ),
    "groups with subqueries beside them are a query in FROM": (
        "SELECT auction, COUNT(*) AS n FROM bids GROUP BY auction"
        " HAVING auction IN (SELECT id FROM auctions)",
        """
        Map auction, n := grouped.`COUNT(*)`
          SemiJoin grouped.auction = auctions.id
            Alias grouped
              Map auction, COUNT(*)
                Aggregate COUNT(*) by auction
                  Alias bids
                    Stream bids
            Alias auctions
              Stream auctions
        """,
    ),
    "windows stand on ISTREAM, by its instant": (
        "SELECT n FROM ISTREAM(SELECT COUNT(*) AS n FROM bids [RANGE 1 HOUR]) [ROWS 2] AS i",
        """
        Map n
          Alias i
            Window [ROWS 2] on instant
              Istream
                Map n := COUNT(*)
                  Aggregate COUNT(*)
                    Alias bids
                      Window [RANGE 1 HOUR] on at
                        Stream bids
        """,
    ),
    "a query without FROM has one row": (
        "SELECT 1 AS one",
        """
        Map one := 1
          Values 1 x ()
        """,
    ),
}


@pytest.mark.parametrize(("text", "tree"), PLANS.values(), ids=PLANS)
def test_plan(text: str, tree: str, catalog: Catalog) -> None:
    assert plan_tree(query(text, catalog).plan) == dedent(tree).strip()


def test_emission_and_kind(catalog: Catalog) -> None:
    bound = query("SELECT price FROM bids EMIT FINAL ALLOW UNBOUNDED STATE", catalog)
    assert (bound.emit, bound.allow_unbounded, bound.kind) == (Emit.FINAL, True, Kind.FACT)
    assert bound.sql == "SELECT bids.price FROM bids EMIT FINAL ALLOW UNBOUNDED STATE"
    assert query("SELECT price FROM bids [NOW]", catalog).kind is Kind.SNAPSHOT
    assert query("SELECT name FROM sellers", catalog).kind is Kind.SNAPSHOT
    assert query("SELECT name FROM categories", catalog).kind is Kind.STATIC
    assert query("SELECT price FROM bids", catalog).emit is Emit.CHANGES


def test_the_time_of_a_window(catalog: Catalog) -> None:
    for text, on, key in (
        ("bids [ROWS 2]", "at", ("auction", "bidder", "at")),
        ("bids [ROWS 2 ON seen]", "seen", ("auction", "bidder", "at")),
        ("(SELECT price, seen AS later FROM bids) [ROWS 2]", "later", ()),
        ("TUMBLE(bids, at, 1 HOUR) [ROWS 2]", "at", ("auction", "bidder", "at")),
        (
            "(SELECT window_end AS e, COUNT(*) AS n FROM TUMBLE(bids, at, 1 HOUR)"
            " GROUP BY window_start, window_end) [ROWS 2]",
            "e",
            (),
        ),
        ("(SELECT a.at AS t FROM bids AS b RIGHT JOIN auctions AS a ON TRUE) [NOW]", "t", ()),
    ):
        (window,) = find(query(f"SELECT 1 AS x FROM {text} AS w", catalog).plan, Window)
        assert (window.on, window.key) == (on, key), text


def test_names_do_not_depend_on_case(catalog: Catalog) -> None:
    bound = query("SELECT B.PRICE, Auction FROM BIDS [Rows 3] AS b", catalog)
    assert bound.schema.names == ("price", "auction")
    (window,) = find(bound.plan, Window)
    assert window.spec == Rows(3)
    assert next(find(window, Stream)).declaration.name == "bids"


def test_names_of_columns(catalog: Catalog) -> None:
    text = "SELECT price, price * 2, COUNT(*)  OVER ( ), shop.name, tags[0] FROM bids, auctions"
    assert query(text, catalog).schema.names == (
        "price",
        "price * 2",
        "COUNT(*) OVER ( )",
        "name",
        "tags[0]",
    )


def test_a_view_is_a_node_of_the_plan(catalog: Catalog) -> None:
    known = declared(
        catalog,
        "CREATE VIEW dear (who, at, PROGRESS FOR at) AS "
        "SELECT bidder, at FROM bids WHERE price > 100",
    )
    bound = query("SELECT who FROM dear [RANGE 1 MINUTE]", known)
    (view,) = find(bound.plan, View)
    assert (view.name, view.promises, view.schema.names) == ("dear", ("at",), ("who", "at"))
    (window,) = find(bound.plan, Window)
    assert (window.on, window.spec) == ("at", Range(60_000_000))


def test_a_top_n_is_not_looked_for_in_a_view(catalog: Catalog) -> None:
    known = declared(
        catalog, "CREATE VIEW r AS SELECT price, RANK() OVER (ORDER BY price) AS n FROM bids"
    )
    assert not list(find(query("SELECT price FROM r WHERE n <= 3", known).plan, TopN))


def test_insert_names_and_casts_the_columns(catalog: Catalog) -> None:
    (statement,) = parse(
        "INSERT INTO bids (seen, at, bidder, auction) SELECT at, at + INTERVAL 1 HOUR, id, category"
        " FROM auctions WHERE category IS NOT NULL"
    )
    bound = bind(statement, catalog)
    assert isinstance(bound, BoundInsert)
    assert bound.target.name == "bids"
    assert bound.query.schema.names == ("auction", "bidder", "price", "channel", "at", "seen")
    assert plan_tree(bound.query.plan).splitlines()[0] == (
        "Map auction := CAST(auctions.category AS BIGINT), bidder := auctions.id, "
        "price := CAST(NULL AS DOUBLE), channel := CAST(NULL AS STRING), "
        "at := auctions.at + INTERVAL 1 HOUR, seen := auctions.at"
    )


def test_show(catalog: Catalog) -> None:
    assert bind(parse("SHOW STREAMS")[0], catalog) == BoundShow(
        "STREAM", ("bids", "auctions", "people")
    )
