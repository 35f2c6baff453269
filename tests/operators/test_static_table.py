"""StaticTable: the rows of a table that holds at every instant as it is."""

from ebbtide.algebra import Kind, StaticTable, kind
from ebbtide.core.declaration import TableDeclaration
from ebbtide.core.schema import schema
from ebbtide.core.time import NEG_INF
from ebbtide.testing import answer

SHOPS = StaticTable(TableDeclaration("shops", schema(id="INT", name="STRING")))


def test_a_static_table_holds_at_every_instant() -> None:
    got = answer(SHOPS, {"shops": "id | name\n1 | 'a'\n2 | NULL"})
    assert got.ticks == []
    assert got.at(NEG_INF) == got.at(10**18) == [(1, "a"), (2, None)]


def test_a_static_table_fits_facts_and_snapshots() -> None:
    assert kind(SHOPS) is Kind.STATIC
