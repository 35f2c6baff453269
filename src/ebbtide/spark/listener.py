"""What a query's steps did, reported to Spark's streaming listeners.

Law: for every committed step a listener gets one progress event whose ``observedMetrics`` have an
entry for the step, one for each operator and one for each source.  It comes beside the event that
Spark itself makes of the batch, under the same ids, and has no sources, so that rows are not
counted twice.  A query that is fed by hand is no query of Structured Streaming; its start and its
end are reported here, too.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ebbtide.core.admission import Reason
from ebbtide.spark.names import quoted
from ebbtide.spark.private import (
    has_ended,
    has_listeners,
    post_progress,
    post_started,
    post_terminated,
)
from ebbtide.store.metrics import StepMetrics

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_PREFIX = "ebbtide"


@dataclass(frozen=True, slots=True)
class Ids:
    """The ids by which listeners know a query and its run."""

    query: str
    run: str = field(default_factory=lambda: str(uuid.uuid4()))

    @staticmethod
    def of_directory(root: str) -> Ids:
        """The ids of a query that Structured Streaming does not know: its directory names it."""
        return Ids(str(uuid.uuid5(uuid.NAMESPACE_URL, f"file://{root}")))

    @staticmethod
    def of_batch(spark: SparkSession) -> Ids:
        """The ids of the query whose batch runs in this thread."""
        context = spark.sparkContext
        query = context.getLocalProperty("sql.streaming.queryId")
        return Ids(str(query), str(context.getLocalProperty("spark.jobGroup.id")))


@dataclass(frozen=True, slots=True)
class Listeners:
    """The streaming listeners of a session, for one run of a query."""

    spark: SparkSession
    name: str
    ids: Ids

    def started(self) -> None:
        """Tells that the run has started, also to those who begin to listen later."""
        post_started(self.spark, self._ids, self.name, _timestamp())

    def stopped(self) -> None:
        """Tells that the run has ended, unless Spark has ended before it."""
        if not has_ended(self.spark):
            post_terminated(self.spark, self._ids)

    def progressed(self, step: StepMetrics) -> None:
        """Tells what a step did, if anybody listens."""
        if not has_listeners(self.spark):
            return
        post_progress(
            self.spark,
            self._ids,
            self.name,
            _timestamp(),
            step.step,
            round(1000 * step.seconds),
            _PREFIX,
            self._rows(dict(entries(step))),
        )

    @property
    def _ids(self) -> tuple[str, str]:
        return self.ids.query, self.ids.run

    def _rows(self, values: Mapping[str, Mapping[str, int | float]]) -> DataFrame:
        """A row of Spark's with a struct for each name; a number from here would be an INT."""
        columns = (
            f"named_struct({', '.join(_cell(*cell) for cell in row.items())}) AS {quoted(name)}"
            for name, row in values.items()
        )
        return self.spark.sql(f"SELECT {', '.join(columns)}")


def entries(step: StepMetrics) -> Iterator[tuple[str, Mapping[str, int | float]]]:
    """The entries of a step in ``observedMetrics``: names, and rows of numbers."""
    yield f"{_PREFIX}.step", {"step": step.step, "now": step.now, "seconds": step.seconds}
    for name, operator in step.operators.items():
        yield f"{_PREFIX}.operator.{name}", asdict(operator)
    for name, source in step.sources.items():
        reasons = {f"unused_{reason.name.lower()}": reason.value for reason in Reason}
        counts = {column: source.unused.get(reason, 0) for column, reason in reasons.items()}
        rows = {"rows_in": source.rows_in, "rows_late": source.rows_late}
        yield f"{_PREFIX}.source.{name}", {**rows, "rows_unused": source.rows_unused, **counts}


def _cell(name: str, value: int | float) -> str:
    type_ = "DOUBLE" if isinstance(value, float) else "BIGINT"
    return f"'{name}', CAST('{value!r}' AS {type_})"


def _timestamp() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
