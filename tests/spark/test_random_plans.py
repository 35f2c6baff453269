"""The law for random plans, end to end on Spark.

Plans of up to four operators over every kind of source; rows out of order, late, refused and in the
past; deletions and replacements; any cut into steps, 1, 2 or 7 shards, engines that start anew
between steps, with and without collection.  After every step the output is the reference's at
every instant up to ``now``; and all of it is the same for every way of running the same history.

Steps on Spark have their price, so several plans read one history in one engine.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from random import Random
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

from hypothesis import HealthCheck, Phase, event, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession
from tests.histories import History, Oracle, accepted, cut, history, without_refused
from tests.spark.law import check, emitted, feed

from ebbtide.algebra.kind import Kind
from ebbtide.algebra.relation import Relation
from ebbtide.analysis import analyse
from ebbtide.compile.lowering import lower
from ebbtide.config import Config
from ebbtide.core.change import Change
from ebbtide.dataflow.step import Stepper
from ebbtide.engine.engine import Engine
from ebbtide.engine.query import Query
from ebbtide.errors import UnsupportedError
from ebbtide.optimizer import prepared
from ebbtide.plan_text.plan_tree import plan_tree
from ebbtide.sql.bound import BoundQuery
from strategies.arrivals import PROMISED
from strategies.binary import BINARY, MULTIPLYING
from strategies.plans import plans
from strategies.temporal import TO_SNAPSHOTS
from strategies.unary import UNARY

GROUPS = {"quick": 2, "ci": 13, "long": 100}[Config.from_environment().profile]
PLANS = 8
OPERATORS = 4
STEPS = 4

SCRIPT = """
CREATE STREAM bids (auction BIGINT NOT NULL, price BIGINT, at TIMESTAMP NOT NULL,
  PROGRESS FOR at AS at - INTERVAL 1 MICROSECOND) RETAIN 2 MICROSECONDS;
CREATE STREAM clicks (auction BIGINT, word STRING, at TIMESTAMP NOT NULL, seen TIMESTAMP,
  PRIMARY KEY (auction, at), PROGRESS FOR at AS at - INTERVAL 1 MICROSECOND) RETAIN 1 MICROSECOND;
CREATE STREAM reports (auction BIGINT, at TIMESTAMP NOT NULL, received TIMESTAMP NOT NULL,
  PROGRESS FOR at AS at - INTERVAL 2 MICROSECONDS,
  PROGRESS FOR received AS received - INTERVAL 1 MICROSECOND);
CREATE TABLE prices (auction BIGINT NOT NULL, amount DOUBLE, since TIMESTAMP NOT NULL,
  PRIMARY KEY (auction), PROGRESS FOR since AS since - INTERVAL 1 MICROSECOND)
  TIME since RETAIN 1 MICROSECOND;
CREATE TABLE shops (auction BIGINT, name STRING);
"""

ROOTS = [*UNARY, *BINARY, *MULTIPLYING, *TO_SNAPSHOTS]
DECLARATIONS = [source.declaration for source in PROMISED]


@dataclass(frozen=True)
class Way:
    """How a history is run: where its steps end, and before which of them engines start anew."""

    ends: frozenset[int]
    shards: int
    collects: bool
    restarts: frozenset[int]


@dataclass(frozen=True, repr=False)
class Group:
    """Plans over one history, run in one way or in two."""

    plans: tuple[Relation, ...]
    seed: int
    way: Way
    other: Way | None

    def __repr__(self) -> str:
        trees = "\n".join(map(plan_tree, self.plans))
        return f"seed {self.seed}, {self.way}, {self.other}, and the plans\n{trees}"

    @property
    def history(self) -> History:
        """What arrives; if it runs in two ways, only what both accept."""
        found = history(Random(self.seed), DECLARATIONS, STEPS, (0, 3, 6, 12))
        return without_refused(found, DECLARATIONS) if self.other else found


class Planned(Query):
    """A query that was a plan from the start."""

    @property
    def sql(self) -> str:
        return plan_tree(self.bound.plan)


def is_wanted(plan: Relation) -> bool:
    """Whether the engine runs the plan, with a kernel or more, but not too many."""
    try:
        return 0 < len(lower({"q": analyse(prepared(plan).plan)}).nodes) <= OPERATORS
    except UnsupportedError:
        return False


def ways(shards: int, ends: int) -> st.SearchStrategy[Way]:
    inner = st.integers(1, STEPS - 1)
    collects = st.sampled_from((True, True, False))
    cuts = st.frozensets(inner, min_size=ends)
    return st.builds(Way, cuts, st.just(shards), collects, st.frozensets(inner))


@st.composite
def groups(draw: st.DrawFn) -> Group:
    rooted = st.sampled_from(ROOTS).flatmap(
        lambda root: plans(PROMISED, OPERATORS, Kind.SNAPSHOT, root)
    )
    several = st.lists(rooted.filter(is_wanted), min_size=PLANS, max_size=PLANS, unique=True)
    seed = draw(st.integers(0, 2**32))
    one, two, _ = draw(st.permutations((1, 2, 7)))
    other = draw(st.sampled_from((False, False, True)))
    way = draw(ways(one, ends=1))
    return Group(tuple(draw(several)), seed, way, draw(ways(two, ends=0)) if other else None)


def run(spark: SparkSession, group: Group, way: Way) -> list[tuple[Change, ...]]:
    """All that each plan emits, held to the law at every step."""
    oracle = Oracle.of(DECLARATIONS)
    with TemporaryDirectory() as root, nullcontext() if way.collects else collecting_nothing():
        engine, queries = started(spark, root, group.plans, way.shards)
        for number, fed in enumerate(cut(group.history, way.ends)):
            if number in way.restarts:
                engine.stop()
                engine, queries = started(spark, root, group.plans, way.shards)
            feed(engine, fed)
            oracle.take(fed)
            engine.step()
            for query in queries:
                with told(group, way, query, number):
                    check(engine, query, oracle)
        engine.stop()
        return [emitted(query) for query in queries]


def started(
    spark: SparkSession, root: str, plans: Sequence[Relation], shards: int
) -> tuple[Engine, list[Query]]:
    """An engine that runs the plans, from where it was."""
    engine = Engine(root, spark=spark, shards=shards)
    engine.execute(SCRIPT)
    queries: list[Query] = []
    for number, plan in enumerate(plans):
        bound = BoundQuery(plan, allow_unbounded=True)
        queries.append(Planned(engine, f"plan{number}", "", bound))
        queries[-1].start()
    return engine, queries


@contextmanager
def collecting_nothing() -> Iterator[None]:
    step = Stepper.step

    def kept(self: Stepper, *given: Any) -> Any:
        return step(replace(self, collects=False), *given)

    with patch.object(Stepper, "step", kept):
        yield


@contextmanager
def told(group: Group, way: Way, query: Query, step: int) -> Iterator[None]:
    """Says which case it is that fails."""
    try:
        yield
    except AssertionError as error:
        error.add_note(f"in step {step} of seed {group.seed}, {way}, of\n{query.tree}")
        raise


def test_the_sources_are_declared_as_the_plans_read_them() -> None:
    engine = Engine("nowhere")
    engine.execute(SCRIPT)
    assert [entry.declaration for entry in engine.catalog] == DECLARATIONS


# Shrinking would run thousands of steps; the failing plan can be tried without Spark.
@settings(
    max_examples=GROUPS,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=list(HealthCheck),
)
@given(groups())
def test_random_plans(spark: SparkSession, group: Group) -> None:
    found = run(spark, group, group.way)
    if group.other is None:
        return
    event("two ways")
    whole = accepted(DECLARATIONS, cut(group.history, group.way.ends))
    assert accepted(DECLARATIONS, cut(group.history, group.other.ends)) == whole
    assert run(spark, group, group.other) == found
