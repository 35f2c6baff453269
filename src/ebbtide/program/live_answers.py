"""Keeping the answers of a run's views at one path each, as its steps come.

Law: what stands there is the answer after some committed step; the last one, but for answers of
many rows, which are written at most every few seconds and when the run stops.  A file that cannot
be written stops nothing: the one before it stays, and there is a warning.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from functools import partial

from ebbtide.store.answer_files import tidy_live, write_live
from ebbtide.store.journal import Journal
from ebbtide.store.manifest import Manifest
from ebbtide.store.readers import View

_LOG = logging.getLogger("ebbtide")

SMALL_ROWS = 100_000
"""An answer of so many rows is written in every step."""

EVERY_SECONDS = 10.0
"""A larger one is written no more often than that."""


class LiveAnswers:
    """The live files of a run."""

    def __init__(self, views: Sequence[View], clock: Callable[[], float] = time.monotonic) -> None:
        self._views = {view.name: view for view in views}
        self._clock = clock
        self._due: dict[str, float] = {}
        self._behind: set[str] = set()
        self._failing: set[str] = set()

    def begin(self, latest: Manifest | None) -> None:
        """Takes up the files where another run has left them."""
        for view in self._views.values():
            self._tried(view, partial(tidy_live, view))
        if latest is not None:
            self.after(latest)

    def after(self, manifest: Manifest) -> None:
        """Writes the answers after a step, but for those that were written a moment ago."""
        for name in self._views:
            if self._clock() < self._due.get(name, 0.0):
                self._behind.add(name)
            else:
                self._write(name, manifest)

    def finish(self) -> None:
        """Writes what is behind; only for who still holds the directory."""
        for name in sorted(self._behind):
            latest = Journal(self._views[name].root).latest()
            if latest is not None:
                self._write(name, latest)

    def _write(self, name: str, manifest: Manifest) -> None:
        view = self._views[name]
        rows = self._tried(view, partial(write_live, view, manifest))
        if rows is None:
            self._behind.add(name)
            return
        self._behind.discard(name)
        self._due.pop(name, None)
        if rows > SMALL_ROWS:
            self._due[name] = self._clock() + EVERY_SECONDS

    def _tried(self, view: View, do: Callable[[], int | None]) -> int | None:
        """What is done, or None and a warning if it cannot be; one for each time that it begins to
        fail."""
        try:
            done = do()
        except Exception as error:  # the step is committed and delivered, whatever this is
            if view.name not in self._failing:
                _LOG.warning('the live file of "%s" cannot be written: %s', view.name, error)
            self._failing.add(view.name)
            return None
        self._failing.discard(view.name)
        return done
