"""A session of ``ebbtide run``: starts queries, shows how they do, and ends them.

Law: a step that has begun is finished before a run ends, unless the user asks twice; what a run has
committed stays, whatever ends it.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import TYPE_CHECKING, Any

from ebbtide.cli.display import Display, display
from ebbtide.cli.error_display import DONE, INTERRUPTED, LOG
from ebbtide.cli.run_progress import Watch
from ebbtide.core.time import Instant
from ebbtide.core.words import counted
from ebbtide.engine.warming import warming
from ebbtide.errors import EbbtideError
from ebbtide.spark.java import find_program
from ebbtide.spark.worker_warming import warm_workers
from ebbtide.store.journal import Journal
from ebbtide.store.program import root_of_program

if TYPE_CHECKING:
    from ebbtide.engine.engine import Engine
    from ebbtide.engine.query import Query
    from ebbtide.program.run import Run

_LOOK = 0.25
"""Seconds between two looks at the runs."""


@dataclass(frozen=True, slots=True)
class ChangeFiles:
    """Where the changes of views are written to, and how."""

    directory: str
    format: str = "parquet"
    encoding: str | None = None

    def options(self, queries: Sequence[Query]) -> dict[str, Any]:
        """What a program of these queries is started with."""
        from ebbtide.sinks.files import Files

        sinks = {q.name: Files(f"{self.directory}/{q.name}", self.format) for q in queries}
        return {"sink": sinks, "encoding": self.encoding}


class ScriptRun:
    """The queries of a script as one program, from its start to its end."""

    def __init__(
        self,
        engine: Engine,
        queries: Sequence[Query],
        name: str,
        until_caught_up: bool = False,
        limit: float | None = None,
        heartbeat: str | None = None,
        written: ChangeFiles | None = None,
        finish_at: Instant | None = None,
        live: bool = False,
    ) -> None:
        self.engine = engine
        self.queries = queries
        self.name = name
        self.until_caught_up = until_caught_up
        self.limit = limit
        self.heartbeat = heartbeat
        self.written = written
        self.finish_at = finish_at
        self.live = live
        self.ending = threading.Event()
        self.at_once = False
        self.watched: Watch | None = None

    def run(self) -> int:
        """Runs until the end that was asked for, and gives the exit code."""
        # Python's side of Spark logs what the error says anyway.
        logging.getLogger("py4j").setLevel(logging.CRITICAL)
        self._check_start()
        with display() as shown:
            try:
                self._start_spark(shown)
                with self._logged(), self._interruptible(shown):
                    shown.say("Starting the program ...")
                    run = self._started()
                    if Journal(run.root).latest() is None:
                        shown.say("Waiting for the first step, which loads kernels ...")
                    self.watched = Watch(run)
                    self._watch(shown, [self.watched])
            except Exception as error:
                if not self.ending.is_set() or isinstance(error, EbbtideError):
                    raise
                # Whoever asked us to end has ended Spark, too; what is committed stays.
                self.at_once = True
            finally:
                if not self.at_once:
                    self.engine.stop()
        self._say_unused()
        interrupted = self.ending.is_set() and (self.until_caught_up or self.limit is not None)
        return INTERRUPTED if interrupted else DONE

    def _check_start(self) -> None:
        """Refuses before Spark starts what would be refused after it."""
        from ebbtide.engine.starting import check_start

        sinks = {} if self.written is None else self.written.options(self.queries)
        check_start(self.engine, self.queries, self.name, heartbeat=self.heartbeat, **sinks)

    def _start_spark(self, shown: Display) -> None:
        """Starts Spark, and makes kernels ready meanwhile if the program has never run here."""
        shown.say("Starting Spark ...")
        if os.path.isdir(root_of_program(self.engine.location, self.name)):
            warm_workers(self.engine.spark)
            return
        find_program()  # before kernels are compiled for nothing
        with warming(self.engine, self.queries) as kernels:
            warm_workers(self.engine.spark)
            if kernels.is_alive():
                shown.say("Compiling kernels, once on this machine ...")

    def _say_unused(self) -> None:
        """Says where rows are that were not used: nothing vanishes without a word."""
        if self.watched is None or not self.watched.seen.refused:
            return
        unused = self.watched.seen.refused
        say = f"{counted(unused, 'row')} {'was' if unused == 1 else 'were'} not used: see"
        sources = (source.name for source in self.watched.seen.sources)
        commands = " or ".join(f"ebbtide late {name}" for name in sources)
        sys.stderr.write(f"{say} {commands}\n")

    def _started(self) -> Run:
        trigger = {"availableNow": True} if self.until_caught_up else None
        sinks = {} if self.written is None else self.written.options(self.queries)
        run = self.engine.start(
            *self.queries,
            name=self.name,
            trigger=trigger,
            heartbeat=self.heartbeat,
            live=self.live,
            **sinks,
        )
        if run.fed_by_hand and Journal(run.root).latest() is None:
            run.step()  # all of it is there from the start
        return run

    def _watch(self, shown: Display, watches: Sequence[Watch]) -> None:
        began = time.monotonic()
        while True:
            now = time.monotonic()
            stepped = [watch.look(now) for watch in watches]
            shown.show([watch.seen for watch in watches], now - began, stepped)
            self._check(watches)
            waiting = [watch for watch in watches if self._comes_on(watch.run)]
            over = self.limit is not None and now - began >= self.limit
            if not waiting or over or self.ending.is_set():
                break
            self.ending.wait(_LOOK)
        finishing = self.finish_at is not None and not self.ending.is_set()
        for watch in watches:
            if finishing:
                shown.say("Finishing what waits to be final ...")
                watch.run.finish(self.finish_at)
            watch.run.stop()
        self._check(watches)
        now = time.monotonic()
        stepped = [watch.look(now) for watch in watches]
        shown.show([watch.seen for watch in watches], now - began, stepped, last=True)

    @staticmethod
    def _comes_on(run: Run) -> bool:
        return not run.fed_by_hand and run.active

    @staticmethod
    def _check(watches: Sequence[Watch]) -> None:
        """Tells of a run that has failed."""
        for watch in watches:
            if not watch.run.fed_by_hand and not watch.run.active:
                watch.run.await_termination()

    @contextmanager
    def _logged(self) -> Iterator[None]:
        """An error of the run says where Spark's own words are."""
        try:
            yield
        except EbbtideError as error:
            if self.engine.log is not None:
                error.add_note(f"{LOG}{self.engine.log}")
            raise

    @contextmanager
    def _interruptible(self, shown: Display) -> Iterator[None]:
        """Ctrl-C and SIGTERM end the session; asked a second time, at once."""

        def end(number: int, frame: FrameType | None) -> Any:
            if self.ending.is_set():
                self.at_once = True
                raise KeyboardInterrupt
            self.ending.set()
            shown.say("Finishing the step at work; Ctrl-C again does not wait ...")

        # Spark sets a handler of its own, which kills the step at work.
        numbers = (signal.SIGINT, signal.SIGTERM)
        before = {number: signal.signal(number, end) for number in numbers}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
