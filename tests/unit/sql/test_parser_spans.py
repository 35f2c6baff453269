"""Every node knows where it stood."""

import pytest
from sqlglot import exp

from corpus import good_statements
from ebbtide.sql import nodes, parse, parse_query, span_of
from ebbtide.sql.syntax import Query

QUERY = """
WITH c AS (SELECT id FROM auctions)
SELECT DISTINCT b.price + 1 AS p, SUM(DISTINCT price) FILTER (WHERE price > 1),
  CASE WHEN a THEN 'x' ELSE NULL END, COUNT(*) OVER (PARTITION BY a ORDER BY at ROWS 2 PRECEDING),
  NOT x.y[0], INTERVAL '1' HOUR, FLOOR(at TO 2 HOURS), -5L, (a), CAST(q AS ARRAY<INT>), TRUE
FROM bids [RANGE 15 MINUTES ON at] AS b
LEFT JOIN TUMBLE(s, at, 1 HOUR) AS t ON b.a = t.a AND t.c IS NOT NULL, (SELECT 1) AS z
WHERE a NOT IN (1, 2) OR b BETWEEN 1 AND 2 OR EXISTS (SELECT 1)
GROUP BY a HAVING MAX(b) > 1 ORDER BY a DESC NULLS FIRST LIMIT 5 OFFSET 6
"""


@pytest.mark.parametrize(
    ("kind", "texts"),
    [
        (exp.With, ["WITH c AS (SELECT id FROM auctions)"]),
        (exp.CTE, ["c AS (SELECT id FROM auctions)"]),
        (exp.Add, ["b.price + 1"]),
        (exp.Alias, ["b.price + 1 AS p"]),
        (exp.Case, ["CASE WHEN a THEN 'x' ELSE NULL END"]),
        (exp.Null, ["NULL", "NULL"]),
        (exp.Boolean, ["TRUE"]),
        (exp.Window, ["COUNT(*) OVER (PARTITION BY a ORDER BY at ROWS 2 PRECEDING)"]),
        (exp.Bracket, ["x.y[0]"]),
        (nodes.Duration, ["INTERVAL '1' HOUR", "2 HOURS", "15 MINUTES", "1 HOUR"]),
        (nodes.FloorTo, ["FLOOR(at TO 2 HOURS)"]),
        (exp.Neg, ["-5L"]),
        (exp.Paren, ["(a)"]),
        (exp.Cast, ["CAST(q AS ARRAY<INT>)", "5L"]),
        (nodes.WindowNode, ["[RANGE 15 MINUTES ON at]"]),
        (nodes.Windowed, ["bids [RANGE 15 MINUTES ON at] AS b"]),
        (nodes.Tumble, ["TUMBLE(s, at, 1 HOUR) AS t"]),
        (exp.Join, ["LEFT JOIN", ","]),
        (exp.Is, ["t.c IS NOT NULL"]),
        (exp.In, ["a NOT IN (1, 2)"]),
        (exp.Between, ["b BETWEEN 1 AND 2"]),
        (exp.Exists, ["EXISTS (SELECT 1)"]),
        (exp.Where, [QUERY[QUERY.index("WHERE a") : QUERY.index("\nGROUP")]]),
        (exp.Group, ["GROUP BY a"]),
        (exp.Having, ["HAVING MAX(b) > 1"]),
        (exp.Ordered, ["a DESC NULLS FIRST", "at"]),
        (exp.Limit, ["LIMIT 5"]),
        (exp.Offset, ["OFFSET 6"]),
        (exp.Subquery, ["(SELECT 1) AS z"]),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else "",
)
def test_spans(kind: type[exp.Expr], texts: list[str]) -> None:
    found = [span_of(node, QUERY).text for node in parse_query(QUERY).body.find_all(kind)]
    assert sorted(found) == sorted(texts)


def test_calls() -> None:
    found = {n.this: span_of(n, QUERY).text for n in parse_query(QUERY).body.find_all(nodes.Call)}
    assert found == {
        "SUM": "SUM(DISTINCT price) FILTER (WHERE price > 1)",
        "COUNT": "COUNT(*)",
        "MAX": "MAX(b)",
    }


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("SELECT 1 UNION ALL SELECT 2", "UNION ALL"),
        ("SELECT 1 EXCEPT SELECT 2", "EXCEPT"),
        ("SELECT 1 UNION MAX SELECT 2", "UNION MAX"),
    ],
)
def test_a_set_operation_is_known_by_its_words(text: str, words: str) -> None:
    assert span_of(parse_query(text).body, text).text == words


def test_a_statement_spans_all_of_it() -> None:
    script = "SELECT 1 EMIT FINAL ;\n SELECT 2 AS x -- end\n;"
    assert [s.span.text for s in parse(script)] == ["SELECT 1 EMIT FINAL", "SELECT 2 AS x"]


def test_every_node_of_the_corpus_has_a_place_inside_its_statement() -> None:
    for text in good_statements():
        (statement,) = parse(text)
        if isinstance(statement, Query):
            for node in statement.body.walk():
                span = span_of(node, text)
                assert 0 <= span.start < span.end <= len(text), (text, node)
