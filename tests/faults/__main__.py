"""Faults from a seed, in one command.

    python -m tests.faults --seed 7 --count 950
    python -m tests.faults --seed 7 --count 0 --spark 50

prints a JSON object: the faults that happened, by their kinds and by the operations at which they
came, the codes of the errors that they led to, and what was wrong afterwards: nothing, or the runs
that differ from an undisturbed one.  ``--run N`` begins with a run, to repeat it; ``--kind source``
lets faults of one kind alone happen on Spark.
"""

from __future__ import annotations

import argparse
import json
import logging
import sys
import tempfile
from pathlib import Path
from typing import Any


def main() -> int:
    """Lets faults happen and prints what became of them."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100, help="faults in this process")
    parser.add_argument("--spark", type=int, default=0, help="faults on Spark")
    parser.add_argument("--run", type=int, help="the run to begin with")
    parser.add_argument("--kind", help="the one kind of faults on Spark")
    chosen = parser.parse_args()
    logging.getLogger("ebbtide").setLevel(logging.CRITICAL)
    told: dict[str, Any] = {}
    if chosen.count:
        from tests.faults import trials

        with tempfile.TemporaryDirectory() as directory:
            figures = trials.run(chosen.count, chosen.seed, directory, chosen.run or 0)
        told["in process"] = figures.told()
    if chosen.spark:
        from tests.faults import on_spark

        with tempfile.TemporaryDirectory() as directory:
            found = on_spark.run(chosen.spark, chosen.seed, Path(directory), chosen.kind)
        told["on Spark"] = found.told()
    json.dump(told, sys.stdout, indent=1)
    sys.stdout.write("\n")
    return 1 if any(part["wrong"] for part in told.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
