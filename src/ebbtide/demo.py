"""The highway of paper 4, section 2: ``python -m ebbtide.demo``.

Detectors on a highway report the speed of each vehicle.  One query asks for the average over the
last 15 minutes, and three things happen to its answer: it changes as readings come, it changes as
they expire, without any input, and it is revised by a reading that comes late.

The readings are made up, the same on every run.  The answers are the reference evaluator's.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from random import Random

from ebbtide.algebra import Aggregate, AggregateCall, NamedCall, Range, Relation, Stream, Window
from ebbtide.core.change import Change, consolidate, fact, minus, until
from ebbtide.core.declaration import Promise, StreamDeclaration
from ebbtide.core.schema import schema
from ebbtide.core.time import MINUTE, SECOND, Instant, format_instant, instant, is_finite
from ebbtide.core.values import Row
from ebbtide.reference import evaluate

SQL = "SELECT AVG(speed) AS mean FROM traffic [RANGE 15 MINUTES]"
SEED = 1993
OPENING = instant("1993-11-03 05:00:00")

TRAFFIC = Stream(
    StreamDeclaration(
        "traffic",
        schema(lane="INT", speed="DOUBLE", at="TIMESTAMP"),
        promises=(Promise("at", 5 * SECOND),),
    )
)
WINDOW = Window(TRAFFIC, Range(15 * MINUTE), on="at")
MEAN: Relation = Aggregate(
    WINDOW, (), (NamedCall("mean", AggregateCall("AVG", (WINDOW.ref("speed"),))),)
)


def readings(count: int = 6, seed: int = SEED) -> list[Row]:
    """Made-up vehicles: lane, meters per second, and when they passed."""
    random = Random(seed)
    at, found = OPENING, []
    for _ in range(count):
        at += random.randrange(20, 150) * SECOND
        found.append((random.randrange(1, 6), random.randrange(1400, 2600) / 100, at))
    return found


def answers(rows: Iterable[Row], now: Instant) -> tuple[Change, ...]:
    """The averages up to now, and for how long each was right."""
    changes = evaluate(MEAN, {"traffic": [fact(row) for row in rows]}, now)
    return consolidate(change for change in changes if change.valid_from <= now)


def story() -> list[str]:
    """The lines of the demonstration."""
    came = readings()
    last = came[-1][-1]
    quiet = last + 15 * MINUTE
    late = (3, 6.5, came[2][-1] + 11 * SECOND)
    before, after = answers(came, quiet), answers([*came, late], quiet)
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
        *indented(averages(answers(came, last), last)),
        "",
        f"2. No more readings come. At {clock(quiet)} the last one has expired, and so have the",
        "   averages: each change below happened without any input.",
        "",
        *indented(averages([c for c in before if c.valid_from > last], quiet)),
        "",
        f"3. Late, a reading of {clock(late[2])} comes: {late[1]} m/s on lane {late[0]}. Averages",
        "   that counted without it are taken back (-) and replaced (+); the others stay.",
        "",
        *indented(revisions(until(minus(after, before), quiet))),
        "",
        "   In the end there is just what there would have been, had it come in time.",
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
    print("\n".join(story()))


if __name__ == "__main__":
    main()
