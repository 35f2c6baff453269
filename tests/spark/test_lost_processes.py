"""Executors and workers that are killed in the middle of a step cost time, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.spark import fault_driver
from tests.spark.victim import Left, Victim, left, snapshots, write_files

from ebbtide.config import Config
from ebbtide.sinks import Files

LONG = Config.from_environment().profile == "long"
CLUSTER = "local-cluster[2,1,1024]"
POINTS = ("aggregate", "frozen", "join", "written", "scanned", "merge", "sink")
KILLS = len(POINTS) if LONG else 2


def undisturbed(spark: SparkSession, data: Path, steps: int) -> Left:
    """What the query leaves in this process, over files that are written here."""
    write_files(data, steps, seed=5)
    query = fault_driver.query_of(spark, str(data), "calm")
    fault_driver.run(query, Files(str(data / "calm" / "files")))
    query.engine.stop()
    return left(data, "calm")


def test_executors_that_are_killed_change_nothing(spark: SparkSession, tmp_path: Path) -> None:
    steps = 3 * KILLS + 2
    calm = undisturbed(spark, tmp_path, steps)
    with Victim(tmp_path, CLUSTER) as victim:
        for number, point in enumerate(POINTS[:KILLS]):
            assert victim.reach(point, 3 * number)
            if point == "scanned":
                victim.last(2)  # so that the first task ends: what it wrote is lost with the other
            victim.kill_executor(other=point == "scanned")
            victim.disarm()
        victim.finish()
    assert left(tmp_path, fault_driver.NAME) == calm
    found, expected = (
        snapshots(fault_driver.query_of(spark, str(tmp_path), place), steps)
        for place in (fault_driver.NAME, "calm")
    )
    assert len(list(filter(None, expected))) > 3
    assert found == expected


@pytest.mark.parametrize("master", ["local[2]", "local[2,4]"] if LONG else ["local[2]"])
def test_workers_that_are_killed_change_nothing(
    spark: SparkSession, tmp_path: Path, master: str
) -> None:
    """Spark tries the task again if its master allows it; if not, starting again does."""
    calm = undisturbed(spark, tmp_path, 4)
    with Victim(tmp_path, master) as victim:
        assert victim.reach("aggregate", 1)
        victim.kill_reached()
        victim.disarm()
        if master == "local[2]":
            assert victim.process.wait() == 1
            assert "error[worker-lost]" in victim.said
            assert victim.latest() == 1
        else:
            victim.finish()
    query = fault_driver.query_of(spark, str(tmp_path), fault_driver.NAME)
    for _ in range(2):
        fault_driver.run(query, Files(str(tmp_path / fault_driver.NAME / "files")))
    query.engine.stop()
    assert left(tmp_path, fault_driver.NAME) == calm
