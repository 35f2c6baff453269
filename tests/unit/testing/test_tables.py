"""Changes and rows as text: what is read, what is written, and what is refused, underlined."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.core.change import Change, fact
from ebbtide.core.schema import schema
from ebbtide.core.time import INF, NEG_INF, instant
from ebbtide.errors import ParseError
from ebbtide.testing import changes_from_text, changes_to_text, rows_to_text
from strategies import intervals, rows, schemas

BIDS = schema(auction="BIGINT", price="DOUBLE")


def test_a_table_of_changes_is_read() -> None:
    table = """
        time     | diff | auction | price
        [0, 10)  | +1   | 1       | 5.0
        [5, inf) | -1   | 1       | 5
    """
    assert changes_from_text(table, BIDS) == (
        Change((1, 5.0), 0, 10, 1),
        Change((1, 5.0), 5, INF, -1),
    )


def test_rows_alone_are_facts() -> None:
    table = """
        auction | price
        1       | NULL
    """
    assert changes_from_text(table, BIDS) == (fact((1, None)),)


def test_always_rules_comments_and_times_of_day() -> None:
    table = """
        time                                    | auction | price
        ----------------------------------------+---------+------
        # the first minute of the year
        [2026-01-01 00:00:00, 2026-01-01 00:01) | 1       | nan
        always                                  | 2       | inf
        [-inf, 0)                               | 3       | 1e3
    """
    first, second, third = changes_from_text(table, BIDS)
    assert (first.valid_from, first.valid_to) == (
        instant("2026-01-01 00:00:00"),
        instant("2026-01-01 00:01:00"),
    )
    assert second == fact((2, float("inf")))
    assert third == Change((3, 1000.0), NEG_INF, 0)


def test_an_empty_table_has_no_changes() -> None:
    assert changes_from_text("", BIDS) == ()
    assert changes_from_text("time | diff | auction | price", BIDS) == ()


def test_cells_of_every_type() -> None:
    kinds = schema(
        a="BOOLEAN",
        b="DECIMAL(5, 2)",
        c="STRING",
        d="BINARY",
        e="DATE",
        f="TIMESTAMP",
        g="INTERVAL DAY TO SECOND",
        h="ARRAY<STRING>",
        i="STRUCT<x: INT, y: STRING>",
    )
    table = """
        a    | b   | c           | d       | e          | f | g         | h           | i
        true | 2.5 | 'it''s a|b' | X'00ff' | 2026-01-01 | 7 | 2 SECONDS | ['a', NULL] | (1, 'b,c')
        NULL | 1   | bare        | X''     | NULL       | 1 | 5         | []          | NULL
    """
    first, second = changes_from_text(table, kinds)
    assert first.row[:4] == (True, Decimal("2.50"), "it's a|b", b"\x00\xff")
    assert first.row[5:] == (7, 2_000_000, ("a", None), (1, "b,c"))
    assert second.row[2] == "bare"
    assert second.row[6:] == (5, (), None)


def test_what_is_written_is_aligned() -> None:
    changes = [Change((1, 5.0), 0, 10), Change((20, None), 5, INF, -2), fact((3, 0.5))]
    assert changes_to_text(changes, BIDS) == (
        "time     | diff | auction | price\n"
        "[0, 10)  | +1   | 1       | 5.0\n"
        "[5, inf) | -2   | 20      | NULL\n"
        "always   | +1   | 3       | 0.5"
    )


def test_times_a_second_or_more_from_zero_are_written_as_times_of_day() -> None:
    start = instant("2026-01-01 00:00:00")
    text = changes_to_text([Change((1, None), start, start + 1_500_000)], BIDS)
    assert "[2026-01-01 00:00:00, 2026-01-01 00:00:01.500000)" in text


def test_rows_are_written_sorted_and_as_often_as_they_occur() -> None:
    assert rows_to_text([(2, 1.0), (1, None), (2, 1.0)], BIDS) == (
        "auction | price\n1       | NULL\n2       | 1.0\n2       | 1.0"
    )


@given(st.data())
def test_reading_what_was_written_gives_the_same(data: st.DataObject) -> None:
    columns = data.draw(schemas())
    change = st.builds(
        lambda row, over, diff: Change(row, over.valid_from, over.valid_to, diff),
        rows(columns, few=False),
        intervals(),
        st.sampled_from([1, -1, 2]),
    )
    changes = tuple(data.draw(st.lists(change, max_size=4)))
    assert changes_from_text(changes_to_text(changes, columns), columns) == changes


@pytest.mark.parametrize(
    ("table", "underlined"),
    [
        ("time | diff | auction | price\n[0, 5) | +1 | one | 2.0", "one"),
        ("time | diff | auction | price\n[5, 5) | +1 | 1 | 2.0", "[5, 5)"),
        ("time | diff | auction | price\n5 | +1 | 1 | 2.0", "5"),
        ("time | diff | auction | price\n[0, x) | +1 | 1 | 2.0", "[0, x)"),
        ("time | diff | auction | price\n[0, 5) | 0 | 1 | 2.0", "0"),
        ("time | diff | auction | cost\n[0, 5) | +1 | 1 | 2.0", "cost"),
        ("when | diff | auction | price\n[0, 5) | +1 | 1 | 2.0", "when"),
        ("auction\n1", "auction"),
        ("auction | price\n1", "1"),
        ("auction | price\n'1 | 2", "'1 | 2"),
    ],
)
def test_what_cannot_be_read_is_underlined(table: str, underlined: str) -> None:
    with pytest.raises(ParseError) as caught:
        changes_from_text(table, BIDS)
    assert caught.value.code == "bad-table"
    assert caught.value.span is not None
    assert caught.value.span.text == underlined
