"""The experiments of paper 3, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from ebbtide.bench.borealis.archive_formats import ArchiveFormat, formats, rows_of
from ebbtide.bench.borealis.quotes import BUCKET, MIXES, QuoteRevision, Quotes
from ebbtide.bench.borealis.results import Measurement
from ebbtide.bench.borealis.revising import QUERIES, Revising, streamed
from ebbtide.core.declaration import Histogram, RowSample, Summary
from ebbtide.core.time import INF, NEG_INF
from ebbtide.kernels.operators.archive_summary import Summarised
from ebbtide.state.batch import batch_schema

Say: TypeAlias = Callable[[str], None]

WAYS: Mapping[str, str] = {"RA": "REPLAY ALL", "RM": "REPLAY MINIMAL", "DIRECT": "REPLAY DIRECT"}
"""The ways in which old rows are replayed, and how a stream is declared for each."""

SIZES = {"50K": 50_000, "100K": 100_000, "250K": 250_000, "500K": 500_000}
EXPERIMENTS = ("formats", "buckets", "techniques", "overhead", "growth", "errors")


@dataclass(frozen=True)
class PaperDay:
    """Which part of the paper's day, and the stream behind it."""

    scale: float = 0.1
    seed: int = 1

    @property
    def quotes(self) -> Quotes:
        """The quotes of this size."""
        return Quotes(self.scale, seed=self.seed)


def measured(setting: PaperDay, say: Say, only: Sequence[str] = ()) -> Iterator[Measurement]:
    """The results of all experiments, or only of some."""
    whole = not only or "overhead" in only
    found: dict[str, Callable[[], Iterator[Measurement]]] = {
        "formats": lambda: _formats(setting.quotes, say),
        "buckets": lambda: _buckets(setting.quotes, say),
        "techniques": lambda: _engine(setting.quotes, say, techniques=True, overhead=whole),
        "overhead": lambda: _engine(setting.quotes, say, techniques=False, overhead=True),
        "growth": lambda: _growth(setting.quotes, say),
        "errors": lambda: _errors(setting.seed, say),
    }
    for name in EXPERIMENTS:
        if name == "overhead" and (not only or "techniques" in only):
            continue  # it was measured with the techniques
        if not only or name in only:
            yield from found[name]()


def archived(quotes: Quotes, way: str) -> str:
    """The clause of a stream that archives all quotes, and how they are replayed."""
    return f"ARCHIVE {quotes.archived_s} SECONDS {way}"


# --- archives alone: figures 6 and 7 -----------------------------------------------------------


def _formats(quotes: Quotes, say: Say) -> Iterator[Measurement]:
    with TemporaryDirectory() as directory:
        for mix in MIXES:
            say(f"figure 6 {mix}")
            for name, archive in formats(Path(directory) / mix, "50K").items():
                yield _archiving("figure 6", name, archive, quotes, mix, 50_000)


def _buckets(quotes: Quotes, say: Say) -> Iterator[Measurement]:
    with TemporaryDirectory() as directory:
        for mix in MIXES:
            for size, rows in SIZES.items():
                say(f"figure 7 {mix} {size}")
                made = formats(Path(directory) / mix / size, size)
                for name, archive in made.items():
                    if "B_" in name:
                        yield _archiving("figure 7", name, archive, quotes, mix, rows)


def _archiving(
    experiment: str, name: str, archive: ArchiveFormat, quotes: Quotes, mix: str, bucket: int
) -> Measurement:
    """Fills an archive with a day, then times the stream and a replay of 600 rows a revision."""
    step, begun, end = quotes.step_s(bucket), quotes.archived_s, len(quotes.prices)
    _insert(archive, quotes, 0, begun, step)
    stp = rtp = 0.0
    known = begun
    for revision in quotes.revisions(mix):
        stp += _insert(archive, quotes, known, begun + revision.after_s, step)
        known = begun + revision.after_s
        began = process_time()
        archive.age(known - quotes.archived_s)
        since = min(revision.second, known - 600)
        rows = archive.replay(revision.stock, since, since + 600)
        rtp += process_time() - began
        if not np.array_equal(rows["price"], quotes.prices[since : since + 600, revision.stock]):
            raise AssertionError(f"{experiment} {name} {mix}: other rows than were archived")
    stp += _insert(archive, quotes, known, end, step)
    return Measurement(experiment, mix, name, stp, rtp, MIXES[mix])


def _insert(archive: ArchiveFormat, quotes: Quotes, first: int, last: int, step: int) -> float:
    spent = 0.0
    for start in range(first, last, step):
        rows = rows_of(start, quotes.prices[start : min(last, start + step)])
        began = process_time()
        archive.insert(rows)
        spent += process_time() - began
    return spent


# --- the engine: table 3, figure 8, and what we ask beyond the paper ---------------------------


def _engine(quotes: Quotes, say: Say, techniques: bool, overhead: bool) -> Iterator[Measurement]:
    """Every query under every way: a day is archived once, and each stream goes on from there."""
    clauses = {"none": "", **{way: archived(quotes, clause) for way, clause in WAYS.items()}}
    for name in QUERIES:
        for way, clause in clauses.items():
            if way == "none" and not overhead:
                continue
            say(f"{name} {way}: the archive")
            with TemporaryDirectory() as root:
                filled = Revising(name, quotes, clause, Path(root)).filled()
                if overhead:
                    say(f"figure 8 {name} {way}")
                    times = [streamed(filled, (), 500_000).stp for _ in range(3)]
                    yield Measurement("figure 8", name, way, min(times))
                if techniques and way != "none":
                    yield from _revised(filled, way, say)


def _revised(filled: Revising, way: str, say: Say) -> Iterator[Measurement]:
    for mix in MIXES:
        say(f"table 3 {filled.name} {mix} {way}")
        yield _result(f"table 3 {filled.name}", mix, way, filled, filled.quotes.revisions(mix), mix)


def _result(
    experiment: str,
    case: str,
    way: str,
    filled: Revising,
    revisions: Sequence[QuoteRevision],
    mix: str,
) -> Measurement:
    found = streamed(filled, revisions, BUCKET[mix])
    return Measurement(
        experiment,
        case,
        way,
        found.stp,
        found.rtp,
        len(revisions),
        found.replayed,
        found.least,
    )


def _growth(quotes: Quotes, say: Say) -> Iterator[Measurement]:
    """A day against an hour: revisions of equal age, so that only the archive differs."""
    hour = replace(quotes, archive_s=max(900, quotes.archived_s // 24))
    for case, size in (("hour", hour), ("day", quotes)):
        for way, clause in WAYS.items():
            say(f"growth {case} {way}")
            shift = size.archived_s - hour.archived_s
            moved = [replace(r, second=r.second + shift) for r in hour.revisions("HIGH")]
            with TemporaryDirectory() as root:
                filled = Revising("Q1", size, archived(size, clause), Path(root)).filled()
                yield _result("growth", case, way, filled, moved, "HIGH")


# --- approximations ----------------------------------------------------------------------------


def _errors(seed: int, say: Say) -> Iterator[Measurement]:
    """Means of prices, and sums of volumes, over five minutes of each of 200 stocks."""
    random = np.random.default_rng(seed)
    quotes = Quotes(0.01, archive_s=300, seed=seed)
    volumes: Any = np.round(random.lognormal(5, 1.5, (300, 200)))
    for experiment, values in (
        ("error of means", quotes.prices[:300]),
        ("error of sums", volumes),
    ):
        for way, summaries in _summaries().items():
            for summary in summaries:
                say(f"{experiment} {way} {summary}")
                yield _error(experiment, way, summary, values)


def _summaries() -> dict[str, list[Summary]]:
    parts = [10_000, 20_000, 50_000, 100_000, 200_000, 400_000]
    return {
        "sample": [RowSample(part) for part in parts],
        "by impact": [RowSample(part, "value") for part in parts],
        "histogram": [Histogram(("value",), s * 1_000_000) for s in (300, 150, 60, 20, 6, 2)],
    }


def _error(experiment: str, way: str, summary: Summary, values: Any) -> Measurement:
    """The mean error over all stocks, in percent of the truth."""
    seconds, stocks = values.shape
    count = seconds * stocks
    rows = [
        pa.array(np.tile(np.arange(stocks), seconds)),
        pa.array(np.repeat(np.arange(seconds), stocks) * 1_000_000),
        pa.array(values.ravel().astype(float)),
    ]
    ends = [pa.array(np.full(count, end)) for end in (NEG_INF, INF)]
    schema = batch_schema([pa.int64(), pa.int64(), pa.float64()])
    table = pa.Table.from_arrays([*rows, *ends, pa.array(np.ones(count, np.int64))], schema=schema)
    sampled = isinstance(summary, RowSample) and summary.impact is None
    kept = Summarised(summary, (1,), () if sampled else (2,), True).kept(table, 0)
    stock, value = (kept.column(name).to_numpy() for name in ("c0", "c2"))
    weight = kept.column("c3").to_numpy() * kept.column("diff").to_numpy()
    sums: Any = np.bincount(stock, weight * value, stocks)
    counts = np.bincount(stock, weight, stocks)
    if experiment == "error of means":
        known = counts > 0
        found, truth = sums[known] / counts[known], values.mean(axis=0)[known]
    else:
        found, truth = sums, values.sum(axis=0)
    error = 100 * float(np.mean(np.abs(found - truth) / truth))
    return Measurement(
        experiment, str(kept.num_rows), way, error=error, part=100 * kept.num_rows / count
    )
