"""Random programs on Spark: every answer is the reference's, and every store holds what it should.

A program has ten random queries over every kind of source.  After each step the answers of all of
them are compared with the reference, and the rows of all stores with those that the rule of EXPLAIN
keeps, judged one by one; what was ever stored says the same program in this process, which forgets
nothing.
"""

from __future__ import annotations

from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from hypothesis import HealthCheck, Phase, event, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession
from tests.histories import Fed, Oracle, cut, history, row_by_row, without_refused
from tests.in_process import InProcess
from tests.law import QUERIES, analysed, assert_answers
from tests.spark.law import feed
from tests.spark.test_random_plans import DECLARATIONS, SCRIPT, Planned
from tests.stores import Program, Version, assert_kept

from ebbtide.algebra.relation import Relation
from ebbtide.config import Config
from ebbtide.core.change import Change, consolidate
from ebbtide.engine.engine import Engine
from ebbtide.errors import EvaluationError
from ebbtide.plan_text.plan_tree import plan_tree
from ebbtide.sql.bound import BoundQuery
from ebbtide.state.batch import to_changes

VIEWS = 10
CASES = {"quick": 1, "ci": 2, "long": 30}[Config.from_environment().profile]
SEVERAL = st.lists(QUERIES, min_size=VIEWS, max_size=VIEWS, unique=True)


def steps_of(seed: int) -> list[dict[str, Fed]]:
    """A history in which some row comes by itself, and the others some at a time."""
    random = Random(seed)
    every = history(random, DECLARATIONS, 4, counts=(1, 2, 3))
    rows = without_refused(row_by_row(every, DECLARATIONS), DECLARATIONS)
    first = random.randrange(1, len(rows))
    return cut(rows, [first, first + 1, (first + len(rows)) // 2])


def held_to(
    spark: SparkSession, root: Path, plans: list[Relation], steps: list[dict[str, Fed]]
) -> None:
    """Runs a program, and judges its answers and its stores after every step."""
    named = {f"v{i}": plan for i, plan in enumerate(plans)}
    program = Program.of({name: analysed(plan) for name, plan in named.items()})
    hoard = InProcess(program.lowered, str(root / "hoard"), 1, collects=False)
    oracle = Oracle.of(DECLARATIONS)
    engine = Engine(root / "engine", spark=spark, shards=2)
    engine.execute(SCRIPT)
    queries = [
        Planned(engine, name, "", BoundQuery(plan, allow_unbounded=True))
        for name, plan in named.items()
    ]
    said: dict[str, tuple[Change, ...]] = dict.fromkeys(named, ())
    run = engine.start(*queries, name="several")
    try:
        for fed in steps:
            oracle.take(fed)
            hoarded = hoard.step(fed)
            feed(engine, fed)
            manifest = engine.step()["several"]
            for query in queries:
                new = to_changes(query.view.table(manifest.record))
                said[query.name] = consolidate((*said[query.name], *new))
                now = manifest.record.nows[query.name]
                assert_answers(query.bound.plan, said[query.name], oracle, now)
            assert_kept(program, Version(run.root, manifest), Version(hoard.root, hoarded), oracle)
    finally:
        engine.stop()


# Shrinking would run thousands of steps; the failing plans can be tried without Spark.
@settings(
    max_examples=CASES,
    deadline=None,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=list(HealthCheck),
)
@given(plans=SEVERAL, seed=st.integers(0, 2**32))
def test_random_programs(spark: SparkSession, plans: list[Relation], seed: int) -> None:
    with TemporaryDirectory() as root:
        try:
            held_to(spark, Path(root), plans, steps_of(seed))
        except EvaluationError as error:
            event(f"no value: {error.code}")
        except AssertionError as error:
            error.add_note("\n".join(map(plan_tree, plans)))
            raise
