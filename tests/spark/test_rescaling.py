"""Another number of shards for a program on files: it goes on, and reads nothing twice."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession
from tests.spark.test_rollback import rows
from tests.spark.test_savepoint import query_at, write

from ebbtide.engine.rescaling import rescale
from ebbtide.engine.verification import verify


def test_it_goes_on_with_more_shards_and_with_fewer(spark: SparkSession, tmp_path: Path) -> None:
    data, here = tmp_path / "data", tmp_path / "here"
    data.mkdir()
    number = 0
    for shards in (2, 4, 1):
        if number:
            assert rescale(str(here), "q", shards).shards == shards
        query = query_at(spark, here, data, shards)
        run = query.start()
        for _ in range(2):
            write(data, number)
            run.process_all_available()
            number += 1
        run.stop()
    assert rows(query) == [(0, 1 + 4 + 16), (1, 2 + 8 + 32)]
    assert not [error for part in verify(str(here)) for error in part.wrong]
