"""Sinks that get changes in an encoding: by SQL, by Python, step by step and after a crash."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ebbtide import Engine
from ebbtide.engine.query import Query
from ebbtide.engine.rollback import rollback
from ebbtide.errors import EbbtideError, QueryError, SourceError
from ebbtide.sinks import Encoded, Memory

SECOND = 1_000_000

DECLARED = """
CREATE STREAM s (k BIGINT, v BIGINT, at TIMESTAMP, PROGRESS FOR at AS at) RETAIN 1 HOUR;
CREATE STREAM promised (k BIGINT, at TIMESTAMP, PROGRESS FOR at AS at);
CREATE TABLE t (k BIGINT, v BIGINT, at TIMESTAMP, PRIMARY KEY (k), PROGRESS FOR at AS at)
  TIME at RETAIN 1 HOUR;
"""
COUNTS = "SELECT k, COUNT(*) AS n FROM s [RANGE 5 SECONDS] GROUP BY k"


def engine_at(path: Path) -> Engine:
    engine = Engine(path, transport="local")
    engine.execute(DECLARED)
    return engine


def counting(path: Path) -> Query:
    return engine_at(path).query(COUNTS, "counts")


def feed(query: Query, *rows: tuple[int, int, int]) -> None:
    """Feeds rows whose times are seconds, and takes a step."""
    query.engine.feed("s", [(k, v, at * SECOND) for k, v, at in rows])
    query.engine.step()


def to(query: Query, second: int) -> None:
    """Lets ``now`` come to a second, without a row."""
    query.engine.advance("s", (second * SECOND) + 1)
    query.engine.step()


def told(sink: Memory, *names: str) -> list[tuple[Any, ...]]:
    return [tuple(_plain(row[name]) for name in names) for row in sink.rows]


def _plain(value: Any) -> Any:
    return value.timestamp() if hasattr(value, "timestamp") else value


def test_upserts_and_ends_appear_as_now_passes_without_new_rows(tmp_path: Path) -> None:
    query, sink = counting(tmp_path), Memory()
    query.start(sink=sink, encoding="upsert")
    feed(query, (1, 0, 10))
    feed(query, (1, 0, 12), (2, 0, 12))
    to(query, 14)
    to(query, 15)
    to(query, 30)
    assert told(sink, "k", "n", "_op", "_at", "step") == [
        (1, 1, "upsert", 10, 0),
        (1, 2, "upsert", 12, 1),
        (2, 1, "upsert", 12, 1),
        (1, 1, "upsert", 15, 3),
        (1, 1, "end", 17, 4),
        (2, 1, "end", 17, 4),
    ]


def test_positive_and_negative_tuples_are_exact_about_the_past(tmp_path: Path) -> None:
    query, sink = counting(tmp_path), Memory()
    query.start(sink=sink, encoding="positive-negative")
    feed(query, (1, 0, 10))
    to(query, 11)
    feed(query, (1, 0, 9))
    to(query, 20)
    assert told(sink, "k", "n", "_sign", "_at", "step") == [
        (1, 1, "+", 10, 0),
        (1, 1, "+", 9, 2),
        (1, 1, "-", 10, 2),  # what entered at 9 leaves
        (1, 1, "-", 10, 2),  # what was told in step 0 is taken back
        (1, 2, "+", 10, 2),
        (1, 2, "-", 14, 3),
        (1, 1, "+", 14, 3),
        (1, 1, "-", 15, 3),
    ]


def test_a_change_feed_never_goes_back_in_time(tmp_path: Path) -> None:
    query, sink = counting(tmp_path), Memory()
    query.start(sink=sink, encoding="_change_type")
    feed(query, (1, 0, 10))
    to(query, 11)
    feed(query, (1, 0, 9))
    to(query, 20)
    assert told(sink, "k", "n", "_change_type", "_commit_version", "_commit_timestamp") == [
        (1, 1, "insert", 0, 10),
        (1, 1, "update_preimage", 1, 11),
        (1, 2, "update_postimage", 1, 11),
        (1, 2, "update_preimage", 2, 14),
        (1, 1, "update_postimage", 2, 14),
        (1, 1, "delete", 3, 15),
    ]


def test_positive_temporal_tuples_say_when_they_end_and_negatives_only_what_was_not_said(
    tmp_path: Path,
) -> None:
    query, sink = counting(tmp_path), Memory()
    query.start(sink=sink, encoding="positive-temporal")
    feed(query, (1, 0, 10))
    feed(query, (1, 0, 12))
    to(query, 30)
    assert told(sink, "k", "n", "_sign", "_from", "_to", "step") == [
        (1, 1, "+", 10, 15, 0),
        (1, None, "-", 12, 12, 1),
        (1, 2, "+", 12, 15, 1),
        (1, 1, "+", 15, 17, 2),
    ]


def test_envelopes_have_the_row_before_and_the_row_after(tmp_path: Path) -> None:
    query, sink = counting(tmp_path), Memory()
    query.start(sink=sink, encoding="debezium")
    feed(query, (1, 0, 10))
    feed(query, (1, 0, 12))
    to(query, 30)
    assert told(sink, "op", "before", "after", "ts_us") == [
        ("c", None, {"k": 1, "n": 1}, 10 * SECOND),
        ("u", {"k": 1, "n": 1}, {"k": 1, "n": 2}, 12 * SECOND),
        ("u", {"k": 1, "n": 2}, {"k": 1, "n": 1}, 15 * SECOND),
        ("d", {"k": 1, "n": 1}, None, 17 * SECOND),
    ]
    assert sink.rows[0]["source"]["name"] == "counts"


def test_temporal_tuples_are_ordered_and_final(tmp_path: Path) -> None:
    engine, sink = engine_at(tmp_path), Memory()
    query = engine.query("SELECT k FROM promised [RANGE 5 SECONDS] EMIT FINAL", "final")
    query.start(sink=sink, encoding="temporal")
    engine.feed("promised", [(1, 10 * SECOND), (2, 12 * SECOND)])
    engine.step()
    engine.advance("promised", 30 * SECOND)
    engine.step()
    assert told(sink, "k", "valid_from", "valid_to") == [(1, 10, 15), (2, 12, 17)]


def test_a_query_says_how_its_changes_are_written(tmp_path: Path) -> None:
    engine, sink = engine_at(tmp_path), Memory()
    query = engine.query(f"{COUNTS} WITH (encoding = 'upsert', key = (k))", "counts")
    assert query.sql.endswith("WITH (encoding = 'upsert', key = (k))")
    run = query.start(sink=sink)
    feed(query, (1, 0, 10))
    assert told(sink, "k", "n", "_op", "_at") == [(1, 1, "upsert", 10)]
    run.stop()
    # How changes are written is no part of what the state belongs to.
    plain = engine_at(tmp_path).query(COUNTS, "counts")
    plain.start(sink=sink)


def test_every_sink_may_have_an_encoding_of_its_own(tmp_path: Path) -> None:
    query = counting(tmp_path)
    changes, signed, upserts = Memory(), Memory(), Memory()
    query.start(
        sink=[changes, Encoded(signed, "positive-negative"), Encoded(upserts, "upsert", key="k")]
    )
    feed(query, (1, 0, 10))
    assert told(changes, "k", "n", "diff") == [(1, 1, 1)]
    assert told(signed, "k", "n", "_sign") == [(1, 1, "+")]
    assert told(upserts, "k", "n", "_op") == [(1, 1, "upsert")]


def test_an_encoding_goes_on_where_it_stopped(tmp_path: Path) -> None:
    query, sink = counting(tmp_path), Memory()
    run = query.start(sink=sink, encoding="upsert")
    feed(query, (1, 0, 10))
    run.stop()
    again = counting(tmp_path)
    again.start(sink=sink, encoding="upsert")
    to(again, 30)
    assert told(sink, "k", "n", "_op", "_at") == [(1, 1, "upsert", 10), (1, 1, "end", 15)]


def test_a_sink_that_failed_is_told_the_same_again(tmp_path: Path) -> None:
    query, sink = counting(tmp_path), Memory()
    broken = [True]

    def take(frame: Any, step: int) -> None:
        if broken[0]:
            raise OSError("no room")
        sink.write(frame, step)

    query.start(sink=take, encoding="upsert")
    with pytest.raises(SourceError, match="sink-failed"):
        feed(query, (1, 0, 10))
    broken[0] = False
    to(query, 30)
    assert told(sink, "k", "n", "_op", "_at") == [(1, 1, "upsert", 10), (1, 1, "end", 15)]


def test_who_comes_later_gets_the_snapshot_first(tmp_path: Path) -> None:
    query = counting(tmp_path)
    run = query.start()
    feed(query, (1, 0, 10))
    to(query, 11)
    run.stop()
    again, sink = counting(tmp_path), Memory()
    again.start(sink=sink, encoding="debezium")
    feed(again, (2, 0, 12))
    to(again, 30)
    assert told(sink, "op", "after", "ts_us") == [
        ("r", {"k": 1, "n": 1}, 11 * SECOND),
        ("c", {"k": 2, "n": 1}, 12 * SECOND),
        ("d", None, 15 * SECOND),
        ("d", None, 17 * SECOND),
    ]


def test_changes_that_touch_are_joined_and_cut(tmp_path: Path) -> None:
    engine, joined, cut = engine_at(tmp_path), Memory(), Memory()
    query = engine.query(
        "SELECT 1 AS one FROM s [RANGE 5 SECONDS] WHERE v > 0 WITH (coalesce = TRUE)", "ones"
    )
    query.start(sink=[joined, Encoded(cut, "changes", split="2 seconds")])
    feed(query, (1, 1, 10), (1, 1, 15))
    assert told(joined, "one", "valid_from", "valid_to", "diff") == [(1, 10, 20, 1)]
    assert told(cut, "valid_from", "valid_to") == [
        (10, 12), (12, 14), (14, 15), (15, 16), (16, 18), (18, 20),
    ]  # fmt: skip


REFUSED = {
    "SELECT v FROM s [RANGE 5 SECONDS]": ("upsert", "no-key", "declares no PRIMARY KEY"),
    "SELECT v FROM t": ("positive-temporal", "no-key", "does not select k"),
    COUNTS: ("temporal", "not-final", "EMIT FINAL"),
    f"{COUNTS} EMIT FINAL": ("temporal", "not-final", "LATE QUARANTINE"),
    "SELECT k FROM promised [RANGE 5 SECONDS] EMIT FINAL": ("_change_type", "encoding-final", ""),
    "SELECT k, v AS _op FROM t": ("upsert", "duplicate-column", "_op"),
    "SELECT k FROM t": ("avro", "unknown-encoding", "debezium"),
}


@pytest.mark.parametrize("query", REFUSED)
def test_what_a_query_cannot_be_written_as_is_refused(tmp_path: Path, query: str) -> None:
    encoding, code, said = REFUSED[query]
    with pytest.raises(QueryError, match=code) as refused:
        engine_at(tmp_path).query(query, "q").start(sink=Memory(), encoding=encoding)
    assert said in str(refused.value)


def test_a_sink_is_refused_unless_its_key_contains_a_key(tmp_path: Path) -> None:
    engine = engine_at(tmp_path)
    query = engine.query("SELECT k, v FROM t", "q")
    with pytest.raises(QueryError, match="not-a-key") as refused:
        query.start(sink=Encoded(Memory(), "upsert", key="v"))
    assert "its keys are (k)" in str(refused.value)
    query.start(sink=Encoded(Memory(), "upsert", key=("v", "k")))


WRONG = {
    f"{COUNTS} WITH (encoding = 'avro')": "unknown-encoding",
    f"{COUNTS} WITH (encoding = 'upsert', coalesce = TRUE)": "no-intervals",
    f"{COUNTS} WITH (shape = 'upsert')": "syntax",
    f"{COUNTS} WITH (coalesce = TRUE, coalesce = TRUE)": "duplicate-clause",
    f"{COUNTS} SPLIT EVERY 1 SECOND SPLIT EVERY 1 SECOND": "duplicate-clause",
}


@pytest.mark.parametrize("query", WRONG)
def test_options_that_make_no_sense_are_refused(tmp_path: Path, query: str) -> None:
    with pytest.raises(EbbtideError, match=WRONG[query]):
        engine_at(tmp_path).query(query, "q")


def test_a_savepoint_has_what_encodings_have_told(tmp_path: Path) -> None:
    query, sink = counting(tmp_path / "here"), Memory()
    run = query.start(sink=sink, encoding="positive-temporal")
    feed(query, (1, 0, 10))
    query.engine.savepoint(tmp_path / "copy")
    run.stop()
    copied = counting(tmp_path / "copy")
    copied.start(sink=sink, encoding="positive-temporal")
    feed(copied, (1, 0, 12))
    assert told(sink, "k", "n", "_sign", "_from", "_to") == [
        (1, 1, "+", 10, 15),
        (1, None, "-", 12, 12),
        (1, 2, "+", 12, 15),
    ]


def test_after_a_rollback_time_does_not_fall_and_what_was_told_is_taken_back(
    tmp_path: Path,
) -> None:
    query, sink = counting(tmp_path), Memory()
    run = query.start(sink=sink, encoding="upsert", keep_versions=2)
    feed(query, (1, 0, 10))
    feed(query, (2, 0, 12))
    run.stop()
    rollback(str(tmp_path), "counts", 0)
    again = counting(tmp_path)
    again.start(sink=sink, encoding="upsert", keep_versions=2)
    to(again, 30)
    assert told(sink, "k", "n", "_op", "_at") == [
        (1, 1, "upsert", 10),
        (2, 1, "upsert", 12),
        (2, 1, "end", 12),
        (2, 1, "upsert", 12),
        (1, 1, "end", 15),
        (2, 1, "end", 17),
    ]
