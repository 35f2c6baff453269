"""What is done with Spark's private interfaces: all of it is here.

Law: no other module reaches into Spark past what PySpark documents; a new version of Spark is
tried by the tests of these functions.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_STREAMING = "org.apache.spark.sql.streaming."
_EVENT = _STREAMING + "StreamingQueryListener$Query{}Event"


PLAIN_CHECKPOINT = (
    "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
)
"""What writes the files of a checkpoint without starting other programs."""

_NAMED_BY_PYSPARK = (
    "PythonSQLUtils",
    "PythonUtils",
    "SimplePythonFunction",
    "functions",
    "org.apache.spark.sql.catalyst.trees.PySparkCurrentOrigin",
    "org.apache.spark.sql.classic.SparkSession",
    "org.apache.spark.sql.classic.SparkSession$",
    "org.apache.spark.sql.execution.python.UserDefinedPythonFunction",
    "org.apache.spark.sql.functions",
    "org.apache.spark.sql.streaming.Trigger",
)
"""The classes that PySpark asks for whenever a table is made, a function called or a query set
off."""


def keep_classes(spark: SparkSession) -> None:
    """Has Java look only once for the classes that PySpark names again and again.

    A name without a package could be in any of those that are imported, and for each Java looks
    through all jars.
    """
    for name in _NAMED_BY_PYSPARK:
        _java(spark, name)


def launch(settings: Mapping[str, str], log: BinaryIO) -> None:
    """Starts the JVM with its standard error in a file; its workers inherit that.

    It has a session of its own: a signal to a whole group of processes is for us to act on.
    """
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway

    conf = SparkConf(loadDefaults=False).setAll(list(settings.items()))
    options = {"stderr": log, "start_new_session": True}
    gateway = launch_gateway(conf, options)  # type: ignore[no-untyped-call]
    SparkContext._ensure_initialized(gateway=gateway)


def is_launched() -> bool:
    """Whether this process has a JVM already."""
    from pyspark import SparkContext

    return SparkContext._gateway is not None


def end_jvm(seconds: float) -> None:
    """Ends the JVM that this process has launched, and waits for its end, at most so long."""
    from pyspark import SparkContext

    gateway: Any = SparkContext._gateway
    SparkContext._gateway = SparkContext._jvm = None
    gateway.shutdown()
    gateway.proc.stdin.close()
    gateway.proc.wait(seconds)


def jars_directory() -> str:
    """Where the jars of Spark are."""
    return os.path.join(_home(), "jars")


def is_of_this_package() -> bool:
    """Whether the Spark that would be started is the one in the package that is imported here."""
    import pyspark

    return os.path.samefile(_home(), os.path.dirname(pyspark.__file__))


def has_context() -> bool:
    """Whether Spark is up in this process, so that no session would have settings of its own."""
    from pyspark import SparkContext

    return SparkContext._active_spark_context is not None


def import_worker() -> None:
    """Imports what Spark's Python workers import before they do anything."""
    import pyspark.worker  # noqa: F401 - for those that are forked from here


def fork_workers() -> None:
    """Forks Spark's Python workers from this process, as Spark asks for them, until it ends."""
    from pyspark.daemon import manager

    manager()


def has_ended(spark: SparkSession) -> bool:
    """Whether Spark was stopped."""
    return spark.sparkContext._jsc is None


def jobs_run(spark: SparkSession) -> int:
    """How many jobs Spark has run so far."""
    context: Any = spark.sparkContext._jsc
    return int(context.sc().dagScheduler().numTotalJobs())


def filled(spark: SparkSession, exchanged: DataFrame) -> tuple[DataFrame, Any]:
    """An exchange as a table of its own, filled, and what was observed on the way there.

    Spark's optimizer would leave out kernels over input that it proves to be empty, and with them
    all expiries; it proves nothing about an RDD.  The job fills the shuffle and reads nothing of
    it; the next job finds it done.
    """
    execution = exchanged._jdf.queryExecution()
    forever = _java(spark, "scala.concurrent.duration.Duration").Inf()
    filling = execution.executedPlan().mapOutputStatisticsFuture()
    _java(spark, "org.apache.spark.util.ThreadUtils").awaitResult(filling, forever)
    rows = _table(spark, execution.toRdd(), exchanged)
    return rows, execution.observedMetrics()


def zipped(spark: SparkSession, left: DataFrame, right: DataFrame, partitions: int) -> DataFrame:
    """Two tables of the same columns and so many partitions: each of one with its like of the
    other, where a union would put them side by side."""
    rdds = _java(spark, "java.util.ArrayList")()
    for table in (left, right):
        rdds.add(table._jdf.queryExecution().toRdd())
    several = _java(spark, "scala.jdk.javaapi.CollectionConverters").asScala(rdds).toSeq()
    rows = _java(spark, "org.apache.spark.rdd.SQLPartitioningAwareUnionRDD")(
        spark._jsparkSession.sparkContext(), several, partitions, _any_tag(spark)
    )
    return _table(spark, rows, left)


def is_local(spark: SparkSession, path: str) -> bool:
    """Whether a path is of this machine's file system, as Spark understands it."""
    found = _java(spark, "org.apache.hadoop.fs.Path")(path)
    system = found.getFileSystem(spark._jsparkSession.sessionState().newHadoopConf())
    return str(system.getUri().getScheme()) == "file"


def local_directory(spark: SparkSession) -> str:
    """Where PySpark keeps what it needs on this machine while it runs; it is gone afterwards."""
    context: Any = spark.sparkContext
    return str(context._temp_dir)


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

    plan = frame._jdf.queryExecution().analyzed()
    rows = _java(spark, "org.apache.spark.sql.classic.Dataset").ofRows(spark._jsparkSession, plan)
    return Table(rows, spark)


def stream_names(frame: DataFrame) -> tuple[str | None, ...]:
    """The names in checkpoints of the streams that a DataFrame reads, in Spark's order."""
    leaves = frame._jdf.queryExecution().analyzed().collectLeaves()
    read = (leaf for leaf in map(leaves.apply, range(leaves.size())) if leaf.isStreaming())
    return tuple(_stream_name(leaf) for leaf in read)


def has_listeners(spark: SparkSession) -> bool:
    """Whether somebody listens to the session's streaming queries."""
    return bool(len(spark._jsparkSession.streams().listListeners()))


def post_started(spark: SparkSession, ids: tuple[str, str], name: str, timestamp: str) -> None:
    """Tells the streaming listeners that a run has started, also those who come later.

    The ids are those of the query and of its run.
    """
    _post(spark, "Started", *_uuids(spark, ids), name, timestamp)


def post_terminated(spark: SparkSession, ids: tuple[str, str]) -> None:
    """Tells the streaming listeners that a run has ended, without a failure."""
    nothing = getattr(_java(spark, "scala.None$"), "MODULE$")
    _post(spark, "Terminated", *_uuids(spark, ids), nothing)


def post_progress(
    spark: SparkSession,
    ids: tuple[str, str],
    name: str,
    timestamp: str,
    batch: int,
    milliseconds: int,
    sink: str,
    observed: DataFrame,
) -> None:
    """Tells the streaming listeners of a batch without sources; what was observed is one row of
    structs, by their names."""
    gateway: Any = spark.sparkContext._gateway
    table, source, operator, sinking, progressed = (
        _java(spark, name)
        for name in (
            "java.util.HashMap",
            _STREAMING + "SourceProgress",
            _STREAMING + "StateOperatorProgress",
            _STREAMING + "SinkProgress",
            _STREAMING + "StreamingQueryProgress",
        )
    )
    found, rows = observed._jdf.head(), table()
    for place, column in enumerate(observed.columns):
        rows.put(column, found.get(place))
    progress = progressed(
        *_uuids(spark, ids),
        name,
        timestamp,
        batch,
        milliseconds,
        table(),
        table(),
        gateway.new_array(operator, 0),
        gateway.new_array(source, 0),
        sinking(sink),
        rows,
    )
    _post(spark, "Progress", progress)


def _post(spark: SparkSession, kind: str, *arguments: Any) -> None:
    event = _java(spark, _EVENT.format(kind))(*arguments)
    spark._jsparkSession.streams().postListenerEvent(event)


def _uuids(spark: SparkSession, ids: tuple[str, str]) -> Iterator[Any]:
    for text in ids:
        yield _java(spark, "java.util.UUID").fromString(text)


def _stream_name(leaf: Any) -> str | None:
    if leaf.getClass().getSimpleName() not in ("StreamingRelation", "StreamingRelationV2"):
        return None
    name = leaf.sourceIdentifyingName().nameOpt()
    return str(name.get()) if name.isDefined() else None


def _home() -> str:
    from pyspark.find_spark_home import _find_spark_home

    home: str = _find_spark_home()
    return home


def _any_tag(spark: SparkSession) -> Any:
    tags = getattr(_java(spark, "scala.reflect.ClassTag$"), "MODULE$")
    return tags.AnyRef()


def _java(spark: SparkSession, name: str) -> Any:
    """A class of Java by its name, which Java looks for once.

    A name in one piece: of each part of it Java would look for a class first.
    """
    from py4j.java_gateway import JavaClass

    found = getattr(spark._jvm, name)
    if isinstance(found, JavaClass):  # and not a package, as anything unknown is taken for one
        vars(spark._jvm)[name] = found
    return found


def _table(spark: SparkSession, rdd: Any, like: DataFrame) -> DataFrame:
    from pyspark.sql import DataFrame as Table

    rows = spark._jsparkSession.internalCreateDataFrame(rdd, like._jdf.schema(), False)
    return Table(rows, spark)
