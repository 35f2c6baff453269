"""Exactly once: a query that is killed again and again leaves what an undisturbed one leaves."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from tests.spark import fault_driver
from tests.spark.victim import Victim, left, snapshots, write_files

from ebbtide.config import Config
from ebbtide.sinks import Files
from ebbtide.store.lock import Claim

LONG = Config.from_environment().profile == "long"
STEPS = 32 if LONG else 8
LAST_KILL = STEPS - (6 if LONG else 3)
START, RANDOM = "start", "random"


def points(rng: random.Random) -> list[str]:
    """Where to kill: at every point there is, while starting, and at any moment; or at three."""
    if not LONG:
        return ["join", "manifest", "merge"]
    chosen = [*fault_driver.POINTS, *[START] * 3, *[RANDOM] * 4]
    rng.shuffle(chosen)
    return chosen


def reached(victim: Victim, point: str, version: int, rng: random.Random) -> bool:
    """Waits for a point after a version; False if the program came to its end before."""
    if point == START:
        return victim.last(rng.uniform(0, 15))
    if point == RANDOM:
        return victim.wait(lambda: victim.latest() >= version) and victim.last(rng.uniform(0, 4))
    return victim.reach(point, version)


def shown(spark: SparkSession, data: Path, place: str) -> dict[str, Any]:
    """What a user sees of a query that has taken all files, once it is started again."""
    query = fault_driver.query_of(spark, str(data), place)
    run, engine = fault_driver.run(query, Files(str(data / place / "files"))), query.engine
    seen: dict[str, Any] = {name: sorted(engine.late(name).collect()) for name in ("l", "r")}
    seen |= {"snapshots": snapshots(query, STEPS), "version": run.status.version}
    engine.stop()
    return seen


def test_a_query_that_is_killed_loses_and_doubles_nothing(
    spark: SparkSession, tmp_path: Path
) -> None:
    seed = random.SystemRandom().randrange(10**6) if LONG else 7
    print(f"seed {seed}")  # noqa: T201
    rng = random.Random(seed)
    write_files(tmp_path, STEPS, seed)
    expected = shown(spark, tmp_path, "calm")
    assert all(expected.values())
    assert len(list(filter(None, expected["snapshots"]))) > 3
    calm = left(tmp_path, "calm")
    chosen = points(rng)
    for number, point in enumerate(chosen):
        version = number * LAST_KILL // len(chosen) - (0 if number else 1)
        print(point, version, flush=True)  # noqa: T201
        with Victim(tmp_path) as victim:
            assert reached(victim, point, version, rng)
    assert shown(spark, tmp_path, fault_driver.NAME) == expected
    found = left(tmp_path, fault_driver.NAME)
    assert [step[0] for step in found.steps] == list(range(STEPS))
    assert found == calm
    claim = Claim(str(Victim.root_of(tmp_path)), fault_driver.NAME)
    # All that is left over was written and merged again within the last step.
    assert {name.split("-")[2] for name in claim.sweep()} <= {str(STEPS - 1)}
    assert claim.sweep() == set()
    claim.release()
