"""Small programs with fixed histories, which together walk through every room of the engine.

Each program is SQL over the same few sources; rows come out of order, late and in the past, are
deleted, replaced and ended.  A run is judged at every step: its output by the reference, ``now``
and the unused rows by the naive admission, and what it stores by bounds that are written down.
After every step all that a process keeps in memory is dropped, so a step knows the directory alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import cache
from math import inf
from random import Random
from tempfile import TemporaryDirectory

from tests.histories import Fed, History, Oracle, cut, declarations_of, history, without_refused
from tests.in_process import InProcess
from tests.law import grows_after
from tests.stores import Program, Version, assert_kept

from ebbtide.algebra.recursion import Recursion
from ebbtide.algebra.relation import ChangingTable, Relation
from ebbtide.algebra.window import Window
from ebbtide.analysis import analyse
from ebbtide.core.admission import Arrival, Op
from ebbtide.core.change import Change, consolidate, until
from ebbtide.core.frontier import now as now_of
from ebbtide.core.time import NEG_INF, is_finite
from ebbtide.core.tree import find
from ebbtide.reference import evaluate
from ebbtide.sql import parse
from ebbtide.sql.binder import bind
from ebbtide.sql.binding.insertion import inserted
from ebbtide.sql.bound import BoundInsert, BoundQuery, Declared
from ebbtide.sql.catalog import Catalog
from ebbtide.state import store
from ebbtide.store.manifest import Manifest
from ebbtide.testing import assert_snapshot_equal

SOURCES = """
CREATE STREAM a (k BIGINT, v BIGINT, at TIMESTAMP NOT NULL,
  PROGRESS FOR at AS at - INTERVAL 3 MICROSECONDS) RETAIN 3 MICROSECONDS LATE REVISE;
CREATE STREAM b (k BIGINT, w BIGINT, at TIMESTAMP NOT NULL,
  PROGRESS FOR at AS at - INTERVAL 3 MICROSECONDS) LATE QUARANTINE;
CREATE STREAM c (k BIGINT, v BIGINT, at TIMESTAMP NOT NULL, op STRING, PRIMARY KEY (k, at),
  PROGRESS FOR at AS at - INTERVAL 4 MICROSECONDS) RETAIN 3 MICROSECONDS LATE REVISE OP op;
CREATE TABLE t (k BIGINT, x BIGINT, at TIMESTAMP NOT NULL, op STRING, seq BIGINT, PRIMARY KEY (k),
  PROGRESS FOR at AS at - INTERVAL 3 MICROSECONDS) TIME at OP op SEQUENCE seq;
CREATE TABLE s (k BIGINT, name STRING);
CREATE VIEW recent AS SELECT * FROM a [RANGE 5 MICROSECONDS];
CREATE STREAM chain (k BIGINT, n BIGINT, at TIMESTAMP NOT NULL, PROGRESS FOR at AS at);
INSERT INTO chain SELECT k, v, at FROM a;
INSERT INTO chain SELECT k, n + 1, at + INTERVAL 4 MICROSECONDS FROM chain WHERE n < 4
  AND NOT EXISTS (SELECT 1 FROM b WHERE b.k = chain.k AND b.at <= chain.at
    AND b.at > chain.at - INTERVAL 3 MICROSECONDS);
"""
FAR = 1000


@dataclass(frozen=True)
class Scenario:
    """A query and its history.

    ``most`` bounds the stored rows after every step, ``left`` those that are still there when all
    promises have passed everything; both are counted in one shard.
    """

    query: str
    most: int
    left: int = 0
    seed: int = 1
    steps: int = 14


@dataclass(frozen=True)
class Way:
    """How a history is run: in how many shards, in every third step only, with collection.

    If its stores are ``judged`` too, they hold what the rules of EXPLAIN keep, row by row.
    """

    shards: int = 1
    merged: bool = False
    collects: bool = True
    judged: bool = False


FINE = Way()
SHARDED = Way(shards=3)
MERGED = Way(merged=True, shards=2)
HOARDING = Way(merged=True, collects=False)
JUDGED = Way(judged=True)
WAYS = (FINE, MERGED, HOARDING, JUDGED)


@cache
def catalog() -> Catalog:
    """The sources of all scenarios."""
    known = Catalog()
    for statement in parse(SOURCES):
        bound = bind(statement, known)
        if isinstance(bound, BoundInsert):
            known = inserted(bound.target, bound.query, known)
        else:
            assert isinstance(bound, Declared)
            known = bound.catalog
    return known


@cache
def plan_of(query: str) -> Relation:
    """The plan of a query over the sources."""
    (statement,) = parse(query)
    bound = bind(statement, catalog())
    assert isinstance(bound, BoundQuery)
    return bound.plan


@cache
def story(plan: Relation, seed: int, steps: int) -> History:
    """What arrives, at most two rows of a source in a step, and at last the promises."""
    random, declarations = Random(seed), declarations_of(plan)
    every = history(random, declarations, steps, counts=(0, 1, 2, 2))
    known: dict[str, list[Arrival]] = {d.name: [] for d in declarations}
    oracle, told = Oracle.of(declarations), []
    for fed in every:
        aimed = {name: _aimed(random, known[name], what) for name, what in fed.items()}
        told.append({name: _dated(random, oracle, name, what) for name, what in aimed.items()})
        oracle.take(told[-1])
    return [*told, {d.name: Fed(advance=FAR) for d in declarations if d.promises}]


def _dated(random: Random, oracle: Oracle, name: str, fed: Fed) -> Fed:
    """The same, but that some rows come as late as they may, or a tick later."""
    lines = oracle.inputs[name].frontier.progressing
    arrivals = []
    for arrival in fed.arrivals:
        if lines and is_finite(lines[0].horizon) and random.random() < 0.3:
            at = lines[0].horizon + random.choice((0, 1, 1, 2))
            arrival = replace(arrival, row=(*arrival.row[:2], at, *arrival.row[3:]))
        arrivals.append(arrival)
    return replace(fed, arrivals=tuple(arrivals))


def _aimed(random: Random, known: list[Arrival], fed: Fed) -> Fed:
    """The same, but that what is taken back or replaced is mostly one of the last rows.

    Whatever has a time has a key, a value and the time in front; an end has a time of its own.
    """
    arrivals = []
    for arrival in fed.arrivals:
        if arrival.op in (Op.INSERT, Op.UPSERT):
            known.append(arrival)
        elif known and random.random() < 0.8:
            aim = random.choice(known[-3:])
            if arrival.op is Op.REPLACE and random.random() < 0.5:
                arrival = replace(arrival, op=aim.op)
                known.append(arrival)
            else:
                key, _, at, *_ = aim.row
                at = arrival.row[2] if arrival.op is Op.END else at
                arrival = replace(arrival, row=(key, arrival.row[1], at, *arrival.row[3:]))
        arrivals.append(arrival)
    return replace(fed, arrivals=tuple(arrivals))


def run(scenario: Scenario, ways: Collection[Way] = WAYS) -> None:
    """Runs a scenario in several ways, and holds each of them to the law."""
    plan = plan_of(scenario.query)
    every = story(plan, scenario.seed, scenario.steps)
    accepted = without_refused(every, declarations_of(plan))
    bounds = scenario.most, scenario.left
    # Fewer steps refuse fewer rows, so where there are fewer, those that were refused stay away.
    fewer = cut(accepted, {*range(3, scenario.steps, 3), scenario.steps})
    outputs = [
        judged(plan, fewer if way.merged else every, way, *(() if way != FINE else bounds))
        for way in ways
    ]
    assert all(output == outputs[0] for output in outputs)


def judged(
    plan: Relation, every: History, way: Way, most: float = inf, left: float = inf
) -> tuple[Change, ...]:
    """All that a plan emits in one way, held to the law at every step."""
    oracle = Oracle.of(declarations_of(plan))
    output: tuple[Change, ...] = ()
    unused: Counter[tuple[str, str]] = Counter()
    moves = any(find(plan, Window)) or any(find(plan, ChangingTable)) or any(find(plan, Recursion))
    with TemporaryDirectory() as root:
        program = Program.of({"q": analyse(plan)})
        runner = InProcess(program.lowered, f"{root}/q", way.shards, way.collects)
        hoard = InProcess(program.lowered, f"{root}/hoard", way.shards, collects=False)
        for fed in every:
            oracle.take(fed)
            manifest = runner.step(fed)
            if way.judged:
                hoarded = Version(hoard.root, hoard.step(fed))
                assert_kept(program, Version(runner.root, manifest), hoarded, oracle)
            store._OPENED.drop_all(lambda key: True)
            now = manifest.record.now
            assert now == (_now(oracle) if moves else NEG_INF), "now"
            emitted = runner.emitted(manifest)
            assert all(change.valid_from <= now for change in emitted)
            output = consolidate((*output, *emitted))
            assert not grows_after(output, now), "what begins later is shown"
            # Facts hold at every instant, so where nothing moves any will do.
            shown = now if moves else 0
            expected = evaluate(plan, oracle.accepted, shown)
            assert_snapshot_equal(output, until(expected, shown), shown)
            for source, reason, _, _, diff in runner.unused(manifest):
                unused[source, reason] += diff
            assert +unused == _unused(oracle), "the rows that were left unused"
            assert stored(manifest) <= most, "more is stored than has to be"
        runner.version -= 1
        assert runner.step(fed) == manifest, "a step that was made is not made again"
        assert stored(manifest) <= left, "more is left than has to be"
    return output


def stored(manifest: Manifest) -> int:
    """How many changes are in the areas after a step."""
    return sum(counts.rows_stored for counts in manifest.record.operators.values())


def _now(oracle: Oracle) -> int:
    return now_of(line for state in oracle.inputs.values() for line in state.frontier.lines)


def _unused(oracle: Oracle) -> Counter[tuple[str, str]]:
    return Counter(
        (name, row.reason.value) for name, state in oracle.inputs.items() for row in state.unused
    )


SCENARIOS = {
    "filter": Scenario(
        "SELECT k, v + 1 AS more FROM a [RANGE 4 MICROSECONDS] WHERE v > 0",
        most=0,
        seed=1,
    ),
    "view": Scenario(
        "SELECT r.v, n.name FROM recent AS r "
        "JOIN (VALUES (0, 'none'), (1, 'one')) AS n (k, name) ON r.k = n.k",
        most=2,
        left=2,
        seed=4,
    ),
    "fixed": Scenario("SELECT * FROM a [FIXED 4 MICROSECONDS]", most=0, seed=3),
    "slide": Scenario(
        "SELECT * FROM a [RANGE 6 MICROSECONDS SLIDE 2 MICROSECONDS]", most=1, seed=3
    ),
    "rows": Scenario("SELECT * FROM c [ROWS 2]", most=19, left=4, seed=4),
    "rows by key": Scenario(
        "SELECT * FROM a [PARTITION BY k ROWS 3 SLIDE 2]", most=15, left=13, seed=5
    ),
    "recursion": Scenario("SELECT k, n, at FROM chain", most=99, left=0, seed=3),
    "recursion and groups": Scenario(
        "SELECT k, at, COUNT(*) AS c FROM chain GROUP BY k, at", most=99, left=0, seed=5
    ),
    "unnest": Scenario(
        "SELECT a.k, u.x, u.n FROM a [RANGE 4 MICROSECONDS] AS a LEFT JOIN "
        "UNNEST(CASE WHEN v > 0 THEN ARRAY(v, k, v) END) WITH ORDINALITY AS u (x, n) ON TRUE",
        most=1,
        seed=3,
    ),
    "unnest of versions": Scenario(
        "SELECT x, COUNT(*) AS n FROM t, UNNEST(ARRAY(t.k, t.x)) AS u (item) GROUP BY x",
        most=40,
        left=20,
        seed=5,
    ),
    "union": Scenario(
        "SELECT k FROM a [RANGE 4 MICROSECONDS] UNION ALL SELECT k FROM b [NOW]",
        most=0,
        seed=7,
    ),
    "distinct": Scenario("SELECT DISTINCT k FROM a [RANGE 4 MICROSECONDS]", most=15, seed=3),
    "distinct of versions": Scenario("SELECT DISTINCT x FROM t", most=18, left=4, seed=5),
    "except all": Scenario(
        "SELECT k FROM a [RANGE 6 MICROSECONDS] EXCEPT ALL SELECT k FROM b [RANGE 3 MICROSECONDS]",
        most=29,
        seed=4,
    ),
    "except": Scenario(
        "SELECT k FROM a [RANGE 6 MICROSECONDS] EXCEPT SELECT k FROM b [RANGE 3 MICROSECONDS]",
        most=23,
        seed=7,
    ),
    "intersect all": Scenario(
        "SELECT k FROM a [RANGE 6 MICROSECONDS] "
        "INTERSECT ALL SELECT k FROM b [RANGE 6 MICROSECONDS]",
        most=33,
        seed=8,
    ),
    "intersect": Scenario(
        "SELECT k FROM a [RANGE 6 MICROSECONDS] INTERSECT SELECT k FROM b [RANGE 6 MICROSECONDS]",
        most=24,
        seed=3,
    ),
    "max": Scenario(
        "SELECT k FROM a [RANGE 6 MICROSECONDS] UNION MAX SELECT k FROM b [RANGE 6 MICROSECONDS]",
        most=38,
        seed=5,
    ),
    "join": Scenario(
        "SELECT a.k, a.v, b.w FROM a [RANGE 4 MICROSECONDS] AS a "
        "JOIN b [RANGE 6 MICROSECONDS] AS b ON a.k = b.k",
        most=17,
        seed=9,
    ),
    "join within": Scenario(
        "SELECT a.v, b.w FROM a JOIN b ON a.k = b.k "
        "AND b.at BETWEEN a.at - INTERVAL 2 MICROSECONDS AND a.at + INTERVAL 3 MICROSECONDS",
        most=17,
        seed=9,
    ),
    "join with versions": Scenario(
        "SELECT a.v FROM a [NOW] AS a JOIN t ON a.k = t.k AND t.x <> a.v", most=21, left=6, seed=4
    ),
    "product": Scenario(
        "SELECT a.v, s.name FROM a [RANGE 3 MICROSECONDS] AS a CROSS JOIN s",
        most=2,
        left=2,
        seed=3,
    ),
    "semi join": Scenario(
        "SELECT * FROM a [RANGE 5 MICROSECONDS] AS a WHERE EXISTS "
        "(SELECT 1 FROM c [RANGE 4 MICROSECONDS] AS c WHERE c.k = a.k AND c.v <> a.v)",
        most=21,
        seed=8,
    ),
    "anti join": Scenario(
        "SELECT * FROM a [RANGE 5 MICROSECONDS] AS a WHERE NOT EXISTS "
        "(SELECT 1 FROM c [RANGE 4 MICROSECONDS] AS c WHERE c.k = a.k)",
        most=30,
        seed=8,
    ),
    "left join": Scenario(
        "SELECT a.v, t.x FROM a [RANGE 5 MICROSECONDS] AS a LEFT JOIN t ON a.k = t.k",
        most=30,
        left=6,
        seed=4,
    ),
    "asof join": Scenario(
        "SELECT a.v, b.w FROM a [RANGE 5 MICROSECONDS] AS a LEFT ASOF JOIN "
        "b [RANGE 7 MICROSECONDS] AS b MATCH_CONDITION (a.at >= b.at) ON a.k = b.k",
        most=17,
        seed=7,
    ),
    "asof join of facts": Scenario(
        "SELECT a.v, b.w, a.at FROM a ASOF JOIN b MATCH_CONDITION (a.at > b.at) "
        "ON a.k = b.k AND a.at <= b.at + INTERVAL 6 MICROSECONDS",
        most=12,
        seed=2,
    ),
    "full join": Scenario(
        "SELECT a.v, b.w FROM a [RANGE 5 MICROSECONDS] AS a "
        "FULL JOIN b [RANGE 3 MICROSECONDS] AS b ON a.k = b.k",
        most=20,
        seed=7,
    ),
    "sums": Scenario(
        "SELECT k, COUNT(*) FILTER (WHERE v > 0) AS n, SUM(v) AS total, AVG(v) AS mean "
        "FROM a [RANGE 4 MICROSECONDS] GROUP BY k",
        most=22,
        seed=1,
    ),
    "sum of all": Scenario(
        "SELECT COUNT(v) AS n, SUM(v) AS total FROM c [RANGE 4 MICROSECONDS]",
        most=32,
        left=1,
        seed=4,
    ),
    "extremes": Scenario(
        "SELECT k, MIN(v) AS low, MAX(v) AS high FROM c [RANGE 5 MICROSECONDS] GROUP BY k",
        most=28,
        seed=4,
    ),
    "first and last": Scenario(
        "SELECT FIRST(v) WITHIN GROUP (ORDER BY at) AS first_, ARG_MAX(k, v) AS best "
        "FROM a [RANGE 5 MICROSECONDS]",
        most=24,
        left=1,
        seed=7,
    ),
    "median": Scenario(
        "SELECT k, MEDIAN(v) AS middle, COUNT(DISTINCT v) AS n FROM c [RANGE 5 MICROSECONDS] "
        "GROUP BY k",
        most=21,
        seed=4,
    ),
    "by time": Scenario(
        "SELECT at, COUNT(*) AS n, MAX(v) AS high FROM a [RANGE 8 MICROSECONDS] GROUP BY at",
        most=24,
        seed=3,
    ),
    "ranked by time": Scenario(
        "SELECT * FROM (SELECT k, v, at, RANK() OVER (PARTITION BY at ORDER BY v) AS r "
        "FROM a [RANGE 8 MICROSECONDS]) AS ranked WHERE r <= 1",
        most=14,
        seed=3,
    ),
    "in windows": Scenario(
        "SELECT window_end, k, SUM(v) AS total FROM TUMBLE(a, at, INTERVAL 4 MICROSECONDS) "
        "GROUP BY window_start, window_end, k",
        most=14,
        seed=3,
    ),
    "hop": Scenario(
        "SELECT window_end, COUNT(*) AS n "
        "FROM HOP(a, at, INTERVAL 2 MICROSECONDS, INTERVAL 5 MICROSECONDS) "
        "GROUP BY window_start, window_end",
        most=38,
        seed=3,
    ),
    "hop of many": Scenario(
        "SELECT window_end, COUNT(*) AS n "
        "FROM HOP(a, at, INTERVAL 1 MICROSECONDS, INTERVAL 13 MICROSECONDS) "
        "GROUP BY window_start, window_end",
        most=218,
        seed=3,
    ),
    "cumulate": Scenario(
        "SELECT window_end, MAX(v) AS high "
        "FROM CUMULATE(a, at, INTERVAL 2 MICROSECONDS, INTERVAL 6 MICROSECONDS) "
        "GROUP BY window_start, window_end",
        most=55,
        seed=7,
    ),
    "session": Scenario(
        "SELECT * FROM SESSION(c PARTITION BY k, at, INTERVAL 3 MICROSECONDS)",
        most=16,
        seed=4,
    ),
    "top": Scenario(
        "SELECT * FROM a [RANGE 5 MICROSECONDS] ORDER BY v DESC LIMIT 2 OFFSET 1",
        most=16,
        seed=7,
    ),
    "over": Scenario(
        "SELECT k, v, SUM(v) OVER (PARTITION BY k ORDER BY at, v ROWS 1 PRECEDING) AS two, "
        "LAG(v) OVER (PARTITION BY k ORDER BY at, v) AS last_ FROM a [RANGE 5 MICROSECONDS]",
        most=62,
        seed=4,
    ),
    "frame of facts": Scenario(
        "SELECT k, at, SUM(v) OVER (PARTITION BY k ORDER BY at "
        "RANGE BETWEEN INTERVAL 3 MICROSECONDS PRECEDING AND CURRENT ROW) AS three FROM a",
        most=18,
        seed=4,
    ),
    "rank": Scenario(
        "SELECT k, v, RANK() OVER (PARTITION BY k ORDER BY v) AS r FROM c [RANGE 5 MICROSECONDS]",
        most=22,
        seed=4,
    ),
    "istream": Scenario("ISTREAM(SELECT k FROM c [RANGE 4 MICROSECONDS])", most=17, seed=4),
    "dstream": Scenario("DSTREAM(SELECT k FROM a [RANGE 4 MICROSECONDS])", most=15, seed=3),
    "rstream": Scenario(
        "RSTREAM(SELECT k FROM a [RANGE 4 MICROSECONDS] EVERY 2 MICROSECONDS)",
        most=9,
        left=1,
        seed=3,
    ),
    "sum of a join": Scenario(
        "SELECT b.w, COUNT(*) FILTER (WHERE a.v > 0) AS n FROM a [RANGE 4 MICROSECONDS] AS a "
        "JOIN b [RANGE 6 MICROSECONDS] AS b ON a.k = b.k GROUP BY b.w",
        most=61,
        seed=9,
    ),
    "sum by the key of a join": Scenario(
        "SELECT a.k, b.k AS bk, COUNT(*) AS n FROM a [RANGE 4 MICROSECONDS] AS a "
        "JOIN b [RANGE 6 MICROSECONDS] AS b ON a.k = b.k GROUP BY a.k, b.k",
        most=60,
        seed=9,
    ),
    "sum for ever": Scenario(
        "SELECT k, SUM(v) AS total FROM a [UNBOUNDED] GROUP BY k", most=18, left=12, seed=5
    ),
    "extremes for ever": Scenario(
        "SELECT k, MIN(v) AS low, MAX(v) AS high FROM a [UNBOUNDED] GROUP BY k",
        most=42,
        left=37,
        seed=5,
    ),
    "best for ever": Scenario(
        "SELECT ARG_MIN(k, v) AS low, ARG_MAX(k, v) AS high FROM a [UNBOUNDED]",
        most=16,
        left=8,
        seed=8,
    ),
    "distinct for ever": Scenario(
        "SELECT DISTINCT k, v FROM c [UNBOUNDED]", most=23, left=13, seed=4
    ),
    "self join": Scenario(
        "SELECT l.v, r.k FROM a [RANGE 4 MICROSECONDS] AS l "
        "JOIN a [RANGE 2 MICROSECONDS] AS r ON l.k = r.v",
        most=12,
        seed=9,
    ),
    "two readers of a table": Scenario(
        "SELECT t.k, u.n FROM t JOIN (SELECT x, COUNT(*) AS n FROM t GROUP BY x) AS u ON t.x = u.x",
        most=28,
        left=7,
        seed=5,
    ),
}


def plan_with(operator: type[Relation]) -> Relation | None:
    """A plan with an operator, if some scenario has it."""
    plans = (plan_of(scenario.query) for scenario in SCENARIOS.values())
    return next((plan for plan in plans if any(find(plan, operator))), None)
