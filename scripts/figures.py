"""Puts the figures that were measured last into the pages; with --check, only compares.

The README has those of benchmarks/results.json, Nexmark's page those of benchmarks/nexmark.json.

python scripts/figures.py [--check]
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from ebbtide.bench import figures
from ebbtide.bench.nexmark import table

ROOT = Path(__file__).resolve().parents[1]
MARKED = re.compile(r"(<!-- benchmarks: begin -->\n).*?(<!-- benchmarks: end -->)", re.DOTALL)
PAGES = (
    ("README.md", "results.json", figures.as_table),
    ("docs/explanation/nexmark.md", "nexmark.json", table.as_table),
)


def main() -> int:
    """1 if the table of a page is not that of the results."""
    differs = False
    for name, results, as_table in PAGES:
        page = ROOT / name
        measured = ROOT / "benchmarks" / results
        found = "Not measured yet."
        if measured.exists():
            found = as_table(measured.read_text(encoding="utf-8"))
        text = page.read_text(encoding="utf-8")
        wanted = MARKED.sub(lambda match, made=found: f"{match[1]}{made}\n{match[2]}", text)
        differs |= wanted != text
        if "--check" not in sys.argv:
            page.write_text(wanted, encoding="utf-8")
    return int(differs) if "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
