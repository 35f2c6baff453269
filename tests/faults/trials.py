"""Faults in a program in this process: afterwards it says what an undisturbed one says.

A trial runs the program of ``shop`` on a disk of ``disk``, and one to three times something goes
wrong at an operation that is drawn at random, in the recovery from the fault before as well:

=============  =====================================================================================
kill           the process ends before the operation
power cut      it does, and of all that was not synced any combination is lost or torn
full disk      for some operations, whatever needs room fails
failing read   for some operations, whatever reads fails
clock step     the clock jumps by hours, forth or back, and the process ends later on
slow read      a reader stands still while the program goes on by several steps
=============  =====================================================================================

A fault that is an error must have a code and a hint, after which going on in the same process or in
a new one must work.  What was acknowledged, a row that was fed or a step that was taken, is there.
At the end all that readers and sinks see, the state and the frontiers are compared.
"""

from __future__ import annotations

import errno
import os
import shutil
import traceback
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from tests.faults.disk import READS, WRITES, Crash, Disk
from tests.faults.shop import (
    SECOND,
    STEPS,
    VIEWS,
    Clock,
    Shop,
    agree,
    answers,
    delivered,
    forget_process,
    whole,
)
from tests.interruption import until_ended

from ebbtide.errors import EbbtideError
from ebbtide.sinks.memory import Memory
from ebbtide.store import compaction
from ebbtide.store.journal import Journal

KINDS = ("kill", "power cut", "power cut", "full disk", "failing read", "clock step")
KEPT = (None, "20 seconds")
HOUR = 3600 * SECOND
SHARE_OF_READERS = 8
"""In one run of so many the fault is a reader that is slow."""


class Difference(Exception):
    """Something is not as it is without the fault."""


@dataclass
class Calm:
    """An undisturbed run: what it said at the end and after each step, and what it took."""

    said: dict[str, Any]
    sinks: dict[str, Any]
    by_step: list[dict[str, Any]]
    ends: Mapping[tuple[int, int], int]
    operations: int


def calm(place: Path, keep: str | None, readings: Mapping[int, int]) -> Calm:
    """Runs without a fault; the clock says what it is told."""
    place.mkdir()
    shop = Shop(os.path.realpath(place), keep=keep, clock=Clock(readings))
    by_step: list[dict[str, Any]] = []
    with Disk(shop.place) as disk:
        shop.start()
        for step in range(STEPS):
            shop.go_on(before=step + 1)
            count = disk.count
            by_step.append(seen(shop))
            disk.count = count
        shop.end()
    assert whole(shop.location) == []
    found = Calm(answers(shop.location), delivered(shop), by_step, shop.ends, disk.count)
    forget_process()
    shutil.rmtree(place)
    return found


def seen(shop: Shop) -> dict[str, Any]:
    """The answers of now."""
    return {query.name: query.view.snapshot() for query in shop.queries}


class Trial:
    """One run with faults."""

    def __init__(self, place: Path, random: Random, known: Mapping[str | None, Calm]) -> None:
        self.place, self.random = place, random
        self.keep = random.choice(KEPT)
        self.known = known[self.keep]
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        self.disk = Disk(str(place))
        self.outside, self.clock = Memory(), Clock()
        self.happened: list[str] = []
        self.codes: Counter[str] = Counter()
        self.armed = self.failing = self.jumped = False
        self.fed: dict[str, int] = {}
        self.taken = -1

    def run(self) -> None:
        """Runs to the end, whatever happens."""
        left, reach = self.random.randint(1, 3), self.known.operations
        shop: Shop | None = None
        with self.disk:
            while True:
                if left and not self.armed:
                    left -= 1
                    self._arm(self.random.choice(KINDS), 1 + self.random.randrange(reach))
                    reach = self.random.choice((30, 300, self.known.operations))
                try:
                    if shop is None:
                        shop = self._process()
                        shop.start()
                    shop.go_on(self.known.ends)
                    break
                except Crash:
                    shop = self._gone(shop)
                except EbbtideError as error:
                    shop = self._refused(shop, error)
            self._disarm()
        shop.end()
        self._compare(shop)

    def run_beside_a_reader(self) -> None:
        """A reader stands still in an operation while the program goes on by some steps."""
        begun = self.random.randrange(STEPS - 1)
        steps = self.random.randint(1, STEPS - begun - 1)
        at = 1 + self.random.randrange(20)
        with self.disk:
            shop = self._process()
            shop.start()
            shop.go_on(self.known.ends, before=begun + 1)
            began = self.disk.count

            def happens(operation: str, path: str) -> None:
                if self.disk.count >= began + at and operation in READS:
                    self._disarm()
                    self.happened.append(f"slow read at {operation} of {self._short(path)}")
                    shop.go_on(self.known.ends, before=begun + steps + 1)

            self.disk.fault = happens
            reader = Shop(self.disk.root, self.outside, self.clock, self.keep)
            found = {query.name: query.view.snapshot() for query in reader.queries}
            self._disarm()
            for name, rows in found.items():
                if rows not in [by[name] for by in self.known.by_step[begun:]]:
                    raise Difference(f"{name} was read as {rows}")
            shop.go_on(self.known.ends)
        shop.end()
        self._compare(shop)

    def _process(self) -> Shop:
        self.disk.dead = False
        return Shop(self.disk.root, self.outside, self.clock, self.keep)

    # --- faults -------------------------------------------------------------------------------

    def _arm(self, kind: str, after: int) -> None:
        """Lets something happen at an operation."""
        at = self.disk.count + after
        most = at + self.random.choice((1, 3, 20, 100))
        self.armed, self.failing = True, False

        def happens(operation: str, path: str) -> None:
            count = self.disk.count
            if count < at:
                return
            what = f"{kind} at {operation} of {self._short(path)}"
            if kind in ("kill", "power cut"):
                self._disarm()
                self.happened.append(what)
                raise Crash
            if kind == "clock step":
                self.clock.jump = self.random.choice((-5, -1, 1, 5)) * HOUR
                self.jumped = True
                self.happened.append(what)
                # Then the process ends, so that a step may be repeated by another clock.
                self._arm("kill", 1 + self.random.randrange(60))
            elif count > most:
                self._disarm()
            elif operation in (WRITES if kind == "full disk" else READS):
                if not self.failing:
                    self.happened.append(what)
                self.failing = True
                number = errno.ENOSPC if kind == "full disk" else errno.EIO
                raise OSError(number, os.strerror(number), path)

        self.disk.fault = happens

    def _disarm(self) -> None:
        self.disk.fault, self.armed = None, False

    def _short(self, path: str) -> str:
        return os.path.relpath(path, self.disk.root)

    def _gone(self, shop: Shop | None) -> None:
        """The process is no more; what it had acknowledged stays."""
        self._remember(shop)
        if shop is not None:
            shop.end()
        forget_process()
        if self.happened[-1].startswith("power cut"):
            self.disk.cut(self.random)
        self.disk.dead = False
        self._read_between()

    def _refused(self, shop: Shop | None, error: EbbtideError) -> Shop | None:
        """An error came: it has a hint, and once its cause is gone, trying again must work."""
        if not self.failing:
            raise Difference(f"refused without a cause: {error}") from error
        if not error.hint:
            raise Difference(f"no hint: {error}") from error
        self.codes[error.code] += 1
        self._disarm()
        self.failing = False
        self._remember(shop)
        if shop is not None:
            latest = Journal(shop.root).latest()
            left = latest is None or latest.version < STEPS - 1
            # After the last step only another start gives it to a sink that has not got it.
            if shop.engine._runs and left and self.random.random() < 0.5:
                return shop
            shop.end()
        self._read_between()
        return None

    def _remember(self, shop: Shop | None) -> None:
        if shop is not None:
            self.taken = max(self.taken, shop.taken)
            self.fed = {**self.fed, **shop.fed}

    def _read_between(self) -> None:
        """What was acknowledged is there, and readers see the answers of the last step."""
        shop = self._process()
        for source, end in self.fed.items():
            log = shop.engine.log_of(shop.engine.definitions.source(source).declaration)
            if log.end < end:
                raise Difference(f"{source} had {end} bytes fed, and has {log.end}")
        latest = Journal(shop.root).latest() if os.path.isdir(shop.root) else None
        version = -1 if latest is None else latest.version
        if version < self.taken:
            raise Difference(f"step {self.taken} was taken, and the state is at {version}")
        if version >= 0 and not self.jumped and seen(shop) != self.known.by_step[version]:
            raise Difference(f"other answers after step {version}")
        forget_process()

    # --- the end ------------------------------------------------------------------------------

    def _compare(self, shop: Shop) -> None:
        right = self.known
        if self.jumped:
            right = calm(self.place.with_name("again"), self.keep, self.clock.read)
        wrong = whole(shop.location)
        if wrong:
            raise Difference(f"not whole: {wrong}")
        found = answers(shop.location)
        for name, said in right.said.items():
            if not agree(found[name], said):
                raise Difference(f"{name}: {found[name]} instead of {said}")
        if delivered(shop) != right.sinks:
            raise Difference(f"sinks: {delivered(shop)} instead of {right.sinks}")


@dataclass
class Figures:
    """What became of faults."""

    seed: int
    faults: Counter[str] = field(default_factory=Counter)
    operations: Counter[str] = field(default_factory=Counter)
    codes: Counter[str] = field(default_factory=Counter)
    runs: int = 0
    wrong: list[str] = field(default_factory=list)

    def told(self) -> dict[str, Any]:
        """The figures, for JSON."""
        return {
            "seed": self.seed,
            "runs": self.runs,
            "faults": self.faults.total(),
            "by kind": dict(self.faults),
            "by operation": dict(self.operations.most_common()),
            "codes": dict(self.codes.most_common()),
            "wrong": self.wrong,
        }


def run(count: int, seed: int, directory: str, first: int = 0) -> Figures:
    """Runs until so many faults have happened, each run from its own seed."""
    compaction.LOOSE = compaction.FAN_IN = 2
    place = Path(directory)
    known = {keep: calm(place / "calm", keep, {}) for keep in KEPT}
    assert known[None].by_step[-1].keys() == set(VIEWS)
    figures = Figures(seed)
    number = first
    with until_ended():
        while figures.faults.total() < count:
            trial = Trial(place / "trial", Random(f"{seed}/{number}"), known)
            try:
                if number % SHARE_OF_READERS:
                    trial.run()
                else:
                    trial.run_beside_a_reader()
            except Exception:
                last = traceback.format_exc(limit=-4)
                figures.wrong.append(f"run {number}: {trial.happened}: {last}")
                forget_process()
            for what in trial.happened:
                kind, _, operation = what.partition(" at ")
                figures.faults[kind] += 1
                figures.operations[operation.partition(" of ")[0]] += 1
            figures.codes += trial.codes
            figures.runs += 1
            number += 1
    return figures
