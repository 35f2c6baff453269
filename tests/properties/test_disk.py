"""Nothing but a manifest is left when time has passed everything; without Spark."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.disk import LAST, PASSING, QUERIES, SCRIPT, SOURCES, STEPS, allowed, operations, sizes
from tests.histories import Fed
from tests.in_process import InProcess

from ebbtide.compile.lowering import lower
from ebbtide.config import Config
from ebbtide.core.admission import Arrival, Op
from ebbtide.engine.engine import Engine

COUNT = {"quick": 40, "ci": 48, "long": 2000}[Config.from_environment().profile]


def fed(step: int, place: int) -> dict[str, Fed]:
    """What comes in a step, behind what has come before."""
    return {
        name: Fed(tuple(Arrival(Op(op), row, place + i) for i, (op, row) in enumerate(rows)))
        for name, rows in operations(step, COUNT).items()
    }


@pytest.mark.parametrize("name", QUERIES)
def test_disk_use_returns_to_that_of_an_empty_query(name: str, tmp_path: Path) -> None:
    engine = Engine(tmp_path / "engine")
    engine.execute(SCRIPT)
    lowered = lower({"q": engine.query(QUERIES[name], "q").analysis})
    full, empty = (InProcess(lowered, str(tmp_path / word), 2) for word in ("full", "empty"))
    for step in range(STEPS):
        full.step(fed(step, step * 2 * COUNT))
        empty.step({})
    kept = sizes(full.root)["state"]
    assert name == "filter" or kept > sizes(empty.root)["state"] + allowed(name)
    for passing in range(PASSING):
        for runner in (full, empty):
            runner.step({} if passing else {source: Fed((), LAST) for source in SOURCES})
    left, never = sizes(full.root), sizes(empty.root)
    assert left["state"] <= never["state"] + allowed(name)
    assert left["timings"] <= never["timings"] + 64
