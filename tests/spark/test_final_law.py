"""EMIT FINAL and CHANGES WITH FINALITY on Spark: random plans, and what DataFrames show of them."""

from __future__ import annotations

from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession
from tests.final_law import Told, assert_final, ended, is_late, without_last
from tests.histories import Oracle, cut, history
from tests.law import assert_answers
from tests.spark.law import feed
from tests.spark.test_random_plans import DECLARATIONS, SCRIPT, Planned, is_wanted

from ebbtide.algebra.emission import Emit
from ebbtide.algebra.relation import Relation
from ebbtide.analysis import When, analyse
from ebbtide.config import Config
from ebbtide.engine.engine import Engine
from ebbtide.engine.query import Query
from ebbtide.optimizer import prepared
from ebbtide.reference import evaluate
from ebbtide.sql.bound import BoundQuery
from ebbtide.state.batch import to_changes
from ebbtide.store.journal import Journal
from strategies.arrivals import PROMISED
from strategies.plans import plans
from strategies.timed import timed_plans

GROUPS = {"quick": 1, "ci": 2, "long": 30}[Config.from_environment().profile]
PLANS = 6
STEPS = 4


def is_final(plan: Relation) -> bool:
    """Whether the engine runs a plan, and its rows are final at some time."""
    return is_wanted(plan) and analyse(prepared(plan).plan).verdict.finality.when is not When.NEVER


SEVERAL = st.lists(
    st.one_of(timed_plans(PROMISED), plans(PROMISED, depth=3)).filter(is_final),
    min_size=PLANS,
    max_size=PLANS,
    unique=True,
)


def started(spark: SparkSession, root: str, plans: list[Relation]) -> tuple[Engine, list[Query]]:
    """An engine that runs the plans, every second with finality, from where it was."""
    engine = Engine(root, spark=spark, shards=2)
    engine.execute(SCRIPT)
    queries: list[Query] = []
    for number, plan in enumerate(plans):
        emit = Emit.CHANGES_WITH_FINALITY if number % 2 else Emit.FINAL
        bound = BoundQuery(plan, emit, allow_unbounded=True)
        queries.append(Planned(engine, f"plan{number}", "", bound))
    engine.start(*queries, name="all")
    return engine, queries


@settings(
    max_examples=GROUPS,
    deadline=None,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=list(HealthCheck),
)
@given(
    plans=SEVERAL,
    seed=st.integers(0, 2**32),
    ends=st.frozensets(st.integers(1, STEPS - 1), min_size=1),
    restarts=st.frozensets(st.integers(1, STEPS)),
)
def test_random_plans(
    spark: SparkSession,
    plans: list[Relation],
    seed: int,
    ends: frozenset[int],
    restarts: frozenset[int],
) -> None:
    every = history(Random(seed), DECLARATIONS, STEPS, (0, 3, 6))
    oracle = Oracle.of(DECLARATIONS)
    told = [Told() for _ in plans]
    with TemporaryDirectory() as root:
        engine, queries = started(spark, root, plans)
        for number, fed in enumerate([*cut(every, ends), *ended(DECLARATIONS, 50)]):
            if number in restarts:
                engine.stop()
                engine, queries = started(spark, root, plans)
            late = is_late(oracle, fed)
            feed(engine, fed)
            oracle.take(fed)
            engine.step()
            for query, so_far in zip(queries, told, strict=True):
                (record,) = Journal(query.view.root).entries(number - 1)
                emit = query.bound.emit
                so_far.take(to_changes(query.view.table(record)), emit, late)
                now = record.nows[query.name]
                if emit is Emit.CHANGES_WITH_FINALITY:
                    changes = without_last(so_far.changes)
                    assert_answers(query.analysis.plan, changes, oracle, now)
                meant = evaluate(query.analysis.plan, oracle.accepted, now)
                assert_final(query.analysis, so_far.final(emit), meant, oracle, now)
        engine.stop()


def test_what_dataframes_show(spark: SparkSession, tmp_path: Path) -> None:
    engine = Engine(str(tmp_path), spark=spark, shards=2)
    engine.execute("""
        CREATE STREAM readings (room STRING, at TIMESTAMP NOT NULL, PROGRESS FOR at AS at)
          RETAIN 1 HOUR
    """)
    text = """
        SELECT window_end, room, COUNT(*) AS n FROM TUMBLE(readings, at, 1 MINUTE)
        GROUP BY window_end, room
    """
    final = engine.query(f"{text} EMIT FINAL", name="final")
    told = engine.query(f"{text} EMIT CHANGES WITH FINALITY", name="told")
    engine.start(final, told, name="both")
    day = "2026-01-01"
    engine.feed("readings", [("a", f"{day} 09:00:10"), ("b", f"{day} 09:01:10")])
    engine.step()
    engine.feed("readings", [("a", f"{day} 09:00:20")])
    engine.step()
    assert final.changes().columns[-4:] == ["diff", "step", "revision", "reason"]
    shown = final.changes().select("room", "n", "diff", "step", "revision").collect()
    assert sorted(map(tuple, shown)) == [
        ("a", 1, -1, 1, True),
        ("a", 1, 1, 0, False),
        ("a", 2, 1, 1, True),
    ]
    assert [(row.room, row.n) for row in final.snapshot().collect()] == [("a", 2)]
    rows = told.snapshot().select("room", "n", "is_final").collect()
    assert sorted(map(tuple, rows)) == [("a", 2, True), ("b", 1, False)]
    engine.stop()
