"""Workers that are there before the first step asks for them.

Law: nothing depends on it.  A job that does nothing runs beside whatever else a start has to do, so
that the first step finds workers, with their imports done, and Spark's own classes loaded.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from threading import Thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

__all__ = ["warm_workers"]


def warm_workers(spark: SparkSession) -> Thread:
    """Begins to start the workers of this machine; what goes wrong is left for a step to say."""
    thread = Thread(target=_try, args=(spark,), daemon=True, name="warming-workers")
    thread.start()
    return thread


def _try(spark: SparkSession) -> None:
    with suppress(Exception):
        cores = spark.sparkContext.defaultParallelism
        spark.range(0, cores, 1, cores).mapInArrow(_as_they_are, "id BIGINT").collect()


def _as_they_are(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield from batches
