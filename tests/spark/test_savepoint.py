"""A savepoint of a program on files: what was read before is not read again, elsewhere either."""

from __future__ import annotations

import threading
from pathlib import Path

from pyspark.sql import SparkSession

from ebbtide.engine.engine import Engine
from ebbtide.engine.query import Query
from ebbtide.engine.savepoint import restore, savepoint
from ebbtide.engine.verification import verify


def query_at(spark: SparkSession, location: Path, data: Path, shards: int = 2) -> Query:
    engine = Engine(location, spark=spark, shards=shards)
    engine.execute(
        f"""CREATE STREAM s (k BIGINT, v BIGINT, at TIMESTAMP, PROGRESS FOR at AS at)
        FROM FILES '{data}' FORMAT json"""
    )
    return engine.query("SELECT k, SUM(v) AS t FROM s [UNBOUNDED] GROUP BY k", "q")


def write(data: Path, number: int) -> None:
    row = f'{{"k": {number % 2}, "v": {1 << number}, "at": "2026-01-01 00:00:{number:02d}"}}'
    (data / f".{number}").write_text(row + "\n", encoding="utf-8")
    (data / f".{number}").rename(data / f"{number}.json")


def test_a_program_on_files_goes_on_elsewhere(spark: SparkSession, tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    query = query_at(spark, tmp_path / "here", data)
    run = query.start()
    write(data, 0)
    run.process_all_available()

    def more() -> None:
        for number in range(1, 6):
            write(data, number)
            run.process_all_available()

    worker = threading.Thread(target=more)
    worker.start()
    copies = []
    while worker.is_alive() and len(copies) < 30:
        copies.append(tmp_path / f"copy{len(copies)}")
        savepoint(str(tmp_path / "here"), str(copies[-1]))
    worker.join()
    run.stop()
    for place in {copies[0], copies[len(copies) // 2], copies[-1]}:
        assert not [error for part in verify(str(place)) for error in part.wrong]
        there = place.with_name(f"{place.name}-there")
        restore(str(place), str(there))
        again = query_at(spark, there, data)
        run = again.start()
        run.process_all_available()
        rows = sorted(map(tuple, again.snapshot().collect()))
        assert rows == [(0, 1 + 4 + 16), (1, 2 + 8 + 32)], place
        run.stop()
