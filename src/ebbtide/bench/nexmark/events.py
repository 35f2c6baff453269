"""Nexmark's people, auctions and bids, from a seed.

Law: equal arguments give equal events.  Of every 50 events one is a person, three are auctions and
46 are bids, spread evenly over event time.  Ids count from 1000.  Half of the bids go to a hot
auction, three quarters come from a hot bidder, and three quarters of the auctions are of a hot
seller; the hot one is the first of each hundred.  Prices are ``round(10^(6u) * 100)``, so that most
bids are small and some are large.

The rows are those of the streams that Nexmark's queries are about: ``person``, ``auction`` and
``bid``, and a static ``side_input``.  A bid also has the time at which it was received.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ebbtide.core.time import SECOND, Instant, instant

__all__ = ["Nexmark"]

_START = instant("2026-01-01 00:00:00")
_FIRST_ID = 1000
_PER_EPOCH = 50
_AUCTIONS = 3
_IN_FLIGHT = 100
_HUNDRED = 100
_SIDE = 40

_CITIES = ("Phoenix", "Oakland", "San Diego", "Boise", "Eugene", "Salem", "Tacoma", "Laramie")
_STATES = ("AZ", "CA", "CA", "ID", "OR", "OR", "WA", "WY")
_FIRST_NAMES = ("Ada", "Ben", "Cleo", "Dan", "Eva", "Finn", "Gus", "Hana", "Ines", "Jan")
_LAST_NAMES = ("Abel", "Brook", "Carver", "Dale", "Ellis", "Frost", "Grant", "Hale")
_ITEMS = ("lamp", "chair", "clock", "radio", "kettle", "globe", "camera", "mirror")
_CHANNELS = ("Google", "Facebook", "Baidu", "Apple")

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Nexmark:
    """A generator of events: its seed, events per second of event time, and where time begins."""

    seed: int = 1
    rate: int = 10_000
    start: Instant = _START

    def tables(self, count: int) -> dict[str, Any]:
        """The first events by stream, in the order of their times, and the side input."""
        chance = _Chance(np.random.default_rng(self.seed))
        number = np.arange(count, dtype=np.int64)
        epoch, place = np.divmod(number, _PER_EPOCH)
        at = self.start + number * SECOND // self.rate
        received = np.maximum.accumulate(at + chance.whole(0, SECOND // 2, count))
        people, bids = place == 0, place > _AUCTIONS
        auctions = ~people & ~bids
        return {
            "person": _people(chance, epoch[people], at[people]),
            "auction": self._auctions(chance, epoch[auctions], place[auctions], at[auctions]),
            "bid": _bids(chance, epoch[bids], at[bids], received[bids]),
            "side_input": side_input(),
        }

    def _auctions(self, chance: _Chance, epoch: Ints, place: Ints, at: Ints) -> Any:
        n = len(at)
        item, first_bid = chance.one_of(_ITEMS, n), chance.prices(n)
        in_flight = _IN_FLIGHT * _PER_EPOCH // _AUCTIONS * SECOND // self.rate
        return pa.table(
            {
                "id": _FIRST_ID + epoch * _AUCTIONS + place - 1,
                "item_name": item,
                "description": _joined(item, " ", chance.words(90, n)),
                "initial_bid": first_bid,
                "reserve": first_bid + chance.prices(n),
                "date_time": _times(at),
                "expires": _times(at + 1 + chance.whole(0, 2 * in_flight, n)),
                "seller": chance.hot(_FIRST_ID + epoch, 3 / 4, 0),
                "category": chance.whole(10, 15, n),
                "extra": chance.words(300, n),
            }
        )


def side_input() -> Any:
    """A static table: a value for the numbers of the first auctions."""
    keys = range(_FIRST_ID, _FIRST_ID + _SIDE)
    return pa.table({"key": list(keys), "value": [f"value {key}" for key in keys]})


@dataclass(frozen=True, slots=True)
class _Chance:
    """Columns of chance."""

    dice: np.random.Generator

    def whole(self, low: int, high: int, n: int) -> Ints:
        """Whole numbers, without the upper bound."""
        return self.dice.integers(low, high, n)

    def one_of(self, values: Sequence[str], n: int) -> Any:
        """One of some texts for every row."""
        return pa.array(values).take(pa.array(self.whole(0, len(values), n)))

    def words(self, length: int, n: int) -> Any:
        """Texts of small letters."""
        letters = self.dice.integers(97, 123, (n, length), np.uint8)
        return pa.array(letters.view(f"S{length}").ravel(), pa.binary()).cast(pa.string())

    def prices(self, n: int) -> Ints:
        """Most of them small, and some large."""
        return np.round(10 ** (6 * self.dice.random(n)) * 100).astype(np.int64)

    def hot(self, newest: Ints, share: float, offset: int) -> Ints:
        """Ids: that of the hot one of the newest hundred, or of any of the newest."""
        hot = np.minimum(newest, newest // _HUNDRED * _HUNDRED + offset)
        oldest = np.maximum(_FIRST_ID, newest - _IN_FLIGHT + 1)
        other = oldest + (self.dice.random(len(newest)) * (newest - oldest + 1)).astype(np.int64)
        found: Ints = np.where(self.dice.random(len(newest)) < share, hot, other)
        return found


def _people(chance: _Chance, epoch: Ints, at: Ints) -> Any:
    n = len(at)
    first, last = chance.one_of(_FIRST_NAMES, n), chance.one_of(_LAST_NAMES, n)
    home = pa.array(chance.whole(0, len(_CITIES), n))
    parts = [_digits(chance.whole(0, 10_000, n), 4) for _ in range(4)]
    email = _joined(pc.utf8_lower(_joined(first, ".", last)), "@", chance.words(6, n))
    return pa.table(
        {
            "id": _FIRST_ID + epoch,
            "name": _joined(first, " ", last),
            "email_address": _joined(email, ".", pa.array(["example"] * n, pa.string())),
            "credit_card": pc.binary_join_element_wise(*parts, " "),
            "city": pa.array(_CITIES).take(home),
            "state": pa.array(_STATES).take(home),
            "date_time": _times(at),
            "extra": chance.words(100, n),
        }
    )


def _bids(chance: _Chance, epoch: Ints, at: Ints, received: Ints) -> Any:
    n = len(at)
    number = chance.whole(0, _HUNDRED, n)
    named = pa.array(chance.dice.random(n) < 1 / 2)
    text = pa.array(number).cast(pa.string())
    asks = pa.array(number % 10 != 0)
    path = pc.binary_join_element_wise(*(chance.words(4, n) for _ in range(3)), "/")
    url = pc.binary_join_element_wise("https://auction.example/", path, "/item?query=1", "")
    longer = pc.binary_join_element_wise(url, "&channel_id=", text, "")
    return pa.table(
        {
            "auction": chance.hot(_FIRST_ID + (epoch + 1) * _AUCTIONS - 1, 1 / 2, 0),
            "bidder": chance.hot(_FIRST_ID + epoch, 3 / 4, 1),
            "price": chance.prices(n),
            "channel": pc.if_else(
                named,
                chance.one_of(_CHANNELS, n),
                pc.binary_join_element_wise("channel-", text, ""),
            ),
            "url": pc.if_else(pc.and_(pc.invert(named), asks), longer, url),
            "date_time": _times(at),
            "extra": chance.words(20, n),
            "proc_time": _times(received),
        }
    )


def _joined(left: Any, between: str, right: Any) -> Any:
    return pc.binary_join_element_wise(left, right, between)


def _digits(numbers: Ints, count: int) -> Any:
    return pc.utf8_lpad(pa.array(numbers).cast(pa.string()), count, "0")


def _times(instants: Ints) -> Any:
    return pa.array(instants, pa.timestamp("us"))
