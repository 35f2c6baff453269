"""A savepoint is one whole step, whatever happens while it is made."""

from __future__ import annotations

import os
import shutil
import threading
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.long_run import ROWS, LongRun, expected

from ebbtide.engine.savepoint import restore, savepoint
from ebbtide.engine.verification import verify
from ebbtide.errors import EbbtideError, QueryError
from ebbtide.store import compaction
from ebbtide.store.journal import Journal


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are exchanged often."""
    monkeypatch.setattr(compaction, "LOOSE", 3)
    monkeypatch.setattr(compaction, "FAN_IN", 2)


def taken_up(location: str) -> LongRun:
    """The run of a copy, which knows how many seconds were fed."""
    run = LongRun(location, "30 seconds")
    log = run.engine.log_of(run.engine.catalog.find("s").declaration)  # type: ignore[union-attr]
    last = [entry.values[1] for _, entry in log.read(log.first)[0]]  # type: ignore[union-attr]
    run.number = max(last) - (ROWS - 1) + 1
    run.engine.step()
    return run


def assert_goes_on(location: str) -> None:
    """That a copy is whole, and says what it should from there on."""
    assert not [error for part in verify(location) for error in part.wrong]
    run = taken_up(location)
    run.snapshot()
    for _ in range(5):
        run.step()
        run.snapshot()
    run.snapshot(run.number - 10)
    assert expected(run.number - 1)
    run.engine.stop()


def test_savepoints_while_a_hundred_steps_run(tmp_path: Path) -> None:
    run = LongRun(str(tmp_path / "here"), "30 seconds")
    for _ in range(15):
        run.step()
    wrong: list[BaseException] = []

    def stepping() -> None:
        try:
            while run.number < 115:
                run.step()
        except BaseException as error:
            wrong.append(error)

    worker = threading.Thread(target=stepping)
    worker.start()
    steps = []
    while worker.is_alive():
        place = str(tmp_path / f"copy{len(steps)}")
        steps.append(savepoint(run.location, place)[0].step)
    worker.join()
    assert not wrong
    run.engine.stop()
    assert len(steps) > 3
    assert steps == sorted(steps)  # type: ignore[type-var]
    for number in Random(1).sample(range(len(steps)), 4):
        elsewhere = str(tmp_path / f"there{number}")
        copied = restore(str(tmp_path / f"copy{number}"), elsewhere)
        assert [one.step for one in copied] == [steps[number]]
        assert_goes_on(elsewhere)


class Killed(BaseException):
    """The process is gone."""


def test_a_savepoint_is_there_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    run = LongRun(str(tmp_path / "here"), None)
    for _ in range(20):
        run.step()
    random = Random(2)
    killed = 0
    for number in range(25):
        left = [random.randrange(200)]
        with pytest.MonkeyPatch.context() as patch:

            def counting(real: Any, left: list[int] = left) -> Any:
                def call(*given: Any, **named: Any) -> Any:
                    left[0] -= 1
                    if left[0] < 0:
                        raise Killed
                    return real(*given, **named)

                return call

            for name in ("replace", "fsync", "link", "rename"):
                patch.setattr(os, name, counting(getattr(os, name)))
            patch.setattr(shutil, "rmtree", lambda *_, **__: None)
            place = tmp_path / f"copy{number}"
            try:
                savepoint(run.location, str(place))
            except Killed:
                killed += 1
        if place.exists():
            assert not [error for part in verify(str(place)) for error in part.wrong]
        run.step()
        run.snapshot()
    assert killed > 5
    run.engine.stop()
    run = LongRun(run.location, None)  # the next start removes what was pinned
    assert os.listdir(f"{run.query.view.root}/reading") == []
    run.engine.stop()


def test_what_is_there_is_not_written_over(tmp_path: Path) -> None:
    run = LongRun(str(tmp_path / "here"), None)
    run.step()
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken/file").touch()
    for copying in (savepoint, restore):
        with pytest.raises(QueryError) as caught:
            copying(run.location, str(tmp_path / "taken"))
        assert caught.value.code == "place-taken"
    said = savepoint(run.location, str(tmp_path / "copy"), dry_run=True)
    assert said[0].step == 0
    assert not (tmp_path / "copy").exists()
    savepoint(run.location, str(tmp_path / "copy"))
    (segment, *_) = (tmp_path / "copy/programs/q/output/q").iterdir()
    segment.write_bytes(b"x")
    with pytest.raises(EbbtideError, match="damaged"):
        restore(str(tmp_path / "copy"), str(tmp_path / "there"))
    assert not (tmp_path / "there").exists()
    assert Journal(run.query.view.root).latest() is not None
    run.engine.stop()
