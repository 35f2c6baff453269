"""Nexmark's people, auctions and bids, from a seed.

Law: equal arguments give equal events, whatever comes after them.  Of every 50 events one is a
person, three are auctions and 46 are bids, spread evenly over event time.  Ids count from 1000.
Half of the bids go to a hot auction, three quarters come from a hot bidder, and three quarters of
the auctions are of a hot seller; the hot one is the first of each hundred.  Prices are
``round(10^(6u) * 100)``, so that most bids are small and some are large.

The rows are those of the streams that Nexmark's queries are about: ``person``, ``auction`` and
``bid``, and a static ``side_input``.  A bid also has the time at which it was received.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from ebbtide.core.time import SECOND, Instant, instant
from ebbtide.core.values import Row

__all__ = ["Event", "Nexmark"]

_START = instant("2026-01-01 00:00:00")
_FIRST_ID = 1000
_PER_EPOCH = 50
_AUCTIONS = 3
_IN_FLIGHT = 100
_HUNDRED = 100
_CATEGORIES = range(10, 15)

_PLACES = (
    ("Phoenix", "AZ"),
    ("Oakland", "CA"),
    ("San Diego", "CA"),
    ("Boise", "ID"),
    ("Eugene", "OR"),
    ("Salem", "OR"),
    ("Tacoma", "WA"),
    ("Laramie", "WY"),
)
_FIRST_NAMES = ("Ada", "Ben", "Cleo", "Dan", "Eva", "Finn", "Gus", "Hana", "Ines", "Jan")
_LAST_NAMES = ("Abel", "Brook", "Carver", "Dale", "Ellis", "Frost", "Grant", "Hale")
_ITEMS = ("lamp", "chair", "clock", "radio", "kettle", "globe", "camera", "mirror")
_CHANNELS = ("Google", "Facebook", "Baidu", "Apple")
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True, slots=True)
class Event:
    """A row, and the stream that it is of."""

    stream: str
    row: Row


@dataclass(frozen=True, slots=True)
class Nexmark:
    """A generator of events: its seed, events per second of event time, and where time begins."""

    seed: int = 1
    rate: int = 10_000
    start: Instant = _START

    def events(self, count: int) -> Iterator[Event]:
        """The first events, in the order of their times."""
        dice = Random(self.seed)
        received = self.start
        for number in range(count):
            at = self.start + number * SECOND // self.rate
            received = max(received, at + dice.randrange(SECOND // 2))
            epoch, place = divmod(number, _PER_EPOCH)
            if place == 0:
                yield Event("person", _person(dice, epoch, at))
            elif place <= _AUCTIONS:
                yield Event("auction", self._auction(dice, epoch, place, at))
            else:
                yield Event("bid", _bid(dice, epoch, at, received))

    def streams(self, count: int) -> dict[str, list[Row]]:
        """The first events by stream, and the side input."""
        rows: dict[str, list[Row]] = {"person": [], "auction": [], "bid": []}
        for event in self.events(count):
            rows[event.stream].append(event.row)
        rows["side_input"] = side_input()
        return rows

    def _auction(self, dice: Random, epoch: int, place: int, at: Instant) -> Row:
        number = _FIRST_ID + epoch * _AUCTIONS + place - 1
        item = dice.choice(_ITEMS)
        first_bid = _price(dice)
        in_flight = _IN_FLIGHT * _PER_EPOCH // _AUCTIONS * SECOND // self.rate
        row = (
            number,
            item,
            f"{item} {_word(dice, 90)}",
            first_bid,
            first_bid + _price(dice),
            at,
            at + 1 + dice.randrange(2 * in_flight),
            _hot(dice, _FIRST_ID + epoch, 3 / 4, 0),
            dice.choice(_CATEGORIES),
        )
        return (*row, _word(dice, 300))


def side_input() -> list[Row]:
    """A static table: a value for the numbers of the first auctions."""
    return [(key, f"value {key}") for key in range(_FIRST_ID, _FIRST_ID + 40)]


def _person(dice: Random, epoch: int, at: Instant) -> Row:
    first, last = dice.choice(_FIRST_NAMES), dice.choice(_LAST_NAMES)
    city, state = dice.choice(_PLACES)
    card = " ".join(f"{dice.randrange(10_000):04d}" for _ in range(4))
    email = f"{first}.{last}@{_word(dice, 6)}.example".lower()
    return (_FIRST_ID + epoch, f"{first} {last}", email, card, city, state, at, _word(dice, 100))


def _bid(dice: Random, epoch: int, at: Instant, received: Instant) -> Row:
    newest_auction = _FIRST_ID + (epoch + 1) * _AUCTIONS - 1
    path = "/".join(_word(dice, 4) for _ in range(3))
    url = f"https://auction.example/{path}/item?query=1"
    if dice.random() < 1 / 2:
        channel = dice.choice(_CHANNELS)
    else:
        number = dice.randrange(100)
        channel = f"channel-{number}"
        url += f"&channel_id={number}" if number % 10 else ""
    return (
        _hot(dice, newest_auction, 1 / 2, 0),
        _hot(dice, _FIRST_ID + epoch, 3 / 4, 1),
        _price(dice),
        channel,
        url,
        at,
        _word(dice, 20),
        received,
    )


def _hot(dice: Random, newest: int, share: float, offset: int) -> int:
    """An id: that of the hot one of the newest hundred, or of any of the newest."""
    if dice.random() < share:
        return min(newest, newest // _HUNDRED * _HUNDRED + offset)
    return dice.randint(max(_FIRST_ID, newest - _IN_FLIGHT + 1), newest)


def _price(dice: Random) -> int:
    return round(10 ** (6 * dice.random()) * 100)


def _word(dice: Random, length: int) -> str:
    return "".join(dice.choices(_LETTERS, k=length))
