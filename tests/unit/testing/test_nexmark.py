"""Nexmark's events: from a seed, in the proportions that the benchmark has."""

from itertools import pairwise

from ebbtide.bench.nexmark.events import Nexmark
from ebbtide.core.time import SECOND

COUNT = 20_000
TABLES = Nexmark(seed=3).tables(COUNT)
PERSON, AUCTION, BID = (TABLES[name].to_pydict() for name in ("person", "auction", "bid"))


def test_equal_seeds_give_equal_events() -> None:
    assert Nexmark(seed=3).tables(COUNT) == TABLES
    assert Nexmark(seed=4).tables(COUNT) != TABLES


def test_proportions() -> None:
    counts = {name: TABLES[name].num_rows for name in ("person", "auction", "bid")}
    assert counts == {"person": COUNT // 50, "auction": 3 * COUNT // 50, "bid": 46 * COUNT // 50}


def test_ids_count_from_1000() -> None:
    assert PERSON["id"] == list(range(1000, 1000 + COUNT // 50))
    assert AUCTION["id"] == list(range(1000, 1000 + 3 * COUNT // 50))


def test_what_is_named_is_there_already() -> None:
    born = dict(zip(PERSON["id"], PERSON["date_time"], strict=True))
    opened = dict(zip(AUCTION["id"], AUCTION["date_time"], strict=True))
    for seller, at in zip(AUCTION["seller"], AUCTION["date_time"], strict=True):
        assert born[seller] < at
    for bidder, auction, at in zip(BID["bidder"], BID["auction"], BID["date_time"], strict=True):
        assert born[bidder] < at
        assert opened[auction] < at


def test_time_is_even_and_arrival_in_order() -> None:
    times = BID["date_time"]
    assert all(a < b for a, b in pairwise(times))
    assert (times[-1] - times[0]).total_seconds() * SECOND < COUNT // 10_000 * SECOND
    arrivals = BID["proc_time"]
    assert all(a <= b for a, b in pairwise(arrivals))
    assert all(at <= got for at, got in zip(times, arrivals, strict=True))


def test_hot_ones_are_hot() -> None:
    hot_auctions = sum(auction % 100 == 0 for auction in BID["auction"]) / len(BID["auction"])
    hot_bidders = sum(bidder % 100 == 1 for bidder in BID["bidder"]) / len(BID["bidder"])
    assert 0.48 < hot_auctions < 0.54
    assert 0.72 < hot_bidders < 0.80


def test_prices_and_categories() -> None:
    prices = sorted(BID["price"])
    assert prices[0] >= 100
    assert prices[-1] <= 100_000_000
    assert 50_000 < prices[len(prices) // 2] < 200_000
    assert set(AUCTION["category"]) == set(range(10, 15))
    assert all(e > a for e, a in zip(AUCTION["expires"], AUCTION["date_time"], strict=True))
