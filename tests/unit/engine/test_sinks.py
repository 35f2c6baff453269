"""Sinks of one's own, in this process: an object with ``write``, or a module with a ``word``."""

from __future__ import annotations

import sqlite3
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa
import pytest

from ebbtide import Engine, sinks
from ebbtide.engine.query import Query
from ebbtide.errors import QueryError, SourceError, StateError

MODULE = """
class Tally:
    word = "tally"
    steps = []

    def write(self, frame, step):
        self.steps.append((step, frame.num_rows))
"""


class Ledger:
    """Keeps each step under its number; may be told to fail."""

    def __init__(self) -> None:
        self.steps: dict[int, list[Any]] = {}
        self.calls: list[int] = []
        self.broken = False

    def write(self, frame: Any, step: int) -> None:
        self.calls.append(step)
        if self.broken:
            raise OSError("no room")
        self.steps[step] = frame.to_pylist()


def query_at(path: Path) -> Query:
    engine = Engine(path, transport="local")
    engine.execute("CREATE STREAM s (a BIGINT, at TIMESTAMP, PROGRESS FOR at AS at)")
    return engine.query("SELECT a FROM s [RANGE 5 SECONDS]", "mine")


def step(query: Query, a: int, second: int) -> None:
    query.engine.feed("s", [(a, second * 1_000_000)])
    query.engine.step()


def test_an_object_with_write_gets_every_step_once(tmp_path: Path) -> None:
    query, ledger = query_at(tmp_path), Ledger()
    query.start(sink=ledger)
    step(query, 1, 1)
    query.engine.step()  # nothing came
    step(query, 2, 2)
    assert ledger.calls == [0, 1, 2]
    assert [
        [(row["a"], row["diff"], row["step"]) for row in ledger.steps[s]] for s in range(3)
    ] == [
        [(1, 1, 0)],
        [],
        [(2, 1, 2)],
    ]
    assert list(ledger.steps[0][0]) == ["a", "valid_from", "valid_to", "diff", "step"]
    query.engine.stop()


def test_a_sink_that_fails_gets_its_step_before_the_next(tmp_path: Path) -> None:
    query, ledger = query_at(tmp_path), Ledger()
    query.start(sink=ledger)
    ledger.broken = True
    with pytest.raises(SourceError, match="Ledger") as caught:
        step(query, 1, 1)
    assert caught.value.code == "sink-failed"
    query.engine.stop()
    again = query_at(tmp_path)
    ledger.broken = False
    again.start(sink=ledger)
    assert sorted(ledger.steps) == [0]
    step(again, 2, 2)
    assert ledger.calls == [0, 0, 1]
    again.engine.stop()


def test_a_new_file_is_a_new_sink(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tally.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.setattr(sinks, "__path__", [*sinks.__path__, str(tmp_path)])
    query = query_at(tmp_path / "state")
    query.start(sink="tally")
    step(query, 1, 1)
    assert sinks.Tally.steps == [(0, 1)]
    query.engine.stop()
    with pytest.raises(QueryError, match="'console', 'noop', 'tally'"):
        query_at(tmp_path / "other").start(sink="tallyho")


def test_the_hint_has_every_sink(tmp_path: Path) -> None:
    with pytest.raises(QueryError) as caught:
        query_at(tmp_path).start(sink="kafka")
    made = (
        "'console'",
        "'noop'",
        "Files(path)",
        "Memory()",
        "Sqlite(path)",
        "a function of (frame, step)",
    )
    assert all(text in (caught.value.hint or "") for text in made), caught.value.hint


def read(path: Path, sql: str) -> list[Any]:
    database = sqlite3.connect(path)
    try:
        return database.execute(sql).fetchall()
    finally:
        database.close()


def test_a_table_of_sqlite_has_every_step_once(tmp_path: Path) -> None:
    file = tmp_path / "out.db"
    query = query_at(tmp_path / "state")
    query.start(sink=sinks.Sqlite(str(file), 'my "changes"'))
    step(query, 1, 1)
    step(query, 2, 7)
    query.engine.stop()
    table = '"my ""changes"""'
    rows = read(file, f"SELECT a, valid_from, valid_to, diff, step FROM {table} ORDER BY step")
    first = (1, "1970-01-01 00:00:01.000000", "1970-01-01 00:00:06.000000", 1, 0)
    second = (2, "1970-01-01 00:00:07.000000", "1970-01-01 00:00:12.000000", 1, 1)
    assert rows == [first, second]


def test_a_step_that_comes_again_replaces_itself_in_sqlite(tmp_path: Path) -> None:
    file = tmp_path / "out.db"
    query, ledger = query_at(tmp_path / "state"), Ledger()
    query.start(sink=[sinks.Sqlite(str(file)), ledger])
    step(query, 1, 1)
    ledger.broken = True
    with pytest.raises(SourceError, match="Ledger"):
        step(query, 2, 2)
    query.engine.stop()
    # The table has the step, but that all sinks have it was not noted.
    assert read(file, "SELECT COUNT(*) FROM changes WHERE step = 1") == [(1,)]
    again = query_at(tmp_path / "state")
    ledger.broken = False
    again.start(sink=[sinks.Sqlite(str(file)), ledger])
    step(again, 3, 3)
    again.engine.stop()
    assert read(file, "SELECT a, step FROM changes ORDER BY step") == [(1, 0), (2, 1), (3, 2)]


def test_a_step_is_in_sqlite_whole_or_not_at_all(tmp_path: Path) -> None:
    file = tmp_path / "out.db"
    sink = sinks.Sqlite(str(file))
    sink.write(pa.table({"a": [1], "diff": [1], "step": [0]}), 0)
    wide = pa.table({"a": [1, 2**63], "diff": [1, 1], "step": [1, 1]}, schema=WIDE)
    with pytest.raises(OverflowError):
        sink.write(wide, 1)
    with pytest.raises(sqlite3.OperationalError, match="no column named b"):
        sink.write(pa.table({"b": [1], "diff": [1], "step": [1]}), 1)
    assert read(file, "SELECT a, step FROM changes") == [(1, 0)]


WIDE = pa.schema([("a", pa.uint64()), ("diff", pa.int64()), ("step", pa.int64())])


def test_every_type_has_a_value_in_sqlite(tmp_path: Path) -> None:
    row = {
        "t": datetime(2026, 1, 2, 3, 4, 5),
        "d": date(2026, 1, 2),
        "p": Decimal("1.50"),
        "i": timedelta(seconds=2),
        "o": True,
        "x": b"\x01",
        "n": None,
        "l": [1, None],
        "s": {"at": date(2026, 1, 2), "y": "q"},
        "step": 0,
    }
    file = tmp_path / "out.db"
    sinks.Sqlite(str(file)).write(pa.Table.from_pylist([row]), 0)
    assert read(file, "SELECT * FROM changes") == [
        (
            "2026-01-02 03:04:05.000000",
            "2026-01-02",
            "1.50",
            2_000_000,
            1,
            b"\x01",
            None,
            "[1, null]",
            '{"at": "2026-01-02", "y": "q"}',
            0,
        )
    ]


def test_nothing_is_written_for_who_wants_no_rows(tmp_path: Path) -> None:
    class Counter(Ledger):
        wants_rows: ClassVar[bool] = False

    query, counter = query_at(tmp_path), Counter()
    run = query.start(sink=counter, archive=False)
    step(query, 1, 1)
    assert not Path(run.root, "output").exists()
    assert counter.calls == []
    query.engine.stop()


def test_the_console_is_what_the_standard_output_is_now(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    query = query_at(tmp_path)
    query.start(sink="console")
    step(query, 1, 1)
    assert capsys.readouterr().out.startswith("step 0\na: 1  valid_from: ")
    query.engine.stop()


def left_out(path: Path, keep: str | None, steps: int) -> Query:
    """A query that went on for some steps without the sink that it had."""
    query = query_at(path)
    query.start(sink=Ledger())
    step(query, 0, 0)
    query.engine.stop()
    query = query_at(path)
    query.start(keep_changes=keep, sink=None)
    for second in range(1, steps):
        step(query, second, second)
    query.engine.stop()
    return query_at(path)


@pytest.mark.parametrize("steps", [5, 40])
def test_a_sink_that_was_left_out_gets_what_it_has_missed(tmp_path: Path, steps: int) -> None:
    """Also from files that were compacted meanwhile."""
    query, ledger = left_out(tmp_path, None, steps), Ledger()
    query.start(sink=ledger)
    step(query, 100, 100)
    assert ledger.calls == list(range(1, steps + 1))
    changes = query.changes(since=0).to_pylist()
    assert [row["a"] for rows in ledger.steps.values() for row in rows] == [r["a"] for r in changes]


def test_a_sink_that_has_missed_what_is_not_kept_is_refused(tmp_path: Path) -> None:
    query, ledger = left_out(tmp_path, "3 seconds", 60), Ledger()
    with pytest.raises(StateError, match='the sinks of "mine" have step 0') as caught:
        query.start(sink=ledger)
    assert caught.value.code == "sink-behind"
    assert caught.value.hint is not None
    Path(caught.value.hint.split()[1].rstrip(":")).unlink()
    query.start(sink=ledger)
    step(query, 100, 100)
    assert ledger.calls == [59, 60]


def test_a_new_sink_begins_with_the_last_step(tmp_path: Path) -> None:
    query = query_at(tmp_path)
    query.start()
    for second in range(4):
        step(query, second, second)
    query.engine.stop()
    query, ledger = query_at(tmp_path), Ledger()
    query.start(sink=ledger)
    step(query, 9, 9)
    assert ledger.calls == [3, 4]
