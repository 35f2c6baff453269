"""The highway of paper 4, section 2: ``python -m ebbtide.demo``.

Detectors on a highway report the speed of each vehicle.  One query asks for the average over the
last 15 minutes, and three things happen to its answer: it changes as readings come, it changes as
they expire, without any input, and it is revised by a reading that comes late.  A second query is
refused before it runs, because what it would keep has no bound.

The readings are made up, the same on every run.  The query runs on Spark, inside this process.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from random import Random
from tempfile import TemporaryDirectory

from ebbtide.core.change import Change, consolidate
from ebbtide.core.time import (
    INF,
    MINUTE,
    NEG_INF,
    SECOND,
    Instant,
    format_instant,
    instant,
    is_finite,
)
from ebbtide.core.values import Row
from ebbtide.engine.engine import Engine
from ebbtide.errors import EbbtideError

DECLARATION = """
CREATE STREAM traffic (lane INT, speed DOUBLE, at TIMESTAMP,
  PROGRESS FOR at AS at - INTERVAL 5 SECONDS) RETAIN 1 HOUR
"""
SQL = "SELECT AVG(speed) AS mean FROM traffic [RANGE 15 MINUTES]"
WITHOUT_BOUND = """
SELECT slow.lane, slow.speed
FROM traffic AS slow JOIN traffic AS fast
ON slow.lane = fast.lane AND slow.speed < fast.speed
"""
SEED = 1993
OPENING = instant("1993-11-03 05:00:00")


class Highway:
    """The query on an engine; each method is a step and gives what the step emitted."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        engine.execute(DECLARATION)
        self.query = engine.query(SQL, name="highway")
        self.query.start()

    def come(self, rows: Sequence[Row]) -> tuple[Change, ...]:
        """Readings come."""
        self.engine.feed("traffic", rows)
        return self._step()

    def wait(self, until: Instant) -> tuple[Change, ...]:
        """Time passes, and nothing comes."""
        self.engine.advance("traffic", until + 1)
        return self._step()

    def verdict(self, sql: str) -> str:
        """What the compiler says of a query, before anything runs."""
        try:
            return str(self.engine.query(sql).verdict)
        except EbbtideError as error:
            return str(error)

    def _step(self) -> tuple[Change, ...]:
        version = self.engine.step()[self.query.name].version
        rows = self.query.changes(since=version - 1).selectExpr(
            "mean", "unix_micros(valid_from)", "unix_micros(valid_to)", "diff"
        )
        return consolidate(
            Change((mean,), NEG_INF if start is None else start, INF if end is None else end, diff)
            for mean, start, end, diff in rows.collect()
        )


def readings(count: int = 6, seed: int = SEED) -> list[Row]:
    """Made-up vehicles: lane, meters per second, and when they passed."""
    random = Random(seed)
    at, found = OPENING, []
    for _ in range(count):
        at += random.randrange(20, 150) * SECOND
        found.append((random.randrange(1, 6), random.randrange(1400, 2600) / 100, at))
    return found


def story(highway: Highway) -> list[str]:
    """The lines of the demonstration."""
    came = readings()
    last = came[-1][-1]
    quiet = last + 15 * MINUTE
    late = (3, 6.5, came[2][-1] + 11 * SECOND)
    first, second, third = highway.come(came), highway.wait(quiet), highway.come([late])
    return [
        "How fast is the highway? The average speed over the last 15 minutes:",
        "",
        f"    {SQL}",
        "",
        f"1. Readings come in. The last one, at {clock(last)}, is now.",
        "",
        *indented(table(("at", "lane", "speed"), ((clock(r[2]), *map(str, r[:2])) for r in came))),
        "",
        "   Each average is right from one instant up to another, and NULL where there is no",
        "   reading to take it of.",
        "",
        *indented(averages(first, last)),
        "",
        f"2. No more readings come. At {clock(quiet)} the last one has expired, and so have the",
        "   averages: each change below happened without any input.",
        "",
        *indented(averages(second, quiet)),
        "",
        f"3. Late, a reading of {clock(late[2])} comes: {late[1]} m/s on lane {late[0]}. Averages",
        "   that counted without it are taken back (-) and replaced (+); the others stay.",
        "",
        *indented(revisions(third)),
        "",
        "   In the end there is just what there would have been, had it come in time.",
        "",
        *outlook(highway),
    ]


def outlook(highway: Highway) -> list[str]:
    """The query without a bound, and where to go next."""
    return [
        "4. Which vehicles were slower than another one on their lane? Asked like this, every",
        "   reading would be kept for ever, and so it is refused before anything runs:",
        "",
        *indented(WITHOUT_BOUND.strip().splitlines()),
        "",
        *indented(highway.verdict(WITHOUT_BOUND.strip()).splitlines()),
        "",
        "Where to go next:",
        "",
        "     docs/tutorial.md      the same on files of your own, from the command line",
        "     docs/index.md         everything else",
        "     ebbtide --help        the command; in a clone it is .venv/bin/ebbtide",
    ]


def averages(changes: Sequence[Change], now: Instant) -> list[str]:
    """Averages with the intervals over which they hold; a mark at the one that holds now."""
    return table(
        ("from", "to", "mean", ""),
        (
            (
                clock(change.valid_from),
                clock(change.valid_to),
                mean(change),
                bar(change) + ("  <- now" if change.valid_from <= now < change.valid_to else ""),
            )
            for change in changes
        ),
    )


def revisions(changes: Sequence[Change]) -> list[str]:
    """Changes with their signs, in the order of time."""
    ordered = sorted(changes, key=lambda c: (c.valid_from, c.diff))
    return table(
        ("", "from", "to", "mean"),
        (
            ("+" if c.diff > 0 else "-", clock(c.valid_from), clock(c.valid_to), mean(c))
            for c in ordered
        ),
    )


def mean(change: Change) -> str:
    """The average to three digits, as the paper prints it."""
    return "NULL" if change.row[0] is None else f"{change.row[0]:.3f}"


def bar(change: Change) -> str:
    """The average as a length."""
    return "" if change.row[0] is None else "=" * round(change.row[0])


def clock(t: Instant) -> str:
    """The time of day, or the end of the line."""
    return format_instant(t).split(" ")[-1] if is_finite(t) else format_instant(t)


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Cells below each other, numbers to the right."""
    lines = [tuple(header), *map(tuple, rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if i == len(widths) - 1 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]


def indented(lines: Iterable[str]) -> list[str]:
    """The lines, set off from the text."""
    return [f"     {line}".rstrip() for line in lines]


def main() -> None:
    """Tells the story."""
    print("Starting Spark inside this process ...", file=sys.stderr)
    with TemporaryDirectory() as location:
        engine = Engine(location, log=f"{location}/spark.log")
        try:
            lines = story(Highway(engine))
        finally:
            engine.stop()
    print("\n".join(lines))


if __name__ == "__main__":
    main()
