"""The Python API on Spark: start, feed, step, read, stop, and go on in another engine."""

from __future__ import annotations

import sys
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from ebbtide import Engine
from ebbtide.errors import EbbtideError, EvaluationError, SourceError, UnsupportedError
from ebbtide.spark.workers_python import check_workers_python

SCRIPT = """
CREATE STREAM bids (auction BIGINT, price BIGINT, at TIMESTAMP,
  PROGRESS FOR at AS at) RETAIN 10 SECONDS;
"""
TOTALS = "SELECT auction, SUM(price) AS total FROM bids [RANGE 10 SECONDS] GROUP BY auction"


def rows(frame: DataFrame) -> list[tuple[Any, ...]]:
    return sorted(tuple(row) for row in frame.collect())


def made(spark: SparkSession, location: Path, script: str = SCRIPT) -> Engine:
    engine = Engine(location, spark=spark, shards=2)
    engine.execute(script)
    return engine


def refused(call: Any, *arguments: Any) -> EbbtideError:
    with pytest.raises(EbbtideError) as caught:
        call(*arguments)
    return caught.value


def second(n: int) -> datetime:
    return datetime(1970, 1, 1, 0, 0, n, tzinfo=UTC)


def test_a_query_lives_on_in_another_engine(spark: SparkSession, tmp_path: Path) -> None:
    engine = made(spark, tmp_path)
    q = engine.query(TOTALS, name="totals")
    run = q.start()
    assert (run.status.version, run.status.now, run.status.active) == (None, None, True)
    engine.feed("bids", [(1, 10, second(0)), (1, 5, second(4)), (2, 7, second(4))])
    engine.step()
    assert rows(q.snapshot(at=second(3))) == [(1, 10)]
    assert rows(q.snapshot()) == [(1, 15), (2, 7)]
    assert run.status.version == 0
    assert run.status.now_us == 4_000_000
    assert any(counts.rows_in for counts in run.status.metrics.values())
    run.stop()
    assert not run.status.active
    assert run.await_termination()
    assert engine.step() == {}

    engine.feed("bids", [(2, 1, second(6))])
    again = made(spark, tmp_path)
    same = again.query(TOTALS, name="totals")
    assert rows(same.snapshot()) == [(1, 15), (2, 7)]
    resumed = same.start()
    again.advance("bids", at="1970-01-01 00:00:12")
    again.step()
    assert resumed.status.version == 1
    assert rows(same.snapshot(at=second(7))) == [(1, 15), (2, 8)]
    assert rows(same.snapshot(at=second(11))) == [(1, 5), (2, 8)]
    new = same.changes(since=0)
    times = ["valid_from", "valid_to", "diff", "step", "reason"]
    assert new.columns == ["auction", "total", *times]
    assert {row.step for row in new.collect()} == {1}
    assert {row.step for row in same.changes().collect()} == {0, 1}

    again.feed("bids", [(1, 100, second(3)), (1, 100, second(0)), (9, "much", second(20))])
    again.step()
    assert rows(same.snapshot(at=second(3))) == [(1, 110)]
    late = again.late("bids").select("reason", "query").collect()
    assert sorted(map(tuple, late)) == [("late", "totals"), ("malformed", "totals")]
    again.stop()
    assert not resumed.active


def test_constants_keep_their_row(spark: SparkSession, tmp_path: Path) -> None:
    """It was lost: a table of no columns has no rows, either."""
    engine = made(spark, tmp_path)
    constants = {
        "alone": "SELECT 7L AS k",
        "beside": "SELECT b.k, t.total FROM (SELECT 7L AS k) AS b "
        f"JOIN ({TOTALS}) AS t ON t.auction = b.k",
    }
    queries = [engine.query(text, name) for name, text in constants.items()]
    engine.start(*queries, name="constants")
    engine.feed("bids", [(7, 10, second(0))])
    engine.step()
    assert [rows(query.snapshot()) for query in queries] == [[(7,)], [(7, 10)]]
    engine.stop()


def test_streams_and_tables_of_dataframes(spark: SparkSession, tmp_path: Path) -> None:
    source = tmp_path / "in"
    source.mkdir()
    (source / "a.json").write_text(
        '{"id": 1, "at": "2026-01-01T00:00:00Z"}\n{"id": 2, "at": "2026-01-01T00:00:01Z"}\n',
        encoding="utf-8",
    )
    engine = Engine(tmp_path / "state", spark=spark, shards=2)
    frame = spark.readStream.schema("id BIGINT, at TIMESTAMP").json(str(source))
    engine.stream("visits", frame, time="at", lateness="5 seconds")
    engine.table("names", spark.createDataFrame([(1, "Ada"), (3, "Bo")], "id BIGINT, name STRING"))
    q = engine.query(
        "SELECT v.id, n.name FROM visits [RANGE 1 HOUR] AS v LEFT JOIN names AS n ON n.id = v.id"
    )
    run = q.start(trigger={"availableNow": True})
    assert run.await_termination(120)
    assert sorted(map(tuple, q.snapshot().collect()), key=str) == [(1, "Ada"), (2, None)]
    assert refused(engine.feed, "visits", [(1, 0)]).code == "not-fed-by-hand"
    assert refused(engine.feed, "names", [(1, "x")]).code == "not-fed-by-hand"
    run.stop()

    engine.stream("visits", frame, time="at", lateness=timedelta(seconds=5), replace=True)
    engine.table(
        "names", spark.createDataFrame([(2, "Cy")], "id BIGINT, name STRING"), replace=True
    )
    again = engine.query(q.text, name=q.name, replace=True)
    run = again.start(trigger={"availableNow": True})
    assert run.await_termination(120)
    # A static table is taken once per program, and this is the same program.
    assert sorted(again.to_pandas()["name"].fillna("-")) == ["-", "Ada"]
    assert str(run.status).startswith("stopped, after step ")

    static = spark.range(1).selectExpr("timestamp_seconds(id) AS at")
    with pytest.raises(SourceError, match="streaming DataFrame"):
        engine.stream("other", static, time="at")
    with pytest.raises(SourceError, match="static DataFrame"):
        engine.table("other", frame)
    with pytest.raises(EbbtideError, match="late rows"):
        engine.stream("other", frame, time="at", late="drop")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (
            "SELECT * FROM SESSION(bids PARTITION BY auction, at, 10 SECONDS) [RANGE 1 HOUR ON at]",
            "computed-time",
        ),
    ],
)
def test_what_is_not_built_is_refused_before_it_is_started(
    spark: SparkSession, tmp_path: Path, text: str, code: str
) -> None:
    engine = made(spark, tmp_path)
    error = refused(engine.query, text)
    assert isinstance(error, UnsupportedError)
    assert error.code == code
    assert error.hint is not None


def test_what_data_do_not_allow_is_told_in_our_words(spark: SparkSession, tmp_path: Path) -> None:
    engine = made(spark, tmp_path)
    text = "SELECT 10 DIV price AS share FROM bids [RANGE 1 SECOND]"
    share = engine.query(text, name="share", on_error="fail")
    share.start()
    engine.feed("bids", [(1, 0, second(0))])
    error = refused(engine.step)
    assert isinstance(error, EvaluationError)
    assert error.code == "division-by-zero"
    assert "10 DIV price" in error.message
    assert error.detail == "in entry of bids"
    assert share.engine.query(TOTALS).start().status.version is None


def test_an_error_in_a_kernel_names_its_operator(spark: SparkSession, tmp_path: Path) -> None:
    engine = made(spark, tmp_path)
    engine.query(TOTALS, name="totals", on_error="fail").start()
    engine.feed("bids", [(1, 2**63 - 1, second(0)), (1, 1, second(0))])
    error = refused(engine.step)
    assert isinstance(error, EvaluationError)
    assert error.code == "overflow"
    assert error.detail is not None
    assert "aggregate" in error.detail.lower()


def test_a_query_without_state_uses_all_shards(spark: SparkSession, tmp_path: Path) -> None:
    engine = made(spark, tmp_path)
    q = engine.query("SELECT price FROM bids [RANGE 1 SECOND] WHERE auction = 1", name="linear")
    q.start()
    engine.feed("bids", [(1, price % 20, second(0)) for price in range(40)])
    engine.step()
    found = q.changes().collect()
    counted: Counter[int] = Counter()
    for row in found:
        counted[row.price] += row.diff
    assert counted == dict.fromkeys(range(20), 2)
    files = (tmp_path / "programs/linear/output/linear").iterdir()
    shards = {file.name.split("-")[0] for file in files}
    assert shards == {"0", "1"}


def test_a_dataframe_has_what_sql_can_declare(spark: SparkSession, tmp_path: Path) -> None:
    source = tmp_path / "prices"
    source.mkdir()
    rows = [
        '{"id": 1, "price": 2.5, "tags": {"b": 1, "a": 2}, "at": "2026-01-01 00:00:00", '
        '"op": "upsert"}',
        '{"id": 1, "price": 3.5, "tags": {}, "at": "2026-01-01 00:01:00", "op": "upsert"}',
        '{"id": 2, "price": 9.0, "tags": null, "at": "2026-01-01 00:01:00", "op": "upsert"}',
        '{"id": 2, "at": "2026-01-01 00:02:00", "op": "end"}',
    ]
    (source / "1.json").write_text("\n".join(rows), encoding="utf-8")
    columns = "id BIGINT, price FLOAT, tags MAP<STRING, INT>, at TIMESTAMP, op STRING"
    frame = spark.readStream.schema(columns).json(str(source))
    engine = Engine(tmp_path / "state", spark=spark, shards=2)
    engine.table("prices", frame, key="id", time="at", op="op", lateness="1s", idle="1 hour")
    q = engine.query("SELECT id, price, tags FROM prices", name="prices_now")
    run = q.start(trigger={"availableNow": True})
    assert run.await_termination(120)
    run.stop()
    first = q.snapshot(at="2026-01-01 00:00:30").collect()
    assert [(r.id, r.price, [tuple(t) for t in r.tags]) for r in first] == [
        (1, 2.5, [("a", 2), ("b", 1)])
    ]
    assert [r.id for r in q.snapshot(at="2026-01-01 00:02:00").collect()] == [1]


def test_workers_run_the_python_of_this_program(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = spark.sparkContext
    right = context.pythonExec
    monkeypatch.setattr(context, "pythonExec", "/no/such/python")
    monkeypatch.delenv("PYSPARK_PYTHON", raising=False)
    check_workers_python(spark)
    assert context.pythonExec == sys.executable
    context.pythonExec = "/no/such/python"
    monkeypatch.setenv("PYSPARK_PYTHON", "/no/such/python")
    with pytest.raises(EbbtideError, match="missing-package") as caught:
        check_workers_python(spark)
    assert sys.executable in (caught.value.hint or "")
    context.pythonExec = right
