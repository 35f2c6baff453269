"""Nexmark's figures as a table: a row for every query, with Flink and the floor beside it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from ebbtide.bench.figures import Figure
from ebbtide.bench.nexmark.queries import NUMBERS, title
from ebbtide.bench.nexmark.suite import read_by

_HEAD = (
    "query",
    "events/s",
    "Flink: events/s",
    "times as fast as Flink",
    "the floor: streams",
    "times as long as the floor",
    "processors",
    "Flink: processors",
)


def as_table(text: str) -> str:
    """The JSON of a run as Markdown, with lines about the whole, when and where."""
    about = json.loads(text)
    figures = {values["name"]: Figure(**values) for values in about["figures"]}
    rows = [_row(number, figures) for number in NUMBERS if f"nexmark-q{number}" in figures]
    lines = [_line(_HEAD), "|---" * len(_HEAD) + "|", *map(_line, rows)]
    return "\n".join([*lines, "", *_whole(figures), f"{about['date']}, {about['machine']}."])


def _row(number: int, figures: Mapping[str, Figure]) -> list[str]:
    name = f"nexmark-q{number}"
    ratio = figures.get(f"{name}-flink")
    missed = " (missed)" if ratio is not None and ratio.met is False else ""
    return [
        f"q{number}: {title(number)}",
        _shown(figures.get(name), "{:,.0f}"),
        _shown(figures.get(f"{name}-flink-rate"), "{:,.0f}"),
        _shown(ratio, "{:.2f}") + missed,
        ", ".join(read_by(number)),
        _shown(figures.get(f"{name}-floor"), "{:.2f}"),
        _shown(figures.get(f"{name}-work"), "{:.1f} s"),
        _shown(figures.get(f"{name}-flink-work"), "{:.1f} s"),
    ]


def _shown(figure: Figure | None, how: str) -> str:
    return "" if figure is None else how.format(figure.value)


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _whole(figures: Mapping[str, Figure]) -> list[str]:
    mean = figures.get("nexmark-flink")
    if mean is None:
        return []
    missed = "" if mean.met else " (missed)"
    return [f"{mean.title}: {mean.value:.2f} {mean.unit}, {mean.asked}{missed}.", ""]
