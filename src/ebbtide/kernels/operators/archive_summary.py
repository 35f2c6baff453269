"""What an archive keeps in the place of all rows: a part of them, or how many lie in each bin.

Law: what is kept of a change depends on its row, on the seed and on the rows of its step, never on
the attempt or the order, so a step repeats exactly.  Every row that is kept stands for ``weight``
rows, and was kept with probability 1 / weight, independently of all others: so the sum of anything
over kept rows, each times its weight, is expected to be that over all rows (Horvitz and Thompson).

    rows      x x x x x x x x x x x x     SAMPLE 25 PERCENT
    kept        x4        x4    x4        three of twelve, each for four

By impact, the probability of a row grows with the size of its value, among the rows of its step.
Weights are powers of two there, so there are few of them.  In a histogram a row stands in the
middle of its bin, as often as there are rows in the bin; that is no sample, and nobody can say
what was there (paper 3, section 4.3).

A row that was chosen by its step's rows may be taken back in another step, which would choose
otherwise: what is taken back has ``TAKEN`` for a weight, and who reads the archive finds the row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ebbtide.core.declaration import TAKEN, Histogram, RowSample, StreamDeclaration, Summary
from ebbtide.kernels.kernel import Batch
from ebbtide.state.arrays import Hashes, Ints
from ebbtide.state.batch import DIFF, key_hash, net, payload, where
from ebbtide.state.columns import ints
from ebbtide.state.hashing import mixed

_CHOSEN, _COPY, _STEP = (np.uint64(n) for n in (0xC2B2_AE3D_27D4_EB4F, 0x165667B1, 0x27D4EB2F))
_ROUNDS = 40
_BINS = 64
"""How many bins there are between a number and its double."""


@dataclass(frozen=True, slots=True)
class Summarised:
    """How the rows of a stream are summarised."""

    summary: Summary
    times: tuple[int, ...]
    measures: tuple[int, ...]
    keyed: bool

    @staticmethod
    def of(declaration: StreamDeclaration) -> Summarised | None:
        """By what is declared; None if all rows are archived."""
        summary, rows = declaration.summary, declaration.row_schema
        if summary is None:
            return None
        named = summary.of if isinstance(summary, Histogram) else (summary.impact,)
        return Summarised(
            summary,
            tuple(rows.position(p.attribute) for p in declaration.promises),
            tuple(rows.position(name) for name in named if name is not None),
            bool(declaration.key),
        )

    def kept(self, changes: Batch, step: int) -> Batch:
        """What is kept of changes, with the weight of each behind the row."""
        match self.summary:
            case RowSample(impact=None):
                return self._sampled(self._single(changes), step)
            case RowSample():
                return self._by_impact(self._single(changes), step)
            case Histogram(every_us=every_us):
                return _weighed(self._binned(changes, every_us), 1)

    def _single(self, changes: Batch) -> Batch:
        """Changes of one row each, so that copies of a row are chosen one by one."""
        diffs = ints(changes, DIFF)
        if (np.abs(diffs) == 1).all():
            return changes
        places = np.repeat(np.arange(len(diffs)), np.abs(diffs))
        single = changes.take(pa.array(places))
        place = single.schema.get_field_index(DIFF)
        return single.set_column(
            place, single.schema.field(place), pa.array(np.sign(diffs)[places])
        )

    def _hashes(self, changes: Batch, step: int) -> Hashes:
        """A number for each row; without a key, for each copy of a row in a step."""
        assert isinstance(self.summary, RowSample)
        hashes = key_hash(changes, payload(changes))
        if not self.keyed:
            hashes = mixed(hashes + _copies(hashes) * _COPY + np.uint64(step) * _STEP)
        return mixed(hashes ^ mixed(np.full(1, self.summary.seed, np.uint64)))

    def _sampled(self, changes: Batch, step: int) -> Batch:
        assert isinstance(self.summary, RowSample)
        hashes, part = self._hashes(changes, step), self.summary.part
        weights = _uniform(hashes, part)
        return _weighed(changes, weights, _is_chosen(hashes, weights))

    def _by_impact(self, changes: Batch, step: int) -> Batch:
        assert isinstance(self.summary, RowSample)
        added = ints(changes, DIFF) > 0
        positive = where(changes, added)
        hashes, part = self._hashes(positive, step), self.summary.part
        weights = _by_size(_sizes(positive, self.measures[0]), hashes, part)
        kept = _weighed(positive, weights, _is_chosen(hashes, weights))
        return pa.concat_tables([kept, _weighed(where(changes, ~added), TAKEN)])

    def _binned(self, changes: Batch, every_us: int) -> Batch:
        for place in self.times:
            times = ints(changes, f"c{place}")
            middle = (times // every_us) * every_us + every_us // 2
            changes = _with(changes, place, pa.array(middle))
        for place in self.measures:
            changes = _with(changes, place, _middles(changes.column(place).combine_chunks()))
        return net(changes)


def _copies(hashes: Hashes) -> Hashes:
    """For each row how many equal ones stand before it."""
    order = np.argsort(hashes, kind="stable")
    sorted_ = hashes[order]
    begins = np.concatenate([[True], sorted_[1:] != sorted_[:-1]]) if len(order) else np.zeros(0)
    starts = np.flatnonzero(begins)
    numbers = np.arange(len(order)) - np.repeat(starts, np.diff([*starts, len(order)]))
    result = np.empty(len(order), np.uint64)
    result[order] = numbers.astype(np.uint64)
    return result


def _uniform(hashes: Hashes, part: float) -> Ints:
    """Whole weights with the wanted part on average: two neighbours, mixed as is needed."""
    low = int(1 / part + 1e-9)
    if abs(low * part - 1) < 1e-9:
        return np.full(len(hashes), low, np.int64)
    of_low = (part - 1 / (low + 1)) / (1 / low - 1 / (low + 1))
    return np.where(_fraction(mixed(hashes)) < of_low, low, low + 1).astype(np.int64)


def _by_size(sizes: Any, hashes: Hashes, part: float) -> Ints:
    """Powers of two, smaller for larger sizes, so that the wanted part is kept on average.

    Half of a probability is the same for all rows, so that none stands for too many.  Between two
    powers the hash of a row decides.
    """
    if not len(sizes):
        return np.zeros(0, np.int64)
    mean = float(np.sort(sizes).mean())
    base = np.log2(sizes + (mean or 1.0)) - _fraction(mixed(hashes))
    low, high = float(base.min()), float(base.max()) - np.log2(part) + 2

    def exponents(shift: float) -> Any:
        return np.maximum(np.floor(shift - base), 0)

    for _ in range(_ROUNDS):
        middle = (low + high) / 2
        is_more = float(np.exp2(-exponents(middle)).sum()) > part * len(sizes)
        low, high = (middle, high) if is_more else (low, middle)
    weights: Ints = np.left_shift(1, exponents(high).astype(np.int64))
    return weights


def _sizes(changes: Batch, place: int) -> Any:
    """How large the values of a column are; 0 where there is none."""
    column = pc.fill_null(pc.cast(changes.column(place), pa.float64(), safe=False), 0.0)
    values = np.abs(np.asarray(column.combine_chunks()))
    return np.where(np.isfinite(values), values, 0.0)


def _is_chosen(hashes: Hashes, weights: Ints) -> Any:
    return _fraction(mixed(hashes * _CHOSEN)) * weights < 1


def _fraction(hashes: Hashes) -> Any:
    """Hashes as numbers from 0 up to 1."""
    return (hashes >> np.uint64(11)).astype(np.float64) / (1 << 53)


def _middles(values: Any) -> Any:
    """The middle of each value's bin: a bin is a 64th of the way to the next power of two."""
    plain = np.asarray(pc.fill_null(pc.cast(values, pa.float64(), safe=False), 0.0))
    fractions, exponents = np.frexp(plain)
    with np.errstate(invalid="ignore"):
        middle = np.ldexp(
            (np.trunc(fractions * 2 * _BINS) + np.sign(plain) / 2) / _BINS / 2, exponents
        )
    middle = np.where(np.isfinite(plain), middle, plain)
    if pa.types.is_integer(values.type):
        whole = np.abs(plain) < 2 * _BINS
        limit = np.iinfo(values.type.to_pandas_dtype())
        chosen = np.where(whole, plain, np.clip(np.rint(middle), limit.min / 2, limit.max / 2))
        binned = pa.array(chosen.astype(np.int64)).cast(values.type)
    elif pa.types.is_decimal(values.type):
        largest = 10.0 ** (values.type.precision - values.type.scale) * (1 - 2.0**-20)
        scaled = np.round(np.clip(middle, -largest, largest), values.type.scale)
        binned = pa.array(scaled).cast(values.type, safe=False)
    else:
        binned = pa.array(middle).cast(values.type)
    return pc.if_else(values.is_valid(), binned, pa.scalar(None, values.type))


def _weighed(changes: Batch, weights: Any, chosen: Any = None) -> Batch:
    """Changes with their weights behind their rows; only those that are chosen."""
    width = len(payload(changes))
    column = pa.array(np.broadcast_to(np.asarray(weights, np.int64), changes.num_rows))
    weighed = changes.add_column(width, f"c{width}", column)
    return weighed if chosen is None else where(weighed, chosen)


def _with(changes: Batch, place: int, values: Any) -> Batch:
    return changes.set_column(place, changes.schema.field(place), values)
