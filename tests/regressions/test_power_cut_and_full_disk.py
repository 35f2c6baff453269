"""What was said to be done was lost with the power, and a full disk was a raw exception.

The name of a directory that a program made was never synced, and so all in it could go; a sink that
writes files synced none of them, though it was noted that it had the step; and what the system says
when there is no room came out as it was.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.faults.disk import Crash, Disk
from tests.faults.shop import Shop, additions, answers, delivered

from ebbtide import Engine
from ebbtide.errors import EbbtideError
from ebbtide.state.files import make_directory
from ebbtide.store.journal import Journal

COUNTED = 27
"""The orders of three steps that count: nine of each."""


class Worst(Random):
    """Nothing is left but what was synced."""

    def choice(self, seq: Any) -> Any:
        return seq[0]


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    place = tmp_path / "place"
    place.mkdir()
    with Disk(str(place)) as made:
        yield made


def test_what_was_said_is_there_after_a_power_cut(disk: Disk) -> None:
    shop = Shop(disk.root)
    shop.start()
    shop.go_on()
    shop.end()
    before = answers(shop.location), delivered(shop)
    disk.cut(Worst())
    assert (answers(shop.location), delivered(shop)) == before


def test_rows_that_were_fed_before_the_first_step_are_there_after_a_power_cut(disk: Disk) -> None:
    shop = Shop(disk.root)
    shop.engine.feed("clicks", [("a", "2026-03-01 00:00:00")])
    end = shop.engine.log_of(shop.engine.definitions.source("clicks").declaration).end
    disk.cut(Worst())
    again = Shop(disk.root).engine
    assert again.log_of(again.definitions.source("clicks").declaration).end == end > 0


def test_a_directory_that_a_killed_process_has_made_is_durable_when_it_is_used(disk: Disk) -> None:
    def killed(kind: str, path: str) -> None:
        if kind == "sync names":
            raise Crash

    disk.fault = killed
    with pytest.raises(Crash):
        make_directory(f"{disk.root}/made")
    disk.fault, disk.dead = None, False
    make_directory(f"{disk.root}/made")
    disk.cut(Worst())
    assert os.listdir(disk.root) == ["made"]


def test_a_program_that_makes_room_for_another_is_there_after_a_power_cut(disk: Disk) -> None:
    for text in ("SELECT k FROM s [NOW]", "SELECT k + 1 AS k FROM s [NOW]"):
        engine = Engine(f"{disk.root}/location", transport="local", shards=1)
        engine.execute("CREATE STREAM s (k BIGINT, at TIMESTAMP, PROGRESS FOR at AS at)")
        engine.query(text, "q", replace=True).start()
        engine.feed("s", [(1, "2026-03-01 00:00:00")])
        engine.step()
        engine.stop()
    disk.cut(Worst())
    moved = Journal(f"{disk.root}/location/replaced/q-1").latest()
    assert moved is not None
    assert moved.record.came["s"].rows == 1


def full(disk: Disk, kind: str) -> None:
    """From now on there is no room for operations of a kind."""

    def happens(operation: str, path: str) -> None:
        if operation == kind:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)

    disk.fault = happens


@pytest.mark.parametrize("kind", ["create", "write", "sync", "sync names", "rename"])
def test_a_step_on_a_full_disk_is_told_and_can_be_taken_again(disk: Disk, kind: str) -> None:
    shop = Shop(disk.root)
    shop.start()
    shop.go_on(before=2)
    for source, rows in additions(2):
        shop.engine.feed(source, rows)
    full(disk, kind)
    with pytest.raises(EbbtideError) as caught:
        shop.engine.step()
    assert caught.value.code == "disk-full"
    assert caught.value.hint
    assert list(Path(disk.root).rglob("*.tmp")) == []
    disk.fault = None
    shop.engine.step()
    assert sum(count for _, _, count in shop.queries[0].view.snapshot()) == COUNTED
    shop.end()


@pytest.mark.parametrize("kind", ["create", "write", "sync", "truncate", "rename"])
def test_rows_that_have_no_room_can_be_fed_again(disk: Disk, kind: str) -> None:
    engine = Shop(disk.root).engine
    engine.feed("clicks", [("a", "2026-03-01 00:00:00")])
    log = engine.log_of(engine.definitions.source("clicks").declaration)
    before = log.read(0)
    full(disk, kind)
    with pytest.raises(EbbtideError) as caught:
        engine.feed("clicks", [("b", "2026-03-01 00:00:00")])
    assert caught.value.code == "disk-full"
    disk.fault = None
    assert log.read(0) == before
    engine.feed("clicks", [("b", "2026-03-01 00:00:00")])
    assert [entry.values[0] for _, entry in log.read(0)[0]] == ["a", "b"]  # type: ignore[union-attr]
