"""What steps did, as records and as a streaming listener hears it."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.streaming.listener import StreamingQueryListener
from tests.spark.files import as_json, put

from ebbtide.engine.engine import Engine
from ebbtide.program.run import Run

DECLARED = """
CREATE STREAM s (a BIGINT, at TIMESTAMP, PROGRESS FOR at AS at - INTERVAL 1 SECOND)
  RETAIN 2 SECONDS {source};
"""
QUERY = "SELECT a, COUNT(*) AS n FROM s [RANGE 5 SECONDS] GROUP BY a"
SECOND = 1_000_000
PATIENCE = 60


class Ear(StreamingQueryListener):
    """Keeps what it hears, and says when something with metrics of ours has come."""

    def __init__(self) -> None:
        self.heard: list[tuple[str, str, Any]] = []
        self.more = threading.Condition()

    def _hear(self, kind: str, run: Any, what: Any) -> None:
        with self.more:
            self.heard.append((kind, str(run), what))
            self.more.notify_all()

    def onQueryStarted(self, event: Any) -> None:
        self._hear("started", event.runId, event.name)

    def onQueryProgress(self, event: Any) -> None:
        self._hear("progress", event.progress.runId, event.progress)

    def onQueryIdle(self, event: Any) -> None:
        pass

    def onQueryTerminated(self, event: Any) -> None:
        self._hear("ended", event.runId, None)

    def wait(self, until: Any) -> list[tuple[str, str, Any]]:
        with self.more:
            assert self.more.wait_for(lambda: until(self.heard), PATIENCE), self.heard
            return list(self.heard)


def ours(heard: list[tuple[str, str, Any]]) -> list[Any]:
    """The progress events that are ours."""
    progress = [what for kind, _, what in heard if kind == "progress"]
    return [p for p in progress if "ebbtide.step" in p.observedMetrics]


@pytest.fixture
def ear(spark: SparkSession) -> Any:
    listener = Ear()
    spark.streams.addListener(listener)
    yield listener
    spark.streams.removeListener(listener)


def check_heard(run: Run, progress: list[Any]) -> None:
    """A listener hears what the records say."""
    records = run.metrics()
    assert [p.batchId for p in progress] == [record.step for record in records]
    for record, event in zip(records, progress, strict=True):
        metrics = event.observedMetrics
        assert event.name == run.name
        assert event.numInputRows == 0
        assert metrics["ebbtide.step"].now == record.now
        for name, operator in record.operators.items():
            row = metrics[f"ebbtide.operator.{name}"].asDict()
            assert row == {field: getattr(operator, field) for field in row}
        for name, source in record.sources.items():
            row = metrics[f"ebbtide.source.{name}"].asDict()
            assert (row["rows_in"], row["rows_late"]) == (source.rows_in, source.rows_late)
            assert row["rows_unused"] == sum(source.unused.values())
        assert json.loads(event.json)["observedMetrics"]["ebbtide.step"]["step"] == record.step


def test_steps_by_hand_are_counted_and_heard(spark: SparkSession, tmp_path: Path, ear: Ear) -> None:
    engine = Engine(tmp_path, spark=spark, shards=2)
    engine.execute(DECLARED.format(source=""))
    run = engine.query(QUERY, "metrics_by_hand").start()
    assert run.metrics() == []
    engine.feed("s", [(1, SECOND), (3, 2 * SECOND), (2, 2 * SECOND), ("x", SECOND)])
    engine.step()
    engine.feed("s", [(1, 20 * SECOND)])
    engine.step()
    # One is late and revises, one is too late, one has no time.
    engine.feed("s", [(1, 18 * SECOND), (1, 9 * SECOND), (1, None)])
    engine.step()
    first, second, third = run.metrics()
    (name,) = (name for name in first.operators if ".aggregate@" in name)
    assert (first.step, first.now) == (0, 2 * SECOND)
    assert first.operators[name].rows_in == 3
    assert first.operators[name].rows_stored > 0
    assert first.operators[name].bytes_stored >= first.operators[name].bytes_written > 0
    assert first.operators[name].rows_expired == 0
    assert second.operators[name].rows_expired > 0
    assert first.sources["s"].rows_in == 3
    assert first.sources["s"].unused == {"malformed": 1}
    assert (third.sources["s"].rows_in, third.sources["s"].rows_late) == (1, 1)
    assert third.sources["s"].unused == {"late": 1, "null-time": 1}
    for step in (first, second, third):
        assert step.operators["output.metrics_by_hand"].rows_out > 0
        for operator in step.operators.values():
            assert 0 < operator.seconds_max <= operator.seconds < 2 * step.seconds
    assert [record.step for record in run.metrics(since=1)] == [2]
    assert run.status.metrics[name].rows_in == third.operators[name].rows_in
    heard = ear.wait(lambda heard: len(ours(heard)) == 3)
    check_heard(run, ours(heard))
    run.stop()
    heard = ear.wait(lambda heard: heard[-1][0] == "ended")
    assert [kind for kind, _, _ in heard] == ["started", *["progress"] * 3, "ended"]
    assert len({run_id for _, run_id, _ in heard}) == 1


def test_steps_on_files_are_heard_beside_those_of_spark(
    spark: SparkSession, tmp_path: Path, ear: Ear
) -> None:
    source = f"FROM FILES '{tmp_path}/s' FORMAT json OPTIONS (maxFilesPerTrigger '1')"
    engine = Engine(tmp_path / "state", spark=spark, shards=2)
    engine.execute(DECLARED.format(source=source))
    for step in range(2):
        put(tmp_path / "s", step, as_json(["a", "at"], [(step, step * SECOND)], "{broken"))
    run = engine.query(QUERY, "metrics_files").start(trigger={"availableNow": True})
    assert run.await_termination(PATIENCE)
    heard = ear.wait(lambda heard: any(kind == "ended" for kind, _, _ in heard))
    check_heard(run, ours(heard))
    assert all(record.sources["s"].unused == {"malformed": 1} for record in run.metrics())
    spark_says = [what for kind, _, what in heard if kind == "progress" and what.sources]
    assert [p.batchId for p in spark_says] == [0, 1]
    assert len({run_id for _, run_id, _ in heard}) == 1
    engine.stop()
