"""Nexmark's figures: what a run of queries says, and the table that is made of it."""

from __future__ import annotations

import os
import subprocess
import sys

from ebbtide.bench.figures import Figure, as_json
from ebbtide.bench.nexmark.suite import Timing, figures_of
from ebbtide.bench.nexmark.table import as_table
from ebbtide.bench.processor import processor_seconds

TIMES = {
    ("person", "floor"): Timing(1.0, 1.5),
    ("auction", "floor"): Timing(1.0, 1.5),
    ("bid", "floor"): Timing(2.0, 3.0),
    (0, "ebbtide"): Timing(1.0, 1.75),
    (0, "flink"): Timing(4.0, 7.0),
    (4, "ebbtide"): Timing(6.0, 9.0),
    (4, "flink"): Timing(3.0, 5.0),
    (6, "ebbtide"): Timing(6.0, None),
}


def figures() -> list[Figure]:
    return list(figures_of(6000, (0, 4, 6), TIMES))


def test_ratios_are_of_rates_and_the_mean_is_geometric() -> None:
    found = {figure.name: figure for figure in figures()}
    assert found["nexmark-q0"].value == 6000
    assert found["nexmark-q0-flink-rate"].value == 1500
    assert (found["nexmark-q0-flink"].value, found["nexmark-q0-flink"].met) == (4, True)
    assert (found["nexmark-q4-flink"].value, found["nexmark-q4-flink"].met) == (0.5, False)
    assert found["nexmark-q4-floor"].value == 6.0 / (1.0 + 2.0)
    assert found["nexmark-q0-work"].value == 1.75
    assert "nexmark-q6-work" not in found
    assert "nexmark-q6-flink" not in found
    assert round(found["nexmark-flink"].value, 9) == round(2**0.5, 9)
    assert found["nexmark-flink"].met is False


def test_the_table_has_a_row_for_every_query() -> None:
    lines = as_table(as_json(figures())).splitlines()
    assert lines[2:5] == [
        "| q0: Pass through | 6,000 | 1,500 | 4.00 | bid | 0.50 | 1.8 s | 7.0 s |",
        "| q4: The average winning price in each category | 1,000 | 2,000 | 0.50 (missed)"
        " | auction, bid | 2.00 | 9.0 s | 5.0 s |",
        "| q6: The average price of the last 10 closed auctions of each seller | 1,000 |  | "
        " | auction, bid | 2.00 |  |  |",
    ]
    assert lines[6] == (
        "Nexmark, geometric mean of 2 queries, against Flink: 1.41 times as fast,"
        " at least 2 (missed)."
    )


def test_the_work_of_a_process_counts_those_below_it() -> None:
    before = processor_seconds(os.getpid())
    if before is None:
        return  # there is no /proc here
    busy = "import time\nwhile time.process_time() < 0.3: pass"
    subprocess.run([sys.executable, "-c", busy], check=True)
    after = processor_seconds(os.getpid())
    assert after is not None
    assert after - before >= 0.25
