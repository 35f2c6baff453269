"""Starting Spark, and the settings that steps rely on."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from ebbtide.config import NURSERY, java_options, share_python_with_workers, workers_python
from ebbtide.spark.class_archive import archive_file, reading, writing
from ebbtide.spark.java import check_java
from ebbtide.spark.jvm_options import jvm_options
from ebbtide.spark.private import (
    PLAIN_CHECKPOINT,
    has_context,
    is_launched,
    is_of_this_package,
    launch,
    own_session,
)
from ebbtide.spark.worker_nursery import start_nursery

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# A task is tried again after a failure only if the master allows it: plain local[n] never does.
_RETRIES = 4

_DAEMON = "spark.python.daemon.module"
_JVM = "spark.driver.extraJavaOptions"
_WORKERS = "spark.executorEnv."

_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",
    "spark.python.unix.domain.socket.enabled": "true",
    _DAEMON: "ebbtide.spark.worker_daemon",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "65536",
    "spark.sql.streaming.metricsEnabled": "false",
}

# One job per exchange chain, and every task of it runs, empty or not.
STEP_SETTINGS = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",
}


# Spark looks at the size of a batch after every row that it puts in, which takes longer than to put
# it in; this very number means that nothing is to be looked at.
_UNSIZED = {"spark.sql.execution.arrow.maxBytesPerBatch": str(2**31 - 1)}


# Sources have names in the checkpoint; while this is set, none can be read without one.
_NAMED = "spark.sql.streaming.queryEvolution.enableSourceEvolution"

# Spark's own choice starts a process for every file of a checkpoint that it writes on this machine.
_CHECKPOINT = "spark.sql.streaming.checkpointFileManagerClass"

# With more files than this Spark lists them by a job, which for files of this machine takes far
# longer than to look at them.
_LISTED_HERE = {"spark.sql.sources.parallelPartitionDiscovery.threshold": str(2**31 - 1)}


@contextmanager
def _settings(spark: SparkSession, wanted: Mapping[str, str]) -> Iterator[None]:
    """Some settings for a while; then those that were there before."""
    before = {name: spark.conf.get(name, None) for name in wanted}
    others = {name: value for name, value in before.items() if value != wanted[name]}
    for name in others:
        spark.conf.set(name, wanted[name])
    try:
        yield
    finally:
        for name, value in others.items():
            if value is None:
                spark.conf.unset(name)
            else:
                spark.conf.set(name, value)


def step_settings(spark: SparkSession, shards: int) -> AbstractContextManager[None]:
    """The settings that steps rely on, while one runs."""
    return _settings(spark, {**STEP_SETTINGS, "spark.sql.shuffle.partitions": str(shards)})


@contextmanager
def unsized_batches(spark: SparkSession) -> Iterator[None]:
    """Batches for Python are limited by their rows alone, which must be of a fixed size.

    Tasks know the settings of the query that runs them; those of a job without one know the
    properties of the thread that began it.
    """
    context = spark.sparkContext
    with _settings(spark, _UNSIZED):
        for name, value in _UNSIZED.items():
            context.setLocalProperty(name, value)
        try:
            yield
        finally:
            for name in _UNSIZED:
                context.setLocalProperty(name, None)  # type: ignore[arg-type]


def by_names(spark: SparkSession, named: bool) -> AbstractContextManager[None]:
    """Whether a query on streams that starts inside goes by the names of its sources."""
    return _settings(spark, {_NAMED: "true" if named else "false"})


def plain_checkpoint(spark: SparkSession) -> AbstractContextManager[None]:
    """A query on streams that starts inside writes the files of its checkpoint without the help of
    other programs, unless the user has chosen how it does (ADR 32)."""
    return _settings(spark, _plainly(spark))


def _plainly(spark: SparkSession) -> dict[str, str]:
    chosen = spark.conf.get(_CHECKPOINT, None)
    return {_CHECKPOINT: chosen or PLAIN_CHECKPOINT}


def listing_here(spark: SparkSession) -> AbstractContextManager[None]:
    """Files of this machine are looked at, many or few, without a job."""
    return _settings(spark, _LISTED_HERE)


def source_session(spark: SparkSession, local: bool) -> SparkSession:
    """A session for a stream of ours: it has a name, its log is written plainly, and its files are
    listed without a job if they are all of this machine.

    A stream goes by the settings of the session that reads it for as long as it runs, and those
    of a user's session are not ours to keep.
    """
    here = _LISTED_HERE if local else {}
    return own_session(spark, {_NAMED: "true", **_plainly(spark), **here})


def start_spark(
    cores: int | None = None,
    settings: dict[str, str] | None = None,
    log: str | None = None,
    archive: str | None = None,
) -> SparkSession:
    """A session inside this process, on so many cores, or all of them.

    What Spark says goes to the standard error, or to the file ``log``.  With ``archive`` its JVM
    writes its classes there when it ends.
    """
    check_java()
    from pyspark.sql import SparkSession

    share_python_with_workers()
    master = f"local[{cores or '*'},{_RETRIES}]"
    builder = SparkSession.builder.master(master).appName("ebbtide")
    chosen = {**_SETTINGS, **(settings or {})}
    chosen[_JVM] = _java_options(chosen.get(_JVM, ""), archive)
    chosen |= _nursery(chosen)
    for name, value in chosen.items():
        builder = builder.config(name, value)
    if log is not None and not is_launched():
        with _opened(log) as file:
            launch({"spark.master": master, **chosen}, file)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def _java_options(theirs: str, archive: str | None) -> str:
    """What the JVM is started with; of options that contradict each other it takes the last."""
    quiet = f"-Dlog4j2.configurationFile={Path(__file__).with_name('log4j2.properties').as_uri()}"
    ours = jvm_options(f"{java_options()} {theirs}")
    classes = reading(archive_file()) if archive is None else writing(archive)
    return " ".join(filter(None, (quiet, ours, classes, theirs)))


def _nursery(settings: Mapping[str, str]) -> dict[str, str]:
    """What a session is set to so that its workers find a nursery, which is started."""
    is_ours = settings[_DAEMON] == _SETTINGS[_DAEMON]
    if not is_ours or has_context() or not is_of_this_package():
        return {}
    more = {
        name.removeprefix(_WORKERS): value
        for name, value in settings.items()
        if name.startswith(_WORKERS)
    }
    address = start_nursery(workers_python() or sys.executable, more)
    return {} if address is None else {f"{_WORKERS}{NURSERY}": address}


def _opened(log: str) -> BinaryIO:
    """The file to write; where there is no room even for that, a step will tell so."""
    try:
        return open(log, "wb")
    except OSError:
        return open(os.devnull, "wb")
