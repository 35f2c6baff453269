"""The quotes of paper 3, section 4: 200 stocks, a price a second, and revisions of old prices.

Prices are quarters, so that their sums are exact and every answer can be compared as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

STOCKS = 200
DAY_S, STREAM_S = 86_250, 5_000
"""The paper's archive of 17.25 M rows, and its stream of 1 M."""

MIXES: Mapping[str, int] = {"LOW": 1, "MOD": 2, "HIGH": 10}
"""How many revisions come among the streamed rows: one in 1 M, 500 K and 100 K of the paper's."""

BUCKET: Mapping[str, int] = {"LOW": 500_000, "MOD": 500_000, "HIGH": 50_000}
"""How many rows come at once: the paper's choice of buckets for each mix."""

SYMBOLS = ("IBM", *(f"S{number:03}" for number in range(1, STOCKS)))


@dataclass(frozen=True)
class QuoteRevision:
    """A price that was wrong: how many seconds have been streamed when that is said."""

    after_s: int
    second: int
    stock: int
    price: float


@dataclass(frozen=True)
class Quotes:
    """The prices of an archive and of the stream behind it; ``scale`` is a part of the paper's."""

    scale: float = 0.1
    archive_s: int = 0
    seed: int = 1
    stocks: int = STOCKS

    @property
    def archived_s(self) -> int:
        """How many seconds are archived before the stream begins."""
        return self.archive_s or round(DAY_S * self.scale)

    @property
    def streamed_s(self) -> int:
        """How many seconds are streamed."""
        return max(10, round(STREAM_S * self.scale))

    @cached_property
    def prices(self) -> Any:
        """The price of each stock at each second: a walk in quarters."""
        random = np.random.default_rng(self.seed)
        moves = random.integers(-4, 5, (self.archived_s + self.streamed_s, self.stocks))
        walked: Any = 1000 + np.cumsum(moves, axis=0) / 4
        return walked

    def step_s(self, rows: int) -> int:
        """The seconds of so many of the paper's rows, at this scale."""
        return max(1, round(rows * self.scale / STOCKS))

    def revisions(self, mix: str) -> list[QuoteRevision]:
        """The revisions of a mix, in the order in which they come."""
        count = MIXES[mix]
        random = np.random.default_rng([self.seed, count])
        # They come somewhere in the stream, and are about the last 23 of 24 hours; the windows of
        # what they are about are archived whole, and have ended.
        afters = sorted(random.integers(self.streamed_s // 20, self.streamed_s, count).tolist())
        oldest = min(max(self.archived_s // 24, 900), self.archived_s // 2)
        newest = self.archived_s - min(300, self.archived_s // 4)
        return [
            QuoteRevision(
                after,
                int(random.integers(after + oldest, max(after + oldest + 1, newest))),
                # IBM among them, which the third query is about.
                0 if number == 0 else int(random.integers(0, self.stocks)),
                float(random.integers(4000, 8000)) / 4,
            )
            for number, after in enumerate(afters)
        ]

    def rows(self, first: int, last: int) -> Any:
        """The rows of seconds as they arrive: symbol, price, time, operation, place, no error."""
        seconds = np.arange(first, last)
        count, stocks = len(seconds) * self.stocks, self.stocks
        numbers = np.tile(np.arange(stocks, dtype=np.int32), len(seconds))
        symbols = pa.DictionaryArray.from_arrays(pa.array(numbers), pa.array(SYMBOLS[:stocks]))
        return _arrived(
            symbols.cast(pa.string()),
            pa.array(self.prices[first:last].ravel()),
            pa.array(np.repeat(seconds, stocks) * 1_000_000),
            pa.repeat(pa.scalar("insert"), count),
            pa.array(np.arange(first * stocks, last * stocks)),
        )

    def revised(self, revisions: list[QuoteRevision]) -> Any:
        """The prices with all revisions."""
        prices = self.prices.copy()
        for revision in revisions:
            prices[revision.second, revision.stock] = revision.price
        return prices


def replacement(revision: QuoteRevision, place: int) -> Any:
    """A revision as it arrives."""
    return _arrived(
        pa.array([SYMBOLS[revision.stock]]),
        pa.array([revision.price]),
        pa.array([revision.second * 1_000_000]),
        pa.array(["replace"]),
        pa.array([place]),
    )


def _arrived(*columns: Any) -> Any:
    arrays = [*columns, pa.nulls(len(columns[0]), pa.string())]
    return pa.Table.from_arrays(arrays, names=[f"c{i}" for i in range(len(arrays))])
