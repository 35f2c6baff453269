"""The directory of a program that keeps its changes for a while stays as it is, step after step."""

from __future__ import annotations

from pathlib import Path

from tests.long_run import LongRun

from ebbtide.config import Config

STEPS = {"quick": 200, "ci": 200, "long": 10_000}[Config.from_environment().profile]


def test_files_stay_as_many_under_a_bound(tmp_path: Path) -> None:
    run = LongRun(str(tmp_path), "50 seconds")
    few, many = run.figures(100), run.figures(STEPS)
    assert many.files <= 1.5 * few.files
    assert many.bytes <= 2 * few.bytes + 200 * STEPS  # what was fed by hand is kept
    run.engine.stop()


def test_files_grow_with_the_logarithm_of_steps_without_one(tmp_path: Path) -> None:
    run = LongRun(str(tmp_path), None)
    few, many = run.figures(100), run.figures(STEPS)
    assert many.files <= few.files + 3 * 8
    run.engine.stop()
