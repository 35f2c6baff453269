"""What a query's steps did, told to Spark's streaming listeners.

Law: for every committed step a listener gets one progress event whose ``observedMetrics`` have an
entry for the step, one for each operator and one for each source.  It comes beside the event that
Spark itself makes of the batch, under the same ids, and has no sources, so that rows are not
counted twice.  A query that is fed by hand is no query of Structured Streaming; its start and its
end are told here, too.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from ebbtide.core.admission import Reason
from ebbtide.store.metrics import StepMetrics

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_EVENT = "org.apache.spark.sql.streaming.StreamingQueryListener$Query{}Event"
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
        self._post("Started", *self._uuids(), self.name, _timestamp())

    def stopped(self) -> None:
        """Tells that the run has ended, unless Spark has ended before it."""
        if self.spark.sparkContext._jsc is None:
            return
        nothing = getattr(getattr(self._jvm, "scala.None$"), "MODULE$")
        self._post("Terminated", *self._uuids(), nothing)

    def progressed(self, step: StepMetrics) -> None:
        """Tells what a step did, if anybody listens."""
        manager = self.spark._jsparkSession.streams()
        if not len(manager.listListeners()):
            return
        package = self._jvm.org.apache.spark.sql.streaming
        milliseconds = round(1000 * step.seconds)
        progress = package.StreamingQueryProgress(
            *self._uuids(),
            self.name,
            _timestamp(),
            step.step,
            milliseconds,
            self._jvm.java.util.HashMap(),
            self._jvm.java.util.HashMap(),
            self._array(package.StateOperatorProgress, 0),
            self._array(package.SourceProgress, 0),
            package.SinkProgress(_PREFIX),
            self._rows(dict(entries(step))),
        )
        self._post("Progress", progress)

    @property
    def _jvm(self) -> Any:
        return self.spark._jvm

    def _uuids(self) -> Iterator[Any]:
        for text in (self.ids.query, self.ids.run):
            yield self._jvm.java.util.UUID.fromString(text)

    def _post(self, kind: str, *arguments: Any) -> None:
        event = getattr(self._jvm, _EVENT.format(kind))(*arguments)
        self.spark._jsparkSession.streams().postListenerEvent(event)

    def _array(self, type_: Any, size: int) -> Any:
        gateway: Any = self.spark.sparkContext._gateway
        return gateway.new_array(type_, size)

    def _rows(self, values: Mapping[str, Mapping[str, int | float]]) -> Any:
        """Rows of Spark's by their names: those of a query, for a number from here is an INT."""
        columns = (
            f"named_struct({', '.join(_cell(*cell) for cell in row.items())})"
            for row in values.values()
        )
        found = self.spark.sql(f"SELECT {', '.join(columns)}")._jdf.head()
        made = self._jvm.java.util.HashMap()
        for place, name in enumerate(values):
            made.put(name, found.get(place))
        return made


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
