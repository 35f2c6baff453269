"""Draws how many rows queries without windows keep over an hour of event time.

    python scripts/flat_state.py --rate 10000 --minutes 60
    python scripts/flat_state.py --rate 10000 --minutes 60 --only session --to session.json
    python scripts/flat_state.py --from session.json absence.json ...

Six queries run in this process, one after the other, on seeded rows, out of order by some seconds;
``--rate`` is how many rows a query reads in a second, of all its streams together.  After every
step the rows in its stores are counted, and of those the ones that the rule of the store keeps, row
by row.  What is stored may be more by a fifth, one step and one segment: segments go whole.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from ebbtide import Engine
from ebbtide.core.time import MINUTE, SECOND, Instant, instant
from ebbtide.dataflow.frontiers import times_of
from ebbtide.dataflow.plan import Dataflow
from ebbtide.dataflow.record import Given
from ebbtide.dataflow.shard import StatePlace
from ebbtide.dataflow.step import Stepper
from ebbtide.drawing.svg import AMBER, BLUE, EDGE, INK, QUIET, RED, TEAL, Picture
from ebbtide.engine.state_report import INPUTS, areas_of, output_areas
from ebbtide.kernels.kernel import Times
from ebbtide.local.transport import LocalTransport
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

SCRIPT = """
CREATE STREAM a (k BIGINT, v BIGINT, at TIMESTAMP NOT NULL,
  PROGRESS FOR at AS at - INTERVAL 5 SECONDS) RETAIN 30 SECONDS;
CREATE STREAM b (k BIGINT, v BIGINT, at TIMESTAMP NOT NULL,
  PROGRESS FOR at AS at - INTERVAL 5 SECONDS) RETAIN 30 SECONDS;
CREATE STREAM fragments (k BIGINT, began TIMESTAMP NOT NULL, at TIMESTAMP NOT NULL, most BIGINT,
  PROGRESS FOR at AS at);
INSERT INTO fragments
SELECT s.k, s.at AS began, s.at + INTERVAL 1 MINUTE AS at, MAX(a.v) AS most
FROM (SELECT k, at FROM b WHERE v = 0) AS s JOIN a ON a.k = s.k
  AND a.at >= s.at AND a.at < s.at + INTERVAL 1 MINUTE
GROUP BY s.k, s.at;
INSERT INTO fragments
SELECT f.k, f.began, f.at + INTERVAL 1 MINUTE AS at, GREATEST(f.most, MAX(a.v)) AS most
FROM fragments AS f JOIN a ON a.k = f.k AND a.at >= f.at AND a.at < f.at + INTERVAL 1 MINUTE
WHERE NOT EXISTS (SELECT 1 FROM b WHERE b.k = f.k AND b.v < 5
  AND b.at >= f.at AND b.at < f.at + INTERVAL 1 MINUTE)
GROUP BY f.k, f.began, f.at, f.most;
"""


class Watched(NamedTuple):
    """A query, and for how many seconds a key has no other row, on the average."""

    sql: str
    pause: int


QUERIES = {
    "absence": Watched(
        "SELECT k, at FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE b.k = a.k"
        " AND b.at BETWEEN a.at AND a.at + INTERVAL 5 MINUTES) EMIT FINAL",
        120,
    ),
    "frame": Watched(
        "SELECT s.k, s.at AS began, e.at AS ended, MAX(a.v) AS most FROM"
        " (SELECT k, at FROM b WHERE v = 0) AS s JOIN (SELECT k, at FROM b WHERE v = 1) AS e"
        " ON e.k = s.k AND e.at >= s.at + INTERVAL 1 MINUTE AND e.at <= s.at + INTERVAL 5 MINUTES"
        " JOIN a ON a.k = s.k AND a.at >= s.at AND a.at <= e.at GROUP BY s.k, s.at, e.at"
        " EMIT FINAL",
        20,
    ),
    "fragments": Watched("SELECT k, began, at, most FROM fragments EMIT FINAL", 20),
    "tumbling": Watched(
        "SELECT k, window_end, SUM(v) AS total FROM TUMBLE(a, at, 5 MINUTES)"
        " GROUP BY k, window_start, window_end EMIT FINAL",
        20,
    ),
    "session": Watched(
        "SELECT k, window_start, window_end, COUNT(*) AS n FROM"
        " SESSION(a PARTITION BY k, at, 3 SECONDS) GROUP BY k, window_start, window_end"
        " EMIT FINAL",
        2,
    ),
    "band join": Watched(
        "SELECT a.k, a.at, b.at AS other FROM a JOIN b ON b.k = a.k"
        " AND b.at BETWEEN a.at AND a.at + INTERVAL 5 MINUTES AND b.v < 3",
        60,
    ),
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


def samples(
    rate: int, minutes: int, names: Iterable[str] = tuple(QUERIES), seed: int = 1
) -> Iterator[Sample]:
    """What each query stores after every step, at so many rows in a second."""
    for name in names:
        with TemporaryDirectory() as location:
            yield from _of_query(location, name, rate, minutes, seed)


def _of_query(location: str, name: str, rate: int, minutes: int, seed: int) -> Iterator[Sample]:
    engine = Engine(location, transport="local", shards=1)
    engine.execute(SCRIPT)
    view, watched = name.replace(" ", "_"), QUERIES[name]
    run = engine.start(engine.query(watched.sql, view), name="flat", archive=False)
    lowered = run.program.lowered
    flow = Dataflow(lowered, 1, frozenset(o.name for o in lowered.physical.outputs))
    stepper = Stepper(flow, LocalTransport(flow), run.root, keeps=False)
    random, streams = np.random.default_rng(seed), len(lowered.declarations)
    count, keys = rate * STEP // SECOND // streams, max(5, rate * watched.pause // streams)
    for number in range(minutes * MINUTE // STEP):
        now = BEGIN + number * STEP
        arrived = {i: _rows(random, now, count, keys, number * count) for i in range(streams)}
        manifest = stepper.step(number, arrived, Given())
        yield _sample(run, manifest, name, now)


def _rows(random: np.random.Generator, now: Instant, count: int, keys: int, first: int) -> Any:
    """The rows of a step as they arrive: a key, a value, a time; then what is known of each."""
    at = now + random.integers(0, STEP, count) - random.integers(0, 4 * SECOND, count)
    columns = [
        pa.array(random.integers(0, keys, count)),
        pa.array(random.integers(0, 10, count)),
        pa.array(at),
        pa.nulls(count, pa.string()),
        pa.array(np.arange(first, first + count)),
        pa.nulls(count, pa.string()),
    ]
    return pa.Table.from_arrays(columns, names=[f"c{i}" for i in range(len(columns))])


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
    first, last = min(s.at for s in found), max(s.at for s in found)
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
    said = f"Rows stored, at {rate:,} rows in a second; dashed, what the rules keep"
    picture.text(left, 20, said, size=13, bold=True)
    ends: list[float] = []
    ordered = {s.query: s.stored for s in found}
    for name in sorted(ordered, key=lambda n: -ordered[n]):
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
    asked.add_argument("--only", choices=QUERIES, action="append", help="of all queries this one")
    asked.add_argument("--to", type=Path, help="write what was stored there, and draw nothing")
    asked.add_argument("--from", dest="read", type=Path, nargs="+", help="draw what these say")
    given = asked.parse_args()
    if given.read:
        found = [Sample(*values) for file in given.read for values in json.loads(file.read_text())]
    else:
        found = []
        for name in given.only or QUERIES:
            mine = list(samples(given.rate, given.minutes, [name]))
            _say(name, mine, given.rate)
            found += mine
    if given.to:
        given.to.write_text(json.dumps(found))
        return
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_text(drawn(found, given.rate), encoding="utf-8")


def _say(name: str, found: list[Sample], rate: int) -> None:
    step = rate * STEP // SECOND
    mine = [s for s in found if s.at - BEGIN >= 10 * MINUTE] or found
    half = len(mine) // 2
    early, late = (max((s.stored for s in part), default=0) for part in (mine[:half], mine[half:]))
    ratio = max((s.stored - step - s.segment) / max(1, s.kept) for s in mine)
    flat = all(s.is_flat(step) for s in found)
    said = f"most {early:10,} then {late:10,}; over the rule {ratio:.2f}; flat: {flat}"
    print(f"{name:10} {said}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
