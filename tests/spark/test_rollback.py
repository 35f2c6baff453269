"""A rollback of a program on files: what was read since is read again, and once."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession
from tests.spark.test_savepoint import query_at, write

from ebbtide.engine.rollback import rollback


def rows(query: object) -> list[tuple[int, int]]:
    return sorted(map(tuple, query.snapshot().collect()))  # type: ignore[attr-defined]


def test_files_since_then_are_read_again(spark: SparkSession, tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    query = query_at(spark, tmp_path / "here", data)
    run = query.start(keep_versions=5)
    answers = []
    for number in range(4):
        write(data, number)
        run.process_all_available()
        answers.append(rows(query))
    assert run.status.version == 3
    run.stop()
    rollback(str(tmp_path / "here"), "q", 1)
    query = query_at(spark, tmp_path / "here", data)
    assert rows(query) == answers[1]
    (data / "3.json").write_text((data / "3.json").read_text().replace(": 8", ": 800"))
    run = query.start(keep_versions=5)
    write(data, 4)
    run.process_all_available()
    # Steps 0 to 3, the rollback, and what came since.
    assert rows(query) == [(0, 1 + 4 + 16), (1, 2 + 800)]
    assert run.status.version is not None
    assert run.status.version > 4
    run.stop()
    query = query_at(spark, tmp_path / "here", data)
    run = query.start()
    write(data, 5)
    run.process_all_available()
    assert rows(query) == [(0, 1 + 4 + 16), (1, 2 + 800 + 32)]
    run.stop()
