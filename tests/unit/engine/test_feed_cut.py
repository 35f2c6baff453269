"""Logs of rows that were fed by hand lose what nobody needs any more, and nothing else."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from ebbtide import Engine
from ebbtide.engine.query import Query
from ebbtide.errors import StateError
from ebbtide.store import compaction, feed_cut
from ebbtide.store.feed_log import Advance, FeedLog

SECOND = 1_000_000


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compaction, "LOOSE", 2)
    monkeypatch.setattr(feed_cut, "LEAST", 100)


def filled(path: Path, count: int) -> tuple[FeedLog, list[int]]:
    """A log of so many additions, and where they end."""
    log, ends = FeedLog(str(path / "s.jsonl")), []
    for number in range(count):
        log.append([Advance(number)])
        ends.append(log.end)
    return log, ends


def test_positions_stay_what_they_were(tmp_path: Path) -> None:
    log, ends = filled(tmp_path, 6)
    for place in (1, 3):
        later = log.read(ends[place])
        log.cut(ends[place])
        assert log.first == ends[place]
        assert log.read(ends[place]) == later
    log.append([Advance(6)])
    assert [entry.to for _, entry in log.read(ends[3])[0]] == [4, 5, 6]
    log.cut(log.end)
    assert log.read(log.first) == ([], log.end)
    log.append([Advance(7)])
    assert [entry.to for _, entry in log.read(log.first)[0]] == [7]
    with pytest.raises(StateError) as caught:
        log.read(ends[0])
    assert caught.value.code == "feed-cut"


@pytest.mark.parametrize("place", range(0, 130, 7))
def test_a_beginning_that_was_changed_is_told(tmp_path: Path, place: int) -> None:
    log, ends = filled(tmp_path, 4)
    log.cut(ends[1])
    content = bytearray(Path(log.path).read_bytes())
    content[place] ^= 1
    Path(log.path).write_bytes(content)
    with pytest.raises(StateError) as caught:
        log.read(ends[1])
    assert caught.value.code == "damaged-feed"


def test_rows_are_fed_while_the_log_is_cut(tmp_path: Path) -> None:
    log, _ = filled(tmp_path, 1)

    def feed() -> None:
        for number in range(1, 100):
            log.append([Advance(number)])

    feeder = threading.Thread(target=feed)
    feeder.start()
    seen, place = [], 0
    while feeder.is_alive() or place < log.end:
        found, place = log.read(place)
        seen += [entry.to for _, entry in found]
        log.cut(place)
    feeder.join()
    assert seen == list(range(100))


def started(path: Path, name: str, keep: str | None) -> Query:
    engine = Engine(path, transport="local")
    engine.execute("CREATE STREAM s (a BIGINT, at TIMESTAMP, PROGRESS FOR at AS at)")
    query = engine.query("SELECT a FROM s [RANGE 3 SECONDS]", name)
    query.start(keep_changes=keep)
    return query


def stepped(query: Query, seconds: range) -> None:
    for second in seconds:
        query.engine.feed("s", [(second, second * SECOND)])
        query.engine.step()


def size(path: Path) -> int:
    return (path / "feed/s.jsonl").stat().st_size


def test_a_bounded_program_lets_go_of_what_was_fed(tmp_path: Path) -> None:
    query = started(tmp_path, "q", "5 seconds")
    stepped(query, range(20))
    early = size(tmp_path)
    stepped(query, range(20, 60))
    assert size(tmp_path) < 2 * early
    assert query.snapshot().to_pylist() == [{"a": 57}, {"a": 58}, {"a": 59}]
    query.engine.stop()
    query = started(tmp_path, "q", "5 seconds")
    stepped(query, range(60, 70))
    assert query.snapshot().to_pylist() == [{"a": 67}, {"a": 68}, {"a": 69}]
    query.engine.stop()
    with pytest.raises(StateError, match="no rows from its beginning") as caught:
        stepped(started(tmp_path, "other", None), range(70, 71))
    assert caught.value.code == "feed-cut"


def test_a_program_without_a_bound_needs_all_of_it(tmp_path: Path) -> None:
    other = started(tmp_path, "other", None)
    stepped(other, range(1))
    query = started(tmp_path, "q", "5 seconds")
    stepped(query, range(1, 60))
    assert query.engine.log_of(query.engine.catalog.find("s").declaration).first == 0
    other.engine.step()
    assert other.snapshot().to_pylist() == [{"a": 57}, {"a": 58}, {"a": 59}]
    query.engine.stop()
    other.engine.stop()
