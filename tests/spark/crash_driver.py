"""A program with a query over files, which stops for ever at a chosen point, to be killed there.

    python crash_driver.py DATA CONTROL

Faults are put in from here, around what the engine calls: the kernels of the plan, the commit of a
manifest, and, inside workers, the merging of segments.  A point holds the program if the file
``arm`` in CONTROL has its name; then the file ``reached`` appears.
"""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ebbtide.runtime import starting
from ebbtide.runtime.admission import Admission
from ebbtide.runtime.engine import Engine
from ebbtide.runtime.lowering import Lowered
from ebbtide.runtime.run import Run
from ebbtide.runtime.sinks import Files
from ebbtide.state import area
from ebbtide.state.manifest import Manifests

NAME = "crashing"
SCRIPT = """
CREATE STREAM l (a BIGINT, b BIGINT, at TIMESTAMP, PRIMARY KEY (a, at),
  PROGRESS FOR at AS at - INTERVAL 40 SECONDS)
  FROM FILES '{data}/l' FORMAT json OPTIONS (maxFilesPerTrigger '1');
CREATE STREAM r (a BIGINT, c BIGINT, at TIMESTAMP, PROGRESS FOR at AS at - INTERVAL 40 SECONDS)
  FROM FILES '{data}/r' FORMAT csv OPTIONS (maxFilesPerTrigger '1');
"""
QUERY = """SELECT l.a, COUNT(*) AS n, SUM(r.c) AS total FROM l [RANGE 30 SECONDS]
  JOIN r [RANGE 30 SECONDS SLIDE 5 SECONDS] ON l.b = r.c GROUP BY l.a"""


def hold(control: str, point: str) -> None:
    """Stops here if this is the point, until whoever started this process is gone."""
    try:
        armed = Path(control, "arm").read_text(encoding="utf-8")
    except FileNotFoundError:
        return
    if armed != point:
        return
    Path(control, "reached").touch()
    parent = os.getppid()
    while os.getppid() == parent:
        time.sleep(0.02)
    os._exit(1)


@dataclass(frozen=True)
class Faulty:
    """A kernel that may stop before or after its work, or when it merges segments."""

    kernel: Any
    control: str

    def output(self, inputs: Any) -> Any:
        return self.kernel.output(inputs)

    def areas(self, inputs: Any) -> Any:
        return self.kernel.areas(inputs)

    def step(self, inputs: Any, areas: Any, times: Any) -> Any:
        hold(self.control, "kernel")
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


def put_faults_in(control: str) -> None:
    """Wraps what the engine calls."""
    lower, commit = starting.lower, Manifests.commit

    def lowered(plan: Any) -> Lowered:
        plain = lower(plan)
        operators = tuple(
            operator
            if isinstance(operator.kernel, Admission)
            else replace(operator, kernel=Faulty(operator.kernel, control))
            for operator in plain.physical.operators
        )
        return replace(plain, physical=replace(plain.physical, operators=operators))

    def committed(self: Manifests, manifest: Any) -> None:
        hold(control, "uncommitted")
        commit(self, manifest)
        hold(control, "manifest")

    starting.lower = lowered
    Manifests.commit = committed  # type: ignore[method-assign]


def run(engine: Engine, data: str) -> Run:
    """Takes all files, one of each source a step."""
    engine.execute(SCRIPT.format(data=data))
    query = engine.query(QUERY, NAME)
    started = query.start(sink=Files(f"{engine.location}/files"), trigger={"availableNow": True})
    started.await_termination()
    return started


if __name__ == "__main__":
    from ebbtide.runtime.session import start_spark

    data, control = sys.argv[1:]
    put_faults_in(control)
    spark = start_spark(2, {"spark.driver.memory": "1g", "spark.sql.shuffle.partitions": "2"})
    run(Engine(f"{data}/killed", spark=spark, shards=2), data)
    spark.stop()
