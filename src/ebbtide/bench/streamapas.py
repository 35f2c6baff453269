"""The experiment of paper 1 (figures 8 and 9): groups, with and without compression.

A thousand rows of a hundred groups come at so many a minute, in steps of one length: the more come,
the more of them are in a step, and the more of what is said in it is taken back in it.  Both ways
run as views of one program, and end with the same answer, which is compared with a plain one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from random import Random
from tempfile import TemporaryDirectory

from ebbtide.bench.sampled import Chart, Sample
from ebbtide.core.time import MILLISECOND, MINUTE
from ebbtide.engine.engine import Engine
from ebbtide.program.run import Run

GROUPS = 100
ROWS = 1000
RATES = (5_000, 20_000, 40_000, 60_000)
STEP = 200 * MILLISECOND

CHARTS: tuple[Chart, ...] = (
    Chart("streamapas-8", "Figure 8: rows that the aggregate sends", "groups", "rows a minute",
          "rows", "rows"),
    Chart("streamapas-9", "Figure 9: time in kernels", "groups", "rows a minute", "seconds",
          "seconds"),
)  # fmt: skip

_QUERY = """
SELECT g, SUM(x) AS total FROM gen [RANGE 5 SECONDS] WHERE x >= 0 GROUP BY g
"""


def measured(transport: str, say: Callable[[str], None]) -> Iterator[Sample]:
    """The samples of all rates."""
    for rate in RATES:
        say(f"{rate} rows a minute")
        yield from _run(transport, rate)


def _run(transport: str, rate: int) -> Iterator[Sample]:
    random = Random(rate)
    rows = [
        (random.randrange(GROUPS), random.randrange(100), (i + 1) * MINUTE // rate)
        for i in range(ROWS)
    ]
    last = rows[-1][2]
    with TemporaryDirectory() as location:
        engine = Engine(location, transport=transport, shards=1)
        engine.execute("CREATE STREAM gen (g INT, x INT, at TIMESTAMP, PROGRESS FOR at AS at)")
        ways = {"compressed": True, "uncompressed": False}
        queries = [engine.query(_QUERY, name, compression=way) for name, way in ways.items()]
        run = engine.start(*queries, name="streamapas")
        for now in range(STEP, last + STEP, STEP):
            engine.feed("gen", [row for row in rows if now - STEP < row[2] <= now])
            engine.step()
        expected: Counter[int] = Counter()
        for group, x, at in rows:
            if at > last - 5_000_000:
                expected[group] += x
        for query in queries:
            if sorted(query.view.snapshot()) != sorted(expected.items()):
                raise AssertionError(f"{query.name} has a wrong answer at {rate} rows a minute")
        engine.stop()
        for name in ways:
            yield _sample(rate, name, run)


def _sample(rate: int, name: str, run: Run) -> Sample:
    counted = [
        counts
        for step in run.metrics()
        for operator, counts in step.operators.items()
        if operator.startswith(f"{name}.aggregate")
    ]
    negatives = sum(counts.negatives_out for counts in counted)
    positives = sum(counts.rows_out for counts in counted) - negatives
    delays = [step.delays[name] for step in run.metrics() if name in step.delays]
    effects = sum(delay.effects for delay in delays)
    return Sample(
        "groups",
        rate,
        name,
        sum(delay.total_us for delay in delays) / max(effects, 1) / MILLISECOND,
        max((delay.longest_us for delay in delays), default=0) / MILLISECOND,
        positives,
        negatives,
        sum(counts.seconds for counts in counted),
    )
