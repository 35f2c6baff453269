"""Executors in processes of their own give what one process gives."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from pyspark.sql import SparkSession
from tests.spark import cluster_driver

ROOT = Path(__file__).resolve().parents[2]


def test_a_cluster_gives_the_same(spark: SparkSession, tmp_path: Path) -> None:
    expected = cluster_driver.output(spark, str(tmp_path / "here"))
    assert len(expected) > 3
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "tests.spark.cluster_driver",
            "local-cluster[2,1,1024]",
            str(tmp_path / "there"),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.splitlines() == expected
