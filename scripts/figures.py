"""Puts the table of benchmarks/results.json into the README; with --check, only compares.

python scripts/figures.py [--check]
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from ebbtide.bench.figures import as_table

ROOT = Path(__file__).resolve().parents[1]
MARKED = re.compile(r"(<!-- benchmarks: begin -->\n).*?(<!-- benchmarks: end -->)", re.DOTALL)


def main() -> int:
    """1 if the README's table is not that of the results."""
    readme = ROOT / "README.md"
    table = as_table((ROOT / "benchmarks" / "results.json").read_text(encoding="utf-8"))
    text = readme.read_text(encoding="utf-8")
    wanted = MARKED.sub(lambda match: f"{match[1]}{table}\n{match[2]}", text)
    if "--check" in sys.argv:
        return int(wanted != text)
    readme.write_text(wanted, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
