"""Nexmark's events: from a seed, in the proportions that the benchmark has."""

from collections import Counter
from itertools import pairwise

from ebbtide.core.time import SECOND
from nexmark_events import Nexmark

COUNT = 20_000
EVENTS = list(Nexmark(seed=3).events(COUNT))
ROWS = Nexmark(seed=3).streams(COUNT)


def test_equal_seeds_give_equal_events() -> None:
    assert list(Nexmark(seed=3).events(500)) == EVENTS[:500]
    assert list(Nexmark(seed=4).events(500)) != EVENTS[:500]


def test_proportions() -> None:
    counts = Counter(event.stream for event in EVENTS)
    assert counts == {"person": COUNT // 50, "auction": 3 * COUNT // 50, "bid": 46 * COUNT // 50}


def test_ids_count_from_1000() -> None:
    assert [row[0] for row in ROWS["person"]] == list(range(1000, 1000 + COUNT // 50))
    assert [row[0] for row in ROWS["auction"]] == list(range(1000, 1000 + 3 * COUNT // 50))


def test_what_is_named_is_there_already() -> None:
    people, auctions = 0, 0
    for event in EVENTS:
        people += event.stream == "person"
        auctions += event.stream == "auction"
        if event.stream == "auction":
            assert 1000 <= event.row[7] < 1000 + people
        if event.stream == "bid":
            assert 1000 <= event.row[0] < 1000 + auctions
            assert 1000 <= event.row[1] < 1000 + people


def test_time_is_even_and_arrival_in_order() -> None:
    times = [row[5] for row in ROWS["bid"]]
    assert all(a < b for a, b in pairwise(times))
    assert times[-1] - times[0] < COUNT // 10_000 * SECOND
    arrivals = [row[7] for row in ROWS["bid"]]
    assert all(a <= b for a, b in pairwise(arrivals))
    assert all(at <= got for at, got in zip(times, arrivals, strict=True))


def test_hot_ones_are_hot() -> None:
    bids = ROWS["bid"]
    hot_auctions = sum(row[0] % 100 == 0 for row in bids) / len(bids)
    hot_bidders = sum(row[1] % 100 == 1 for row in bids) / len(bids)
    assert 0.48 < hot_auctions < 0.54
    assert 0.72 < hot_bidders < 0.80


def test_prices_and_categories() -> None:
    prices = sorted(row[2] for row in ROWS["bid"])
    assert prices[0] >= 100
    assert prices[-1] <= 100_000_000
    assert 50_000 < prices[len(prices) // 2] < 200_000
    assert {row[8] for row in ROWS["auction"]} == set(range(10, 15))
    assert all(row[6] > row[5] for row in ROWS["auction"])
