"""Candidate keys and classes of monotonicity, operator by operator."""

import pytest

from analysed import World

WORLD = World(
    """
    CREATE STREAM bids (auction BIGINT NOT NULL, bidder BIGINT NOT NULL, price DOUBLE,
      at TIMESTAMP NOT NULL, PRIMARY KEY (auction, bidder, at), PROGRESS FOR at AS at) APPEND ONLY;
    CREATE STREAM revised (id BIGINT NOT NULL, at TIMESTAMP NOT NULL, op STRING,
      PRIMARY KEY (id), PROGRESS FOR at AS at) OP op;
    CREATE TABLE auctions (id BIGINT NOT NULL, seller BIGINT, PRIMARY KEY (id));
    CREATE TABLE sellers (id BIGINT NOT NULL, name STRING, since TIMESTAMP NOT NULL,
      PRIMARY KEY (id), PROGRESS FOR since AS since) TIME since;
    """
)

KEYS = {
    "SELECT * FROM bids": ("auction", "bidder", "at"),
    "SELECT auction, price FROM bids": None,
    "SELECT bidder, at FROM bids WHERE auction = 7": ("bidder", "at"),
    "SELECT DISTINCT auction FROM bids": ("auction",),
    "SELECT auction, COUNT(*) AS n FROM bids GROUP BY auction": ("auction",),
    "SELECT COUNT(*) AS n FROM bids": (),
    # a join on the other side's key keeps this side's; without it keys are put together
    "SELECT b.auction, b.bidder, b.at, a.seller FROM bids b JOIN auctions a ON a.id = b.auction": (
        "auction", "bidder", "at"
    ),
    # a left row has one nearest row at most
    "SELECT b.auction, b.bidder, b.at, x.price FROM bids [RANGE 1 MINUTE] b "
    "ASOF JOIN bids [RANGE 1 MINUTE] x ON b.at >= x.at": ("auction", "bidder", "at"),
    "SELECT a.id, x.id AS other FROM auctions a, auctions x": ("id", "other"),
    "SELECT id, seller FROM auctions UNION ALL SELECT id, seller FROM auctions": None,
    "SELECT id, 1 AS tag FROM auctions UNION ALL SELECT id, 2 AS tag FROM auctions": ("id", "tag"),
    "SELECT auction, bidder, at, window_start FROM HOP(bids, at, 1 MINUTE, 5 MINUTES)": (
        "auction", "bidder", "at", "window_start"
    ),
}  # fmt: skip

CLASSES = {
    "SELECT * FROM bids": "monotonic",
    "SELECT * FROM revised": "strict non-monotonic",
    "SELECT * FROM auctions": "monotonic",
    "SELECT auction FROM bids [RANGE 1 MINUTE]": "weakest non-monotonic",
    "SELECT auction FROM bids [NOW]": "weakest non-monotonic",
    "SELECT auction FROM bids [FIXED 1 MINUTE]": "weak non-monotonic",
    "SELECT auction FROM bids [UNBOUNDED]": "monotonic",
    "SELECT auction FROM bids [ROWS 5]": "strict non-monotonic",
    "SELECT auction FROM bids [SESSION 1 MINUTE]": "weak non-monotonic",
    "SELECT b.at, x.price FROM bids [RANGE 1 MINUTE] b "
    "ASOF JOIN bids [RANGE 1 MINUTE] x ON b.at >= x.at": "strict non-monotonic",
    "SELECT DISTINCT auction FROM bids [RANGE 1 MINUTE]": "weak non-monotonic",
    "SELECT b.auction FROM bids [RANGE 1 MINUTE] b JOIN auctions a ON a.id = b.auction": (
        "weakest non-monotonic"
    ),
    "SELECT b.auction FROM bids [RANGE 1 MINUTE] b JOIN sellers s ON s.id = b.bidder": (
        "strict non-monotonic"
    ),
    "SELECT auction, COUNT(*) AS n FROM bids [RANGE 1 MINUTE] GROUP BY auction": (
        "strict non-monotonic"
    ),
    # what stands against something static is not ended by it
    "SELECT auction FROM bids [RANGE 1 MINUTE] EXCEPT SELECT id FROM auctions": (
        "weak non-monotonic"
    ),
    "SELECT b.auction, a.seller FROM bids b LEFT JOIN auctions a ON a.id = b.auction": "monotonic",
    "SELECT id FROM auctions EXCEPT SELECT auction FROM bids": "strict non-monotonic",
    "SELECT id FROM sellers": "strict non-monotonic",
}  # fmt: skip


@pytest.mark.parametrize("sql", KEYS)
def test_the_smallest_key(sql: str) -> None:
    assert WORLD.analysed(sql).key == KEYS[sql]


@pytest.mark.parametrize("sql", CLASSES)
def test_the_class(sql: str) -> None:
    monotonicity = WORLD.analysed(sql).monotonicity
    assert str(monotonicity.value) == CLASSES[sql]
    assert monotonicity.has_negatives == (CLASSES[sql] == "strict non-monotonic")
    assert monotonicity.reason
