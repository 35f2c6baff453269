"""Standard rows and revisions through the engine (paper 3: table 3 and figure 8).

A run has a day of quotes first, then the stream in batches, with revisions between them, each in a
step of its own.  What is measured is processor time: of the steps of the stream, STP, and of those
of revisions, RTP.  At the end the answers around every revision, and the last one, are compared
with a plain computation, or the suite ends.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from shutil import copytree
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

from ebbtide.bench.borealis.quotes import SYMBOLS, QuoteRevision, Quotes, replacement
from ebbtide.compile.lowering import lower
from ebbtide.dataflow.plan import Dataflow
from ebbtide.dataflow.record import Given
from ebbtide.dataflow.step import Stepper
from ebbtide.engine.engine import Engine
from ebbtide.engine.query import Query
from ebbtide.store.readers import View
from ebbtide.store.record import StepRecord

RETAIN_S = 60
_IBM = "WHERE symbol = 'IBM'"
QUERIES: Mapping[str, str] = {
    "Q1": "SELECT symbol, AVG(price) AS mean FROM quotes [RANGE 5 MINUTES SLIDE 5 MINUTES] "
    "GROUP BY symbol",
    "Q2": "SELECT symbol, AVG(price) AS mean FROM quotes [RANGE 5 MINUTES SLIDE 1 MINUTE] "
    "GROUP BY symbol",
    "Q3": "SELECT CASE WHEN s.mean > l.mean THEN 'BUY' ELSE 'SELL' END AS act FROM "
    f"(SELECT AVG(price) AS mean FROM quotes [RANGE 1 MINUTE SLIDE 1 MINUTE] {_IBM}) s, "
    f"(SELECT AVG(price) AS mean FROM quotes [RANGE 5 MINUTES SLIDE 1 MINUTE] {_IBM}) l",
}
_SLIDES = {"Q1": 300, "Q2": 60, "Q3": 60}


@dataclass
class Revising:
    """A query over quotes, driven step by step; ``archive`` is the clause of the stream."""

    name: str
    quotes: Quotes
    archive: str
    root: Path
    version: int = 0
    records: list[StepRecord] = field(default_factory=list)

    def __post_init__(self) -> None:
        engine = Engine(str(self.root / "engine"), transport="local")
        engine.execute(
            "CREATE STREAM quotes (symbol STRING, price DOUBLE, at TIMESTAMP, "
            "PRIMARY KEY (at, symbol), PROGRESS FOR at AS at) "
            f"RETAIN {RETAIN_S} SECONDS {self.archive}"
        )
        query = engine.query(QUERIES[self.name], name="q")
        assert isinstance(query, Query)
        flow, self.place = Dataflow(lower({"q": query.analysis}), 1), str(self.root / "program")
        self.stepper = Stepper(flow, engine.host.transport(flow), self.place)
        self.view = View(self.place, "q", query.schema)

    def filled(self) -> Revising:
        """The query, after all that is archived before the stream begins."""
        step = max(self.quotes.step_s(500_000), self.quotes.archived_s // 12)
        self.take(0, self.quotes.archived_s, step)
        return self

    def copied(self, root: Path) -> Revising:
        """The same in another directory, to be continued there."""
        copytree(self.place, root / "program")
        return Revising(self.name, self.quotes, self.archive, root, self.version)

    def step(self, rows: Any) -> float:
        """Takes rows in a step; how long the processor worked for it."""
        began = process_time()
        self.records.append(self.stepper.step(self.version, {0: rows}, Given()).record)
        self.version += 1
        return process_time() - began

    def take(self, first: int, last: int, step_s: int) -> float:
        """Takes seconds in steps."""
        spent = 0.0
        for start in range(first, last, step_s):
            spent += self.step(self.quotes.rows(start, min(last, start + step_s)))
        return spent

    def check(self, revisions: Sequence[QuoteRevision], last: int) -> None:
        """Compares answers around revisions, and the last one, with a plain computation."""
        prices, slide = self.quotes.revised(list(revisions)), _SLIDES[self.name]
        instants = {(last - 1) // slide * slide}
        for revision in revisions:
            instants |= {_ceil(revision.second, slide) + i * slide for i in range(-1, 7)}
        for second in sorted(t for t in instants if 300 <= t < last):
            said = sorted(self.view.snapshot(second * 1_000_000))
            if said != (wanted := expected(self.name, prices, second)):
                raise AssertionError(f"{self.name} at {second}: {said[:3]} is not {wanted[:3]}")


def expected(name: str, prices: Any, second: int) -> list[tuple[Any, ...]]:
    """The answer at a second, which is a multiple of the slide."""
    five = prices[second - 299 : second + 1]
    if name == "Q3":
        one = five[-60:, 0]
        return [("BUY" if one.mean() > five[:, 0].mean() else "SELL",)]
    means = five.sum(axis=0) / 300
    return sorted((SYMBOLS[stock], float(means[stock])) for stock in range(len(means)))


def minimal(name: str, revision: QuoteRevision, last: int) -> int:
    """How many rows are in the minimal replay sequence of a revision (paper 3, section 3)."""
    if name == "Q3" and revision.stock:
        return 0
    slide = _SLIDES[name]
    first = _ceil(revision.second, slide)
    ends = [t for t in range(first, revision.second + 300, slide) if t < last]
    return ends[-1] - (ends[0] - 300) if ends else 0


def _ceil(second: int, slide: int) -> int:
    return -(-second // slide) * slide


@dataclass(frozen=True)
class Timed:
    """The times of a run, the rows that were replayed, and the least that could have been."""

    stp: float
    rtp: float
    replayed: int
    least: int


def streamed(filled: Revising, revisions: Sequence[QuoteRevision], bucket: int) -> Timed:
    """Takes the stream with its revisions, behind what is archived."""
    quotes = filled.quotes
    with TemporaryDirectory() as root:
        revising = filled.copied(Path(root))
        begun, end = quotes.archived_s, quotes.archived_s + quotes.streamed_s
        stp = rtp = 0.0
        known, replayed, step_s, least = begun, 0, quotes.step_s(bucket), 0
        for number, revision in enumerate(revisions):
            stp += revising.take(known, begun + revision.after_s, step_s)
            known = begun + revision.after_s
            rtp += revising.step(replacement(revision, end * quotes.stocks + number))
            replayed += _replayed(revising.records[-1])
            least += minimal(revising.name, revision, known)
        stp += revising.take(known, end, step_s)
        revising.check(revisions, end)
        return Timed(stp, rtp, replayed, least)


def _replayed(record: StepRecord) -> int:
    """How many rows a step has run again."""
    return sum(each.rows_replayed for each in record.replays.values())
