"""What the experiments of paper 3 give: seconds of processor time, and rows."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from ebbtide.drawing.plot import plot_svg


@dataclass(frozen=True)
class Measurement:
    """A run: STP is the time of standard rows, RTP that of revisions.

    ``touched`` is how many rows were replayed for all revisions, and ``minimal`` how many there are
    in their minimal replay sequences; 0 where it was not counted.  For approximations ``error`` is
    in percent, and ``part`` the part of all rows that is stored, in percent.
    """

    experiment: str
    case: str
    way: str
    stp: float = 0.0
    rtp: float = 0.0
    revisions: int = 0
    touched: int = 0
    minimal: int = 0
    error: float = 0.0
    part: float = 0.0

    @property
    def com(self) -> float:
        """All of it."""
        return self.stp + self.rtp


def as_table(results: Sequence[Measurement]) -> str:
    """All results as tables in Markdown."""
    timed = [r for r in results if not r.part]
    lines = [
        "| experiment | case | way | STP, s | RTP, s | COM, s | revisions | replayed | minimal |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {r.experiment} | {r.case} | {r.way} | {r.stp:.2f} | {r.rtp:.3f} | {r.com:.2f} "
        f"| {r.revisions} | {r.touched or ''} | {r.minimal or ''} |"
        for r in timed
    ]
    sized = [r for r in results if r.part]
    if sized:
        lines += ["", "| experiment | case | way | stored, % | error, % |", "|---|---|---|---|---|"]
        lines += [
            f"| {r.experiment} | {r.case} | {r.way} | {r.part:.2f} | {r.error:.3f} |" for r in sized
        ]
    return "\n".join(lines)


def as_json(results: Sequence[Measurement], setting: Mapping[str, object]) -> str:
    """All results, with what was set."""
    return json.dumps({"setting": dict(setting), "results": [asdict(r) for r in results]}, indent=1)


def draw(results: Sequence[Measurement], directory: Path) -> list[Path]:
    """Draws every figure that there are results for."""
    directory.mkdir(parents=True, exist_ok=True)
    mixes = ("LOW", "MOD", "HIGH")
    written = []
    for name, title, experiment, value in _TIMED:
        series: dict[str, list[tuple[float, float]]] = {}
        for result in results:
            if result.experiment == experiment and result.case in mixes:
                point = float(mixes.index(result.case) + 1), float(getattr(result, value))
                series.setdefault(result.way, []).append(point)
        if series:
            across = "1 LOW, 2 MOD, 3 HIGH"
            text = plot_svg(title, across, "seconds of processor time", series)
            written.append(_write(directory / f"{name}.svg", text))
    for name, title, experiment in _SIZED:
        curves: dict[str, list[tuple[float, float]]] = {}
        for result in results:
            if result.experiment == experiment:
                curves.setdefault(result.way, []).append((result.part, result.error))
        if curves:
            across = "stored, percent of the rows"
            lines = {way: sorted(points) for way, points in curves.items()}
            text = plot_svg(title, across, "error, percent", lines)
            written.append(_write(directory / f"{name}.svg", text))
    return written


def _write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


_TIMED = (
    ("borealis-6-stp", "Figure 6: STP of archives", "figure 6", "stp"),
    ("borealis-6-rtp", "Figure 6: RTP of archives", "figure 6", "rtp"),
    ("borealis-7", "Figure 7: COM of buckets", "figure 7", "com"),
    ("borealis-t3-q1", "Table 3, Q1: RTP", "table 3 Q1", "rtp"),
    ("borealis-t3-q2", "Table 3, Q2: RTP", "table 3 Q2", "rtp"),
    ("borealis-t3-q3", "Table 3, Q3: RTP", "table 3 Q3", "rtp"),
)
_SIZED = (
    ("borealis-error", "Error of means of 300 prices", "error of means"),
    ("borealis-error-sums", "Error of sums of 300 volumes", "error of sums"),
)
