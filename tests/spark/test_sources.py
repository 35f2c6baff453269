"""Sources on Spark: formats and their options, names in the checkpoint, many files at once."""

from __future__ import annotations

import json
from functools import reduce
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from tests.spark.files import as_json, put

from ebbtide.engine.engine import Engine
from ebbtide.engine.query import Query
from ebbtide.errors import EbbtideError
from ebbtide.files.options import FILE_OPTIONS
from ebbtide.program.run import Run
from ebbtide.spark.file_readers import OWN_OPTIONS
from ebbtide.spark.files_in_tasks import place_of
from ebbtide.spark.host import SparkHost
from ebbtide.spark.private import stream_names
from ebbtide.spark.session import by_names
from ebbtide.spark.sources import source_of
from ebbtide.sql.catalog import StreamEntry

SECOND = 1_000_000
STREAM = """
CREATE STREAM {name} (a BIGINT, at TIMESTAMP, PROGRESS FOR at AS at - INTERVAL 1 SECOND)
  RETAIN 1 HOUR FROM FILES '{path}/{name}' FORMAT json;
"""
BOTH = "SELECT a FROM l [RANGE 1 HOUR] UNION ALL SELECT a + 100 AS a FROM r [RANGE 1 HOUR]"


def query_of(spark: SparkSession, path: Path, name: str, *streams: str) -> Query:
    engine = Engine(path / "state", spark=spark, shards=2)
    for stream in streams:
        (path / stream).mkdir(exist_ok=True)
        engine.execute(STREAM.format(name=stream, path=path))
    return engine.query(BOTH if len(streams) > 1 else "SELECT a FROM l [RANGE 1 HOUR]", name)


def put_row(path: Path, number: int, a: int) -> None:
    put(path, number, as_json(["a", "at"], [(a, number * SECOND)]))


def taken(query: Query, **options: Any) -> list[int]:
    run = query.start(trigger={"availableNow": True}, **options)
    assert run.await_termination()
    return sorted(row.a for row in query.snapshot().collect())


def offsets(run_root: str, batch: int) -> list[str]:
    return Path(run_root, "checkpoint/offsets", str(batch)).read_text("utf-8").splitlines()


def test_lines_of_text_are_rows(spark: SparkSession, tmp_path: Path) -> None:
    for number, content in enumerate([b'one\n\n{broken\n"three,', b"", b"z\xc3\xa4hler\r\n"]):
        put(tmp_path / "words", number, content)
    engine = Engine(tmp_path / "state", spark=spark, shards=2)
    engine.execute(f"""
        CREATE TABLE words (value STRING) FROM FILES '{tmp_path}/words' FORMAT text;
        CREATE TABLE ids (id BIGINT, value STRING) FROM FILES '{tmp_path}/words' FORMAT text;
        CREATE TABLE counts (Value BIGINT) FROM FILES '{tmp_path}/words' FORMAT text;""")
    query = engine.query("SELECT value FROM words", "sources_text")
    query.start()
    engine.step()
    found = sorted(row.value for row in query.snapshot().collect())
    assert found == sorted(["one", "", "{broken", '"three,', "zähler"])
    assert engine.late("words").count() == 0
    for name in ("ids", "counts"):
        engine.query(f"SELECT value FROM {name}", f"sources_{name}").start()
        with pytest.raises(EbbtideError, match="text-columns"):
            engine.step()
        engine._runs.pop(f"sources_{name}").stop()
    engine.stop()


def test_elements_of_xml_are_rows(spark: SparkSession, tmp_path: Path) -> None:
    rows = [
        '<bid _="x" id="7"><a>1</a><at>1970-01-01 00:00:01</at></bid>',
        "<bid><a>many</a><at>1970-01-01 00:00:02</at></bid>",
        "<bid><at>1970-01-01 00:00:03</at><more>no column</more></bid>",
        "<bid><a>4</a></bid>",
    ]
    put(tmp_path / "x", 0, f"<?xml version='1.0'?><bids>{''.join(rows)}</bids>".encode())
    put(tmp_path / "x", 1, b"")
    put(tmp_path / "x", 2, b"<bids><bid><a>5</a><at>1970-01-01 00:00:05</at></bid>\n<bid><a>6</a>")
    engine = Engine(tmp_path / "state", spark=spark, shards=2)
    columns = "a BIGINT, _id INT, at TIMESTAMP, PROGRESS FOR at AS at - INTERVAL 1 MINUTE"
    engine.execute(f"""
        CREATE STREAM x ({columns}) FROM FILES '{tmp_path}/x' FORMAT xml OPTIONS (ROWTAG 'bid');
        CREATE TABLE t (a BIGINT) FROM FILES '{tmp_path}/x' FORMAT xml;""")
    query = engine.query("SELECT a, _id FROM x [RANGE 1 HOUR]", "sources_xml")
    run = query.start(trigger={"availableNow": True})
    assert run.await_termination()
    found = {(row.a, row["_id"]) for row in query.snapshot().collect()}
    assert found == {(1, 7), (None, None), (5, None)}
    unused = sorted((row.reason, row.row) for row in engine.late("x").collect())
    assert [reason for reason, _ in unused] == ["malformed", "malformed", "null-time"]
    assert ("malformed", rows[1]) in unused
    engine.query("SELECT a FROM t", "sources_no_tag").start()
    with pytest.raises(EbbtideError, match="missing-option") as caught:
        engine.step()
    assert caught.value.hint == "add OPTIONS (rowTag 'name')"
    engine.stop()


def test_only_empty_text_has_no_rows(spark: SparkSession, tmp_path: Path) -> None:
    put(tmp_path / "words", 0, b"")
    engine = Engine(tmp_path / "state", spark=spark, shards=2)
    engine.execute(f"CREATE TABLE words (value STRING) FROM FILES '{tmp_path}/words' FORMAT text")
    query = engine.query("SELECT COUNT(*) AS n FROM words", "sources_empty")
    query.start()
    engine.step()
    assert [row.n for row in query.snapshot().collect()] == [0]
    engine.stop()


@pytest.mark.parametrize(
    ("word", "known_by"),
    [
        ("csv", "catalyst.csv.CSVOptions"),
        ("json", "catalyst.json.JSONOptions"),
        ("text", "execution.datasources.text.TextOptions"),
        ("xml", "catalyst.xml.XmlOptions"),
    ],
)
def test_options_are_those_of_spark(spark: SparkSession, word: str, known_by: str) -> None:
    found: Any = spark._jvm
    for part in f"org.apache.spark.sql.{known_by}".split("."):
        found = getattr(found, part)
    options = found.getAllOptions().iterator()
    names = set()
    while options.hasNext():
        names.add(str(options.next()))
    assert source_of(word).options == (names - OWN_OPTIONS) | FILE_OPTIONS


def test_streams_may_change_places(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_row(tmp_path / "l", 1, 1)
    put_row(tmp_path / "r", 1, 1)
    query = query_of(spark, tmp_path, "sources_swapped", "l", "r")
    assert taken(query) == [1, 101]
    root = query.engine.root_of("sources_swapped")
    version, _, *known = offsets(root, 0)
    assert version == "v2"
    assert known == ['l:{"logOffset":0}', 'r:{"logOffset":0}']
    put_row(tmp_path / "r", 2, 2)

    orders: list[list[int]] = []

    def reversed_streams(host: Any, run: Any, streams: dict[int, Any], trigger: Any) -> None:
        swapped = dict(reversed(streams.items()))
        orders.append(list(swapped))
        run.stream(swapped, trigger)

    monkeypatch.setattr(SparkHost, "stream", reversed_streams)
    again = query_of(spark, tmp_path, "sources_swapped", "l", "r")
    assert taken(again) == [1, 101, 102]
    assert orders == [[1, 0]]
    put_row(tmp_path / "l", 3, 3)
    assert taken(query_of(spark, tmp_path, "sources_swapped", "l", "r")) == [1, 3, 101, 102]


def test_a_source_that_comes_later_repeats_no_rows(spark: SparkSession, tmp_path: Path) -> None:
    def run(*names: str) -> list[int]:
        engine = Engine(tmp_path / "state", spark=spark, shards=2)
        taken_rows: list[int] = []
        frames = []
        for name in names:
            engine.execute(STREAM.format(name=name, path=tmp_path))
            entry = engine.catalog.get(name)
            assert isinstance(entry, StreamEntry)
            assert entry.files is not None
            frames.append(engine.host.files(entry.files, entry.declaration, "UTC", True))
        with by_names(spark, named=True):
            writer = reduce(DataFrame.union, frames).writeStream.trigger(availableNow=True)
            writer = writer.foreachBatch(lambda rows, _: taken_rows.extend(_values(rows)))
            writing = writer.option("checkpointLocation", f"{tmp_path}/checkpoint").start()
        writing.awaitTermination()
        return sorted(taken_rows)

    for number, name in enumerate(("l", "r", "s"), 1):
        put_row(tmp_path / name, 1, number)
    assert run("l", "r") == [1, 2]
    put_row(tmp_path / "r", 2, 4)
    assert run("s", "r", "l") == [3, 4]
    put_row(tmp_path / "s", 2, 5)
    assert run("l", "s") == [5]


def _values(rows: DataFrame) -> list[int]:
    places = [Path(place_of(row["_file"].path)) for row in rows.collect()]
    return [json.loads(place.read_text("utf-8"))["a"] for place in places]


def events(spark: SparkSession, path: Path, name: str | None) -> DataFrame:
    schema = "a BIGINT, at TIMESTAMP"
    if name is None:
        return spark.readStream.format("json").schema(schema).load(str(path))
    with by_names(spark, named=True):
        return spark.readStream.name(name).format("json").schema(schema).load(str(path))


@pytest.mark.parametrize(("name", "version"), [(None, "v1"), ("mine", "v2")])
def test_dataframes_have_their_own_names_or_freeze(
    spark: SparkSession, tmp_path: Path, name: str | None, version: str
) -> None:
    put_row(tmp_path / "l", 1, 1)
    put_row(tmp_path / "r", 1, 1)

    def made() -> Query:
        engine = Engine(tmp_path / "state", spark=spark, shards=2)
        engine.execute(STREAM.format(name="l", path=tmp_path))
        frame = events(spark, tmp_path / "r", name)
        assert stream_names(frame.where("a > 0")) == (name,)
        engine.stream("r", frame, time="at", lateness="1 second", retain="1 hour")
        return engine.query(BOTH, "sources_frames")

    query = made()
    assert taken(query) == [1, 101]
    root = query.engine.root_of("sources_frames")
    assert offsets(root, 0)[0] == version
    put_row(tmp_path / "r", 2, 2)
    put_row(tmp_path / "l", 2, 3)
    assert taken(made()) == [1, 3, 101, 102]


def test_the_session_is_as_it_was(spark: SparkSession, tmp_path: Path) -> None:
    setting = "spark.sql.streaming.queryEvolution.enableSourceEvolution"
    listing = "spark.sql.sources.parallelPartitionDiscovery.threshold"
    names = (setting, listing)
    before = [spark.conf.get(name) for name in names]
    query = query_of(spark, tmp_path, "sources_session", "l", "r")
    run = query.start(heartbeat="1 second")
    assert [spark.conf.get(name) for name in names] == before
    assert events(spark, tmp_path / "r", None).isStreaming
    assert run.name in [query.name for query in spark.streams.active]
    run.stop()


def jobs(spark: SparkSession, run: Run) -> int:
    tracker = spark.sparkContext.statusTracker()
    return len(tracker.getJobIdsForGroup(str(run.streaming.runId)))  # type: ignore[attr-defined]


def test_many_files_take_no_more_jobs_than_few(spark: SparkSession, tmp_path: Path) -> None:
    counted = {}
    for count in (2, 40):
        directory = tmp_path / str(count)
        directory.mkdir()
        for number in range(count):
            put_row(directory / "l", number, number)
        query = query_of(spark, directory, f"sources_many_{count}", "l")
        run = query.start(trigger={"availableNow": True})
        assert run.await_termination()
        counted[count] = jobs(spark, run)
        assert query.snapshot().count() == count
    assert counted[2] == counted[40] > 0
