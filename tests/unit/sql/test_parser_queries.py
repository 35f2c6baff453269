"""What the parser makes of windows, durations, calls and clauses."""

import pytest
from sqlglot import exp

from ebbtide.core.time import DAY, HOUR, MINUTE, SECOND
from ebbtide.sql import nodes, parse, parse_query, sql
from ebbtide.sql.syntax import Emit


def source(text: str) -> exp.Expr:
    """The source in FROM."""
    return parse_query(f"SELECT * FROM {text}").body.args["from_"].this


def scalar(text: str) -> exp.Expr:
    """An expression, as the only one that is selected."""
    return parse_query(f"SELECT {text} FROM t").body.expressions[0]


def name(text: str) -> exp.Identifier:
    return exp.Identifier(this=text, quoted=False)


def span(length: int) -> nodes.Duration:
    return nodes.Duration(us=length)


def window(
    name: str, *amounts: nodes.Duration | int, by: list[exp.Identifier] | None = None
) -> nodes.WindowNode:
    return nodes.WindowNode(this=name, amounts=list(amounts) or None, partition_by=by)


WINDOWS = {
    "[RANGE 15 MINUTES]": window("RANGE", span(15 * MINUTE)),
    "[RANGE 5 MINUTES SLIDE 1 MINUTE]": window("RANGE", span(5 * MINUTE), span(MINUTE)),
    "[FIXED 1 HOUR]": window("FIXED", span(HOUR)),
    "[ROWS 10]": window("ROWS", 10),
    "[ROWS 10 SLIDE 5]": window("ROWS", 10, 5),
    "[PARTITION BY seller ROWS 10]": window("ROWS", 10, by=[name("seller")]),
    "[PARTITION BY a, b ROWS 10 SLIDE 5]": window("ROWS", 10, 5, by=[name("a"), name("b")]),
    "[SESSION 1 HOUR]": window("SESSION", span(HOUR)),
    "[PARTITION BY a SESSION 1 HOUR]": window("SESSION", span(HOUR), by=[name("a")]),
    "[NOW]": window("NOW"),
    "[UNBOUNDED]": window("UNBOUNDED"),
}


@pytest.mark.parametrize(("text", "window"), WINDOWS.items(), ids=WINDOWS)
def test_windows(text: str, window: nodes.WindowNode) -> None:
    assert source(f"s {text}") == nodes.Windowed(this=exp.Table(this=name("s")), window=window)


@pytest.mark.parametrize(("text", "window"), WINDOWS.items(), ids=WINDOWS)
def test_windows_on_an_attribute(text: str, window: nodes.WindowNode) -> None:
    placed = window.copy()
    placed.set("on", name("at"))
    found = source(f"s {text[:-1]} ON at]")
    assert found.args["window"] == placed


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("15 MINUTES", 15 * MINUTE),
        ("15 minute", 15 * MINUTE),
        ("INTERVAL 15 MINUTES", 15 * MINUTE),
        ("INTERVAL '15' MINUTE", 15 * MINUTE),
        ("INTERVAL '15 minutes'", 15 * MINUTE),
        ("'15 minutes'", 15 * MINUTE),
        ("INTERVAL '1 hour 30 minutes'", 90 * MINUTE),
        ("1 HOUR 30 MINUTES", 90 * MINUTE),
        ("90 SECONDS", 90 * SECOND),
        ("1.5 SECONDS", 3 * SECOND // 2),
        ("INTERVAL '1 02:03:04.5' DAY TO SECOND", DAY + 2 * HOUR + 3 * MINUTE + 9 * SECOND // 2),
        ("INTERVAL '02:03' HOUR TO MINUTE", 2 * HOUR + 3 * MINUTE),
        ("1 WEEK", 7 * DAY),
        ("2 MILLISECONDS", 2000),
        ("3 MICROSECONDS", 3),
    ],
)
def test_durations(text: str, length: int) -> None:
    assert source(f"s [RANGE {text}]").args["window"].args["amounts"][0].us == length


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("INTERVAL 5 SECONDS", 5 * SECOND),
        ("INTERVAL -5 SECONDS", -5 * SECOND),
        ("INTERVAL '-5' SECOND", -5 * SECOND),
        ("INTERVAL '-1 02' DAY TO HOUR", -26 * HOUR),
    ],
)
def test_intervals(text: str, length: int) -> None:
    assert scalar(text) == span(length)


@pytest.mark.parametrize(
    ("text", "node"),
    [
        (
            "TUMBLE(s, at, 1 HOUR)",
            nodes.Tumble(this=exp.Table(this=name("s")), on=name("at"), size=span(HOUR)),
        ),
        (
            "HOP(s, at, 1 MINUTE, 1 HOUR)",
            nodes.Hop(
                this=exp.Table(this=name("s")),
                on=name("at"),
                slide=span(MINUTE),
                size=span(HOUR),
            ),
        ),
        (
            "SESSION(s PARTITION BY a, b, at, 1 MINUTE)",
            nodes.Session(
                this=exp.Table(this=name("s")),
                on=name("at"),
                gap=span(MINUTE),
                partition_by=[name("a"), name("b")],
            ),
        ),
        (
            "CUMULATE(s, at, 1 HOUR, 1 DAY)",
            nodes.Cumulate(
                this=exp.Table(this=name("s")), on=name("at"), step=span(HOUR), size=span(DAY)
            ),
        ),
    ],
)
def test_table_functions(text: str, node: nodes.TableFunction) -> None:
    assert source(text) == node
    assert source(f"{text} AS x").alias == source(f"{text} x").alias == "x"


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("SELECT a FROM t AS u", "SELECT a FROM t u"),
        ("SELECT a FROM t INNER JOIN u ON x", "SELECT a FROM t JOIN u ON x"),
        ("SELECT a FROM t LEFT OUTER JOIN u ON x", "SELECT a FROM t LEFT JOIN u ON x"),
        ("SELECT a FROM t ORDER BY a ASC", "SELECT a FROM t ORDER BY a NULLS FIRST"),
        ("SELECT a FROM t ORDER BY a DESC", "SELECT a FROM t ORDER BY a DESC NULLS LAST"),
        ("SELECT a FROM t MINUS SELECT b FROM u", "SELECT a FROM t EXCEPT SELECT b FROM u"),
        ("SELECT a FROM t UNION DISTINCT SELECT b FROM u", "SELECT a FROM t UNION SELECT b FROM u"),
        ("SELECT a != b FROM t", "SELECT a <> b FROM t"),
        ("SELECT a == b FROM t", "SELECT a = b FROM t"),
        ("SELECT count(*) FROM t", "SELECT COUNT(*) FROM t"),
        ("SELECT CEILING(a TO HOUR) FROM t", "SELECT CEIL(a TO 60 MINUTES) FROM t"),
        ("SELECT TRIM(LEADING 'x' FROM a) FROM t", "SELECT LTRIM(a, 'x') FROM t"),
        ("SELECT SUBSTRING(a FROM 2 FOR 3) FROM t", "SELECT SUBSTR(a, 2, 3) FROM t"),
        ("SELECT POSITION('x' IN a) FROM t", "SELECT POSITION('x', a) FROM t"),
        ("SELECT 5L FROM t", "SELECT CAST(5 AS BIGINT) FROM t"),
        ("SELECT DATE '2026-01-01' FROM t", "SELECT CAST('2026-01-01' AS DATE) FROM t"),
        ("SELECT a::INT FROM t", "SELECT CAST(a AS INT) FROM t"),
        ("SELECT 'a' 'b' FROM t", "SELECT 'ab' FROM t"),
        ("SELECT 'it''s' FROM t", "SELECT 'it\\'s' FROM t"),
        ("SELECT r'\\d' FROM t", "SELECT '\\\\d' FROM t"),
        ("SELECT FIRST(a IGNORE NULLS) FROM t", "SELECT FIRST(a) IGNORE NULLS FROM t"),
        (
            "SELECT SUM(a) OVER (ORDER BY b ROWS 5 PRECEDING) FROM t",
            "SELECT SUM(a) OVER (ORDER BY b ROWS BETWEEN 5 PRECEDING AND CURRENT ROW) FROM t",
        ),
        (
            "SELECT a FROM t UNION SELECT b FROM u INTERSECT SELECT c FROM v",
            "SELECT a FROM t UNION (SELECT b FROM u INTERSECT SELECT c FROM v)",
        ),
    ],
)
def test_two_ways_to_say_the_same(text: str, same: str) -> None:
    assert parse_query(text) == parse_query(same)


def test_a_call_has_all_that_belongs_to_it_in_one_node() -> None:
    call = scalar("f(DISTINCT a, b) WITHIN GROUP (ORDER BY c DESC) FILTER (WHERE d > 1)")
    assert isinstance(call, nodes.Call)
    assert (call.this, len(call.expressions), call.args["distinct"]) == ("F", 2, True)
    assert [sql(key) for key in call.args["order"]] == ["c DESC"]
    assert sql(call.args["filter"]) == "d > 1"


def test_over_wraps_its_call() -> None:
    window = scalar("SUM(a) FILTER (WHERE b) OVER (PARTITION BY c ORDER BY d ROWS 2 PRECEDING)")
    assert isinstance(window, exp.Window)
    assert isinstance(window.this, nodes.Call)
    spec = window.args["spec"].args
    assert (spec["kind"], spec["start_side"], spec["end"]) == ("ROWS", "PRECEDING", "CURRENT ROW")


def test_how_a_query_is_emitted() -> None:
    plain = parse_query("SELECT 1")
    assert (plain.answer.emit, plain.answer.allow_unbounded_state) == (None, False)
    final = parse_query("SELECT 1 EMIT FINAL ALLOW UNBOUNDED STATE")
    assert (final.answer.emit, final.answer.allow_unbounded_state) == (Emit.FINAL, True)
    assert parse_query("SELECT 1 ALLOW UNBOUNDED STATE EMIT FINAL") == final
    assert parse_query("SELECT 1 emit changes").answer.emit is Emit.CHANGES


@pytest.mark.parametrize("word", ["emit", "every", "allow", "slide", "retain", "fixed", "range"])
def test_words_of_one_place_are_names_in_others(word: str) -> None:
    text = f"SELECT {word}, t.{word} AS {word} FROM {word} AS t WHERE {word} > 1 ORDER BY {word}"
    assert sql(parse_query(text)) == text


def test_max_union_is_a_set_operation() -> None:
    body = parse_query("SELECT a FROM t UNION MAX SELECT b FROM u UNION MAX SELECT c FROM v").body
    assert isinstance(body, nodes.MaxUnion)
    assert isinstance(body.this, nodes.MaxUnion)


def test_stream_operators_nest() -> None:
    inner = source("ISTREAM(SELECT * FROM DSTREAM(SELECT * FROM s [NOW]) [ROWS 1] AS d) AS i")
    assert isinstance(inner, nodes.Istream)
    windowed = inner.this.args["from_"].this
    assert isinstance(windowed.this, nodes.Dstream)
    every = parse_query("RSTREAM(SELECT * FROM s [NOW] EVERY 10 SECONDS)").body
    assert every.args["every"] == span(10 * SECOND)


@pytest.mark.parametrize(
    ("text", "same"),
    [
        (
            "SELECT * FROM TABLE(TUMBLE(TABLE bids, DESCRIPTOR(at), INTERVAL '10' MINUTES)) AS t",
            "SELECT * FROM TUMBLE(bids, at, 10 MINUTES) AS t",
        ),
        (
            "SELECT TUMBLE_END(at, INTERVAL '1' HOUR) AS e, COUNT(*) FROM bids AS b WHERE price > 1"
            " GROUP BY TUMBLE(b.at, INTERVAL '1' HOUR) HAVING COUNT(*) > 2",
            "SELECT window_end AS e, COUNT(*) FROM TUMBLE(bids, at, 1 HOUR) AS b WHERE price > 1"
            " GROUP BY window_start, window_end HAVING COUNT(*) > 2",
        ),
        (
            "SELECT HOP_START(at, INTERVAL '1' MINUTE, INTERVAL '1' HOUR) FROM bids"
            " GROUP BY HOP(at, INTERVAL '1' MINUTE, INTERVAL '1' HOUR)",
            "SELECT window_start FROM HOP(bids, at, 1 MINUTE, 1 HOUR)"
            " GROUP BY window_start, window_end",
        ),
        (
            "SELECT bidder, COUNT(*) FROM bids WHERE price > 1"
            " GROUP BY bidder, session_window(at, '5 minutes')",
            "SELECT bidder, COUNT(*) FROM"
            " SESSION((SELECT * FROM bids WHERE price > 1) PARTITION BY bidder, at, 5 MINUTES)"
            " AS bids GROUP BY bidder, window_start, window_end",
        ),
        (
            "SELECT window, window.end AS e FROM bids GROUP BY window(at, '1 hour', '1 minute')",
            "SELECT STRUCT(window_start AS `start`, window_end AS `end`) AS window, window_end AS e"
            " FROM HOP(bids, at, 1 MINUTE, 1 HOUR) GROUP BY window_start, window_end",
        ),
        ("SELECT 1 EMIT ON WINDOW CLOSE", "SELECT 1 EMIT FINAL"),
    ],
)
def test_windows_of_other_systems_say_the_same(text: str, same: str) -> None:
    assert parse(text) == parse(same)


def test_a_name_that_begins_a_window_is_a_name_elsewhere() -> None:
    text = "SELECT table, descriptor, window FROM TUMBLE(table, descriptor, 1 HOUR)"
    (again,) = parse(text)
    assert parse(sql(again)) == (again,)
