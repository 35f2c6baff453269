"""Paper 3, section 3.2.2: figure 4 and table 2, the lineage of every output as times of its inputs.

The two aggregates of figure 4 are windows of two rows and, above them, of two outputs; quotes come
once a minute from minute 1 on, so these are windows of two and of four minutes.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ebbtide import Engine
from ebbtide.core.time import MINUTE

QUOTES = """
    CREATE STREAM quotes (symbol STRING, price INT, time TIMESTAMP,
      PRIMARY KEY (symbol, time), PROGRESS FOR time AS time) ARCHIVE 1 DAY
"""
A1 = (
    "SELECT window_start AS o_time, SUM(price) AS o"
    " FROM TUMBLE(quotes, time, 2 MINUTES, 1 MINUTE) GROUP BY window_start, window_end"
)
A2 = (
    f"SELECT window_start AS u_time, SUM(o) AS u FROM TUMBLE(({A1}), o_time, 4 MINUTES, 1 MINUTE)"
    " GROUP BY window_start, window_end"
)


class Archive:
    """A query with the archive of its output, over quotes."""

    def __init__(self, path: Path, declared: str, sql: str) -> None:
        self.engine = Engine(path, transport="local", shards=2)
        self.engine.execute(declared)
        self.query = self.engine.query(sql, name="q", lineage=True)
        self.query.start()

    def say(self, stream: str, *rows: Any, op: str | None = None) -> None:
        self.engine.feed(stream, rows, op=op)
        self.engine.step()

    def rows(self, *wanted: str) -> list[tuple[Any, ...]]:
        """Some columns of the archive, with times in minutes."""
        found = [[row[name] for name in wanted] for row in self.query.lineage().to_pylist()]
        return sorted(tuple(map(_minutes, row)) for row in found)


def _minutes(value: Any) -> Any:
    return value.hour * 60 + value.minute if hasattr(value, "hour") else value


def test_figure_4_the_outputs_of_the_first_aggregate(tmp_path: Path) -> None:
    """l(o1) = [1, 2], l(o2) = [3, 4]."""
    archive = Archive(tmp_path, QUOTES, A1)
    archive.say("quotes", *(("IBM", m, m * MINUTE) for m in (1, 2, 3, 4)))
    assert archive.rows("o", "quotes_first", "quotes_last") == [(3, 1, 2), (7, 3, 4)]


def test_figure_4_the_output_of_the_second_aggregate(tmp_path: Path) -> None:
    """l(u1) = [1, 4], before and after t3 is revised."""
    archive = Archive(tmp_path, QUOTES, A2)
    for minute in (1, 2, 3, 4, 5):
        archive.say("quotes", ("IBM", minute, minute * MINUTE))
    shown = ("u", "quotes_first", "quotes_last")
    assert archive.rows(*shown) == [(5, 5, 5), (10, 1, 4)]
    archive.say("quotes", ("IBM", 30, 3 * MINUTE), op="replace")
    assert archive.rows(*shown) == [(5, 5, 5), (37, 1, 4)]


TWO_STREAMS = """
    CREATE STREAM quotes (symbol STRING, price INT, time TIMESTAMP,
      PRIMARY KEY (symbol, time), PROGRESS FOR time AS time) ARCHIVE 1 DAY;
    CREATE STREAM trades (symbol STRING, volume INT, time TIMESTAMP,
      PRIMARY KEY (symbol, time), PROGRESS FOR time AS time) ARCHIVE 1 DAY;
"""
TURNOVER = """
    SELECT q.symbol, SUM(q.price * t.volume) AS turnover
    FROM quotes [RANGE 1 HOUR] q LEFT JOIN trades [RANGE 1 HOUR] t ON q.symbol = t.symbol
    GROUP BY q.symbol
"""


def test_table_2_has_an_interval_for_each_input_stream(tmp_path: Path) -> None:
    """S1, E1, S2, E2 of every output; NULL where no row of a stream is in the lineage."""
    archive = Archive(tmp_path, TWO_STREAMS, TURNOVER)
    names = ("symbol", "turnover", "quotes_first", "quotes_last", "trades_first", "trades_last")
    assert archive.query.lineage().column_names == list(names)
    archive.engine.feed("quotes", [("IBM", 2, MINUTE), ("IBM", 3, 4 * MINUTE), ("HP", 9, MINUTE)])
    archive.say("trades", ("IBM", 10, 2 * MINUTE), ("IBM", 20, 5 * MINUTE))
    assert archive.query.explain().splitlines()[-1].split()[1:] == [
        *(f"{name}," for name in names[2:-1]),
        *(names[-1], "of", "every", "row"),
    ]
    assert archive.rows(*names[:2], *names[2:4]) == [("HP", None, 1, 1), ("IBM", 150, 1, 4)]
    assert archive.rows("symbol", *names[4:]) == [("HP", None, None), ("IBM", 2, 5)]


def test_the_rows_of_an_interval_are_what_a_revision_has_to_replay(tmp_path: Path) -> None:
    """The replay query of section 3.2.2: the outputs whose interval has the revised time, and the
    rows that these span."""
    archive = Archive(tmp_path, QUOTES, A1)
    archive.say("quotes", *(("IBM", m, m * MINUTE) for m in range(1, 9)))
    spans = archive.rows("quotes_first", "quotes_last")
    assert spans == [(1, 2), (3, 4), (5, 6), (7, 8)]
    assert [(first, last) for first, last in spans if first <= 3 <= last] == [(3, 4)]
