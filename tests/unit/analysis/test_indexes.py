"""Which indexes the state of a stored input needs, and why not the others."""

import pytest

from analysed import World
from ebbtide.analysis import Analysis

WORLD = World(
    """
    CREATE STREAM bids (auction BIGINT, bidder BIGINT, price DOUBLE, at TIMESTAMP NOT NULL,
      PROGRESS FOR at AS at - INTERVAL 5 SECONDS) RETAIN 1 DAY;
    CREATE STREAM orders (id BIGINT, at TIMESTAMP NOT NULL, due TIMESTAMP NOT NULL,
      PRIMARY KEY (id), PROGRESS FOR at AS at) RETAIN 1 HOUR;
    CREATE TABLE people (id BIGINT NOT NULL, name STRING, at TIMESTAMP NOT NULL,
      PRIMARY KEY (id), PROGRESS FOR at AS at) TIME at;
    CREATE TABLE kinds (id BIGINT, kind STRING, PRIMARY KEY (id));
    """
)
HOUR = "[RANGE 1 HOUR]"


def indexes(analysis: Analysis) -> list[str]:
    """What each store of an operator is found by, the root's first."""
    operators = (node for node in analysis.nodes() if node.inputs)
    return [str(store.indexes) for node in operators for store in node.stores]


@pytest.mark.parametrize(
    ("window", "found_by"),
    [
        ("[RANGE 1 HOUR]", "by key (auction), to"),
        ("[FIXED 1 HOUR]", "by key (auction), to"),
        # A row may begin at a point of the grid that now has yet to reach.
        ("[RANGE 1 HOUR SLIDE 1 MINUTE]", "by key (auction), to, from"),
        ("[UNBOUNDED]", "by key (auction)"),
        # The rows that follow end a row: negatives come.  Where a row begins is not followed up.
        ("[ROWS 10]", "by key (auction), to, from, row"),
    ],
)
def test_the_class_of_an_input_decides(window: str, found_by: str) -> None:
    query = WORLD.analysed(f"SELECT DISTINCT auction FROM bids {window}")
    assert indexes(query)[0] == found_by


def test_a_stream_whose_facts_can_be_deleted_needs_an_index_by_row() -> None:
    assert indexes(WORLD.analysed(f"SELECT DISTINCT id FROM orders {HOUR}")) == [
        "by key (id), to, row"
    ]


def test_a_window_on_a_time_that_does_not_progress_may_lie_ahead() -> None:
    query = WORLD.analysed("SELECT DISTINCT id FROM orders [RANGE 1 HOUR ON due]")
    assert indexes(query) == ["by key (id), to, from, row"]


def test_an_aggregate_is_led_back_by_changes_in_the_past() -> None:
    query = WORLD.analysed(f"SELECT auction, SUM(price) AS s FROM bids {HOUR} GROUP BY auction")
    assert indexes(query) == ["by key (bids.auction), to, from"]


def test_a_group_of_all_rows_has_no_key() -> None:
    assert indexes(WORLD.analysed(f"SELECT COUNT(*) AS n FROM bids {HOUR}")) == ["by to, from"]


@pytest.mark.parametrize(
    ("left", "right", "found_by"),
    [
        (HOUR, HOUR, ["to, from, row", "to, from"]),
        # What never ends meets all that begins later.
        (HOUR, "[UNBOUNDED]", ["to, row", "from"]),
        ("[UNBOUNDED]", "[UNBOUNDED]", ["to, row", "from"]),
    ],
)
def test_the_other_side_of_a_join_decides_too(left: str, right: str, found_by: list[str]) -> None:
    query = WORLD.analysed(
        f"SELECT o.id, b.price FROM orders {left} o JOIN bids {right} b ON o.id = b.auction"
    )
    keys = ("o.id", "b.auction")
    assert indexes(query) == [
        f"by key ({k}), {more}" for k, more in zip(keys, found_by, strict=True)
    ]


def test_a_static_table_is_found_by_its_key_alone() -> None:
    query = WORLD.analysed(
        f"SELECT b.price, k.kind FROM bids {HOUR} b JOIN kinds k ON b.auction = k.id"
    )
    assert indexes(query) == ["by key (k.id)"]


def test_without_an_equality_every_row_of_a_table_is_read() -> None:
    query = WORLD.analysed(
        f"SELECT b.price, k.kind FROM bids {HOUR} b JOIN kinds k ON b.auction > k.id"
    )
    assert indexes(query) == ["none: all rows are read"]


def test_a_left_join_finds_partners_of_partners() -> None:
    query = WORLD.analysed(
        f"SELECT b.price, p.name FROM bids {HOUR} b LEFT JOIN people p ON b.bidder = p.id"
    )
    assert indexes(query) == ["by key (b.bidder), to, from", "by key (p.id), to, from, row"]


def test_facts_are_found_by_the_times_that_they_are_judged_by() -> None:
    query = WORLD.analysed(
        "SELECT o.id, b.price FROM orders o JOIN bids b ON o.id = b.auction "
        "AND b.at BETWEEN o.at AND o.at + INTERVAL 1 HOUR"
    )
    assert indexes(query) == ["by key (o.id), o.at, row", "by key (b.auction), b.at"]


@pytest.mark.parametrize(
    ("source", "found_by"),
    [
        ("bids [PARTITION BY auction ROWS 10]", "by key (auction), at, row"),
        ("SESSION(bids PARTITION BY auction, at, 10 SECONDS)", "by key (auction), at, row"),
    ],
)
def test_facts_that_find_their_places_among_others_are_rewritten(
    source: str, found_by: str
) -> None:
    assert indexes(WORLD.analysed(f"SELECT price FROM {source}")) == [found_by]


def test_what_waits_to_be_final_is_found_by_the_time_at_which_it_passes() -> None:
    query = WORLD.analysed("SELECT id, at FROM orders EMIT FINAL")
    assert [str(store.indexes) for store in query.held] == ["by at, row"]
