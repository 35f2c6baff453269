"""Queries over directories of files, as Structured Streaming runs them, against the reference."""

from __future__ import annotations

import random
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from tests.histories import Fed, Oracle
from tests.spark.files import as_csv, as_json, as_parquet, put
from tests.spark.law import check, some_rows

from ebbtide.engine.engine import Engine
from ebbtide.engine.query import Query
from ebbtide.errors import EbbtideError, SourceError, StateError
from ebbtide.store.journal import Journal
from ebbtide.testing import Clock

ONE = "OPTIONS (maxFilesPerTrigger '1')"
WAYS = """
CREATE STREAM l (a BIGINT, b BIGINT, at TIMESTAMP, PROGRESS FOR at AS at - INTERVAL 4 SECONDS)
  RETAIN 6 SECONDS FROM FILES '{data}/l' FORMAT json {one};
CREATE STREAM r (a BIGINT, c BIGINT, at TIMESTAMP, PROGRESS FOR at AS at - INTERVAL 4 SECONDS)
  RETAIN 6 SECONDS FROM FILES '{data}/r' FORMAT csv {one};
CREATE TABLE n (a BIGINT, name STRING) FROM FILES '{data}/n' FORMAT parquet;
"""
JOIN = """SELECT l.b, r.c, n.name FROM l [RANGE 5 SECONDS] JOIN r [RANGE 3 SECONDS] ON l.a = r.a
  LEFT JOIN n ON n.a = l.a"""
NAMES = [(0, "zero"), (1, "one"), (2, "two")]


def joined(spark: SparkSession, path: Path) -> Query:
    engine = Engine(path / "state", spark=spark, shards=2)
    engine.execute(WAYS.format(data=path, one=ONE))
    return engine.query(JOIN, "files_joined")


def write_names(path: Path, names: list[tuple[int, str]], number: int) -> None:
    columns = {"a": pa.array([a for a, _ in names]), "name": pa.array([n for _, n in names])}
    put(path / "n", number, as_parquet(columns))


def write_step(path: Path, rng: random.Random, step: int) -> dict[str, Fed]:
    low = max(0, 4 * step - 3)
    l_rows, r_rows = (some_rows(rng, 2, 5, low, low + 6) for _ in range(2))
    put(path / "l", step, as_json(["a", "b", "at"], l_rows))
    put(path / "r", step, as_csv(["a", "c", "at"], r_rows))
    fed = {
        "l": Fed.of([("insert", row) for row in l_rows], 5 * step),
        "r": Fed.of([("insert", row) for row in r_rows], 5 * step),
    }
    if step == 0:
        fed["n"] = Fed.of([("insert", row) for row in NAMES])
    return fed


def test_files_are_taken_step_by_step_and_on_after_a_restart(
    spark: SparkSession, tmp_path: Path
) -> None:
    write_names(tmp_path, NAMES, 0)
    query = joined(spark, tmp_path)
    oracle = Oracle.of([entry.declaration for entry in query.engine.catalog])
    rng = random.Random(5)
    fed = [write_step(tmp_path, rng, step) for step in range(2)]
    run = query.start()
    run.process_all_available()
    assert run.active
    for step in fed:
        oracle.take(step)
    check(query.engine, query, oracle)
    with pytest.raises(StateError, match="state-in-use"):
        joined(spark, tmp_path).start()
    run.stop()
    assert not run.active
    # A static table is what it was at the first step.
    write_names(tmp_path, [(3, "three")], 1)
    again = joined(spark, tmp_path)
    run = again.start()
    oracle.take(write_step(tmp_path, rng, 2))
    run.process_all_available()
    assert run.status.version == 2
    check(again.engine, again, oracle)
    run.stop()


def test_the_state_of_another_query_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    write_names(tmp_path, NAMES, 0)
    write_step(tmp_path, random.Random(0), 0)
    joined(spark, tmp_path).start().stop()
    engine = Engine(tmp_path / "state", spark=spark, shards=2)
    engine.execute(WAYS.format(data=tmp_path, one=ONE))
    with pytest.raises(StateError, match="query-differs"):
        engine.query("SELECT a FROM l [NOW]", "files_joined").start()
    engine = Engine(tmp_path / "state", spark=spark, shards=3)
    engine.execute(WAYS.format(data=tmp_path, one=ONE))
    with pytest.raises(StateError, match=r"shards=2"):
        engine.query(JOIN, "files_joined").start()


def test_bad_rows_are_kept_with_their_reasons(spark: SparkSession, tmp_path: Path) -> None:
    clock = Clock("1970-01-01 00:01:00")
    engine = Engine(tmp_path / "state", spark=spark, shards=2, clock=clock)
    engine.execute(f"""
        CREATE STREAM j (a BIGINT, at TIMESTAMP, PROGRESS FOR at AS at - INTERVAL 4 SECONDS)
          NOT BEYOND 1 MINUTE FROM FILES '{tmp_path}/j' FORMAT json {ONE};
        CREATE STREAM c (a BIGINT, at TIMESTAMP, PROGRESS FOR at AS at - INTERVAL 4 SECONDS)
          FROM FILES '{tmp_path}/c' FORMAT csv {ONE};""")
    good = [(1, 10_000_000), (2, 20_000_000)]
    bad = ['{"a": "many", "at": "1970-01-01 00:00:20"}', "{broken", '{"a": 3}']
    far = '{"a": 4, "at": "1970-01-01 00:09:00"}'
    put(tmp_path / "j", 0, as_json(["a", "at"], good, *bad, far))
    put(tmp_path / "j", 1, as_json(["a", "at"], [(5, 12_000_000)]))
    put(tmp_path / "c", 0, as_csv(["a", "at"], good, "x,1970-01-01 00:00:20", "3,", "4,soon"))
    query = engine.query(
        "SELECT a FROM j [RANGE 1 HOUR] UNION ALL SELECT a FROM c [RANGE 1 HOUR]", "files_bad"
    )
    run = query.start()
    run.process_all_available()
    reasons = sorted((row.reason, row.row) for row in engine.late("j").collect())
    assert [reason for reason, _ in reasons] == [
        "beyond",
        "late",
        "malformed",
        "malformed",
        "null-time",
    ]
    assert ("malformed", bad[0]) in reasons
    assert ("malformed", bad[1]) in reasons
    assert sorted(row.reason for row in engine.late("c").collect()) == [
        "malformed",
        "malformed",
        "null-time",
    ]
    assert sorted(row.a for row in query.snapshot().collect()) == [1, 1, 2, 2]
    engine.stop()


def test_parquet_of_other_types_is_read_row_by_row(spark: SparkSession, tmp_path: Path) -> None:
    engine = Engine(tmp_path / "state", spark=spark, shards=2)
    (tmp_path / "p").mkdir()
    engine.execute(f"""
        CREATE STREAM p (a BIGINT, at TIMESTAMP, PROGRESS FOR at AS at - INTERVAL 4 SECONDS)
          FROM FILES '{tmp_path}/p' FORMAT parquet {ONE};""")
    query = engine.query("SELECT a FROM p [RANGE 1 HOUR]", "files_parquet")
    run = query.start()
    times = pa.array([1_000_000, 2_000_000], pa.timestamp("us", "UTC"))
    put(tmp_path / "p", 0, as_parquet({"a": pa.array([1, 2]), "at": times}))
    put(tmp_path / "p", 1, as_parquet({"a": pa.array(["3", "many"]), "at": times}))
    put(tmp_path / "p", 2, as_parquet({"a": pa.array([4, 5], pa.int8()), "at": pa.array([1, 2])}))
    put(tmp_path / "p", 3, b"no parquet at all")
    put(tmp_path / "p", 4, as_parquet({"A": pa.array([6.0, 6.5]), "at": times, "b": times}))
    run.process_all_available()
    assert sorted(row.a for row in query.snapshot().collect()) == [1, 2, 3, 6]
    unused = [tuple(row) for row in engine.late("p").select("reason", "row").collect()]
    assert sorted(reason for reason, _ in unused) == [*["malformed"] * 4, "unreadable"]
    assert sum(f"{tmp_path}/p/000003" in text for _, text in unused) == 1
    assert sum("many" in text for _, text in unused) == 1
    engine.stop()


def test_a_table_of_changes_keeps_the_order_of_its_files(
    spark: SparkSession, tmp_path: Path
) -> None:
    engine = Engine(tmp_path / "state", spark=spark, shards=2)
    engine.execute(f"""
        CREATE TABLE t (id BIGINT, v BIGINT, op STRING, at TIMESTAMP, PRIMARY KEY (id),
          PROGRESS FOR at AS at - INTERVAL 4 SECONDS) TIME at OP op RETAIN 6 SECONDS
          FROM FILES '{tmp_path}/t' FORMAT json {ONE};""")
    names = ["id", "v", "op", "at"]
    steps = [
        [(1, 10, "upsert", 5_000_000), (2, 20, "c", 6_000_000), (1, 11, "upsert", 5_000_000)],
        [(1, 12, "upsert", 5_000_000), (2, None, "end", 7_000_000), (3, 1, "odd", 8_000_000)],
    ]
    for number, rows in enumerate(steps):
        put(tmp_path / "t", number, as_json(names, rows))
    query = engine.query("SELECT id, v FROM t", "files_changes")
    run = query.start(trigger={"availableNow": True})
    assert run.await_termination()
    assert [tuple(row) for row in query.snapshot("1970-01-01 00:00:06.5").collect()] in (
        [(1, 12), (2, 20)],
        [(2, 20), (1, 12)],
    )
    assert [tuple(row) for row in query.snapshot().collect()] == [(1, 12)]
    assert [row.reason for row in engine.late("t").collect()] == ["unknown-op"]
    assert not run.active
    engine.stop()


def test_a_step_that_fails_is_told(spark: SparkSession, tmp_path: Path) -> None:
    engine = Engine(tmp_path / "state", spark=spark, shards=2)
    engine.execute(f"""
        CREATE STREAM s (a BIGINT, at TIMESTAMP, PROGRESS FOR at AS at - INTERVAL 4 SECONDS)
          FROM FILES '{tmp_path}/s' FORMAT csv OPTIONS (enforceSchema 'false');""")
    put(tmp_path / "s", 0, as_csv(["wrong", "at"], [(1, 1_000_000)]))
    run = engine.query("SELECT a FROM s [NOW]", "files_failing").start()
    with pytest.raises(SourceError) as caught:
        run.process_all_available()
    assert caught.value.code == "unreadable-source"
    assert "CSV header does not conform" in (caught.value.detail or "")
    assert "\n" not in (caught.value.detail or "")
    assert not run.active
    assert list(Journal(run.root).entries()) == []
    engine.stop()


def test_a_file_that_is_not_as_declared_stops_nothing(spark: SparkSession, tmp_path: Path) -> None:
    engine = Engine(tmp_path / "state", spark=spark, shards=2)
    engine.execute(f"""
        CREATE STREAM s (a BIGINT, at TIMESTAMP, PROGRESS FOR at AS at - INTERVAL 4 SECONDS)
          FROM FILES '{tmp_path}/s' FORMAT csv {ONE};""")
    put(tmp_path / "s", 0, as_csv(["wrong", "at"], [(1, 1_000_000)] * 3))
    put(tmp_path / "s", 1, b"at,a\n1970-01-01 00:00:02,7\n")
    put(tmp_path / "s", 2, b"")
    query = engine.query("SELECT a FROM s [RANGE 1 HOUR]", "files_not_as_declared")
    query.start().process_all_available()
    assert [row.a for row in query.snapshot().collect()] == [7]
    found = sorted(engine.late("s").collect(), key=lambda unused: unused.row)
    assert [(unused.reason, unused.op) for unused in found] == [("unreadable", "FILE")] * 2
    assert f"{tmp_path}/s/000000: unreadable after 0 rows: it has no column a" in found[0].row
    assert f"{tmp_path}/s/000002: unreadable after 0 rows: it is empty" in found[1].row
    engine.stop()


def test_a_file_that_was_mended_is_offered_again_and_counted_once(
    spark: SparkSession, tmp_path: Path
) -> None:
    engine = Engine(tmp_path / "state", spark=spark, shards=2)
    engine.execute(f"""
        CREATE STREAM s (a BIGINT, at TIMESTAMP, PROGRESS FOR at AS at - INTERVAL 4 SECONDS)
          FROM FILES '{tmp_path}/s' FORMAT csv {ONE};""")
    put(tmp_path / "s", 0, as_csv(["wrong", "at"], [(1, 1_000_000)] * 3))
    forged = b"a,at\n7,1970-01-01 00:00:02\n/in/x: unreadable after 0 rows: forged\n"
    put(tmp_path / "s", 1, forged)
    query = engine.query("SELECT a FROM s [RANGE 1 HOUR]", "files_offered_again")
    run = query.start()
    run.process_all_available()
    (one,) = engine.retry("files_offered_again")
    assert (one.step, one.offered, one.why) == (0, None, "it has no column a; it has wrong, at")
    put(tmp_path / "s", 0, as_csv(["a", "at"], [(1, 1_000_000), (2, 2_000_000)]))
    (one,) = engine.retry(source="s")
    assert one.offered == f"{tmp_path}/s/000000.again-0"
    run.process_all_available()
    assert sorted(row.a for row in query.snapshot().collect()) == [1, 2, 7]
    (again,) = engine.retry()
    assert (again.offered, again.why) == (None, f"it was offered before, as {one.offered}")
    run.process_all_available()
    assert sum(record.came["s"].rows for record in Journal(run.root).entries()) == 3
    reasons = sorted(row.reason for row in engine.late("s").collect())
    assert reasons == ["malformed", "unreadable"]
    engine.stop()


def test_a_file_that_goes_before_its_step_is_missed(spark: SparkSession, tmp_path: Path) -> None:
    engine = Engine(tmp_path / "state", spark=spark, shards=2)
    rows = [(1, 1_000_000)]
    engine.execute(f"""
        CREATE STREAM s (a BIGINT, at TIMESTAMP, PROGRESS FOR at AS at - INTERVAL 4 SECONDS)
          FROM FILES '{tmp_path}/s' FORMAT json;""")
    put(tmp_path / "s", 0, as_json(["a", "at"], rows))
    query = engine.query(
        "SELECT 1 DIV (a - 1) AS x FROM s [RANGE 1 HOUR] ON ERROR FAIL", "files_gone"
    )
    with pytest.raises(EbbtideError, match="division-by-zero"):
        query.start().process_all_available()
    (tmp_path / "s/000000").unlink()
    again = query.start()
    with pytest.raises(EbbtideError, match="unreadable-source"):
        again.process_all_available()
    put(tmp_path / "s", 0, as_json(["a", "at"], [(2, 1_000_000)]))
    query.start().process_all_available()
    assert [row.x for row in query.snapshot().collect()] == [1]
    engine.stop()


def test_old_files_are_read_and_files_that_are_done_with_may_be_cleaned_up(
    spark: SparkSession, tmp_path: Path
) -> None:
    """A copy that keeps its times may be older than all that was seen, by months."""
    rows, sources = [(1, 1_000_000)], (("plain", ""), ("swept", "OPTIONS (cleanSource 'delete')"))
    counts = {}
    for name, options in sources:
        engine = Engine(tmp_path / f"state of {name}", spark=spark, shards=1)
        engine.execute(f"""
            CREATE STREAM s (a BIGINT, at TIMESTAMP, PROGRESS FOR at AS at - INTERVAL 4 SECONDS)
              FROM FILES '{tmp_path}/{name}' FORMAT json {options};""")
        query = engine.query("SELECT COUNT(*) AS n FROM s [RANGE 1 HOUR]", f"files_{name}")
        put(tmp_path / name, 0, as_json(["a", "at"], rows))
        run = query.start()
        run.process_all_available()
        for number in (-10_000_000, 1, 2):
            put(tmp_path / name, number, as_json(["a", "at"], rows))
            run.process_all_available()
        counts[name] = [row.n for row in query.snapshot().collect()]
        engine.stop()
        assert [row.n for row in query.snapshot().collect()] == [4]
    assert counts == {"plain": [4], "swept": [4]}
    assert len(list((tmp_path / "plain").iterdir())) == 4
    assert len(list((tmp_path / "swept").iterdir())) < 4


def test_names_of_files_are_taken_as_they_are(spark: SparkSession, tmp_path: Path) -> None:
    names = ["a b", "a%41", "a#b", "ä:x", "a+b", "a=b"]
    directory = tmp_path / "s%20 s"
    directory.mkdir()
    for number, name in enumerate(names):
        (directory / name).write_bytes(as_json(["a", "at"], [(number, 1_000_000)]))
    engine = Engine(tmp_path / "state", spark=spark, shards=2)
    engine.execute(f"""
        CREATE STREAM s (a BIGINT, at TIMESTAMP, PROGRESS FOR at AS at - INTERVAL 4 SECONDS)
          FROM FILES '{directory}' FORMAT json;""")
    query = engine.query("SELECT a FROM s [RANGE 1 HOUR]", "files_named")
    run = query.start()
    run.process_all_available()
    assert sorted(row.a for row in query.snapshot().collect()) == list(range(len(names)))
    for name in ("plain", "odd[1]"):
        (directory / f".{name}").write_bytes(as_json(["a", "at"], [(9, 1_000_000)]))
    for name in ("plain", "odd[1]"):
        (directory / f".{name}").rename(directory / name)
    (directory / "odd1").write_bytes(as_json(["a", "at"], [(8, 1_000_000)]))
    run.process_all_available()
    assert sorted(row.a for row in query.snapshot().collect()) == [*range(len(names)), 8, 9, 9]
    engine.stop()


def test_a_name_that_is_a_pattern_is_refused_where_spark_reads(
    spark: SparkSession, tmp_path: Path
) -> None:
    (tmp_path / "s").mkdir()
    (tmp_path / "s/a[1]").write_bytes(b"x")
    engine = Engine(tmp_path / "state", spark=spark, shards=2)
    engine.execute(f"""
        CREATE STREAM s (a BIGINT, at TIMESTAMP, PROGRESS FOR at AS at - INTERVAL 4 SECONDS)
          FROM FILES '{tmp_path}/s' FORMAT csv OPTIONS (multiLine 'true');""")
    with pytest.raises(EbbtideError, match="pattern-in-name"):
        engine.query("SELECT a FROM s [NOW]", "files_pattern").start().process_all_available()
    engine.stop()


def test_a_repeated_step_sees_the_clock_of_its_first_try(tmp_path: Path) -> None:
    from ebbtide.store.clock import Readings

    clock = Clock(5)
    readings = Readings(str(tmp_path))
    assert readings.of(0, clock) == 5
    clock.set(9)
    assert readings.of(0, clock) == 5
    assert readings.of(1, clock) == 9
    assert Readings(str(tmp_path)).of(1, Clock(20)) == 9
