"""What a step of 1000 rows costs on states of different sizes, kernel by kernel.

Rows under a sliding window, as many live ones as asked for, in one group or in groups of about a
hundred; then steps that bring 1000 rows each, at so many instants.  Prints one JSON object per
kernel and size, with the processor seconds of a typical step and those per live row that the
touched groups hold.  It never checks the time; `tests/kernels/test_growth.py` bounds the growth.

    python benchmarks/growth.py [KERNEL ...] [--live N ...] [--instants N] [--groups one|many]
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from typing import Any

import numpy as np
import pyarrow as pa

from ebbtide.core.folds import Fold
from ebbtide.core.time import NEG_INF
from ebbtide.kernels.aggregates.call import Call
from ebbtide.kernels.kernel import Kernel, Times
from ebbtide.kernels.operators.aggregate import Aggregate
from ebbtide.kernels.operators.over import Framed, Neighbour, Number, Over
from ebbtide.kernels.operators.top_n import TopN
from ebbtide.kernels.ordering import SortColumn
from ebbtide.kernels.sweeps.frames import Frame
from ebbtide.kernels.sweeps.numbering import Ranking
from ebbtide.state.area import SweepArea
from ebbtide.state.batch import batch_schema

SCHEMA = batch_schema([pa.int64(), pa.float64()])
WINDOW, CHANGES, STEPS, GROUP = 10**9, 1000, 5, 100
ORDER = (SortColumn(1, descending=True),)

SUM = Framed(Call("SUM", (1,), pa.float64(), Fold.ACCUMULATOR))
MAX = Framed(Call("MAX", (1,), pa.float64(), Fold.EXTREME))
ROWS, RANGE = Frame(True, -2, 0), Frame(False, -100, 0)

KERNELS: dict[str, Kernel] = {
    "MEDIAN": Aggregate((0,), (Call("MEDIAN", (1,), pa.float64(), Fold.ROWS),)),
    "PERCENTILE_DISC": Aggregate(
        (0,), (Call("PERCENTILE_DISC", (1,), pa.float64(), Fold.ROWS, share=0.9),)
    ),
    "MAX": Aggregate((0,), (Call("MAX", (1,), pa.float64(), Fold.EXTREME),)),
    "TOP_ROW_NUMBER": TopN(10, ORDER, (0,), Ranking.ROW_NUMBER, numbered=True),
    "TOP_RANK": TopN(10, ORDER, (0,), Ranking.RANK, numbered=True),
    "TOP_DENSE_RANK": TopN(10, ORDER, (0,), Ranking.DENSE_RANK, numbered=True),
    "OVER_ROW_NUMBER": Over((Number(Ranking.ROW_NUMBER),), (0,), ORDER),
    "OVER_ROWS_SUM": Over((SUM,), (0,), ORDER, ROWS),
    "OVER_ROWS_MAX": Over((MAX,), (0,), ORDER, ROWS),
    "OVER_RANGE_SUM": Over((SUM,), (0,), ORDER, RANGE),
    "OVER_RANGE_MAX": Over((MAX,), (0,), ORDER, RANGE),
    "LAG": Over((Neighbour(1, -1),), (0,), ORDER),
}
WIDE = {"OVER_ROW_NUMBER"}


def rows(chance: np.random.Generator, at: Any, groups: int) -> Any:
    """Rows at the given instants, as a window shows them."""
    columns = [chance.integers(0, groups, len(at)), chance.integers(0, 10**9, len(at)) / 8.0]
    columns += [at, at + WINDOW, np.ones(len(at), np.int64)]
    return pa.Table.from_arrays([pa.array(column) for column in columns], schema=SCHEMA)


def run(name: str, live: int, instants: int, many: bool) -> dict[str, Any]:
    """Fills a window in one step, then takes the others.

    A row that comes renumbers all rows of its group after it, so those to be numbered begin at
    one instant: the answer itself is large otherwise.
    """
    kernel, chance = KERNELS[name], np.random.default_rng(1)
    groups = max(1, live // GROUP) if many else 1
    areas = tuple(SweepArea(layout) for layout in kernel.areas((SCHEMA,)))
    before, now, seconds = NEG_INF, 0, []
    for step in range(STEPS + 1):
        spread = 1 if name in WIDE else WINDOW
        at = -np.sort(chance.integers(0, spread, live))
        if step:
            at = np.sort(now + 1 + chance.integers(0, instants, CHANGES))
            now += instants
        start = time.thread_time()
        keep = ended_by(now)
        times = Times(before, now, (keep,), output=keep)
        result = kernel.step((rows(chance, at, groups),), areas, times)
        seconds.append(time.thread_time() - start)
        areas, before = result.areas, now
    typical = float(np.median(seconds[2:]))
    read = min(live, GROUP * CHANGES) if many else live
    return {
        "kernel": name,
        "live_rows": live,
        "groups": groups,
        "instants": instants,
        "load_seconds": round(seconds[0], 4),
        "load_nanoseconds_per_row": round(1e9 * seconds[0] / live),
        "step_seconds": round(typical, 4),
        "nanoseconds_per_row_read": round(1e9 * typical / read),
    }


def main() -> None:
    """Reads the command line and prints the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kernels", nargs="*", default=[k for k in KERNELS if k not in WIDE])
    parser.add_argument("--live", type=int, nargs="*", default=[10**4, 10**5, 10**6])
    parser.add_argument("--instants", type=int, default=CHANGES)
    parser.add_argument("--groups", choices=["one", "many"], nargs="*", default=["one", "many"])
    options = parser.parse_args()
    for name in options.kernels:
        for groups in options.groups:
            for live in (1000, *options.live):
                found = run(name, live, options.instants, groups == "many")
                if live in options.live:
                    sys.stdout.write(json.dumps(found) + "\n")
                    sys.stdout.flush()


if __name__ == "__main__":
    main()
