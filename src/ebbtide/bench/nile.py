"""The experiments of paper 2 (figures 10 to 15): delays and rows under every expiry strategy.

Rows arrive as in the paper, at random and so many a second, and time is compressed: the window is
shorter, and the join has as many partners for a row as the paper's selectivity gives it there.  All
strategies run as views of one program, so each sees the same rows in the same steps.  At the end of
each run every answer is compared with a plain computation, or the suite ends.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from ebbtide.bench.sampled import Chart, Sample
from ebbtide.core.time import MILLISECOND, SECOND
from ebbtide.engine.engine import Engine
from ebbtide.program.run import Run
from ebbtide.store.record import Delay

ITEMS = 100
PARTNERS = 90
"""At the selectivity of 1, by the paper's count of pairs in a window of 90,000 rows."""

HALF_AN_HOUR = 1800
STEP_MS = 200
FILL_MS = 600_000

STRATEGIES: Mapping[str, Mapping[str, Any]] = {
    "interval": {},
    "input": {"expiry": "input"},
    "negative": {"expiry": "negative"},
    "piggyback": {"expiry": "piggyback", "join_message": True},
}
WITH_MESSAGES: Mapping[str, Mapping[str, Any]] = {
    "input": {"expiry": "input"},
    "negative": {"expiry": "negative"},
    "join message": {"expiry": "negative", "join_message": True},
}

CHARTS: tuple[Chart, ...] = (
    Chart("nile-10a", "Figure 10a: Q1, average delay", "Q1 selectivity", "selectivity",
          "milliseconds", "mean_delay_ms"),
    Chart("nile-10b", "Figure 10b: Q1, longest delay", "Q1 selectivity", "selectivity",
          "milliseconds", "longest_delay_ms"),
    Chart("nile-11a", "Figures 11a, 14b: Q2, average delay", "Q2 selectivity", "selectivity",
          "milliseconds", "mean_delay_ms"),
    Chart("nile-11c", "Figure 11a with SUM in place of MAX: average delay", "Q2 sum",
          "selectivity", "milliseconds", "mean_delay_ms"),
    Chart("nile-11b", "Figure 11b: Q2, rows in the pipeline", "Q2 selectivity", "selectivity",
          "rows", "rows"),
    Chart("nile-12a", "Figures 12a, 14a: Q2, average delay", "Q2 rate", "rows a second",
          "milliseconds", "mean_delay_ms"),
    Chart("nile-12b", "Figure 12b: Q2, rows in the pipeline", "Q2 rate", "rows a second", "rows",
          "rows"),
    Chart("nile-13a", "Figure 13a: negative for each positive row", "Q2 multiplicity",
          "multiplicity", "ratio", "ratio"),
    Chart("nile-13b", "Figure 13b: time in kernels", "Q2 multiplicity", "multiplicity", "seconds",
          "seconds"),
    Chart("nile-15a", "Figure 15a: negative for each positive row", "Q2 rate", "rows a second",
          "ratio", "ratio"),
    Chart("nile-15b", "Figure 15b: negative for each positive row", "Q2 selectivity",
          "selectivity", "ratio", "ratio"),
)  # fmt: skip


@dataclass(frozen=True)
class Setting:
    """How long the window is, and the steps in which rows come.

    The time of rows is compressed: up to ``window_s`` they come in steps of ``fill_ms``, and only
    then, when the window is full, in steps of ``step_ms``, which are measured.
    """

    window_s: int = 10
    seconds: int = 20
    step_ms: int = 200
    fill_ms: int = 200
    seed: int = 1
    shards: int = 1
    transport: str = "local"

    @property
    def ends(self) -> list[int]:
        """When steps end, in microseconds of the time of the rows."""
        full, last = self.window_s * SECOND, self.seconds * SECOND
        filling = range(0, full, self.fill_ms * MILLISECOND)
        return [*filling, *range(full, last + 1, self.step_ms * MILLISECOND)]

    @property
    def filling(self) -> int:
        """How many steps come before the first that is measured."""
        return len(self.ends) - (self.seconds - self.window_s) * 1000 // self.step_ms


def paper(transport: str, steps: int) -> Setting:
    """The paper's own window of half an hour, with so many measured steps."""
    seconds = HALF_AN_HOUR + max(1, steps * STEP_MS // 1000)
    return Setting(HALF_AN_HOUR, seconds, STEP_MS, FILL_MS, transport=transport)


def measured(
    setting: Setting, say: Callable[[str], None], only: Sequence[str] = ()
) -> Iterator[Sample]:
    """The samples of all experiments, or only of some."""
    for name, xs, run in _experiments(setting):
        for x in xs if not only or name in only else ():
            say(f"{name} {x:g}")
            yield from run(x)


def _experiments(
    setting: Setting,
) -> Iterator[tuple[str, Sequence[float], Callable[[float], Iterator[Sample]]]]:
    def q1(selectivity: float) -> Iterator[Sample]:
        return _q1("Q1 selectivity", setting, 50, selectivity)

    def by_selectivity(selectivity: float) -> Iterator[Sample]:
        keys = _keys(setting, 50, selectivity)
        return _q2("Q2 selectivity", setting, 50, keys, selectivity, STRATEGIES)

    def summed(selectivity: float) -> Iterator[Sample]:
        keys = _keys(setting, 50, selectivity)
        return _q2("Q2 sum", setting, 50, keys, selectivity, STRATEGIES, "SUM")

    def by_rate(rate: float) -> Iterator[Sample]:
        keys = _keys(setting, 50, 0.01)
        return _q2("Q2 rate", setting, rate, keys, rate, STRATEGIES)

    def by_multiplicity(multiplicity: float) -> Iterator[Sample]:
        keys = _keys(setting, 50, 0.01 * multiplicity)
        return _q2("Q2 multiplicity", setting, 50, keys, multiplicity, WITH_MESSAGES)

    yield "Q1 selectivity", (0.1, 0.4, 0.7, 1.0), q1
    yield "Q2 selectivity", (0.002, 0.006, 0.01), by_selectivity
    yield "Q2 sum", (0.0005, 0.002, 0.01), summed
    yield "Q2 rate", (10, 30, 50), by_rate
    yield "Q2 multiplicity", (1, 3, 5), by_multiplicity


def _keys(setting: Setting, rate: float, selectivity: float) -> int:
    """So many values that a row has as many partners as in the paper's window."""
    rows = rate * setting.window_s
    return max(1, round(rows / (PARTNERS * selectivity)))


def _q1(name: str, setting: Setting, rate: float, selectivity: float) -> Iterator[Sample]:
    """COUNT over a join with a table, whose rows decide how many rows of the stream pass."""
    favorites = round(ITEMS * selectivity)
    values = ", ".join(f"({item})" for item in range(favorites))
    text = (
        f"SELECT COUNT(*) AS n FROM (VALUES {values}) AS f(item) "
        f"JOIN s1 [RANGE {setting.window_s} SECONDS] s ON f.item = s.item"
    )
    sales = _sales(Random(setting.seed), setting, rate, ITEMS)
    # The last row passes, so that all strategies have come to now.
    sales.append((0, 0, setting.seconds * SECOND))

    def count(now: int) -> int:
        since = now - setting.window_s * SECOND
        return sum(item < favorites and since < at <= now for item, _, at in sales)

    yield from _run(name, setting, text, {"s1": sales}, selectivity, STRATEGIES, count)


def _q2(
    name: str,
    setting: Setting,
    rate: float,
    keys: int,
    x: float,
    strategies: Mapping[str, Mapping[str, Any]],
    call: str = "MAX",
) -> Iterator[Sample]:
    """MAX over a join of two streams; a SUM differs with every pair that comes or goes."""
    window = f"[RANGE {setting.window_s} SECONDS]"
    text = f"SELECT {call}(r.price) AS m FROM s1 {window} l JOIN s2 {window} r ON l.item = r.item"
    random = Random(setting.seed)
    fed = {stream: _sales(random, setting, rate, keys) for stream in ("s1", "s2")}
    for sales in fed.values():
        sales.append((0, 0, setting.seconds * SECOND))

    def top(now: int) -> int | None:
        since = now - setting.window_s * SECOND
        items = {item for item, _, at in fed["s1"] if since < at <= now}
        return max(
            (price for item, price, at in fed["s2"] if since < at <= now and item in items),
            default=None,
        )

    def total(now: int) -> int | None:
        since = now - setting.window_s * SECOND
        items = Counter(item for item, _, at in fed["s1"] if since < at <= now)
        pairs = [price * items[item] for item, price, at in fed["s2"] if since < at <= now]
        return sum(pairs) if any(items[item] for item, _, at in fed["s2"] if at > since) else None

    expected = total if call == "SUM" else top
    yield from _run(name, setting, text, fed, x, strategies, expected)


def _sales(random: Random, setting: Setting, rate: float, items: int) -> list[tuple[int, int, int]]:
    """Items and prices at random times, so many a second."""
    found, at = [], 0.0
    while (at := at + random.expovariate(rate)) < setting.seconds:
        found.append((random.randrange(items), random.randrange(10_000), round(at * SECOND)))
    return found


def _run(
    name: str,
    setting: Setting,
    text: str,
    fed: Mapping[str, Sequence[tuple[int, int, int]]],
    x: float,
    strategies: Mapping[str, Mapping[str, Any]],
    expected: Callable[[int], int | None],
) -> Iterator[Sample]:
    with TemporaryDirectory() as location:
        engine = Engine(location, transport=setting.transport, shards=setting.shards)
        for stream in fed:
            engine.execute(
                f"CREATE STREAM {stream} (item INT, price INT, at TIMESTAMP, PROGRESS FOR at AS at)"
            )
        views = {f"v{i}": strategy for i, strategy in enumerate(strategies)}
        queries = [engine.query(text, v, **strategies[s]) for v, s in views.items()]
        run = engine.start(*queries, name="nile")
        since = -1
        for now in setting.ends:
            for stream, rows in fed.items():
                engine.feed(stream, [row for row in rows if since < row[2] <= now])
                # Time passes whether or not rows come.
                engine.advance(stream, now + 1)
            engine.step()
            since = now
        for query in queries:
            answer = query.view.snapshot()
            if answer != [(expected(now),)]:
                raise AssertionError(f"{name} {x:g}: {answer} is not {expected(now)}")
        engine.stop()
        samples = {s: _sample(name, x, s, run, view, setting) for view, s in views.items()}
        _hold_claims(samples, run, views, setting, fed)
        yield from samples.values()


def _hold_claims(
    samples: Mapping[str, Sample],
    run: Run,
    views: Mapping[str, str],
    setting: Setting,
    fed: Mapping[str, Sequence[tuple[int, int, int]]],
) -> None:
    """The paper's two claims: at most one message for each row that expires, and with
    piggybacking at most the negatives that there are without."""
    last = setting.seconds * SECOND - setting.window_s * SECOND
    expired = sum(0 < at <= last for rows in fed.values() for _, _, at in rows)
    for view, strategy in views.items():
        told = sum(
            counted.negatives_out
            for step in run.metrics()[setting.filling :]
            for operator, counted in step.operators.items()
            if operator.startswith(f"{view}.") and operator.endswith(".messages")
        )
        if told > expired:
            raise AssertionError(f"{strategy}: {told} messages of {expired} rows that expired")
    carried, plain = samples.get("piggyback"), samples.get("negative")
    if carried is not None and plain is not None and carried.negatives > plain.negatives:
        raise AssertionError(f"{carried.negatives} negatives, and {plain.negatives} without")


def _sample(name: str, x: float, strategy: str, run: Run, view: str, setting: Setting) -> Sample:
    """What a view did, once its windows were full."""
    delays, positives, negatives, seconds = Delay(), 0, 0, 0.0
    for step in run.metrics()[setting.filling :]:
        delays = delays.with_more(step.delays.get(view, Delay()))
        positives += sum(source.rows_in for source in step.sources.values())
        for operator, counted in step.operators.items():
            if not operator.startswith(f"{view}."):
                continue
            seconds += counted.seconds
            told = f"{operator.removesuffix('.expire')}.messages" in step.operators
            # What passes an Expire was counted where it was made.
            if not operator.endswith((".messages", ".expire")):
                positives += counted.rows_out - counted.negatives_out
            if not (operator.endswith(".expire") and told):
                negatives += counted.negatives_out
    return Sample(
        name,
        x,
        strategy,
        delays.mean_us / MILLISECOND,
        delays.longest_us / MILLISECOND,
        positives,
        negatives,
        seconds,
    )
