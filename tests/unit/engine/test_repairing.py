"""What is damaged or lost is put back where it can be proved what it was, else it is named."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.faults.shop import forget_process, whole

from ebbtide import Engine
from ebbtide.cli.app import ebbtide
from ebbtide.engine.location import Location
from ebbtide.engine.repairing import repair
from ebbtide.errors import EbbtideError
from ebbtide.store import compaction

STEPS, SECOND = 9, 1_000_000


def started(location: Path) -> tuple[Engine, Any]:
    engine = Engine(location, transport="local", shards=2)
    engine.execute("""
        CREATE STREAM s (k BIGINT, v BIGINT, at TIMESTAMP, PROGRESS FOR at AS at);
        CREATE TABLE t (k BIGINT, name STRING, since TIMESTAMP, PRIMARY KEY (k),
          PROGRESS FOR since AS since) TIME since;
    """)
    counts = engine.query("SELECT k, COUNT(*) AS n FROM s [RANGE 1 HOUR] GROUP BY k", "counts")
    named = engine.query("SELECT s.v, t.name FROM s [RANGE 1 HOUR] JOIN t ON t.k = s.k", "named")
    return engine, engine.start(counts, named, name="p")


def step(engine: Engine, number: int) -> None:
    engine.feed("s", [(k, number, number * SECOND) for k in range(3)])
    engine.feed("s", [(9, 9, "1960-01-01 00:00:00")])
    engine.feed("t", [(number % 3, f"n{number}", number * SECOND)])
    engine.step()


@pytest.fixture
def location(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(compaction, "LOOSE", 3)
    monkeypatch.setattr(compaction, "FAN_IN", 2)
    engine, _ = started(tmp_path)
    for number in range(STEPS):
        step(engine, number)
    engine.stop()
    return tmp_path


def said(location: Path) -> Any:
    forget_process()
    queries = Location(str(location)).queries()
    return {
        query.name: (query.view.snapshot(), [table.to_pylist() for _, table in query.view.steps()])
        for query in queries
    }


def files(location: Path, below: str) -> list[Path]:
    found = (location / "programs/p" / below).rglob("*")
    return sorted(path for path in found if path.is_file() and "manifest" not in path.name)


def lost(path: Path) -> None:
    path.unlink()


def flipped(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 255
    path.unlink()
    path.write_bytes(content)


@pytest.mark.parametrize("harm", [lost, flipped])
@pytest.mark.parametrize("below", ["output", "unused", "state"])
def test_files_of_steps_are_made_again(
    location: Path, below: str, harm: Callable[[Path], None]
) -> None:
    before = said(location)
    harmed = files(location, below)
    assert len(harmed) > 2
    for path in harmed:
        harm(path)
    forget_process()
    assert whole(str(location)) != []
    told = repair(str(location), dry_run=True)
    assert whole(str(location)) != []
    done = repair(str(location), "counts")
    assert [file.file for file in told.files] == [file.file for file in done.files]
    assert done.whole, done
    assert {file.made_of for file in done.files} == {"what was fed by hand"}
    assert whole(str(location)) == []
    assert said(location) == before
    engine, run = started(location)
    step(engine, STEPS)
    assert run.status.version == STEPS
    engine.stop()
    assert not [name for name in os.listdir(location) if name.startswith(".repairing")]


def test_nothing_is_done_where_all_is_whole(location: Path) -> None:
    done = Engine(location, transport="local").repair()
    assert done.whole
    assert done.files == ()


@pytest.mark.parametrize("harm", [lost, flipped])
def test_the_latest_manifest_is_made_again(location: Path, harm: Callable[[Path], None]) -> None:
    before = said(location)
    manifest = max((location / "programs/p/state").glob("manifest-*"))
    harm(manifest)
    (segment, *_) = files(location, "state")
    harm(segment)
    forget_process()
    done = repair(str(location))
    assert done.whole, done
    assert done.files[-1].file == f"state/{manifest.name}"
    assert whole(str(location)) == []
    assert said(location) == before
    engine, run = started(location)
    step(engine, STEPS)
    assert run.status.version == STEPS
    engine.stop()


@pytest.mark.parametrize("harm", [lost, flipped])
def test_the_last_entry_of_the_journal_is_in_its_manifest(
    location: Path, harm: Callable[[Path], None]
) -> None:
    before = said(location)
    entries = files(location, "journal")
    last = max(path for path in entries if path.suffix == ".json")
    harm(last)
    forget_process()
    assert repair(str(location)).whole
    assert whole(str(location)) == []
    assert said(location) == before


def test_what_cannot_be_proved_is_named_and_left(location: Path) -> None:
    log = location / "feed/s.jsonl"
    content = bytearray(log.read_bytes())
    content[20] ^= 1
    log.write_bytes(content)
    output = files(location, "output")
    for file in output:
        flipped(file)
    harmed = [file.read_bytes() for file in output]
    forget_process()
    done = repair(str(location))
    assert not done.whole
    assert len(done.files) > 2
    assert {file.made_of for file in done.files} == {None}
    assert all("what was fed cannot be read" in str(file.why) for file in done.files)
    assert [file.read_bytes() for file in output] == harmed


def test_an_entry_that_no_manifest_has_is_named(location: Path) -> None:
    lost(location / f"programs/p/journal/{STEPS - 3:012d}.json")
    forget_process()
    done = repair(str(location))
    (one,) = done.files
    assert one.made_of is None
    assert "no entry of step" in str(one.why)


def test_a_program_that_runs_is_not_repaired(location: Path) -> None:
    engine, _ = started(location)
    with pytest.raises(EbbtideError, match="state-in-use"):
        engine.repair()
    engine.stop()


def test_on_the_command_line(location: Path) -> None:
    def told(*arguments: str) -> tuple[int, str]:
        forget_process()
        command = ["repair", *arguments, "--location", str(location)]
        found = CliRunner().invoke(ebbtide, command, standalone_mode=False)
        return found.return_value, found.output

    assert told() == (0, "all is whole\n")
    output = files(location, "output")
    for file in output:
        file.unlink()
    code, text = told("--dry-run")
    assert (code, "would be made of what was fed by hand" in text) == (0, True)
    assert told("counts")[0] == 0
    assert told() == (0, "all is whole\n")
    (location / "feed/s.jsonl").unlink()
    for file in files(location, "output"):
        file.unlink()
    code, text = told()
    assert (code, "not repaired: what was fed cannot be read" in text) == (1, True)
