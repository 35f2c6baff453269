"""Thousands of rows, late and taken back: collection and the cut into steps change nothing.

What the small histories cannot reach: state in many segments, merged and let go by the bucket.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tests.kernels.rules import times_of
from tests.kernels.windows import Windowed

from ebbtide.algebra.window import Range
from ebbtide.core.schema import schema
from ebbtide.core.time import INF, NEG_INF, SECOND
from ebbtide.kernels.condition import Condition
from ebbtide.kernels.operators.anti_join import AntiJoin
from ebbtide.kernels.operators.dstream import Dstream
from ebbtide.kernels.operators.istream import Istream
from ebbtide.kernels.operators.join import Join
from ebbtide.kernels.operators.outer_join import OuterJoin
from ebbtide.kernels.operators.rstream import Rstream
from ebbtide.kernels.operators.semi_join import SemiJoin
from ebbtide.kernels.operators.top_n import TopN
from ebbtide.kernels.ordering import SortColumn
from ebbtide.kernels.windows.row_window import Rows
from ebbtide.kernels.windows.session import Session
from ebbtide.state.area import SweepArea
from ebbtide.state.batch import batch_schema, concat, consolidate

FACTS = batch_schema([pa.int64(), pa.int64(), pa.float64()])
DELAY = 20 * SECOND
KEY = Condition((0,), (0,))


def _range(*lengths: int) -> Windowed:
    return Windowed(schema(k="BIGINT", at="TIMESTAMP", v="DOUBLE"), Range(*lengths))


KERNELS = {
    "rows": (Rows(1, 10, 1, (0,)), None),
    "rows slide": (Rows(1, 10, 7, (0,)), None),
    "session": (Session(1, SECOND, (0,)), None),
    "join": (Join(KEY), _range(SECOND)),
    "semi join": (SemiJoin(KEY), _range(SECOND)),
    "anti join": (AntiJoin(KEY), _range(SECOND)),
    "outer join": (OuterJoin(KEY, True, True), _range(SECOND)),
    "top-n": (TopN(3, (SortColumn(2, True),), (0,)), _range(7 * SECOND)),
    "istream": (Istream(), _range(7 * SECOND)),
    "dstream": (Dstream(), _range(7 * SECOND, 2 * SECOND)),
    "rstream": (Rstream(5 * SECOND), _range(7 * SECOND)),
}


def _facts(seed: int, count: int) -> Any:
    """Facts up to nine seconds late; some are taken back, up to nine seconds later."""
    random = np.random.default_rng(seed)
    times = np.sort(random.integers(0, 600 * SECOND, count))
    keys, values = random.integers(0, 50, count), random.integers(0, 5, count).astype(float)
    arrivals = times + random.integers(0, 9 * SECOND, count)
    gone = np.flatnonzero(random.random(count) < 0.15)
    rows = np.concatenate([np.arange(count), gone])
    later = arrivals[gone] + random.integers(1, 9 * SECOND, len(gone))
    order = np.argsort(np.concatenate([arrivals, later]), kind="stable")
    taken, signs = rows[order], np.where(order < count, 1, -1)
    always = np.full(len(order), NEG_INF), np.full(len(order), INF)
    columns = [keys[taken], times[taken], values[taken], *always, signs]
    return pa.Table.from_arrays([pa.array(column) for column in columns], schema=FACTS)


def _run(
    kernel: Any, window: Any, streams: list[Any], steps: int, collect: bool
) -> tuple[Any, int]:
    schemas = (FACTS,) * len(streams)
    areas = tuple(SweepArea(layout) for layout in kernel.areas(schemas))
    before, output = NEG_INF, []
    cuts = [np.linspace(0, stream.num_rows, steps + 1).astype(int) for stream in streams]
    for step in range(steps):
        parts = [
            s.slice(c[step], c[step + 1] - c[step]) for s, c in zip(streams, cuts, strict=True)
        ]
        newest = [
            int(np.asarray(s.column(1))[: c[step + 1]].max())
            for s, c in zip(streams, cuts, strict=True)
        ]
        horizons = tuple(at - DELAY - 1 if collect else NEG_INF for at in newest)
        inputs = tuple(parts if window is None else map(window.changes, parts))
        now = max(before, *newest)
        result = kernel.step(inputs, areas, times_of(kernel, before, now, horizons))
        areas, before = result.areas, now
        output.append(result.changes)
    return consolidate(concat(output, kernel.output(schemas))), sum(a.rows for a in areas)


@pytest.mark.parametrize("name", KERNELS)
def test_differential_collection_and_cut(name: str) -> None:
    kernel, window = KERNELS[name]
    streams = [_facts(seed, 12_000) for seed in (1, 2)][: 2 if "join" in name else 1]
    collected, kept = _run(kernel, window, streams, 25, collect=True)
    whole, stored = _run(kernel, window, streams, 25, collect=False)
    assert collected.equals(whole)
    assert whole.equals(_run(kernel, window, streams, 1, collect=False)[0])
    assert kept < stored / 4
