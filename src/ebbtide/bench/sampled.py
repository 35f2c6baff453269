"""A point of an experiment with strategies: what was set, who ran, and what was counted."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from ebbtide.drawing.plot import plot_svg


@dataclass(frozen=True)
class Sample:
    """What a query did under a strategy: ``x`` is what the experiment varies.

    Delays are in milliseconds of the time of the rows; rows are those that travelled.
    """

    experiment: str
    x: float
    strategy: str
    mean_delay_ms: float
    longest_delay_ms: float
    positives: int
    negatives: int
    seconds: float

    @property
    def rows(self) -> int:
        """All rows that travelled."""
        return self.positives + self.negatives

    @property
    def ratio(self) -> float:
        """Negative rows for each positive one."""
        return self.negatives / self.positives if self.positives else 0.0


@dataclass(frozen=True)
class Chart:
    """A figure: which experiment, what is drawn over what varies, and under which names."""

    name: str
    title: str
    experiment: str
    across: str
    up: str
    value: str


def as_table(samples: Sequence[Sample]) -> str:
    """All samples as a table in Markdown."""
    lines = [
        "| experiment | x | strategy | mean delay, ms | longest, ms | rows | negative/positive "
        "| kernel seconds |",
        "|---|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {s.experiment} | {s.x:g} | {s.strategy} | {s.mean_delay_ms:.1f} "
        f"| {s.longest_delay_ms:.0f} | {s.rows} | {s.ratio:.2f} | {s.seconds:.2f} |"
        for s in samples
    ]
    return "\n".join(lines)


def as_json(samples: Sequence[Sample], setting: Mapping[str, object]) -> str:
    """All samples, with what was set."""
    return json.dumps({"setting": dict(setting), "samples": [asdict(s) for s in samples]}, indent=1)


def draw(samples: Sequence[Sample], charts: Sequence[Chart], directory: Path) -> list[Path]:
    """Draws every chart that there are samples for."""
    directory.mkdir(parents=True, exist_ok=True)
    written = []
    for chart in charts:
        series: dict[str, list[tuple[float, float]]] = {}
        for sample in samples:
            if sample.experiment == chart.experiment:
                point = sample.x, float(getattr(sample, chart.value))
                series.setdefault(sample.strategy, []).append(point)
        if series:
            path = directory / f"{chart.name}.svg"
            text = plot_svg(chart.title, chart.across, chart.up, series)
            path.write_text(text, encoding="utf-8")
            written.append(path)
    return written
