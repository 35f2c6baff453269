"""Judges random SQL text by DuckDB, from the command line."""

from __future__ import annotations

import argparse
import json
import sys

from tests.differential.duckdb_judge import Figures
from tests.interruption import until_ended


def main() -> int:
    """Judges texts and prints what became of them."""
    parser = argparse.ArgumentParser(prog="python -m tests.differential")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--count", type=int, default=1000)
    chosen = parser.parse_args()
    figures = Figures()
    with until_ended():
        for seed in range(chosen.first, chosen.first + chosen.count):
            figures.judge(seed)
    json.dump({"first": chosen.first, **figures.told()}, sys.stdout, indent=1)
    sys.stdout.write("\n")
    return 1 if figures.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
