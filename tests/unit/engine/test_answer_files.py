"""The answer as files: every reader finds a whole step's, while steps go on and after."""

from __future__ import annotations

import errno
import logging
import os
import shutil
import stat
import threading
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.balance import SCRIPT, transfers

from ebbtide import Engine
from ebbtide.config import Config
from ebbtide.engine.query import Query
from ebbtide.engine.repairing import repair
from ebbtide.engine.rollback import rollback
from ebbtide.engine.savepoint import restore, savepoint
from ebbtide.engine.verification import verify
from ebbtide.errors import EbbtideError, QueryError, StateError
from ebbtide.program import live_answers
from ebbtide.program.live_answers import LiveAnswers
from ebbtide.state.files import usable
from ebbtide.store import answer_files
from ebbtide.store.journal import Journal

BALANCES = """
SELECT account, SUM(amount) AS balance
FROM (SELECT taker AS account, amount FROM transfers [RANGE 60 SECONDS]
      UNION ALL SELECT giver AS account, -amount AS amount FROM transfers [RANGE 60 SECONDS])
GROUP BY account
"""
STEPS = {"quick": 30, "ci": 100, "long": 300}[Config.from_environment().profile]
ROWS = "CREATE STREAM s (k BIGINT, at TIMESTAMP, PROGRESS FOR at AS at)"


def balances(location: Path, **options: Any) -> Query:
    """The balances of accounts, started; whatever was moved, they add up to 0."""
    engine = Engine(location, transport="local", shards=2)
    engine.execute(SCRIPT)
    query = engine.query(BALANCES, name="balances")
    query.start(**options)
    return query


def moved(query: Query, steps: int, seed: int = 1) -> None:
    """Takes steps, each with transfers."""
    for rows in transfers(steps, seed):
        query.engine.feed("transfers", rows)
        query.engine.step()


def numbers(location: Path, **options: Any) -> Query:
    """The numbers of a stream, as often as they come."""
    engine = Engine(location, transport="local", shards=2)
    engine.execute(ROWS)
    query = engine.query("SELECT k FROM s [RANGE 1 HOUR]", name="numbers")
    query.start(**options)
    return query


def fed(query: Query, *values: int) -> None:
    """Takes numbers in a step."""
    query.engine.feed("s", [(value, "2026-01-01") for value in values])
    query.engine.step()


def bag(table: Any) -> Counter[Any]:
    """The rows of a table, as often as they are."""
    return Counter(map(repr, table.to_pylist()))


def told(table: Any) -> int:
    """The step of which a file says that it is."""
    return int(table.schema.metadata[b"ebbtide.step"])


def read(paths: list[str]) -> Any:
    """What files have, together."""
    return pa.concat_tables([pq.ParquetFile(path).read() for path in paths])


def step_of(path: str) -> int:
    """The step that stands in the name of a file."""
    return int(os.path.basename(path)[:12])


class Reader(threading.Thread):
    """Reads again and again until it is told to end."""

    def __init__(self, once: Callable[[], Any]) -> None:
        super().__init__()
        self.once, self.ending = once, threading.Event()
        self.found: list[Any] = []
        self.wrong: list[BaseException] = []

    def run(self) -> None:
        try:
            while not self.ending.wait(0.02):  # steps need the processor, too
                self.found.append(self.once())
        except BaseException as error:
            self.wrong.append(error)

    def end(self) -> list[Any]:
        self.ending.set()
        self.join()
        assert self.wrong == []
        assert self.found
        return self.found


def test_readers_find_whole_steps_while_a_hundred_run(tmp_path: Path) -> None:
    query = balances(tmp_path, live=True)
    moved(query, 1)
    database = duckdb.connect()

    def by_pandas() -> Any:
        # As an open file: by its path it may be opened twice, before and after a step.
        with open(query.live_file, "rb") as file:
            return int(pd.read_parquet(file)["balance"].sum())

    def by_arrow() -> Any:
        return pq.ParquetFile(query.live_file).read()

    def by_files() -> Any:
        paths = query.files()
        cursor = database.cursor().execute("FROM read_parquet($1)", [paths])
        return step_of(paths[0]), Counter(map(repr, cursor.fetchall()))

    readers = [Reader(once) for once in (by_pandas, by_arrow, by_files)]
    for reader in readers:
        reader.start()
    moved(query, STEPS, seed=2)
    frames, tables, files = (reader.end() for reader in readers)
    assert set(frames) == {0}
    steps = [told(table) for table in tables]
    assert steps == sorted(steps)
    assert len(set(steps)) > 5
    for table in {told(table): table for table in tables}.values():
        assert bag(table) == bag(query.snapshot(as_of=told(table)))
    assert [step for step, _ in files] == sorted(step for step, _ in files)
    for step, rows in dict(files).items():
        said = query.snapshot(as_of=step).to_pylist()
        assert rows == Counter(repr(tuple(row.values())) for row in said)
    query.engine.stop()


def test_after_every_step_the_live_file_is_the_answer(tmp_path: Path) -> None:
    query = balances(tmp_path, live=True)
    for _ in range(5):
        moved(query, 1)
        live = pq.ParquetFile(query.live_file).read()
        assert bag(live) == bag(query.snapshot()) == bag(read(query.files()))
        assert told(live) == step_of(query.files()[0])
    query.engine.stop()
    again = balances(tmp_path, live=True)  # a restart finds it, and puts it right
    os.unlink(again.live_file)
    again.engine.stop()
    again = balances(tmp_path, live=True)
    assert bag(pq.ParquetFile(again.live_file).read()) == bag(again.snapshot())
    again.engine.stop()


def test_a_stopped_program_has_files(tmp_path: Path) -> None:
    query = numbers(tmp_path)
    fed(query, 1, 2, 2)
    query.engine.stop()
    assert bag(read(query.files())) == bag(query.snapshot())
    assert query.files() == query.files()
    assert not os.path.exists(query.live_file)


def test_before_the_first_step_there_are_none(tmp_path: Path) -> None:
    query = numbers(tmp_path, live=True)
    with pytest.raises(QueryError) as error:
        query.files()
    assert error.value.code == "no-step"
    assert not os.path.exists(query.live_file)


def test_an_answer_without_rows_has_its_columns(tmp_path: Path) -> None:
    query = balances(tmp_path, live=True)
    query.engine.step()
    for path in (query.live_file, *query.files()):
        table = pq.ParquetFile(path).read()
        assert table.num_rows == 0
        assert table.schema.names == ["account", "balance"]
        assert table.schema.types == query.snapshot().schema.types


def test_values_of_every_type_and_equal_rows(tmp_path: Path) -> None:
    engine = Engine(tmp_path, transport="local")
    engine.execute("""
        CREATE STREAM t (k INT, name STRING, price DECIMAL(10, 2), open BOOLEAN, day DATE,
          tags ARRAY<STRING>, place STRUCT<x: DOUBLE, y: STRING>, at TIMESTAMP,
          PROGRESS FOR at AS at)
    """)
    asked = "SELECT *, STRUCT(k AS k, at AS seen) AS pair, at - at AS length FROM t [RANGE 1 HOUR]"
    query = engine.query(asked, name="q")
    query.start(live=True)
    moment = datetime(2026, 1, 1, 12, tzinfo=UTC)
    at = "2026-01-01 12:00:00"
    row = (1, "ä", Decimal("2.50"), True, "2026-01-01", ["a", None], (1.5, "b"), at)
    empty = (None, None, None, None, None, None, None, at)
    engine.feed("t", [row, row, row, empty, empty])
    engine.step()
    shown = query.snapshot()
    assert shown.num_rows == 5
    for path in (query.live_file, *query.files()):
        table = pq.ParquetFile(path).read()
        assert table.schema.equals(shown.schema)
        assert bag(table) == bag(shown)
    asked = f"""SELECT name, price, tags, pair.seen, "at" FROM '{query.live_file}'"""
    rows = duckdb.connect().execute(asked).fetchall()
    assert sorted(rows, key=repr).count(rows[0]) in (2, 3)
    assert ("ä", Decimal("2.50"), ["a", None], moment, moment) in rows
    frame = pd.read_parquet(query.files()[0])
    assert str(frame["at"].dtype).startswith("datetime64[us, UTC")
    assert len(frame) == 5


@pytest.mark.parametrize("copies", [1, 3])
def test_a_large_answer_is_several_files(
    copies: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answer_files, "FILE_ROWS", 10)
    monkeypatch.setattr(answer_files, "GROUP_ROWS", 4)
    query = numbers(tmp_path, live=True)
    fed(query, *[*range(15)] * copies)
    paths = query.files()
    assert len(paths) == -(-15 * copies // 10)
    assert [pq.read_metadata(path).num_rows for path in paths[:-1]] == [10] * (len(paths) - 1)
    assert bag(read(paths)) == bag(query.snapshot())
    live = pq.ParquetFile(query.live_file)
    assert bag(live.read()) == bag(query.snapshot())
    assert live.num_row_groups == -(-15 * copies // 4)
    os.unlink(paths[0])
    assert query.files() == paths
    assert bag(read(paths)) == bag(query.snapshot())


def test_too_many_equal_rows_are_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answer_files, "MOST_ROWS", 10)
    query = numbers(tmp_path)
    fed(query, *[1] * 11)
    with pytest.raises(QueryError) as error:
        query.files()
    assert error.value.code == "too-many-rows"


def test_a_damaged_file_is_not_handed_out(tmp_path: Path) -> None:
    query = numbers(tmp_path)
    fed(query, 1, 2)
    (path,) = query.files()
    whole = Path(path).read_bytes()
    for damaged in (b"", whole[:-1], bytes([*whole[:20], whole[20] ^ 1, *whole[21:]])):
        Path(path).write_bytes(damaged)
        assert query.files() == [path]
        assert Path(path).read_bytes() == whole
    Path(path).write_bytes(b"")
    query.engine.stop()
    assert [error for part in verify(str(tmp_path)) for error in part.wrong] == []
    assert repair(str(tmp_path)).files == ()


def test_files_stay_for_a_while_after_they_were_handed_out(tmp_path: Path) -> None:
    query = numbers(tmp_path)
    fed(query, 1)
    (first,) = query.files()
    directory = os.path.dirname(first)
    long_ago = 1_000_000_000
    others = [f"{directory}/notes.parquet", f"{directory}/.{'0' * 32}.tmp"]
    for other in others:
        Path(other).write_bytes(b"x")
        os.utime(other, (long_ago, long_ago))
    os.symlink(first, f"{directory}/{'0' * 12}-{'1' * 32}-1of1-{'2' * 32}.parquet")
    os.utime(first, (long_ago, long_ago))
    assert query.files() == [first]  # asked for again
    fed(query, 2)
    (second,) = query.files()
    assert os.path.exists(first)
    os.utime(first, (long_ago, long_ago))
    fed(query, 3)
    query.files()
    assert not os.path.exists(first)
    assert os.path.exists(second)
    assert [os.path.exists(other) for other in others] == [True, False]
    assert len([name for name in os.listdir(directory) if "1" * 32 in name]) == 1


def test_what_is_written_is_private(tmp_path: Path) -> None:
    query = numbers(tmp_path, live=True)
    fed(query, 1)
    (path,) = query.files()
    modes = {stat.S_IMODE(os.stat(each).st_mode) for each in (path, query.live_file)}
    assert modes == {0o600}
    above = os.path.dirname(path)
    assert {stat.S_IMODE(os.stat(d).st_mode) for d in (above, os.path.dirname(above))} == {0o700}


@pytest.mark.parametrize("below", ["live", "live/numbers"])
def test_nothing_is_written_behind_a_link(below: str, tmp_path: Path) -> None:
    query = numbers(tmp_path / "here")
    fed(query, 1)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    link = Path(query.view.root, below)
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(elsewhere)
    with pytest.raises(StateError) as error:
        query.files()
    assert error.value.code == "linked-directory"
    query.engine.stop()
    with pytest.raises(StateError) as error:
        numbers(tmp_path / "here", live=True)
    assert error.value.code == "linked-directory"
    assert list(elsewhere.iterdir()) == []


def test_after_a_rollback_the_files_are_other_ones(tmp_path: Path) -> None:
    query = numbers(tmp_path, live=True, keep_versions=5)
    fed(query, 1)
    before = query.files()
    fed(query, 2)
    gone = query.files()
    query.engine.stop()
    rollback(str(tmp_path), "numbers", to=0)
    assert not os.path.exists(query.live_file)
    after = query.files()
    assert not {*before, *gone} & {*after}
    assert read(after).to_pylist() == [{"k": 1}]


def test_a_step_of_another_history_has_files_of_its_own(tmp_path: Path) -> None:
    query = numbers(tmp_path / "here")
    fed(query, 1)
    query.engine.stop()
    shutil.copytree(tmp_path / "here", tmp_path / "copy")
    found = []
    for value in (2, 3):
        again = numbers(tmp_path / "here")
        fed(again, value)
        (path,) = again.files()
        found.append(read([path]).to_pylist())
        again.engine.stop()
        live = Path(again.view.root, "live")
        kept = tmp_path / "live"
        shutil.copytree(live, kept, dirs_exist_ok=True)
        shutil.rmtree(tmp_path / "here")
        shutil.copytree(tmp_path / "copy", tmp_path / "here")
        shutil.copytree(kept, live)
    assert sorted(found[0], key=repr) != sorted(found[1], key=repr)
    assert {"k": 3} in found[1]


def test_a_run_that_keeps_nothing_live_removes_what_another_has_kept(tmp_path: Path) -> None:
    query = numbers(tmp_path, live=True)
    fed(query, 1)
    query.engine.stop()
    assert os.path.exists(query.live_file)
    again = numbers(tmp_path)
    assert not os.path.exists(again.live_file)
    assert again.files() != []


def test_an_evolved_view_has_no_live_file_until_it_runs(tmp_path: Path) -> None:
    query = numbers(tmp_path, live=True)
    fed(query, 1)
    query.engine.stop()
    engine = Engine(tmp_path, transport="local", shards=2)
    engine.execute(ROWS)
    other = engine.query("SELECT k + 1 AS k FROM s [RANGE 1 HOUR]", name="numbers")
    engine.evolve(other)
    assert not os.path.exists(other.live_file)
    assert read(other.files()).to_pylist() == [{"k": 2}]


def test_a_savepoint_and_what_is_restored_have_none(tmp_path: Path) -> None:
    here, copy, there = (str(tmp_path / name) for name in ("here", "copy", "there"))
    query = numbers(tmp_path / "here", live=True)
    fed(query, 1)
    query.files()
    dry = savepoint(here, copy, dry_run=True)
    assert savepoint(here, copy)[0].files <= dry[0].files
    assert not os.path.exists(f"{copy}/programs/numbers/live")
    query.engine.stop()
    Engine(copy, transport="local")
    assert read(answer_files.files(numbers_view(copy))).num_rows == 1
    restore(copy, there)
    assert not os.path.exists(f"{there}/programs/numbers/live")
    assert read(answer_files.files(numbers_view(there))).num_rows == 1


def numbers_view(location: str) -> Any:
    """The view in a location, as the command finds it."""
    from ebbtide.engine.location import Location

    return Location(location).query("numbers").view


def test_a_start_says_nothing_of_the_files(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    query = numbers(tmp_path, live=True)
    fed(query, 1)
    query.files()
    query.engine.stop()
    with caplog.at_level(logging.WARNING):
        numbers(tmp_path, live=True).engine.stop()
        numbers(tmp_path).engine.stop()
    assert caplog.records == []


def test_a_full_disk_is_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    query = numbers(tmp_path, live=True)
    fed(query, 1)

    def full(*_: Any) -> Any:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def no_room(path: str, *_: Any, **__: Any) -> Any:
        with usable(path):
            full()

    with monkeypatch.context() as patch, caplog.at_level(logging.WARNING):
        patch.setattr(answer_files, "created", full)
        patch.setattr(answer_files, "replace", no_room)
        fed(query, 2)
        fed(query, 3)
        with pytest.raises(EbbtideError):
            query.files()
    (warning,) = caplog.records  # one for all steps
    assert "the live file" in warning.getMessage()
    assert "disk-full" in warning.getMessage()
    assert query.snapshot().num_rows == 3
    live = pq.ParquetFile(query.live_file).read()
    assert (live.num_rows, told(live)) == (1, 0)
    assert [n for n in os.listdir(os.path.dirname(query.live_file)) if n.endswith(".tmp")] == []
    fed(query, 4)
    assert pq.read_metadata(query.live_file).num_rows == 4


def test_something_else_in_its_place_is_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    query = numbers(tmp_path, live=True)
    Path(query.view.root, "live").write_text("not a directory")
    with caplog.at_level(logging.WARNING):
        fed(query, 1)
        query.engine.stop()
        numbers(tmp_path).engine.stop()
    assert query.snapshot().num_rows == 1
    assert len(caplog.records) == 2


def test_a_large_answer_is_written_now_and_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_answers, "SMALL_ROWS", 3)
    query = numbers(tmp_path)
    clock = [0.0]
    live = LiveAnswers([query.view], lambda: clock[0])

    def taken(*values: int) -> int:
        fed(query, *values)
        latest = Journal(query.view.root).latest()
        assert latest is not None
        live.after(latest)
        return told(pq.ParquetFile(query.live_file).read())

    assert [taken(1, 2), taken(3), taken(4)] == [0, 1, 2]  # now it is large
    clock[0] = live_answers.EVERY_SECONDS - 0.1
    assert taken(5) == 2
    clock[0] = live_answers.EVERY_SECONDS
    assert taken(6) == 4
    assert taken(7) == 4
    live.finish()
    assert told(pq.ParquetFile(query.live_file).read()) == 5


def test_a_large_answer_is_up_to_date_when_its_run_stops(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_answers, "SMALL_ROWS", 0)
    query = numbers(tmp_path, live=True)
    for value in range(4):
        fed(query, value)
    assert told(pq.ParquetFile(query.live_file).read()) == 0
    query.engine.stop()
    assert told(pq.ParquetFile(query.live_file).read()) == 3


def test_every_view_of_a_program_has_one(tmp_path: Path) -> None:
    engine = Engine(tmp_path, transport="local")
    engine.execute(ROWS)
    one = engine.query("SELECT k FROM s [RANGE 1 HOUR]", name="one")
    two = engine.query("SELECT COUNT(*) AS n FROM s [RANGE 1 HOUR]", name="two")
    run = engine.start(one, two, name="both", live=True)
    fed(one, 1, 2)
    assert pq.read_table(two.live_file).to_pylist() == [{"n": 2}]
    assert pq.read_metadata(one.live_file).num_rows == 2
    run.finish()
    assert pq.read_metadata(one.live_file).num_rows == one.snapshot().num_rows


def test_live_is_true_or_false(tmp_path: Path) -> None:
    with pytest.raises(QueryError) as error:
        numbers(tmp_path, live="yes")
    assert error.value.code == "wrong-type"
