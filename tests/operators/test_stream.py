"""Stream: the facts of a stream, the same at every instant."""

from ebbtide.algebra import Kind, Stream, kind
from ebbtide.core.declaration import StreamDeclaration
from ebbtide.core.schema import schema
from ebbtide.core.time import NEG_INF
from ebbtide.testing import answer

BIDS = Stream(StreamDeclaration("bids", schema(auction="INT", at="TIMESTAMP")))


def test_a_fact_holds_at_every_instant() -> None:
    got = answer(BIDS, {"bids": "auction | at\n1 | 5\n1 | 5"})
    assert got.ticks == []
    assert got.at(NEG_INF) == got.at(5) == [(1, 5), (1, 5)]
    assert kind(BIDS) is Kind.FACT


def test_a_deleted_fact_never_was() -> None:
    got = answer(BIDS, {"bids": "diff | auction | at\n+1 | 1 | 5\n+1 | 2 | 6\n-1 | 1 | 5"})
    assert got.at(0) == [(2, 6)]


def test_a_replaced_fact_had_other_values() -> None:
    got = answer(BIDS, {"bids": "diff | auction | at\n+1 | 1 | 5\n-1 | 1 | 5\n+1 | 2 | 5"})
    assert got.at(0) == [(2, 5)]


def test_the_operation_is_no_column_of_a_fact() -> None:
    columns = schema(id="INT", what="STRING")
    keyed = StreamDeclaration("s", columns, key=("id",), op="what", append_only=False)
    assert Stream(keyed).schema.names == ("id",)
