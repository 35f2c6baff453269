"""What is done with Spark's private interfaces: all of it is here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def filled(spark: SparkSession, exchanged: DataFrame) -> tuple[DataFrame, Any]:
    """An exchange as a table of its own, filled, and what was observed on the way there.

    Spark's optimizer would leave out kernels over input that it proves to be empty, and with them
    all expiries; it proves nothing about an RDD.  The job fills the shuffle and reads nothing of
    it; the next job finds it done.
    """
    execution = exchanged._jdf.queryExecution()
    jvm = spark._jvm
    assert jvm is not None
    forever = jvm.scala.concurrent.duration.Duration.Inf()
    filling = execution.executedPlan().mapOutputStatisticsFuture()
    jvm.org.apache.spark.util.ThreadUtils.awaitResult(filling, forever)
    rows = _table(spark, execution.toRdd(), exchanged)
    return rows, execution.observedMetrics()


def zipped(spark: SparkSession, left: DataFrame, right: DataFrame, partitions: int) -> DataFrame:
    """Two tables of the same columns and so many partitions: each of one with its like of the
    other, where a union would put them side by side."""
    jvm: Any = spark._jvm
    rdds = jvm.java.util.ArrayList()
    for table in (left, right):
        rdds.add(table._jdf.queryExecution().toRdd())
    several = jvm.scala.jdk.javaapi.CollectionConverters.asScala(rdds).toSeq()
    rows = jvm.org.apache.spark.rdd.SQLPartitioningAwareUnionRDD(
        spark._jsparkSession.sparkContext(), several, partitions, _any_tag(jvm)
    )
    return _table(spark, rows, left)


def is_local(spark: SparkSession, path: str) -> bool:
    """Whether a path is of this machine's file system, as Spark understands it."""
    jvm: Any = spark._jvm
    found = jvm.org.apache.hadoop.fs.Path(path)
    system = found.getFileSystem(spark._jsparkSession.sessionState().newHadoopConf())
    return str(system.getUri().getScheme()) == "file"


def own_session(spark: SparkSession, settings: Mapping[str, str]) -> SparkSession:
    """A session like another, with settings of its own, which nobody else sees."""
    from pyspark.sql import SparkSession as Session

    own = Session(spark.sparkContext, spark._jsparkSession.cloneSession())
    for name, value in settings.items():
        own.conf.set(name, value)
    return own


def within(spark: SparkSession, frame: DataFrame) -> DataFrame:
    """A DataFrame of another session as one of this; its streams still read by the other."""
    from pyspark.sql import DataFrame as Table

    jvm: Any = spark._jvm
    plan = frame._jdf.queryExecution().analyzed()
    rows = jvm.org.apache.spark.sql.classic.Dataset.ofRows(spark._jsparkSession, plan)
    return Table(rows, spark)


def stream_names(frame: DataFrame) -> tuple[str | None, ...]:
    """The names in checkpoints of the streams that a DataFrame reads, in Spark's order."""
    leaves = frame._jdf.queryExecution().analyzed().collectLeaves()
    read = (leaf for leaf in map(leaves.apply, range(leaves.size())) if leaf.isStreaming())
    return tuple(_stream_name(leaf) for leaf in read)


def _stream_name(leaf: Any) -> str | None:
    if leaf.getClass().getSimpleName() not in ("StreamingRelation", "StreamingRelationV2"):
        return None
    name = leaf.sourceIdentifyingName().nameOpt()
    return str(name.get()) if name.isDefined() else None


def _any_tag(jvm: Any) -> Any:
    tags = getattr(getattr(jvm, "scala.reflect.ClassTag$"), "MODULE$")
    return tags.AnyRef()


def _table(spark: SparkSession, rdd: Any, like: DataFrame) -> DataFrame:
    from pyspark.sql import DataFrame as Table

    rows = spark._jsparkSession.internalCreateDataFrame(rdd, like._jdf.schema(), False)
    return Table(rows, spark)
