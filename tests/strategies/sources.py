"""Sources to build random plans over, and data for them.

bids     a stream with duplicates
clicks   a stream with a key and two times, one of which may be missing
prices   a changing table with a key
shops    a static table
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from hypothesis import strategies as st

from ebbtide.algebra.relation import ChangingTable, StaticTable, Stream
from ebbtide.core.change import Change
from ebbtide.core.declaration import Promise, StreamDeclaration, TableDeclaration
from ebbtide.core.schema import Column, Schema
from ebbtide.core.types import BIGINT, DOUBLE, STRING, TIMESTAMP
from strategies.relations import facts, relations

Source: TypeAlias = Stream | StaticTable | ChangingTable

BIDS = Stream(
    StreamDeclaration(
        "bids",
        Schema(
            (
                Column("auction", BIGINT, False),
                Column("price", BIGINT),
                Column("at", TIMESTAMP, False),
            )
        ),
        promises=(Promise("at", 5),),
        retain_us=20,
    )
)
CLICKS = Stream(
    StreamDeclaration(
        "clicks",
        Schema(
            (
                Column("auction", BIGINT),
                Column("word", STRING),
                Column("at", TIMESTAMP, False),
                Column("seen", TIMESTAMP),
            )
        ),
        key=("auction", "at"),
        promises=(Promise("at", 3),),
        append_only=False,
    )
)
PRICES = ChangingTable(
    TableDeclaration(
        "prices",
        Schema(
            (
                Column("auction", BIGINT, False),
                Column("amount", DOUBLE),
                Column("since", TIMESTAMP, False),
            )
        ),
        key=("auction",),
        time="since",
    )
)
SHOPS = StaticTable(
    TableDeclaration("shops", Schema((Column("auction", BIGINT), Column("name", STRING))))
)

SOURCES: tuple[Source, ...] = (BIDS, CLICKS, PRICES, SHOPS)


def inputs(
    sources: Sequence[Source] = SOURCES, max_changes: int = 8, negatives: bool = True
) -> st.SearchStrategy[dict[str, tuple[Change, ...]]]:
    """Accepted input for the sources, by name, as their declarations promise it."""
    return st.fixed_dictionaries(
        {source.declaration.name: _data(source, max_changes, negatives) for source in sources}
    )


def _data(
    source: Source, max_changes: int, negatives: bool
) -> st.SearchStrategy[tuple[Change, ...]]:
    match source:
        case Stream(declaration=stream):
            revised = negatives and not stream.append_only
            return facts(source.schema, max_changes, stream.key, revised)
        case StaticTable(declaration=table):
            return facts(source.schema, max_changes, table.key)
        case ChangingTable(declaration=table):
            return relations(source.schema, max_changes, table.key, table.time, negatives)
