"""Faults at any operation on files: the answers of an undisturbed run, and nothing else."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from tests.faults import bad_rows, trials

from ebbtide.config import Config

PROFILE = Config.from_environment().profile
FAULTS = {"quick": 8, "ci": 25, "long": 950}[PROFILE]
ROWS = {"quick": 8_000, "ci": 12_000, "long": 1_000_000}[PROFILE]


# A process that is gone has closed nothing.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_no_fault_changes_an_answer(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In this process; ``python -m tests.faults`` has those on Spark, too."""
    caplog.set_level(logging.CRITICAL, "ebbtide")
    for name in ("LOOSE", "FAN_IN"):
        monkeypatch.setattr(trials.compaction, name, 2)
    figures = trials.run(FAULTS, 1, str(tmp_path))
    assert figures.wrong == []
    assert figures.faults.total() >= FAULTS
    assert FAULTS < 25 or len(figures.faults) == len(set(trials.KINDS)) + 1
    assert figures.codes.keys() <= {"disk-full", "unusable-file", "sink-failed"}


def test_every_bad_row_is_counted_once(tmp_path: Path) -> None:
    told = bad_rows.run(ROWS, 1, str(tmp_path))
    assert told["wrong"] == []
    assert told["accepted"] + told["pending"] + told["unused"] >= told["offered"] >= ROWS
    assert told["kinds"] >= 30
