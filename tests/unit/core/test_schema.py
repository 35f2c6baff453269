"""Columns, schemas, and what a declaration promises about an input."""

import pytest

from ebbtide.core.declaration import Promise, StreamDeclaration, TableDeclaration
from ebbtide.core.schema import Column, Schema, schema
from ebbtide.core.types import BIGINT, DOUBLE, STRING, TIMESTAMP
from ebbtide.errors import InternalError, QueryError

BIDS = schema(auction="BIGINT", price="DOUBLE", at="TIMESTAMP")


def test_a_schema_is_a_sequence_of_columns() -> None:
    assert len(BIDS) == 3
    assert BIDS[1] == Column("price", DOUBLE)
    assert [column.name for column in BIDS] == list(BIDS.names) == ["auction", "price", "at"]
    assert str(BIDS) == "auction BIGINT, price DOUBLE, at TIMESTAMP"
    assert schema(auction=BIGINT, price=DOUBLE, at=TIMESTAMP) == BIDS


def test_names_keep_their_case_and_are_found_in_any() -> None:
    columns = schema(Price="DOUBLE")
    assert columns.column("PRICE").name == "Price"
    assert columns.position("price") == 0


def test_a_name_can_have_its_table() -> None:
    joined = BIDS.qualified("b") + schema(auction="BIGINT", name="STRING").qualified("a")
    assert str(joined.column("a.auction")) == "a.auction"
    assert joined.column("auction", "B") == joined[0]
    assert joined.position("name") == 4
    assert [str(column) for column in joined.matches("auction")] == ["b.auction", "a.auction"]


def test_an_ambiguous_name_says_how_to_write_it() -> None:
    joined = BIDS.qualified("b") + BIDS.qualified("c")
    with pytest.raises(QueryError, match="ambiguous-column") as caught:
        joined.column("price")
    assert caught.value.hint == "write b.price"
    assert joined.column("b.price") == joined[1]


@pytest.mark.parametrize("name", ["prise", "x.price", ""])
def test_an_unknown_name_says_what_there_is(name: str) -> None:
    with pytest.raises(QueryError, match="unknown-column") as caught:
        BIDS.column(name)
    assert caught.value.detail == "auction, price, at"


def test_two_columns_of_a_schema_differ_in_name_or_table() -> None:
    for columns in (BIDS.columns * 2, (Column("a", BIGINT), Column("A", STRING))):
        with pytest.raises(QueryError, match="duplicate-column"):
            Schema(columns)
    assert len(BIDS + BIDS.qualified("b")) == 6


def test_a_column_is_found_by_name_and_table_whatever_its_type() -> None:
    assert BIDS.index(Column("PRICE", STRING, nullable=False)) == 1
    with pytest.raises(InternalError, match="no-such-column"):
        BIDS.index(Column("price", DOUBLE, table="b"))


def test_a_schema_admits_rows_of_its_types() -> None:
    strict = Schema((Column("a", BIGINT, nullable=False), Column("b", STRING)))
    assert strict.admits((1, None))
    assert not strict.admits((None, "x"))
    assert not strict.admits((1, 2))
    assert not strict.admits((1,))
    assert strict.as_nullable().admits((None, "x"))


# Declarations


def test_the_first_progressing_attribute_is_the_time_of_a_stream() -> None:
    columns = schema(made="TIMESTAMP", paid="TIMESTAMP")
    promises = (Promise("paid", 5), Promise("made"))
    assert StreamDeclaration("s", columns, promises=promises).time == "paid"
    assert StreamDeclaration("s", columns).time is None


def test_operation_and_sequence_are_no_columns_of_the_table() -> None:
    columns = schema(op="STRING", id="BIGINT", at="TIMESTAMP", n="BIGINT", v="DOUBLE")
    table = TableDeclaration("t", columns, ("id",), time="at", op="OP", sequence="n")
    assert table.row_schema.names == ("id", "at", "v")
    assert not table.static
    assert StreamDeclaration("s", columns, op="op").row_schema.names == ("id", "at", "n", "v")
    assert TableDeclaration("t", columns).static


@pytest.mark.parametrize(
    ("declare", "code"),
    [
        (lambda: StreamDeclaration("s", BIDS, key=("id",)), "unknown-column"),
        (lambda: StreamDeclaration("s", BIDS, promises=(Promise("price"),)), "not-a-time"),
        (lambda: StreamDeclaration("s", BIDS, promises=(Promise("at", -1),)), "negative-delay"),
        (lambda: StreamDeclaration("s", BIDS, append_only=False), "key-needed"),
        (lambda: TableDeclaration("t", BIDS, time="at"), "key-needed"),
        (lambda: TableDeclaration("t", BIDS, ("auction",), time="price"), "not-a-time"),
    ],
)
def test_what_cannot_be_declared(declare: object, code: str) -> None:
    with pytest.raises(QueryError, match=code):
        declare()  # type: ignore[operator]
