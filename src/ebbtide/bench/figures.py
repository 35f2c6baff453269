"""What was measured, with what it should be, as JSON and as a table."""

from __future__ import annotations

import json
import os
import platform
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version

_PACKAGES = ("ebbtide", "pyspark", "pyarrow", "numpy", "numba")


@dataclass(frozen=True)
class Figure:
    """A number with its unit; it should be at least ``target``, or at most ``limit``."""

    name: str
    title: str
    value: float
    unit: str
    target: float | None = None
    limit: float | None = None

    @property
    def met(self) -> bool | None:
        """Whether it is as it should be; None if nothing is asked of it."""
        if self.target is None and self.limit is None:
            return None
        enough = self.target is None or self.value >= self.target
        return enough and (self.limit is None or self.value <= self.limit)

    @property
    def asked(self) -> str:
        """What is asked of it, in words."""
        if self.target is not None:
            return f"at least {_number(self.target)}"
        return "" if self.limit is None else f"at most {_number(self.limit)}"


def median(values: Sequence[float]) -> float:
    """The middle one."""
    return statistics.median(values)


def as_json(figures: Sequence[Figure]) -> str:
    """The figures, with their date, machine and versions."""
    return json.dumps({**_circumstances(), "figures": [asdict(f) for f in figures]}, indent=1)


def as_table(text: str) -> str:
    """Such a JSON as a table in Markdown, with a line about when and where."""
    about = json.loads(text)
    lines = ["| measured | figure | asked |", "|---|---|---|"]
    for figure in (Figure(**values) for values in about["figures"]):
        value = f"{_number(figure.value)} {figure.unit}"
        mark = " (missed)" if figure.met is False else ""
        lines.append(f"| {figure.title} | {value} | {figure.asked}{mark} |")
    return "\n".join([*lines, "", f"{about['date']}, {about['machine']}."])


def _circumstances() -> dict[str, object]:
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "machine": f"{os.cpu_count()} cores, {platform.machine()}, {platform.system()}",
        "python": platform.python_version(),
        "versions": {name: _version(name) for name in _PACKAGES},
    }


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _number(value: float) -> str:
    if value >= 100_000:
        return f"{round(value / 1000)} K"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
