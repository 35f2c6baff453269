"""Tables that are read in an encoding, and versions with bounds of their own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from ebbtide import Engine
from ebbtide.core.change import Change, consolidate
from ebbtide.core.declaration import Late
from ebbtide.core.schema import schema
from ebbtide.engine.encoded_frames import encoded_table
from ebbtide.engine.location import Location
from ebbtide.engine.state_report import holdings
from ebbtide.errors import EbbtideError
from ebbtide.spark.arrivals import _op_text
from ebbtide.spark.files_in_tasks import _operations
from ebbtide.sql.parser import parse
from ebbtide.sql.printer import sql

S = 1_000_000


def engine_at(path: Path, *statements: str) -> Engine:
    engine = Engine(path, transport="local")
    for statement in statements:
        engine.execute(statement)
    return engine


def versions(engine: Engine, query: str, *steps: Any) -> list[tuple[Any, ...]]:
    """The rows of a query, with their validity in seconds, after feeding ``t`` in steps."""
    found = engine.query(query, "q")
    found.start()
    for rows in steps:
        for op, *fed in rows if isinstance(rows, list) else [rows]:
            engine.feed("t", fed, op=op)
        engine.step()
    changes = [change for _, change in found.view.changes()]
    return [(*c.row, _seconds(c.valid_from), _seconds(c.valid_to)) for c in consolidate(changes)]


def _seconds(t: int) -> float | None:
    return t / S if abs(t) < 2**62 else None


BOUNDED = """
CREATE TABLE t (k BIGINT, v BIGINT, at TIMESTAMP, te TIMESTAMP, PRIMARY KEY (k),
  PROGRESS FOR at AS at - INTERVAL 1 MINUTE) TIME at LIFETIME UNTIL te RETAIN 1 MINUTE
"""


def row(k: int, v: int | None, at: int, te: int | None = None) -> tuple[Any, ...]:
    return (k, v, at * S, None if te is None else te * S)


def test_a_version_ends_at_its_own_bound_or_earlier_by_a_negative(tmp_path: Path) -> None:
    """Paper 1, figure 1, stream S6: upper bounds, and negative tuples before them.

    bounds     1 ├──────────────────────────┈┈┈┈┈┈┈┤
               2      ├───────────────────────────────┤     ends as promised
               3           ├──────────┈┈┈┈┈┈┈┈┈┈┈           without a bound
    """
    found = versions(
        engine_at(tmp_path, BOUNDED),
        "SELECT k, v FROM t",
        (None, row(1, 10, 1, 9), row(2, 20, 2, 8), row(3, 30, 3)),
        [("end", row(1, None, 6)), ("end", row(3, None, 5))],
    )
    assert found == [(1, 10, 1, 6), (2, 20, 2, 8), (3, 30, 3, 5)]


def test_a_bound_that_is_not_after_the_time_makes_a_row_that_never_is(tmp_path: Path) -> None:
    found = versions(
        engine_at(tmp_path, BOUNDED),
        "SELECT k, v FROM t",
        (None, row(1, 10, 1), row(1, 11, 5, 5), row(2, 20, 2, 1)),
    )
    assert found == [(1, 10, 1, 5)]


def test_a_negative_may_come_before_its_positive(tmp_path: Path) -> None:
    engine = engine_at(tmp_path, BOUNDED)
    query = engine.query("SELECT k, v FROM t", "q")
    query.start()
    engine.feed("t", [row(1, None, 6)], op="end")
    engine.step()
    assert [(r["op"], r["row"]) for r in engine.pending("t").to_pylist()] == [
        ("end", '{"k":1,"at":"1970-01-01T00:00:06.000Z"}')
    ]
    engine.feed("t", [row(1, 10, 1, 9)])
    engine.step()
    assert engine.pending("t").num_rows == 0
    changes = [change for _, change in query.view.changes()]
    assert consolidate(changes) == (Change((1, 10), 1 * S, 6 * S),)


def test_a_negative_without_a_match_waits_and_is_unused_in_the_end(tmp_path: Path) -> None:
    engine = engine_at(tmp_path, BOUNDED)
    engine.query("SELECT k, v FROM t", "q").start()
    engine.feed("t", [row(7, None, 6)], op="end")
    engine.step()
    assert engine.pending("t").num_rows == 1
    assert engine.late("t").num_rows == 0
    engine.advance("t", 600 * S)
    engine.step()
    assert engine.pending("t").num_rows == 0
    assert [r["reason"] for r in engine.late("t").to_pylist()] == ["no-positive"]


def test_a_key_comes_back_and_duplicates_change_nothing(tmp_path: Path) -> None:
    found = versions(
        engine_at(tmp_path, BOUNDED),
        "SELECT k, v FROM t",
        (None, row(1, 10, 1, 9), row(1, 10, 1, 9)),
        [("end", row(1, None, 4)), (None, row(1, 11, 6, 8))],
    )
    assert found == [(1, 10, 1, 4), (1, 11, 6, 8)]


def test_a_replacement_moves_the_end_of_a_version(tmp_path: Path) -> None:
    found = versions(
        engine_at(tmp_path, BOUNDED),
        "SELECT k, v FROM t",
        (None, row(1, 10, 1, 9)),
        [("replace", row(1, 12, 3, 5))],
    )
    assert found == [(1, 12, 1, 5)]


ENCODED = {
    "upsert": [
        {"k": 1, "v": 10, "_op": "upsert", "_at": 1 * S, "step": 0},
        {"k": 1, "v": 11, "_op": "upsert", "_at": 3 * S, "step": 1},
        {"k": 1, "v": None, "_op": "end", "_at": 6 * S, "step": 2},
    ],
    "positive-temporal": [
        {"k": 1, "v": 10, "_sign": "+", "_from": 1 * S, "_to": 9 * S},
        {"k": 1, "v": None, "_sign": "-", "_from": 3 * S, "_to": 3 * S},
        {"k": 1, "v": 11, "_sign": "+", "_from": 3 * S, "_to": 6 * S},
    ],
    "_change_type": [
        {"k": 1, "v": 10, "_change_type": "insert", "_commit_version": 0,
         "_commit_timestamp": 1 * S},
        {"k": 1, "v": 11, "_change_type": "update_postimage", "_commit_version": 1,
         "_commit_timestamp": 3 * S},
        {"k": 1, "v": 10, "_change_type": "update_preimage", "_commit_version": 1,
         "_commit_timestamp": 3 * S},
        {"k": 1, "v": 11, "_change_type": "delete", "_commit_version": 2,
         "_commit_timestamp": 6 * S},
    ],
    "debezium": [
        {"op": "c", "before": None, "after": {"k": 1, "v": 10, "more": 0}, "ts_ms": 1000},
        {"op": "u", "before": {"k": 1}, "after": {"k": 1, "v": 11}, "source": {"ts_us": 3 * S}},
        {"op": "d", "before": {"k": 1}, "after": None, "ts_us": 6 * S, "ts_ms": 1},
    ],
}  # fmt: skip

TIMES = {"upsert": "_at", "positive-temporal": "_from", "_change_type": "_commit_timestamp"}


@pytest.mark.parametrize("encoding", ENCODED)
def test_a_table_is_read_in_an_encoding(tmp_path: Path, encoding: str) -> None:
    time = TIMES.get(encoding, "_at")
    engine = engine_at(
        tmp_path,
        f"CREATE TABLE t (k BIGINT, v BIGINT, PRIMARY KEY (k), PROGRESS FOR {time} AS {time}) "
        f"ENCODING '{encoding}'",
    )
    steps = [(None, told) for told in ENCODED[encoding]]
    if encoding == "_change_type":  # the two images of a commit come together
        steps = [(None, *ENCODED[encoding][:3]), (None, ENCODED[encoding][3])]
    found = versions(engine, "SELECT k, v FROM t", *steps)
    assert found == [(1, 10, 1, 3), (1, 11, 3, 6)]
    assert engine.late("t").num_rows == 0


CHANGES = """
CREATE TABLE t (k BIGINT, v BIGINT, PROGRESS FOR valid_from AS valid_from) ENCODING changes
  RETAIN 10 SECONDS
"""


def change(k: int, begin: int, end: int | None, diff: int) -> tuple[Any, ...]:
    return (k, None, begin * S, None if end is None else end * S, diff)


def test_a_table_is_the_sum_of_its_changes(tmp_path: Path) -> None:
    """Two rows that touch, and a piece taken out of both.

    +1  ├─────────────┤
    +1                ├──────┤
    -1       ├──────────┤
    """
    found = versions(
        engine_at(tmp_path, CHANGES),
        "SELECT k, valid_from AS since FROM t",
        (None, change(1, 1, 5, 1), change(2, 2, None, 3)),
        (None, change(1, 5, 9, 1), change(1, 3, 7, -1), change(2, 4, None, -2)),
    )
    assert found == [
        (1, 1 * S, 1, 3), (2, 2 * S, 2, 4), (2, 2 * S, 4, None), (1, 7 * S, 7, 9),
    ]  # fmt: skip


def test_a_negative_change_waits_until_it_is_covered_as_a_whole(tmp_path: Path) -> None:
    engine = engine_at(tmp_path, CHANGES)
    query = engine.query("SELECT k FROM t", "q")
    query.start()
    engine.feed("t", [change(1, 1, 5, 1), change(1, 3, 7, -1), change(2, 2, 4, -1)])
    engine.step()
    assert query.snapshot(at=3 * S).to_pylist() == [{"k": 1}]
    assert engine.pending("t").num_rows == 2
    engine.feed("t", [change(1, 5, 7, 1)])
    engine.step()
    assert query.snapshot(at=3 * S).to_pylist() == []
    assert engine.pending("t").num_rows == 1
    engine.advance("t", 60 * S)
    engine.step()
    assert engine.pending("t").num_rows == 0
    assert [row["reason"] for row in engine.late("t").to_pylist()] == ["no-positive"]


def test_a_change_of_nothing_is_unused_and_no_operation_is_given_apart(tmp_path: Path) -> None:
    engine = engine_at(tmp_path, CHANGES)
    engine.query("SELECT k FROM t", "q").start()
    engine.feed("t", [change(1, 1, 5, 0), {"k": 1, "valid_from": 1 * S, "valid_to": 2 * S}])
    engine.step()
    assert [row["reason"] for row in engine.late("t").to_pylist()] == ["unknown-op"] * 2
    with pytest.raises(EbbtideError, match="unknown-op"):
        engine.feed("t", [change(1, 1, 5, 1)], op="end")


def test_temporal_tuples_are_rows_that_nothing_ends(tmp_path: Path) -> None:
    engine = engine_at(
        tmp_path,
        "CREATE TABLE t (k BIGINT, PROGRESS FOR valid_from AS valid_from) ENCODING temporal",
    )
    query = engine.query("SELECT k FROM t", "q")
    query.start()
    engine.feed("t", [{"k": 1, "valid_from": 1 * S, "valid_to": 9 * S, "step": 0}] * 2)
    engine.step()
    assert query.snapshot(at=8 * S).to_pylist() == [{"k": 1}] * 2
    assert "weak non-monotonic: a row stays until its own end" in query.explain(verbose=True)
    with pytest.raises(EbbtideError, match="unknown-op"):
        engine.feed("t", [(1, 1 * S, 9 * S)], op="end")


def test_changes_in_files_and_frames_say_by_their_sign_what_they_do() -> None:
    columns = schema(k="BIGINT", valid_from="TIMESTAMP", valid_to="TIMESTAMP", diff="BIGINT")
    declared = encoded_table("t", columns, (), "changes", 0, 0, Late.REVISE)
    assert declared.bag
    assert declared.key == ("k",)
    assert declared.row_schema.names == ("k", "valid_from")
    counts = pa.array([1, -2, 0, None], pa.int64())
    times = pa.array([S, S, S, S], pa.int64())
    batch = pa.RecordBatch.from_arrays(
        [counts, times, times, counts, pa.nulls(4, pa.string())],
        names=[*columns.names, "malformed"],
    )
    assert _operations(declared, batch).to_pylist() == ["upsert", "end", "0", ""]
    assert "signum(`diff`)" in _op_text(declared, "`diff`")


def test_versions_that_have_ended_are_not_stored(tmp_path: Path) -> None:
    engine = engine_at(tmp_path, BOUNDED.replace("1 MINUTE", "1 SECOND"))
    engine.query("SELECT k, v FROM t", "q").start()
    for k in range(1, 20):
        engine.feed("t", [row(k, 0, 10 * k, 10 * k + 5)])
        engine.step()
    (operations,) = [h for h in holdings(Location(str(tmp_path)).query("q")) if h.rows]
    assert operations.area == "operations"
    assert operations.rows <= 2


def test_declarations_are_printed_as_they_are_written() -> None:
    for text in (
        "CREATE TABLE t (k BIGINT, PRIMARY KEY (k)) ENCODING 'positive-temporal'",
        "CREATE TABLE t (k BIGINT, at TIMESTAMP, te TIMESTAMP, PRIMARY KEY (k)) "
        "TIME at LIFETIME UNTIL te",
    ):
        (statement,) = parse(text)
        assert sql(statement) == text
        assert parse(sql(statement)) == (statement,)


WRONG = {
    "CREATE TABLE t (k BIGINT, PRIMARY KEY (k)) ENCODING avro": "unknown-encoding",
    "CREATE TABLE t (k BIGINT, PRIMARY KEY (k)) ENCODING temporal": "unreadable-encoding",
    "CREATE TABLE t (k BIGINT, PRIMARY KEY (k)) ENCODING changes": "unreadable-encoding",
    "CREATE TABLE t (k BIGINT) LIFETIME 5 SECONDS ENCODING changes": "duplicate-clause",
    "CREATE TABLE t (k BIGINT, at TIMESTAMP, PRIMARY KEY (k)) TIME at ENCODING upsert":
        "duplicate-clause",
    "CREATE TABLE t (k BIGINT, _op STRING, PRIMARY KEY (k)) ENCODING upsert": "duplicate-column",
    "CREATE TABLE t (k BIGINT) ENCODING upsert": "key-needed",
    "CREATE TABLE t (k BIGINT, PRIMARY KEY (k)) ENCODING 'positive-negative'":
        "unreadable-encoding",
    "CREATE TABLE t (k BIGINT, at TIMESTAMP, PRIMARY KEY (k)) TIME at LIFETIME UNTIL k":
        "not-a-time",
    "CREATE TABLE t (k BIGINT, at TIMESTAMP, PRIMARY KEY (k)) LIFETIME UNTIL at": "time-needed",
}  # fmt: skip


@pytest.mark.parametrize("statement", WRONG)
def test_what_makes_no_sense_is_refused(tmp_path: Path, statement: str) -> None:
    with pytest.raises(EbbtideError, match=WRONG[statement]):
        engine_at(tmp_path, statement)


LIVED = """
CREATE STREAM s (k BIGINT, at TIMESTAMP, te TIMESTAMP, PROGRESS FOR at AS at) {clause}
"""


@pytest.mark.parametrize(
    ("clause", "window"),
    [("LIFETIME UNTIL te", "[VALID TO te]"), ("LIFETIME 5 SECONDS", "[RANGE 5 SECONDS]")],
)
def test_a_stream_with_a_lifetime_needs_no_window(tmp_path: Path, clause: str, window: str) -> None:
    engine = engine_at(tmp_path, LIVED.format(clause=clause))
    plain = engine.query("SELECT f.k, COUNT(*) AS n FROM s AS f GROUP BY f.k", "plain")
    same = engine.query(f"SELECT f.k, COUNT(*) AS n FROM s {window} AS f GROUP BY f.k", "same")
    assert plain.sql == same.sql
    other = engine.query("SELECT k FROM s [RANGE 1 SECOND]", "other")
    assert "1 SECOND" in other.sql
    engine.start(plain, same, name="both")
    engine.feed("s", [(1, 1 * S, 9 * S), (1, 2 * S, None), (2, 3 * S, 4 * S)])
    engine.step()
    assert plain.snapshot().to_pylist() == same.snapshot().to_pylist() != []


def test_a_lifetime_needs_a_time_that_progresses(tmp_path: Path) -> None:
    with pytest.raises(EbbtideError, match="time-needed"):
        engine_at(tmp_path, "CREATE STREAM s (k BIGINT, te TIMESTAMP) LIFETIME UNTIL te")


BAG = """
CREATE TABLE t (k BIGINT, v BIGINT, at TIMESTAMP, PROGRESS FOR at AS at) TIME at RETAIN 1 MINUTE
"""


def test_in_a_bag_an_end_takes_one_of_the_equal_rows_away(tmp_path: Path) -> None:
    engine = engine_at(tmp_path, BAG)
    query = engine.query("SELECT k, v FROM t", "q")
    query.start()
    engine.feed("t", [(1, None, 1 * S), (1, None, 2 * S), (1, 7, 3 * S)])
    engine.step()
    engine.feed("t", [(1, None, 4 * S)], op="delete")
    engine.step()
    assert query.snapshot(at=3 * S).to_pylist() == [
        {"k": 1, "v": None}, {"k": 1, "v": None}, {"k": 1, "v": 7},
    ]  # fmt: skip
    assert query.snapshot(at=4 * S).to_pylist() == [{"k": 1, "v": None}, {"k": 1, "v": 7}]
    engine.feed("t", [(1, None, 5 * S), (1, None, 6 * S)], op="delete")
    engine.step()
    assert query.snapshot(at=6 * S).to_pylist() == [{"k": 1, "v": 7}]
    assert engine.pending("t").num_rows == 1  # there was no third of its kind
    assert query.key is None


def test_positive_and_negative_tuples_are_read_as_a_bag(tmp_path: Path) -> None:
    engine = engine_at(
        tmp_path,
        "CREATE TABLE t (k BIGINT, PROGRESS FOR _at AS _at) ENCODING 'positive-negative' "
        "RETAIN 1 MINUTE",
    )
    told = [("+", 5), ("-", 9), ("-", 7), ("+", 9)]  # the last two say that it ended at 7
    rows = [(None, {"k": 1, "_sign": sign, "_at": at * S}) for sign, at in told]
    assert versions(engine, "SELECT k FROM t", *rows) == [(1, 5, 7)]


def test_the_columns_of_a_frame_declare_a_table() -> None:
    envelopes = schema(
        before="STRUCT<a: BIGINT>",
        after="STRUCT<a: BIGINT, n: STRING>",
        op="STRING",
        ts_ms="BIGINT",
    )
    table = encoded_table("t", envelopes, ("a",), "debezium", 5, 7, Late.REVISE)
    assert table.schema.names == ("a", "n", "_op", "_at")
    assert (table.op, table.time, table.key, table.bag) == ("_op", "_at", ("a",), False)
    feed = schema(k="BIGINT", _sign="STRING", _at="TIMESTAMP")
    bag = encoded_table("t", feed, (), "positive-negative", 0, 0, Late.REVISE)
    assert (bag.key, bag.bag) == (("k",), True)
    with pytest.raises(EbbtideError, match="missing-column"):
        encoded_table("t", feed, ("k",), "debezium", 0, 0, Late.REVISE)
