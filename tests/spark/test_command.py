"""``ebbtide run`` as people run it: stopped and taken up again, and on a disk that is full."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from tests.spark.files import put

from cli_story import SCRIPT, STEPS
from commands import Said
from docs import ROOT, blocks
from ebbtide.core.time import SECOND, format_instant
from ebbtide.engine.location import Location

PAGE = ROOT / "docs/reference/command.md"
PROGRAM = [sys.executable, "-m", "ebbtide.cli"]


def run(directory: Path, *arguments: str) -> Said:
    done = subprocess.run(
        [*PROGRAM, *arguments], cwd=directory, capture_output=True, text=True, check=False
    )
    return Said(done.returncode, done.stdout, done.stderr)


def interrupted(directory: Path, *arguments: str) -> Said:
    """A run that gets Ctrl-C after its first step."""
    with subprocess.Popen(
        [*PROGRAM, *arguments],
        cwd=directory,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        seen = []
        for line in process.stderr:
            seen.append(line)
            if "step 0" in line:
                process.send_signal(signal.SIGINT)
        assert process.stdout is not None
        out = process.stdout.read()
    return Said(process.returncode, out, "".join(seen))


def write_step(directory: Path, number: int) -> None:
    rows = (
        json.dumps({"section": section, "speed": speed, "at": f"2026-01-01 {at}"})
        for section, speed, at in STEPS[number]
    )
    put(directory / "data/traffic", number, "\n".join(rows).encode())


def said_by_the_page(subcommand: str) -> str:
    for asked, said in pairwise(blocks(PAGE)):
        if asked.language == "sh" and asked.text.startswith(f"ebbtide {subcommand}"):
            return said.text
    raise AssertionError(subcommand)


def test_a_run_is_stopped_and_taken_up_again(tmp_path: Path) -> None:
    (tmp_path / "highway.sql").write_text(SCRIPT, encoding="utf-8")
    write_step(tmp_path, 0)
    first = interrupted(tmp_path, "run", "highway.sql")
    assert first.code == 0, first.err
    assert "Finishing the step at work" in first.err
    assert "Traceback" not in first.err
    write_step(tmp_path, 1)
    second = run(tmp_path, "run", "highway.sql", "--until-caught-up")
    assert second.code == 0, second.err
    assert second.out.strip() == said_by_the_page("run").strip()
    lines = second.err.splitlines()
    assert lines[:2] == ["Starting Spark ...", "Starting the program ..."]
    assert all("means: step " in line for line in lines[2:-1]), second.err
    assert "in traffic 4 rows" in lines[-2]
    assert "late 1  unused 1" in lines[-2]
    assert lines[-1] == "1 row was not used: see ebbtide late traffic"
    # What was answered is there for whoever asks later, and Spark's words are in its log.
    asked = run(tmp_path, "changes", "means", "--since", "0")
    assert asked.out == said_by_the_page("changes")
    assert (tmp_path / "ebbtide/spark.log").exists()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 400 KB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", str(disk)],
        capture_output=True,
        check=False,
    )
    if made.returncode:
        pytest.skip("a disk cannot be mounted here")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


FILES, ROWS = 4, 3000
COUNTS = """
CREATE STREAM traffic (section INT, note STRING, at TIMESTAMP, PROGRESS FOR at AS at)
  FROM FILES 'data' FORMAT json OPTIONS (maxFilesPerTrigger '1');
SELECT COUNT(*) AS n, COUNT(DISTINCT note) AS different FROM traffic [RANGE 1 DAY];
"""


def reading(second: int) -> str:
    """A row whose text does not compress."""
    note, at = f"{second * 2654435761 % 2**32:x}", format_instant(second * SECOND)
    return json.dumps({"section": second % 7, "note": note, "at": at})


def test_a_full_disk_loses_nothing(tmp_path: Path, small_disk: Path) -> None:
    (tmp_path / "counts.sql").write_text(COUNTS, encoding="utf-8")
    for number in range(FILES):
        seconds = range(number * ROWS, (number + 1) * ROWS)
        put(tmp_path / "data", number, "\n".join(map(reading, seconds)).encode())
    arguments = ("run", "counts.sql", "--until-caught-up", "--location", "disk/state")
    failed = run(tmp_path, *arguments)
    assert failed.code == 1, failed.err
    told = failed.err[failed.err.index("error[") :].splitlines()
    assert told[0] == 'error[disk-full]: query "query0" cannot write its step: the disk is full'
    assert "No space left on device" in told[1]
    assert told[2] == "hint: make room, and run it again: it goes on where it stopped"
    assert told[3:] == ["log: disk/state/spark.log"]
    assert failed.out == ""
    subprocess.run(["mount", "-o", "remount,size=40m", str(small_disk)], check=True)
    done = run(tmp_path, *arguments)
    assert done.code == 0, done.err
    query = Location(str(small_disk / "state")).query("query0")
    assert query.view.snapshot() == [(FILES * ROWS, FILES * ROWS)]
    assert os.listdir(small_disk) == ["state"]
