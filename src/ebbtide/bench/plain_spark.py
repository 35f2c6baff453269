"""Spark as it comes, in a process of its own: the floor under us, and Spark's own windows.

The floor is what any engine of this kind pays: scan, exchange by key, and every row through a
Python worker and back.  The sessions that the engine starts have a Java for short starts, which is
slow on rows that pass through it (ADR 30); whoever is compared with us has Java's own settings.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from ebbtide.bench.data import ReadingFiles
from ebbtide.bench.peer import Peer, peer_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

READINGS = "k BIGINT, v DOUBLE, at TIMESTAMP"
SHARDS = 2
_JAVA = {"spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=4 -XX:+UseG1GC"}
"""What Java does if it is told nothing."""


@dataclass(frozen=True, slots=True)
class PlainSpark:
    """The process that runs it; it is warm after the first run of each."""

    peer: Peer

    def floor(self, rows: ReadingFiles, files: int, root: Path) -> float:
        """The seconds of the floor."""
        return self.floor_of(rows.path, READINGS, "k", files, root)

    def floor_of(self, path: Path, columns: str, key: str, files: int, root: Path) -> float:
        """The seconds of the floor for files with other columns."""
        return float(self.peer.ask("floor", str(path), columns, key, files, str(root)))

    def windows(self, rows: ReadingFiles, files: int, root: Path) -> float:
        """The seconds of Spark's own windowed count, in update mode."""
        return float(self.peer.ask("windows", str(rows.path), files, str(root)))


@contextmanager
def plain_spark(log: TextIO) -> Iterator[PlainSpark]:
    """Spark in another process, as long as it is needed."""
    with peer_of([sys.executable, "-m", __name__], log) as peer:
        yield PlainSpark(peer)


def _floor(spark: SparkSession, path: str, columns: str, key: str, files: int, root: str) -> float:
    from ebbtide.spark.session import unsized_batches

    def batch(frame: DataFrame, _: int) -> None:
        frame.sparkSession.conf.set("spark.sql.adaptive.enabled", "false")
        with unsized_batches(frame.sparkSession):
            sent = frame.repartition(SHARDS, key).mapInArrow(_as_it_is, columns)
            sent.write.format("noop").mode("overwrite").save()

    rows = _stream(spark, path, columns, files)
    return _seconds(rows.writeStream.foreachBatch(batch), root)


def _windows(spark: SparkSession, path: str, files: int, root: str) -> float:
    from pyspark.sql import functions as F

    spark.conf.set("spark.sql.shuffle.partitions", SHARDS)
    frame = _stream(spark, path, READINGS, files).withWatermark("at", "1 second")
    counted = frame.groupBy(F.window("at", "5 minutes", "1 minute"), "k").count()
    return _seconds(counted.writeStream.format("noop").outputMode("update"), root)


def _stream(spark: SparkSession, path: str, columns: str, files: int) -> DataFrame:
    return spark.readStream.schema(columns).option("maxFilesPerTrigger", files).csv(path)


def _seconds(writer: Any, root: str) -> float:
    writer = writer.option("checkpointLocation", f"{root}/checkpoint")
    began = time.perf_counter()
    writer.trigger(availableNow=True).start().awaitTermination()
    return time.perf_counter() - began


def _as_it_is(batches: Iterator[Any]) -> Iterator[Any]:
    return batches


def main() -> None:
    """Answers each line of the standard input by one of the standard output."""
    from ebbtide.spark.session import start_spark

    answers, sys.stdout = sys.stdout, sys.stderr
    spark = start_spark(settings=_JAVA)
    verbs: dict[str, Callable[..., float]] = {"floor": _floor, "windows": _windows}
    for line in sys.stdin:
        verb, *arguments = json.loads(line)
        print(json.dumps(verbs[verb](spark, *arguments)), file=answers, flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
