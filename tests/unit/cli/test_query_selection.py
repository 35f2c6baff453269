"""Which queries of a script run."""

from __future__ import annotations

from pathlib import Path

import pytest

from ebbtide import Engine
from ebbtide.cli.query_selection import chosen
from ebbtide.cli.run import seconds
from ebbtide.cli.scripts import Script
from ebbtide.errors import QueryError

DECLARED = """
CREATE STREAM s (a INT, at TIMESTAMP, PROGRESS FOR at AS at) FROM FILES '.' FORMAT json;
CREATE VIEW recent AS SELECT * FROM s [RANGE 1 HOUR];
CREATE VIEW counts AS SELECT a, COUNT(*) AS n FROM recent GROUP BY a;
CREATE VIEW facts AS SELECT a, at FROM s WHERE a > 1;
"""


def names(text: str, tmp_path: Path, *views: str) -> list[str]:
    queries, _ = chosen(Engine(tmp_path), Script(DECLARED + text, "x.sql"), views)
    return [query.name for query in queries]


@pytest.mark.parametrize(
    ("text", "run"),
    [
        ("", ["counts", "facts"]),
        ("SELECT * FROM s [NOW];", ["query0", "counts", "facts"]),
        ("SELECT * FROM counts;", ["query0", "facts"]),
        ("SELECT * FROM recent; SELECT a FROM counts", ["query0", "query1", "facts"]),
        ("EXPLAIN SELECT * FROM counts", ["counts", "facts"]),
        ("CREATE VIEW Most AS SELECT MAX(n) AS n FROM counts", ["facts", "Most"]),
    ],
)
def test_queries_and_views_that_nothing_reads(text: str, run: list[str], tmp_path: Path) -> None:
    assert names(text, tmp_path) == run


def test_named_views_alone(tmp_path: Path) -> None:
    text = "SELECT * FROM s [NOW];"
    assert names(text, tmp_path, "RECENT", "query0") == ["recent", "query0"]
    with pytest.raises(QueryError, match="it has recent, counts, facts, query0"):
        names(text, tmp_path, "nothing")


def test_a_view_runs_under_its_name_as_it_says(tmp_path: Path) -> None:
    text = """
    CREATE MATERIALIZED VIEW done AS SELECT window_end, COUNT(*) AS n FROM TUMBLE(s, at, 1 MINUTE)
    GROUP BY window_end EMIT ON WINDOW CLOSE;
    """
    queries, _ = chosen(Engine(tmp_path), Script(DECLARED + text, "x.sql"), ())
    assert {query.name: query.bound.emit.value for query in queries} == {
        "counts": "CHANGES",
        "facts": "CHANGES",
        "done": "FINAL",
    }


def test_what_explain_and_show_say(tmp_path: Path) -> None:
    script = Script(DECLARED + "SHOW VIEWS; EXPLAIN SELECT * FROM counts;", "x.sql")
    _, texts = chosen(Engine(tmp_path), script, ())
    assert texts[0] == "recent\ncounts\nfacts"
    assert texts[1].startswith("fresh")


def test_lengths_of_time() -> None:
    assert [seconds(text) for text in ("30s", "2m", "1h", "250ms", "1 day")] == [
        30,
        120,
        3600,
        0.25,
        86400,
    ]
