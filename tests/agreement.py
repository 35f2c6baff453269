"""A total and its parts, two views of one program, read while the program runs.

The rows are those of the balance test.  A reader that knows the directory alone looks again and
again; whatever step it finds, both views are of that step, so the parts add up to the total.
"""

from __future__ import annotations

from collections.abc import Sequence
from threading import Event, Thread

from tests.balance import SCRIPT, transfers

from ebbtide.engine.engine import Engine
from ebbtide.store.journal import Journal
from ebbtide.store.readers import View

PARTS = "SELECT giver, COUNT(*) AS n FROM transfers [RANGE 20 SECONDS] GROUP BY giver"
TOTAL = "SELECT COUNT(*) AS n FROM transfers [RANGE 20 SECONDS]"


class Reader(Thread):
    """Looks until it is told that all is over; what does not agree is ``wrong``."""

    def __init__(self, views: Sequence[View]) -> None:
        super().__init__()
        self.views = views
        self.over = Event()
        self.looks = 0
        self.wrong: list[tuple[int, int, int]] = []

    def run(self) -> None:
        """Reads what was said after the latest step, whichever that is."""
        while not self.over.is_set():
            latest = Journal(self.views[0].root).latest()
            if latest is not None:
                self.look(latest.version)

    def look(self, step: int) -> None:
        """Reads both views, as said after one step."""
        parts, total = (sum(row[-1] for row in view.snapshot(step=step)) for view in self.views)
        self.looks += total > 0
        if parts != total:
            self.wrong.append((step, parts, total))


def assert_agreement(engine: Engine, steps: int) -> None:
    """Runs both views, with a reader beside them, and then looks at each step by itself."""
    engine.execute(SCRIPT)
    queries = engine.query(PARTS, "parts"), engine.query(TOTAL, "total")
    run = engine.start(*queries, name="both")
    reader = Reader([query.view for query in queries])
    reader.start()
    try:
        for rows in transfers(steps, seed=3):
            engine.feed("transfers", rows)
            engine.step()
    finally:
        reader.over.set()
        reader.join()
    assert reader.looks > 5
    for step in range(steps):
        reader.look(step)
    assert reader.wrong == []
    run.stop()
