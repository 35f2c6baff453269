"""Paper 3, figures 1, 4 and 5 once more, by replay: the corrections come after the operators have
let everything go, and the answers have the paper's numbers all the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ebbtide import Engine
from ebbtide.core.time import MINUTE

QUOTES = """
    CREATE STREAM quotes (symbol STRING, price DOUBLE, time TIMESTAMP,
      PRIMARY KEY (symbol, time), PROGRESS FOR time AS time) ARCHIVE 1 DAY
"""
HOUR = (
    "SELECT window_start, AVG(price) AS mean FROM TUMBLE(quotes, time, 1 HOUR)"
    " GROUP BY window_start, window_end"
)
PAIRS = "SELECT time FROM quotes [ROWS 2 SLIDE 2]"
TWICE = (
    "SELECT SUM(o) AS u FROM ISTREAM(SELECT SUM(price) AS o FROM quotes [ROWS 2 SLIDE 2])"
    " [ROWS 2 SLIDE 2] AS first"
)


class Borealis:
    """A query over quotes, of which one a minute comes, each in a step of its own."""

    def __init__(self, path: Path, sql: str) -> None:
        self.engine = Engine(path, transport="local", shards=2)
        self.engine.execute(QUOTES)
        self.view = self.engine.query(sql, name="q")
        self.view.start()

    def say(self, minute: int, price: float, op: str | None = None) -> None:
        self.engine.feed("quotes", [("IBM", price, minute * MINUTE)], op=op)
        self.engine.step()

    def at(self, minute: int) -> list[Any]:
        return self.view.view.snapshot(minute * MINUTE)

    def unused(self) -> int:
        return int(self.engine.late("quotes").num_rows)


def test_figure_1_an_update_and_a_revision(tmp_path: Path) -> None:
    """75 at 2:00 and 72 at 2:30 are 73.50 over the hour; 72 in the place of 75 is 72.00."""
    update = Borealis(tmp_path / "update", HOUR)
    for minute, price in ((120, 75.0), (150, 72.0), (200, 1.0)):
        update.say(minute, price)
    assert dict(update.at(200))[120 * MINUTE] == 73.50
    revision = Borealis(tmp_path / "revision", HOUR)
    for minute, price in ((120, 75.0), (200, 1.0), (300, 1.0)):
        revision.say(minute, price)
    assert dict(revision.at(300))[120 * MINUTE] == 75.00
    revision.say(120, 72.0, "replace")
    assert dict(revision.at(300))[120 * MINUTE] == 72.00
    assert revision.unused() == 0


def test_figure_4_a_revision_through_two_aggregates(tmp_path: Path) -> None:
    """A revision of t3 from 3 to 30 makes o2 = 34 of 7, and u1 = o1 + o2 = 37 of 10."""
    network = Borealis(tmp_path, TWICE)
    for minute in (1, 2, 3, 4, 5):
        network.say(minute, float(minute))
    assert network.at(4) == [(10.0,)]
    network.say(3, 30.0, "replace")
    assert (network.at(4), network.unused()) == ([(37.0,)], 0)


def shown(network: Borealis) -> list[list[int]]:
    """Which rows the window shows from t0 to t6."""
    return [sorted(time // MINUTE for (time,) in network.at(t)) for t in range(7)]


def test_figure_5_windows_are_realigned(tmp_path: Path) -> None:
    """5a, then 5b by a late t2; and 5c by the deletion of t3 from 5a."""
    late, deleted = Borealis(tmp_path / "late", PAIRS), Borealis(tmp_path / "deleted", PAIRS)
    for minute in (0, 1, 3, 4, 5, 6):
        late.say(minute, float(minute))
        deleted.say(minute, float(minute))
    assert shown(late) == [[], [0, 1], [0, 1], [0, 1], [3, 4], [3, 4], [5, 6]] == shown(deleted)
    late.say(2, 2.0)
    assert shown(late) == [[], [0, 1], [0, 1], [2, 3], [2, 3], [4, 5], [4, 5]]
    deleted.say(3, 3.0, "delete")
    assert shown(deleted) == [[], [0, 1], [0, 1], [0, 1], [0, 1], [4, 5], [4, 5]]
    assert late.unused() == deleted.unused() == 0
