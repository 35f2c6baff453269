"""A program with a query over files, which stops at a chosen point, so that it can be killed there.

    python fault_driver.py MASTER DATA CONTROL

It reads ``DATA/l`` and ``DATA/r``, and leaves what it does in ``DATA/disturbed``.

Faults are put in from here, around what the engine calls.  A process that comes to a point waits
there while the file ``arm`` in CONTROL has the point's name, and tells its number in ``reached``.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING, Any

from ebbtide.compile.lowering import Lowered
from ebbtide.compile.physical import Operator
from ebbtide.engine import starting
from ebbtide.engine.engine import Engine
from ebbtide.engine.query import Query
from ebbtide.kernels.admission.kernel import Admission
from ebbtide.program.run import Run
from ebbtide.sinks import Files
from ebbtide.spark import transport
from ebbtide.spark.entry import Entry
from ebbtide.state import area
from ebbtide.state.store import DirectoryStore
from ebbtide.store.manifest import Manifests

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

NAME = "disturbed"
SCRIPT = """
CREATE STREAM l (a BIGINT, b BIGINT, at TIMESTAMP, PRIMARY KEY (a, at),
  PROGRESS FOR at AS at - INTERVAL 40 SECONDS)
  FROM FILES '{data}/l' FORMAT json OPTIONS (maxFilesPerTrigger '1');
CREATE STREAM r (a BIGINT, c BIGINT, at TIMESTAMP, PROGRESS FOR at AS at - INTERVAL 40 SECONDS)
  FROM FILES '{data}/r' FORMAT csv OPTIONS (maxFilesPerTrigger '1');
"""
QUERY = """SELECT l.a, COUNT(*) AS n, SUM(r.c) AS total FROM l [RANGE 30 SECONDS]
  JOIN r [RANGE 30 SECONDS SLIDE 5 SECONDS] ON l.b = r.c GROUP BY l.a"""

POINTS = {
    "scan": "in the job that reads the sources",
    "scanned": "in that job, in all tasks but the first, which comes to its end",
    "frozen": "between the two jobs of a step",
    "join": "in a task, before the join's kernel",
    "aggregate": "in a task, before the kernel of the aggregate, which comes after the join",
    "merge": "in a kernel that merges segments",
    "written": "in a task whose kernel has written its segments",
    "uncommitted": "before the manifest",
    "manifest": "after the manifest, before the journal",
    "sink": "in a task of the sink's",
    "delivered": "after the sink, before it is noted that it has the step",
    "ended": "at the end of a step, before Spark commits its batch",
    "delete": "after one of the files that are not needed any more is gone",
}


def hold(control: str, point: str) -> None:
    """Waits while this is the point; ends with whoever started this process."""
    if _armed(control) != point:
        return
    hidden = Path(control, f".{os.getpid()}")
    hidden.write_text(str(os.getpid()), encoding="utf-8")
    hidden.rename(Path(control, "reached"))
    parent = os.getppid()
    while _armed(control) == point:
        if os.getppid() != parent:
            os._exit(1)
        time.sleep(0.02)


def _armed(control: str) -> str | None:
    try:
        return Path(control, "arm").read_text(encoding="utf-8")
    except FileNotFoundError:
        return None


@dataclass(frozen=True)
class Faulty:
    """A kernel that may stop before or after its work, or when it merges segments."""

    kernel: Any
    point: str
    control: str

    def output(self, inputs: Any) -> Any:
        return self.kernel.output(inputs)

    def areas(self, inputs: Any) -> Any:
        return self.kernel.areas(inputs)

    def step(self, inputs: Any, areas: Any, times: Any) -> Any:
        hold(self.control, self.point)
        merged = area.merged

        def held(*arguments: Any, **options: Any) -> Any:
            hold(self.control, "merge")
            return merged(*arguments, **options)

        area.merged = held
        try:
            result = self.kernel.step(inputs, areas, times)
        finally:
            area.merged = merged
        hold(self.control, "written")
        return result


@dataclass(frozen=True)
class Passing:
    """Rows on their way to a sink, in tasks that may stop."""

    control: str

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        yield from batches
        hold(self.control, "sink")


@dataclass(frozen=True)
class Scanning:
    """Rows as they are read, in tasks that may stop, all of them or all but the first."""

    control: str

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        from pyspark import TaskContext

        yield from batches
        hold(self.control, "scan")
        if TaskContext.get().partitionId():  # type: ignore[union-attr]
            hold(self.control, "scanned")


@dataclass(frozen=True)
class FaultyFiles(Files):
    """A sink that may stop in the middle of its work, and after it."""

    control: str = ""

    def write(self, frame: DataFrame, step: int) -> None:
        passing = frame.mapInArrow(Passing(self.control), frame.schema)
        Files.write(self, passing, step)
        hold(self.control, "delivered")


def put_faults_in(control: str) -> None:
    """Wraps what the engine calls."""
    lower, packed, filled = starting.lower, Entry.packed, transport.filled
    commit, delete, run_step = Manifests.commit, DirectoryStore.delete, Run.run_step

    def faulty(operator: Operator) -> Operator:
        if isinstance(operator.kernel, Admission):
            return operator
        point = operator.name.split("@")[0].rpartition(".")[2]
        return replace(operator, kernel=Faulty(operator.kernel, point, control))

    def lowered(analysis: Any) -> Lowered:
        plain = lower(analysis)
        operators = tuple(map(faulty, plain.physical.operators))
        return replace(plain, physical=replace(plain.physical, operators=operators))

    def scanned(self: Entry, *arguments: Any) -> DataFrame:
        parcels = packed(self, *arguments)
        return parcels.mapInArrow(Scanning(control), parcels.schema)

    def committed(self: Manifests, manifest: Any) -> None:
        hold(control, "uncommitted")
        commit(self, manifest)
        hold(control, "manifest")

    def deleted(self: DirectoryStore, names: Any) -> None:
        for name in sorted(names):
            delete(self, [name])
            hold(control, "delete")

    def then(call: Callable[..., Any], point: str) -> Callable[..., Any]:
        def wrapped(*arguments: Any) -> Any:
            result = call(*arguments)
            hold(control, point)
            return result

        return wrapped

    starting.lower = lowered
    transport.filled = then(filled, "frozen")
    Entry.packed = scanned  # type: ignore[method-assign]
    Manifests.commit = committed  # type: ignore[method-assign]
    DirectoryStore.delete = deleted  # type: ignore[method-assign]
    Run.run_step = then(run_step, "ended")  # type: ignore[method-assign]


def query_of(spark: SparkSession, data: str, place: str) -> Query:
    """The query, at a place of its own."""
    engine = Engine(f"{data}/{place}", spark=spark, shards=2)
    engine.execute(SCRIPT.format(data=data))
    return engine.query(QUERY, NAME)


def run(query: Query, sink: Files) -> Run:
    """Takes all files, one of each source a step."""
    started = query.start(sink=sink, trigger={"availableNow": True})
    started.await_termination()
    return started


def session(master: str) -> SparkSession:
    """A session on a master."""
    from pyspark.sql import SparkSession

    from ebbtide.config import share_python_with_workers

    share_python_with_workers()
    # A JVM that lives for seconds is not worth an optimizing compiler.
    options = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
    settings = {
        "spark.driver.memory": "1g",
        "spark.driver.extraJavaOptions": options,
        "spark.executor.extraJavaOptions": options,
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "2",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    builder = SparkSession.builder.master(master).appName(NAME)
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def stop(spark: SparkSession) -> None:
    """Ends a session; what executors of a local cluster leave beside Spark goes with it."""
    import pyspark

    application = str(spark.sparkContext.applicationId)
    spark.stop()
    rmtree(Path(pyspark.__file__).parent / "work" / application, ignore_errors=True)


if __name__ == "__main__":
    master, data, control = sys.argv[1:]
    put_faults_in(control)
    spark = session(master)
    files = FaultyFiles(f"{data}/{NAME}/files", control=control)
    run(query_of(spark, data, NAME), files)
    stop(spark)
