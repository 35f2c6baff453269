"""Starting Spark, and the settings that steps rely on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ebbtide.config import share_python_with_workers

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# A task is tried again after a failure only if the master allows it: plain local[n] never does.
_RETRIES = 4

_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",
    "spark.python.unix.domain.socket.enabled": "true",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "65536",
    "spark.sql.streaming.metricsEnabled": "false",
}

# One job per exchange chain, and every task of it runs, empty or not.
STEP_SETTINGS = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",
}


def start_spark(cores: int | None = None, settings: dict[str, str] | None = None) -> SparkSession:
    """A session inside this process, on so many cores, or all of them."""
    from pyspark.sql import SparkSession

    share_python_with_workers()
    master = f"local[{cores or '*'},{_RETRIES}]"
    builder = SparkSession.builder.master(master).appName("ebbtide")
    quiet = f"-Dlog4j2.configurationFile={Path(__file__).with_name('log4j2.properties').as_uri()}"
    chosen = {"spark.driver.extraJavaOptions": quiet, **_SETTINGS, **(settings or {})}
    for name, value in chosen.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark
