"""Operations whose power is cut at any point: done, or not begun, and done when begun again."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.faults.disk import Crash, Disk
from tests.faults.shop import forget_process, whole

from ebbtide import Engine
from ebbtide.config import Config
from ebbtide.engine.location import Location
from ebbtide.engine.query import Query
from ebbtide.engine.repairing import repair
from ebbtide.engine.rescaling import rescale
from ebbtide.engine.retrying import offered_again
from ebbtide.engine.rollback import rollback
from ebbtide.engine.savepoint import restore, savepoint

CUTS = {"quick": 6, "ci": 6, "long": 300}[Config.from_environment().profile]
SECOND = 1_000_000


def declared(place: Path, count: str = "COUNT(*)") -> Query:
    """The query of the location, or another one that has its columns."""
    engine = Engine(place / "location", transport="local")
    engine.execute("CREATE STREAM s (k BIGINT, at TIMESTAMP, PROGRESS FOR at AS at)")
    return engine.query(f"SELECT k, {count} AS n FROM s [RANGE 1 HOUR] GROUP BY k", "q")


def made(place: Path) -> None:
    """A location with some steps, of which two can be gone back behind."""
    query = declared(place)
    engine = query.engine
    query.start(keep_versions=3)
    for step in range(4):
        engine.feed("s", [(k, step * SECOND) for k in range(step + 1)])
        engine.step()
    engine.stop()
    savepoint(str(place / "location"), str(place / "copy"))


def said(location: Path) -> Any:
    """The answers of a location that is whole; None if there is none."""
    if not location.exists():
        return None
    assert whole(str(location)) == []
    return [query.view.snapshot() for query in Location(str(location)).queries()]


def going_back(place: Path) -> Path:
    rollback(str(place / "location"), "q", 1)
    return place / "location"


def saving(place: Path) -> Path:
    savepoint(str(place / "location"), str(place / "saved"))
    return place / "saved"


def restoring(place: Path) -> Path:
    restore(str(place / "copy"), str(place / "restored"))
    return place / "restored"


def rescaling(place: Path) -> Path:
    rescale(str(place / "location"), "q", 3)
    return place / "location"


def evolving(place: Path) -> Path:
    query = declared(place, "COUNT(*) * 10")
    query.engine.evolve(query)
    return place / "location"


def repairing(place: Path) -> Path:
    assert repair(str(place / "location")).whole
    return place / "location"


# A process that is gone has closed nothing.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("operation", [going_back, saving, restoring, rescaling, evolving])
def test_an_operation_is_done_or_not_begun(
    tmp_path: Path, operation: Callable[[Path], Path]
) -> None:
    model = tmp_path / "model"
    model.mkdir()
    made(model)
    place = Path(os.path.realpath(tmp_path)) / "place"
    shutil.copytree(model, place)
    with Disk(str(place)) as disk:
        target = operation(place)
        total = disk.count
    after = said(target)
    assert after
    before = said(model / target.name)
    outcomes = set()
    for number in range(CUTS):
        dice = Random(f"{operation.__name__}/{number}")
        shutil.rmtree(place)
        shutil.copytree(model, place)
        forget_process()
        last = dice.randrange(1, total)
        with Disk(str(place)) as disk:
            disk.fault = crashing(disk, last)
            try:
                operation(place)
            except Crash:
                forget_process()
                disk.cut(dice)
            disk.fault = None
            found = said(target)
            outcomes.add(str(found))
            assert found in (before, after)
            if found != after:
                operation(place)
                assert said(target) == after
    assert str(after) in outcomes or len(outcomes) == 1


def crashing(disk: Disk, last: int) -> Callable[[str, str], None]:
    """Ends the process at an operation."""

    def happens(kind: str, path: str) -> None:
        if disk.count >= last:
            raise Crash

    return happens


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_file_is_offered_once_wherever_the_power_is_cut(tmp_path: Path) -> None:
    place = Path(os.path.realpath(tmp_path)) / "place"

    def prepared() -> None:
        shutil.rmtree(place, ignore_errors=True)
        (place / "in").mkdir(parents=True)
        (place / "root").mkdir()
        (place / "in/a.csv").write_bytes(b"a\n1\n")

    def offer() -> tuple[str | None, str | None]:
        return offered_again(str(place / "root"), str(place / "in/a.csv"), 3, lambda _: None)

    prepared()
    with Disk(str(place)) as disk:
        offer()
        total = disk.count
    beside, counted = place / "in/a.again-3.csv", set()
    for last in range(1, total + 1):
        for number in range(3):
            prepared()
            forget_process()
            with Disk(str(place)) as disk:
                disk.fault = crashing(disk, last)
                try:
                    offer()
                except Crash:
                    disk.cut(Random(f"{last}/{number}"))
                disk.fault = None
                taken = beside.exists()  # a source has read it, and put it away
                beside.unlink(missing_ok=True)
                offered, why = offer()
                counted.add((taken, offered is not None))
                if offered is None:
                    # A disk may lose both names of what is renamed: then that is told.
                    assert str(why).endswith("which is not there any more")
                else:
                    assert not taken
                    assert beside.read_bytes() == b"a\n1\n"
                assert offer()[0] is None
    assert {(True, False), (False, True)} <= counted


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_repair_that_ends_early_can_be_begun_again(tmp_path: Path) -> None:
    place = Path(os.path.realpath(tmp_path)) / "place"
    model = tmp_path / "model"
    model.mkdir()
    made(model)
    right = said(model / "location")
    harmed = [
        path
        for path in sorted((model / "location/programs/q").rglob("*"))
        if path.parent.name == "state" or path.suffix == ".parquet"
    ]
    for path in harmed[::2]:
        path.unlink()
    shutil.copytree(model, place)
    forget_process()
    with Disk(str(place)) as disk:
        repairing(place)
        total = disk.count
    assert said(place / "location") == right
    for number in range(CUTS):
        dice = Random(f"repair/{number}")
        shutil.rmtree(place)
        shutil.copytree(model, place)
        forget_process()
        with Disk(str(place)) as disk:
            disk.fault = crashing(disk, dice.randrange(1, total))
            try:
                repairing(place)
            except Crash:
                forget_process()
                disk.cut(dice)
            disk.fault = None
            assert said(repairing(place)) == right
