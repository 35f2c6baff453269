"""The heartbeat: a source that has a row every second, so that steps come in idle time, too.

Law: a heartbeat only makes steps happen; its rows count for nothing.  What the time is in a step
is the one reading of the clock that belongs to it (``ebbtide.store.clock``), so a step that is
repeated sees the same ``now``.

Structured Streaming runs no step without rows.  A query needs a heartbeat if a source of it may be
idle, if rows that are fed by hand stand beside streams, or if its ``now`` is to follow the clock.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Condition
from typing import TYPE_CHECKING

from ebbtide.spark.arrivals import arrow_arrivals
from ebbtide.spark.checkpoint import HEARTBEAT_NAME
from ebbtide.spark.private import within
from ebbtide.spark.session import source_session
from ebbtide.spark.tagged_rows import TAG, Shape

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

HEARTBEAT = -3
"""The tag of its rows."""


def heartbeat_rows(spark: SparkSession, shape: Shape) -> DataFrame:
    """A row every second, as the table of arrivals has them: a tag, and nothing else."""
    from pyspark.sql import functions as F

    rate = source_session(spark, local=True).readStream.name(HEARTBEAT_NAME).format("rate")
    beats = rate.option("rowsPerSecond", 1).option("numPartitions", 1).load()
    columns = [
        F.lit(HEARTBEAT if field.name == TAG else None).cast(field.dataType).alias(field.name)
        for field in arrow_arrivals(spark, shape, []).schema
    ]
    return within(spark, beats).select(*columns)


class HeartbeatWait:
    """Waits for a query with a heartbeat, which is never at its end.

    A step that took nothing in, and for which Spark looked at the sources after the wait began,
    shows that all that was there has been taken in.
    """

    def __init__(self) -> None:
        self._changed = Condition()
        self._begun = 0
        self._idle = 0

    def begin(self) -> None:
        """A step begins."""
        with self._changed:
            self._begun += 1

    def end(self, idle: bool) -> None:
        """The step has ended; whether it took nothing in."""
        with self._changed:
            self._idle = self._begun if idle else self._idle
            self._changed.notify_all()

    def wait(self, active: Callable[[], bool]) -> None:
        """Waits for an idle step, as long as steps may come."""
        with self._changed:
            # For the next step, Spark may have looked at the sources already.
            first = self._begun + 2
            while self._idle < first and active():
                self._changed.wait(0.1)
