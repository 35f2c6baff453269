"""The Python API as far as it needs no JVM: declaring, explaining, refusing."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import ebbtide
from ebbtide import Engine, col, fn, source
from ebbtide.errors import EbbtideError, QueryError, TemporalError

SCRIPT = """
CREATE STREAM bids (auction BIGINT, price DOUBLE, at TIMESTAMP,
  PROGRESS FOR at AS at - INTERVAL 5 SECONDS);
CREATE STREAM auctions (id BIGINT, at TIMESTAMP, PROGRESS FOR at AS at);
CREATE TABLE sellers (id BIGINT, name STRING, at TIMESTAMP, op STRING, PRIMARY KEY (id),
  PROGRESS FOR at AS at - INTERVAL 5 SECONDS) TIME at OP op;
CREATE TABLE shops (id BIGINT, name STRING);
CREATE STREAM logs (line STRING, at TIMESTAMP) FROM FILES 'logs' FORMAT json;
CREATE VIEW recent AS SELECT * FROM bids [RANGE 1 HOUR];
"""

MEANS = "SELECT auction, AVG(price) AS mean FROM bids [RANGE 15 MINUTES] GROUP BY auction"
FOR_EVER = "SELECT b.price FROM bids AS b JOIN auctions AS a ON a.id = b.auction"


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    made = Engine(tmp_path)
    made.execute(SCRIPT)
    return made


def refused(call: Any, *arguments: Any, **named: Any) -> EbbtideError:
    with pytest.raises(EbbtideError) as caught:
        call(*arguments, **named)
    return caught.value


# --- no JVM -----------------------------------------------------------------------------------

WITHOUT_SPARK = f"""
import sys
import ebbtide
engine = ebbtide.Engine("never made")
engine.execute({SCRIPT!r})
q = engine.query({MEANS!r})
q.explain(), q.explain(json=True), q.schema, q.key, q.verdict, q.monotonicity, q.sql, q.tree
engine.execute("EXPLAIN SELECT * FROM recent; SHOW STREAMS")
try:
    engine.query({FOR_EVER!r})
except ebbtide.EbbtideError as error:
    print(error.code)
print(*[name for name in ("pyspark", "py4j", "pyarrow", "numba") if name in sys.modules])
"""


def test_declaring_explaining_and_refusing_load_no_spark(tmp_path: Path) -> None:
    answer = subprocess.run(
        [sys.executable, "-c", WITHOUT_SPARK],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
    )
    assert answer.stdout.split() == ["unbounded-state"]
    assert list(tmp_path.iterdir()) == []


def test_what_the_package_offers_is_what_it_names() -> None:
    for name in ebbtide.__all__:
        assert getattr(ebbtide, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'Enigne'"):
        ebbtide.Enigne  # noqa: B018


# --- a query is a value -----------------------------------------------------------------------


def test_a_query_tells_what_is_known_of_it(engine: Engine) -> None:
    q = engine.query(MEANS, name="means")
    assert str(q.schema) == "auction BIGINT, mean DOUBLE"
    assert q.key == ("auction",)
    assert str(q.verdict.finality) == "when to - 1 us <= progress(bids.at)"
    assert str(q.verdict.state.size) == "per window"
    assert str(q.monotonicity).startswith("strict non-monotonic")
    assert q.tree.splitlines()[-1].strip() == "Stream bids"
    assert repr(q) == f"Query('means', {' '.join(q.text.split())!r})"  # as it was typed


def test_the_sql_of_a_query_is_the_query(engine: Engine) -> None:
    q = engine.query(MEANS)
    again = engine.query(q.sql)
    assert again.bound.plan == q.bound.plan
    assert again.sql == q.sql


def test_explain_is_text_or_json(engine: Engine) -> None:
    q = engine.query(MEANS)
    assert q.explain(verbose=True).count("\nfinality by progress of bids.at") == 1
    told = json.loads(q.explain(json=True))
    assert told["verdict"]["state"]["size"] == "per window"


def test_a_built_query_is_the_one_that_sql_says(engine: Engine) -> None:
    built = source("bids", window="RANGE 15 MINUTES").group("auction", mean=fn.avg(col("price")))
    assert engine.query(built).bound.plan == engine.query(MEANS).bound.plan


def test_queries_have_names_of_their_own(engine: Engine) -> None:
    engine.query(MEANS, name="means")
    assert engine.query(MEANS).name == "query1"
    error = refused(engine.query, MEANS, name="Means")
    assert (error.code, error.hint) == (
        "duplicate-name",
        'replace=True puts this one in its place, or name="query2"',
    )
    assert engine.execute("SHOW QUERIES") == [["means", "query1"]]


def test_a_given_name_takes_none_away(engine: Engine) -> None:
    engine.query(MEANS, name="query1")
    assert engine.query(MEANS).name == "query2"


@pytest.mark.parametrize("name", ["", "a/b", "../a", ".hidden", "a b", "-x", "a\n"])
def test_names_that_are_no_directories_are_refused(engine: Engine, name: str) -> None:
    assert refused(engine.query, MEANS, name=name).code == "bad-name"


# --- statements -------------------------------------------------------------------------------


def test_a_script_says_something_for_each_statement(engine: Engine) -> None:
    results = engine.execute(
        f"""
        CREATE VIEW old AS SELECT * FROM shops; SHOW STREAMS; SHOW TABLES; SHOW VIEWS;
        EXPLAIN {MEANS}; EXPLAIN JSON {MEANS}; {MEANS}; SHOW QUERIES; DROP VIEW old
        """
    )
    declared, streams, tables, views, text, told, query, queries, dropped = results
    assert declared is dropped is None
    assert streams == ["bids", "auctions", "logs"]
    assert tables == ["sellers", "shops"]
    assert views == ["recent", "old"]
    assert text.startswith("fresh")
    assert json.loads(told)["emit"] == "CHANGES"
    assert query.text == MEANS
    assert queries == ["query0"]


def test_a_query_that_may_not_run_can_be_explained(engine: Engine) -> None:
    (text,) = engine.execute(f"EXPLAIN {FOR_EVER}")
    assert "for ever" in text


def test_a_script_stops_at_what_is_refused(engine: Engine) -> None:
    refused(engine.execute, "CREATE STREAM a (x INT); CREATE STREAM a (x INT)")
    assert engine.execute("SHOW STREAMS")[0][-1] == "a"


@pytest.mark.parametrize(
    ("text", "code", "span"),
    [
        ("", "empty-statement", ""),
        ("-- only a comment", "empty-statement", "-- only a comment"),
        ("SELECT 1 AS a; SELECT 2 AS b", "one-query", "SELECT 2 AS b"),
        ("SHOW STREAMS", "no-query", "SHOW STREAMS"),
        ("SELECT * FROM bidz", "unknown-name", "bidz"),
        (f"  {FOR_EVER} ", "unbounded-state", "JOIN"),
        ("SELECT COUNT(*) AS n FROM bids EMIT FINAL", "never-final", "COUNT(*) AS n"),
    ],
)
def test_refused_queries_are_underlined(engine: Engine, text: str, code: str, span: str) -> None:
    error = refused(engine.query, text)
    assert error.code == code
    assert error.span is not None
    assert error.span.source == text
    assert error.span.text == span
    assert engine.execute("SHOW QUERIES") == [[]]


def test_in_a_script_the_operator_of_the_statement_is_underlined(engine: Engine) -> None:
    script = f"SHOW VIEWS;\n{FOR_EVER};\nINSERT INTO shops SELECT * FROM shops;"
    error = refused(engine.execute, script)
    assert isinstance(error, TemporalError)
    assert error.span is not None
    assert error.span.text == "JOIN"
    assert f"  {FOR_EVER};\n  {' ' * FOR_EVER.index('JOIN')}^^^^\n" in str(error)


def test_insert_into_is_refused_until_it_is_built(engine: Engine) -> None:
    text = "INSERT INTO shops SELECT * FROM shops"
    error = refused(engine.execute, text)
    assert error.code == "insert-not-built"
    assert error.span is not None
    assert error.span.text == text


def test_the_hint_of_a_refused_query_makes_it_run(engine: Engine) -> None:
    error = refused(engine.query, FOR_EVER)
    assert error.hint is not None
    assert error.hint.startswith("add ")
    engine.query(f"{FOR_EVER} {error.hint.removeprefix('add ')}")
    engine.query(f"{FOR_EVER} ALLOW UNBOUNDED STATE")


def test_what_an_engine_cannot_be_made_with_is_refused(tmp_path: Path) -> None:
    assert refused(Engine, tmp_path, shards=0).code == "bad-count"
    assert refused(Engine, tmp_path, zone="Mars/Olympus").code == "unknown-zone"
    assert isinstance(refused(Engine, tmp_path, zone="../etc"), QueryError)


# --- dropping ---------------------------------------------------------------------------------


def test_what_a_run_reads_is_neither_dropped_nor_replaced(tmp_path: Path) -> None:
    engine = Engine(tmp_path, transport="local")
    engine.execute(SCRIPT)
    run = engine.query(MEANS, name="means").start()
    for text in ("DROP VIEW recent; DROP STREAM bids", "CREATE OR REPLACE STREAM bids (a INT)"):
        error = refused(engine.execute, text)
        assert (error.code, error.hint) == ("in-use", "stop what runs first: run.stop()")
    engine.execute("DROP STREAM logs; CREATE OR REPLACE TABLE shops (id BIGINT)")
    run.stop()
    engine.execute("DROP STREAM bids")
    assert "bids" not in engine.catalog


def test_a_status_of_facts_alone_has_no_now(tmp_path: Path) -> None:
    engine = Engine(tmp_path, transport="local")
    engine.execute("CREATE STREAM s (k BIGINT, at TIMESTAMP, PROGRESS FOR at AS at)")
    run = engine.query("SELECT k FROM s", name="q").start()
    engine.feed("s", [(1, 0)])
    engine.step()
    assert str(run.status) == "running, after step 0"


def test_what_is_kept_without_a_known_length_is_said_in_words(tmp_path: Path) -> None:
    engine = Engine(tmp_path, transport="local")
    engine.execute("CREATE STREAM visits (who STRING, at TIMESTAMP, PROGRESS FOR at AS at)")
    best = """
        SELECT who, pages FROM (
          SELECT who, window_end, COUNT(*) AS pages
          FROM SESSION(visits PARTITION BY who, at, 10 MINUTES)
          GROUP BY who, window_start, window_end) AS s
        QUALIFY ROW_NUMBER() OVER (
          PARTITION BY who, FLOOR(s.window_end TO 1 DAY) ORDER BY pages DESC) <= 2
    """
    said = engine.query(best, name="best").explain()
    assert 'keeps    rows of "visits" until nothing can change them' in said
