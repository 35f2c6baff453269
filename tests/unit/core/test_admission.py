"""Admission, case by case: what is accepted, what waits and what is left over, and why."""

from collections.abc import Iterable

import pytest

from ebbtide.core.admission import (
    Admission,
    Arrival,
    Op,
    Reason,
    Step,
    admit,
    allowed_ops,
    begin,
    default_op,
    read_op,
    replay,
)
from ebbtide.core.change import Change, fact
from ebbtide.core.declaration import Late, Promise, StreamDeclaration, TableDeclaration
from ebbtide.core.schema import Column, Schema, schema
from ebbtide.core.time import INF, NEG_INF, format_instant
from ebbtide.core.types import BIGINT, STRING, TIMESTAMP
from ebbtide.errors import QueryError

COLUMNS = schema(id="BIGINT", at="TIMESTAMP", v="STRING")


def stream(**more: object) -> StreamDeclaration:
    declared = {
        "key": ("id", "at"),
        "promises": (Promise("at", 0),),
        "retain_us": 1000,
        "append_only": False,
    }
    return StreamDeclaration("s", COLUMNS, **{**declared, **more})  # type: ignore[arg-type]


def table(**more: object) -> TableDeclaration:
    declared = {"key": ("id",), "time": "at", "promises": (Promise("at", 0),), "retain_us": 1000}
    return TableDeclaration("t", COLUMNS, **{**declared, **more})  # type: ignore[arg-type]


def rows(text: str, first_offset: int = 1) -> tuple[Arrival, ...]:
    """Arrivals from lines of ``op id at value``; ``-`` is NULL."""

    def value(word: str) -> object:
        return None if word == "-" else int(word) if word.lstrip("-").isdigit() else word

    lines = [line.split() for line in text.strip().splitlines()]
    return tuple(
        Arrival(Op(op), tuple(value(word) for word in words), offset)
        for offset, (op, *words) in enumerate(lines, first_offset)
    )


def shown(state: Admission) -> list[str]:
    """The accepted input: ``value`` of a fact, ``value [from, to)`` of a version."""

    def end(t: int) -> str:
        return format_instant(t) if t in (INF, NEG_INF) else str(t)

    def show(change: Change) -> str:
        always = (change.valid_from, change.valid_to) == (NEG_INF, INF)
        times = "" if always else f" [{end(change.valid_from)}, {end(change.valid_to)})"
        return str(change.row[-1]) * change.diff + times

    return [show(change) for change in state.accepted]


def left_over(state: Admission) -> list[tuple[int, str]]:
    return [(row.arrival.offset, row.reason.value) for row in state.unused]


def offsets(arrivals: Iterable[Arrival]) -> list[int]:
    return [arrival.offset for arrival in arrivals]


# Streams


def test_a_stream_without_a_key_is_a_bag() -> None:
    declaration = stream(key=(), append_only=True)
    state = replay(declaration, [Step(rows("insert 1 10 a\ninsert 1 10 a\ninsert 1 11 b"))])
    assert state.accepted == (fact((1, 10, "a"), 2), fact((1, 11, "b")))
    assert offsets(state.contributing) == [1, 2, 3]


def test_a_delete_takes_away_the_fact_of_its_key() -> None:
    state = replay(stream(), [Step(rows("insert 1 10 a\ninsert 1 11 b\ndelete 1 10 -"))])
    assert shown(state) == ["b"]
    assert offsets(state.contributing) == [1, 2, 3]


def test_a_replacement_gives_a_fact_other_values() -> None:
    state = replay(stream(), [Step(rows("insert 1 10 a\nreplace 1 10 b\nreplace 1 10 c"))])
    assert shown(state) == ["c"]


def test_a_deleted_fact_can_be_inserted_again() -> None:
    state = replay(stream(), [Step(rows("insert 1 10 a\ndelete 1 10 -\ninsert 1 10 b"))])
    assert shown(state) == ["b"]
    assert left_over(state) == []


def test_a_negative_waits_for_its_positive() -> None:
    insert, delete = rows("insert 1 10 a\ndelete 1 10 -")
    state = admit(begin(stream()), Step((delete,)))
    assert (shown(state), offsets(state.pending)) == ([], [2])
    state = admit(state, Step((insert,)))
    assert (shown(state), offsets(state.pending)) == ([], [])
    assert offsets(state.contributing) == [1, 2]


def test_a_negative_that_precedes_the_insert_in_the_source_is_not_about_it() -> None:
    state = replay(stream(), [Step(rows("delete 1 10 -\ninsert 1 10 a"))])
    assert (shown(state), offsets(state.pending)) == (["a"], [1])


def test_a_negative_is_left_over_once_its_positive_can_no_longer_be_accepted() -> None:
    state = replay(stream(retain_us=5), [Step(rows("delete 1 10 -"))])
    assert offsets(state.pending) == [1]
    on_the_horizon = admit(state, Step(advance=15))
    assert on_the_horizon.frontier["at"].horizon == 9
    assert offsets(on_the_horizon.pending) == [1]
    past_it = admit(on_the_horizon, Step(advance=16))
    assert (offsets(past_it.pending), left_over(past_it)) == ([], [(1, "no-positive")])


def test_a_negative_names_the_time_of_its_fact_too() -> None:
    state = replay(stream(key=("id",)), [Step(rows("insert 1 10 a\ndelete 1 20 -"))])
    assert (shown(state), offsets(state.pending)) == (["a"], [2])


@pytest.mark.parametrize("late_first", [False, True])
def test_of_two_facts_with_one_key_the_first_in_the_source_stays(late_first: bool) -> None:
    first, second = rows("insert 1 10 a\ninsert 1 12 b")
    steps = [Step((first,)), Step((second,))]
    declaration = stream(key=("id",), retain_us=100)
    state = replay(declaration, reversed(steps) if late_first else steps)
    assert (shown(state), left_over(state)) == (["a"], [(2, "duplicate-key")])


def test_a_key_is_unique_among_the_facts_above_the_horizon_only() -> None:
    declaration = stream(key=("id",), retain_us=0)
    state = replay(declaration, [Step(rows("insert 1 10 a"), advance=11)])
    assert state.frontier["at"].horizon == 10
    assert shown(admit(state, Step(rows("insert 1 11 b", 2)))) == ["a", "b"]


def test_a_duplicate_stays_one_when_its_rival_is_forgotten() -> None:
    declaration = stream(key=("id",), retain_us=0)
    state = replay(declaration, [Step(rows("insert 1 10 a\ninsert 1 20 b")), Step(advance=15)])
    assert (shown(state), left_over(state)) == (["a"], [(2, "duplicate-key")])


def test_a_duplicate_counts_once_its_rival_is_deleted_in_time() -> None:
    late, correction, right = rows("insert 1 10 a\ndelete 1 10 -\ninsert 1 8 b")
    declaration = stream(key=("id",))
    state = replay(declaration, [Step((right,)), Step((late,))])
    assert (shown(state), left_over(state)) == (["a"], [(3, "duplicate-key")])
    state = admit(state, Step((correction,)))
    assert (shown(state), left_over(state)) == (["b"], [])


def test_what_a_duplicate_was_replaced_by_waits_for_its_fact() -> None:
    state = replay(
        stream(key=("id",)), [Step(rows("insert 1 10 a\ninsert 1 12 b\nreplace 1 12 c"))]
    )
    assert (shown(state), left_over(state)) == (["a"], [(2, "duplicate-key")])
    assert offsets(state.pending) == [3]


# Lateness


def test_a_row_is_late_by_the_frontier_before_its_step() -> None:
    declaration = stream(late=Late.QUARANTINE)
    together = replay(declaration, [Step(rows("insert 1 20 a\ninsert 1 10 b"))])
    assert shown(together) == ["b", "a"]
    apart = replay(declaration, [Step(rows("insert 1 20 a")), Step(rows("insert 1 10 b", 2))])
    assert (shown(apart), left_over(apart)) == (["a"], [(2, "late")])


def test_quarantine_refuses_a_row_at_the_progress() -> None:
    declaration = stream(late=Late.QUARANTINE, retain_us=1000)
    state = replay(declaration, [Step(rows("insert 1 20 a")), Step(rows("insert 1 19 b", 2))])
    assert state.frontier["at"].progress == 19
    assert left_over(state) == [(2, "late")]
    assert shown(admit(state, Step(rows("insert 2 20 c", 3)))) == ["a", "c"]


def test_a_late_row_above_the_horizon_revises() -> None:
    steps = [Step(rows("insert 1 20 a")), Step(rows("insert 1 15 b\ninsert 1 14 c", 2))]
    state = replay(stream(retain_us=5), steps)
    assert (shown(state), left_over(state)) == (["b", "a"], [(3, "late")])


def test_a_row_must_be_above_every_horizon() -> None:
    two = Schema((Column("id", BIGINT), Column("made", TIMESTAMP), Column("paid", TIMESTAMP)))
    declaration = StreamDeclaration("s", two, promises=(Promise("made"), Promise("paid", 10)))
    state = replay(
        declaration,
        [
            Step((Arrival(Op.INSERT, (1, 100, 100), 1),)),
            Step((Arrival(Op.INSERT, (2, 100, 89), 2), Arrival(Op.INSERT, (3, 99, 100), 3))),
            Step((Arrival(Op.INSERT, (4, 100, 90), 4),)),
        ],
    )
    assert [change.row[0] for change in state.accepted] == [1, 4]
    assert left_over(state) == [(2, "late"), (3, "late")]


def test_a_row_beyond_the_clock_moves_no_frontier() -> None:
    declaration = stream(not_beyond_us=5)
    state = replay(declaration, [Step(rows("insert 1 105 a\ninsert 1 106 b"), clock=100)])
    assert (shown(state), left_over(state)) == (["a"], [(2, "beyond")])
    assert state.frontier["at"].newest == 105


def test_a_limit_by_the_clock_needs_a_clock() -> None:
    with pytest.raises(QueryError, match="clock-needed"):
        replay(stream(not_beyond_us=5), [Step(rows("insert 1 105 a"))])


# Rows that cannot count


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ((1, None, "a"), Reason.NULL_TIME),
        ((None, 10, "a"), Reason.NULL_KEY),
        ((1, 10, 3), Reason.MALFORMED),
        (("x", 10, "a"), Reason.MALFORMED),
        ((1, 10), Reason.MALFORMED),
        ((1, INF, "a"), Reason.MALFORMED),
        ((1, NEG_INF, "a"), Reason.MALFORMED),
    ],
)
@pytest.mark.parametrize("declaration", [stream(), table()], ids=["stream", "table"])
def test_a_row_that_cannot_count_is_left_over_with_its_reason(
    declaration: StreamDeclaration | TableDeclaration, row: tuple[object, ...], reason: Reason
) -> None:
    arrival = Arrival(default_op(declaration), row, 1)
    state = replay(declaration, [Step((arrival,))])
    assert left_over(state) == [(1, reason.value)]
    assert state.frontier["at"].newest == NEG_INF


def test_null_is_refused_where_the_schema_does_not_allow_it() -> None:
    columns = Schema((Column("id", BIGINT), Column("v", STRING, nullable=False)))
    state = replay(StreamDeclaration("s", columns), [Step((Arrival(Op.INSERT, (1, None), 1),))])
    assert left_over(state) == [(1, "malformed")]


def test_a_negative_needs_its_key_and_time_only() -> None:
    columns = Schema((*COLUMNS.columns[:2], Column("v", STRING, nullable=False)))
    declaration = TableDeclaration("t", columns, ("id",), time="at")
    steps = [Step((Arrival(Op.UPSERT, (1, 10, "a"), 1), Arrival(Op.END, (1, 20, None), 2)))]
    assert shown(replay(declaration, steps)) == ["a [10, 20)"]


@pytest.mark.parametrize("op", [None, Op.UPSERT, Op.END])
def test_an_operation_that_a_stream_does_not_take_is_left_over(op: Op | None) -> None:
    state = replay(stream(), [Step((Arrival(op, (1, 10, "a"), 1),))])
    assert left_over(state) == [(1, "unknown-op")]


def test_an_append_only_stream_takes_inserts_only() -> None:
    state = replay(stream(append_only=True), [Step(rows("insert 1 10 a\ndelete 1 10 -"))])
    assert (shown(state), left_over(state)) == (["a"], [(2, "unknown-op")])


def test_the_operation_is_no_column_of_the_fact() -> None:
    columns = schema(op="STRING", id="BIGINT", v="STRING")
    declaration = StreamDeclaration("s", columns, ("id",), op="op", append_only=False)
    state = replay(declaration, [Step((Arrival(Op.INSERT, ("insert", 1, "a"), 1),))])
    assert state.accepted == (fact((1, "a")),)


# Words


@pytest.mark.parametrize(
    ("word", "of_a_stream", "of_a_table", "of_spark"),
    [
        ("insert", Op.INSERT, Op.UPSERT, Op.UPSERT),
        ("delete", Op.DELETE, Op.DELETE, Op.END),
        ("replace", Op.REPLACE, Op.REPLACE, None),
        (" Upsert ", Op.UPSERT, Op.UPSERT, None),
        ("END", Op.END, Op.END, None),
        ("update_preimage", Op.DELETE, Op.END, Op.END),
        ("update_postimage", Op.INSERT, Op.UPSERT, Op.UPSERT),
        ("+I", Op.INSERT, Op.UPSERT, Op.UPSERT),
        ("-U", Op.DELETE, Op.END, Op.END),
        ("+U", Op.INSERT, Op.UPSERT, Op.UPSERT),
        ("-D", Op.DELETE, Op.END, Op.END),
        ("u", Op.REPLACE, Op.UPSERT, Op.UPSERT),
        ("I", Op.INSERT, Op.UPSERT, Op.UPSERT),
        ("U", Op.REPLACE, Op.UPSERT, Op.UPSERT),
        ("D", Op.DELETE, Op.END, Op.END),
        ("UPDATE", Op.REPLACE, Op.UPSERT, Op.UPSERT),
        ("merge", None, None, None),
        (None, None, None, None),
    ],
)
def test_the_words_for_operations(
    word: str | None, of_a_stream: Op | None, of_a_table: Op | None, of_spark: Op | None
) -> None:
    columns = Schema((*COLUMNS.columns, Column("_change_type", STRING)))
    from_spark = TableDeclaration("t", columns, ("id",), time="at", op="_change_type")
    assert read_op(stream(), word) is of_a_stream
    assert read_op(table(), word) is of_a_table
    assert read_op(from_spark, word) is of_spark


def test_a_static_table_takes_rows_as_they_are() -> None:
    declaration = TableDeclaration("t", COLUMNS, ("id",))
    assert allowed_ops(declaration) == {Op.INSERT}
    state = replay(declaration, [Step(rows("insert 1 10 a\ninsert 1 11 b\ninsert 2 12 c"))])
    assert (shown(state), left_over(state)) == (["a", "c"], [(2, "duplicate-key")])
