"""Feeding by hand: what goes into the log of a source, and what is refused; no JVM."""

import os
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from ebbtide import Engine
from ebbtide.core.time import instant
from ebbtide.errors import BindError, EbbtideError, SourceError
from ebbtide.store.feed_log import Advance, FedRow, FeedLog

SCRIPT = """
CREATE STREAM bids (auction BIGINT, price DOUBLE, at TIMESTAMP,
  PROGRESS FOR at AS at - INTERVAL 5 SECONDS);
CREATE STREAM auctions (id BIGINT, at TIMESTAMP, PROGRESS FOR at AS at);
CREATE TABLE sellers (id BIGINT, name STRING, at TIMESTAMP, op STRING, PRIMARY KEY (id),
  PROGRESS FOR at AS at - INTERVAL 5 SECONDS) TIME at OP op;
CREATE TABLE shops (id BIGINT, name STRING);
CREATE STREAM logs (line STRING, at TIMESTAMP) FROM FILES 'logs' FORMAT json;
CREATE VIEW recent AS SELECT * FROM bids [RANGE 1 HOUR];
"""


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    made = Engine(tmp_path)
    made.execute(SCRIPT)
    return made


def fed(engine: Engine, name: str) -> list[FedRow | Advance]:
    """What the log of a source holds."""
    declaration = engine.definitions.fed_by_hand(name)
    return [entry for _, entry in engine.log_of(declaration).read(0)[0]]


def refused(call: Any, *arguments: Any, **named: Any) -> EbbtideError:
    with pytest.raises(EbbtideError) as caught:
        call(*arguments, **named)
    return caught.value


MOMENT = instant("2026-01-01 00:05:00")


@pytest.mark.parametrize(
    "at",
    [
        MOMENT,
        "2026-01-01 00:05:00",
        "2026-01-01T00:05:00Z",
        "2026-01-01 01:05:00+01:00",
        datetime(2026, 1, 1, 0, 5),
        datetime(2026, 1, 1, 0, 5, tzinfo=UTC),
        datetime(2026, 1, 1, 1, 5, tzinfo=timezone(timedelta(hours=1))),
    ],
    ids=repr,
)
def test_times_are_given_in_many_ways(engine: Engine, at: Any) -> None:
    engine.feed("bids", [(1, 2, at)])
    engine.advance("bids", at)
    assert fed(engine, "bids") == [FedRow("insert", (1, 2.0, MOMENT)), Advance(MOMENT)]


def test_times_without_a_zone_are_of_the_engine(tmp_path: Path) -> None:
    engine = Engine(tmp_path, zone="Europe/Berlin")
    engine.execute(SCRIPT)
    engine.feed("bids", [(1, 2, "2026-01-01 01:05:00"), (1, 2, "2026-01-01T00:05:00Z")])
    engine.advance("bids", datetime(2026, 1, 1, 1, 5))
    row = FedRow("insert", (1, 2.0, MOMENT))
    assert fed(engine, "bids") == [row, row, Advance(MOMENT)]


@pytest.mark.parametrize("at", ["tomorrow", "", 1.5, None, "2026-13-01"])
def test_what_is_no_time_promises_nothing(engine: Engine, at: Any) -> None:
    assert refused(engine.advance, "bids", at).code == "bad-instant"
    assert fed(engine, "bids") == []


def test_rows_are_tuples_or_have_names(engine: Engine) -> None:
    engine.feed("bids", [(1, 2.5, 0), {"AUCTION": 1, "price": 2.5, "at": 0}, {"auction": 7}])
    row = FedRow("insert", (1, 2.5, 0))
    assert fed(engine, "bids") == [row, row, FedRow("insert", (7, None, None))]


def test_a_value_of_the_wrong_type_is_kept_as_it_came(engine: Engine) -> None:
    engine.feed("bids", [("one", 2.5, 0)])
    assert fed(engine, "bids") == [FedRow("insert", (None, None, None), "('one', 2.5, 0)")]


@pytest.mark.parametrize(
    ("name", "op", "word"),
    [
        ("bids", None, "insert"),
        ("shops", None, "insert"),
        ("sellers", None, "upsert"),
        ("sellers", "end", "end"),
        ("sellers", "delete", "delete"),
    ],
)
def test_an_operation_is_the_usual_one_or_is_given(
    engine: Engine, name: str, op: str | None, word: str
) -> None:
    width = {"bids": 3, "shops": 2, "sellers": 3}[name]
    engine.feed(name, [(1, None, 0)[:width]], op)
    (entry,) = fed(engine, name)
    assert isinstance(entry, FedRow)
    assert entry.op == word


GIVEN_APART = 'give it apart: engine.feed("sellers", rows, op="delete")'
OF_A_FRAME = 'rows are tuples or dictionaries: of a DataFrame df.to_dict("records")'
BY_ROWS = "its progress follows its rows; run.finish() promises that no more come"


@pytest.mark.parametrize(
    ("name", "rows", "op", "code", "hint"),
    [
        ("bids", [(1, 2.0, 0)], "upsert", "unknown-op", "use one of insert"),
        ("sellers", [(1, "a", 0)], "drop", "unknown-op", "use one of delete, end, replace, upsert"),
        ("bids", [(1, 2.0)], None, "column-count", None),
        ("bids", [(1, 2.0, 0, 4)], None, "column-count", None),
        ("bids", [{"auction": 1, "prise": 2.0}], None, "unknown-column", "did you mean price?"),
        ("bids", [{"colour": 1}], None, "unknown-column", None),
        ("sellers", [{"id": 1, "op": "end"}], None, "unknown-column", GIVEN_APART),
        ("bids", ["auction", "price"], None, "wrong-type", OF_A_FRAME),
        ("bidz", [(1, 2.0, 0)], None, "unknown-name", "did you mean bids?"),
        ("recent", [(1, 2.0, 0)], None, "not-a-source", None),
        ("logs", [("x", 0)], None, "not-fed-by-hand", BY_ROWS),
    ],
)
def test_rows_that_cannot_be_fed_are_refused_all_of_them(
    engine: Engine, name: str, rows: list[Any], op: str | None, code: str, hint: str | None
) -> None:
    error = refused(engine.feed, name, rows, op)
    assert (error.code, error.hint) == (code, hint)
    assert not (Path(engine.location) / "feed").exists()


def test_nothing_is_promised_about_sources_that_promise_nothing(engine: Engine) -> None:
    assert refused(engine.advance, "shops", 0).code == "nothing-progresses"
    assert refused(engine.advance, "recent", 0).code == "not-a-source"


def test_names_of_sources_have_near_matches(engine: Engine) -> None:
    for call in (engine.advance, engine.feed):
        error = refused(call, "autcions", 0)
        assert isinstance(error, BindError)
        assert error.hint == "did you mean auctions?"
    assert refused(engine.late, "selers").hint == "did you mean sellers?"
    assert isinstance(refused(engine.late, "recent"), SourceError)


def test_a_log_is_read_from_where_the_last_reader_ended(tmp_path: Path) -> None:
    log = FeedLog(f"{tmp_path}/feed/bids.jsonl")
    assert log.read(0) == ([], 0)
    log.append([FedRow("insert", (1,)), FedRow("insert", (2,))])
    first, end = log.read(0)
    assert [entry for _, entry in first] == [FedRow("insert", (1,)), FedRow("insert", (2,))]
    log.append([])
    assert log.read(end) == ([], end)
    log.append([Advance(5)])
    ((place, entry),), last = log.read(end)
    assert (place, entry) == (end, Advance(5))
    assert log.read(0) == ([*first, (end, Advance(5))], last)


@pytest.mark.parametrize("left", [b"{", b'{"advance": 7}\n', b'{"advance": 7}\n{"adv'])
def test_what_was_added_in_part_does_not_count(tmp_path: Path, left: bytes) -> None:
    log = FeedLog(f"{tmp_path}/feed/bids.jsonl")
    os.makedirs(os.path.dirname(log.path))
    for before in ([], [Advance(5)]):
        log.append(before)
        whole = log.read(0)
        with open(log.path, "ab") as file:
            file.write(left)
        assert log.read(0) == whole
    log.append([Advance(6)])
    assert [entry for _, entry in log.read(0)[0]] == [Advance(5), Advance(6)]
