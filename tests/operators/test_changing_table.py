"""ChangingTable: the versions of a table's rows that are valid at the instant."""

from ebbtide.algebra import ChangingTable, Kind, kind
from ebbtide.core.declaration import TableDeclaration
from ebbtide.core.schema import schema
from ebbtide.testing import answer

PRICES = ChangingTable(
    TableDeclaration(
        "prices",
        schema(item="INT", price="INT", since="TIMESTAMP"),
        key=("item",),
        time="since",
    )
)


def test_an_upsert_ends_a_version_and_begins_another() -> None:
    """
    item 1   |== 10 ==|== 20 =====...
             0        5
    """
    got = answer(
        PRICES,
        {
            "prices": """
                time     | diff | item | price | since
                [0, inf) | +1   | 1    | 10    | 0
                [5, inf) | -1   | 1    | 10    | 0
                [5, inf) | +1   | 1    | 20    | 5
            """
        },
    )
    assert got.around(0) == ([], [(1, 10, 0)])
    assert got.around(5) == ([(1, 10, 0)], [(1, 20, 5)])
    assert kind(PRICES) is Kind.SNAPSHOT


def test_an_end_and_a_delete() -> None:
    """An end leaves the past alone, a delete does not."""
    version = "time | diff | item | price | since\n[0, inf) | +1 | 1 | 10 | 0\n"
    ended = answer(PRICES, {"prices": version + "[7, inf) | -1 | 1 | 10 | 0"})
    deleted = answer(PRICES, {"prices": version + "[0, inf) | -1 | 1 | 10 | 0"})
    assert ended.around(7) == ([(1, 10, 0)], [])
    assert deleted.changes == ()
