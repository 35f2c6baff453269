"""Draws how many rows queries without windows keep over an hour of event time.

    python scripts/flat_state.py --rate 10 --minutes 60

Six queries run in this process on seeded rows, out of order by some seconds.  After every step the
rows in their stores are counted, and of those the ones that the rule of the store keeps, row by
row.  What is stored may be more by a fifth, one step and one segment: segments go whole.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import NamedTuple

from ebbtide import Engine
from ebbtide.core.time import MINUTE, SECOND, Instant, instant
from ebbtide.dataflow.frontiers import times_of
from ebbtide.dataflow.shard import StatePlace
from ebbtide.drawing.svg import AMBER, BLUE, EDGE, INK, QUIET, RED, TEAL, Picture
from ebbtide.engine.state_report import INPUTS, areas_of, output_areas
from ebbtide.kernels.kernel import Times
from ebbtide.program.run import Run
from ebbtide.state.keep import ALWAYS, Keep
from ebbtide.state.layout import Layout
from ebbtide.state.segment import Segment
from ebbtide.state.store import File
from ebbtide.store.frontiers import restored
from ebbtide.store.manifest import Manifest

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs/explanation/figures/flat-state.svg"
BEGIN = instant("2026-01-01 00:00:00")
STEP = MINUTE
KEYS = 20

SCRIPT = """
CREATE STREAM a (k BIGINT, v BIGINT, at TIMESTAMP NOT NULL,
  PROGRESS FOR at AS at - INTERVAL 5 SECONDS) RETAIN 30 SECONDS;
CREATE STREAM b (k BIGINT, v BIGINT, at TIMESTAMP NOT NULL,
  PROGRESS FOR at AS at - INTERVAL 5 SECONDS) RETAIN 30 SECONDS;
"""
QUERIES = {
    "absence": "SELECT k, at FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE b.k = a.k"
    " AND b.at BETWEEN a.at AND a.at + INTERVAL 5 MINUTES) EMIT FINAL",
    "frame": "SELECT s.k, s.at AS began, e.at AS ended, MAX(a.v) AS most FROM"
    " (SELECT k, at FROM b WHERE v = 0) AS s JOIN (SELECT k, at FROM b WHERE v = 1) AS e"
    " ON e.k = s.k AND e.at >= s.at + INTERVAL 1 MINUTE AND e.at <= s.at + INTERVAL 5 MINUTES"
    " JOIN a ON a.k = s.k AND a.at >= s.at AND a.at <= e.at GROUP BY s.k, s.at, e.at EMIT FINAL",
    "last rows": "SELECT k, at, v - LAG(v) OVER (PARTITION BY k ORDER BY at) AS rise FROM a",
    "tumbling": "SELECT k, window_end, SUM(v) AS total FROM TUMBLE(a, at, 5 MINUTES)"
    " GROUP BY k, window_start, window_end EMIT FINAL",
    "session": "SELECT k, window_start, window_end, COUNT(*) AS n FROM"
    " SESSION(a PARTITION BY k, at, 3 SECONDS) GROUP BY k, window_start, window_end EMIT FINAL",
    "band join": "SELECT a.k, a.at, b.at AS other FROM a JOIN b ON b.k = a.k"
    " AND b.at BETWEEN a.at AND a.at + INTERVAL 5 MINUTES AND b.v < 3",
}
COLOURS = dict(zip(QUERIES, (RED, BLUE, INK, AMBER, QUIET, TEAL), strict=True))


class Sample(NamedTuple):
    """What a query stores after a step: rows, those that the rules keep, and the largest file."""

    query: str
    at: Instant
    stored: int
    kept: int
    segment: int

    def is_flat(self, step: int) -> bool:
        """Whether no more is stored than is allowed for, with so many rows in a step."""
        return self.stored <= 1.2 * self.kept + step + self.segment


def samples(rate: int, minutes: int, seed: int = 1) -> Iterator[Sample]:
    """What is stored after every step, at so many rows of each stream in a second."""
    random = Random(seed)
    with TemporaryDirectory() as location:
        engine = Engine(location, transport="local", shards=1)
        engine.execute(SCRIPT)
        queries = [engine.query(sql, name.replace(" ", "_")) for name, sql in QUERIES.items()]
        run = engine.start(*queries, name="flat", archive=False)
        for number in range(minutes * MINUTE // STEP):
            now = BEGIN + number * STEP
            for stream in ("a", "b"):
                engine.feed(stream, _rows(random, now, rate * STEP // SECOND))
            manifest = engine.step()["flat"]
            for name in QUERIES:
                yield _sample(run, manifest, name, now)


def _rows(random: Random, now: Instant, count: int) -> list[tuple[int, int, Instant]]:
    return [
        (
            random.randrange(KEYS),
            random.randrange(10),
            now + random.randrange(STEP) - random.randrange(4 * SECOND),
        )
        for _ in range(count)
    ]


def _sample(run: Run, manifest: Manifest, name: str, at: Instant) -> Sample:
    stored = kept = largest = 0
    store = StatePlace(run.root, manifest.version).store()
    for keep, segments in _stores(run, manifest, name.replace(" ", "_")):
        for segment in segments:
            batch = store.read(File(segment.name, segment.checksum, segment.bytes))
            mask = keep.mask(batch)
            stored += segment.rows
            kept += segment.rows if mask is None else int(mask.sum())
            largest = max(largest, segment.rows)
    return Sample(name, at, stored, kept, largest)


def _stores(run: Run, manifest: Manifest, view: str) -> Iterator[tuple[Keep, list[Segment]]]:
    """The rule and the segments of every store of a view, by how far the sources have come."""
    lowered = run.program.lowered
    frontiers = restored(manifest, lowered.declarations)
    times = times_of(lowered, frontiers, frontiers, manifest.record.nows, None)
    physical = lowered.physical
    found = [(o.name, areas_of(o), times[i]) for i, o in enumerate(physical.operators)]
    found += [
        (f"output.{o.name}", output_areas(o), times[~i]) for i, o in enumerate(physical.outputs)
    ]
    for name, layouts, its in found:
        if name == f"output.{view}" or name.startswith(f"{view}."):
            for place, layout in enumerate(layouts):
                described = (d for shard in manifest.areas[name] for d in shard[place])
                yield _rule(layout, its), [Segment.restore(d) for d in described]


def _rule(layout: Layout, times: Times) -> Keep:
    if layout.name == "final":
        return times.waits
    if layout.name in INPUTS:
        return times.inputs[INPUTS[layout.name]]
    return times.output if layout.name == "output" else ALWAYS


def drawn(found: list[Sample], rate: int) -> str:
    """Rows stored over the hour, a line for each query; dashed, what the rules keep."""
    picture = Picture("Rows stored over an hour of event time")
    left, right, top, bottom = 64.0, 640.0, 40.0, 340.0
    first, last = found[0].at, found[-1].at
    most = max(max(s.stored, s.kept) for s in found) * 1.08

    def place(at: Instant, rows: float) -> tuple[float, float]:
        x = left + (right - left) * (at - first) / (last - first)
        return round(x, 1), round(bottom - (bottom - top) * rows / most, 1)

    step = 10 ** (len(str(int(most))) - 1)
    for rows in range(0, int(most) + 1, step):
        _, y = place(first, rows)
        picture.line((left, y), (right, y))
        picture.text(left - 8, y + 4, f"{rows:,}", size=11, fill=QUIET, anchor="end")
    minutes = (last - first) // MINUTE
    for minute in range(0, minutes + 1, 10 if minutes > 20 else 2):
        x, _ = place(first + minute * MINUTE, 0)
        picture.text(x, bottom + 18, f"{minute} min", size=11, fill=QUIET, anchor="middle")
    picture.line((left, bottom), (right, bottom), EDGE)
    said = f"Rows stored, at {rate} rows of each stream in a second; dashed, what the rules keep"
    picture.text(left, 20, said, size=13, bold=True)
    ends: list[float] = []
    for name in sorted(QUERIES, key=lambda n: -next(s.stored for s in found[::-1] if s.query == n)):
        mine = [s for s in found if s.query == name]
        for one, other in pairwise(mine):
            picture.line(
                place(one.at, one.stored), place(other.at, other.stored), COLOURS[name], width=1.6
            )
            picture.line(
                place(one.at, one.kept), place(other.at, other.kept), COLOURS[name], dash="4 4"
            )
        y = place(mine[-1].at, mine[-1].stored)[1] + 4
        y = y if not ends else max(y, ends[-1] + 15)
        ends.append(y)
        picture.text(right + 10, y, name, size=12, fill=COLOURS[name], bold=True)
    return picture.finish(730, 396)


def main() -> None:
    """Runs the queries, says what was stored, and draws it."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--rate", type=int, default=10)
    asked.add_argument("--minutes", type=int, default=60)
    given = asked.parse_args()
    found = list(samples(given.rate, given.minutes))
    step = 2 * given.rate * STEP // SECOND
    for name in QUERIES:
        mine = [s for s in found if s.query == name and s.at - BEGIN >= 10 * MINUTE]
        early, late = (
            max(s.stored for s in half) for half in (mine[: len(mine) // 2], mine[len(mine) // 2 :])
        )
        ratio = max((s.stored - step - s.segment) / max(1, s.kept) for s in mine)
        flat = all(s.is_flat(step) for s in mine)
        print(
            f"{name:10} most {early:7,} then {late:7,}; over the rule {ratio:.2f}; flat: {flat}",
            file=sys.stderr,
        )
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_text(drawn(found, given.rate), encoding="utf-8")


if __name__ == "__main__":
    main()
