"""The law for random plans through the whole engine but Spark: lowering, stages, state, manifests.

Random plans over every kind of source, random operations out of order, late and in the past, cut
into random steps, in 1, 2 or 7 shards, with and without collection; after every step the output
is the reference's at every instant up to ``now``, and nothing of it begins later.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import event, given, settings
from hypothesis import strategies as st
from tests.local import Fed, LocalRunner

from ebbtide.algebra.combination import AntiJoin, Join
from ebbtide.algebra.expression import Comparison
from ebbtide.algebra.kind import Kind
from ebbtide.algebra.relation import Alias, ChangingTable, Relation, StaticTable, Stream, Values
from ebbtide.algebra.window import Fixed, Range, Window
from ebbtide.analysis import analyse
from ebbtide.config import Config
from ebbtide.core.admission import Admission, Arrival, Op, Step, admit, allowed_ops, begin
from ebbtide.core.change import Change, consolidate, until
from ebbtide.core.declaration import Declaration
from ebbtide.core.schema import schema
from ebbtide.core.tree import find
from ebbtide.core.types import DoubleType, StringType, TimestampType, Type
from ebbtide.errors import EvaluationError, UnsupportedError
from ebbtide.reference import evaluate
from ebbtide.runtime.lowering import Lowered, lower
from ebbtide.testing import assert_snapshot_equal
from ebbtide.testing.strategies.arrivals import PROMISED
from ebbtide.testing.strategies.plans import plans

_CASES = {"quick": 20, "ci": 100, "long": 3000}[Config.from_environment().profile]


def lowered(plan: Relation) -> Lowered:
    """The plan as the engine runs it; what it refuses by name is no case."""
    return lower(analyse(plan).plan)


def some_value(random: Random, type_: Type, low: int) -> Any:
    if isinstance(type_, TimestampType):
        return random.randint(low, low + 5)
    if random.random() < 0.1:
        return None
    if isinstance(type_, StringType):
        return random.choice("ab")
    if isinstance(type_, DoubleType):
        return float(random.randint(0, 3))
    return random.randint(0, 2)


def some_arrivals(
    random: Random, declaration: Declaration, count: int, first: int, low: int
) -> list[Arrival]:
    ops = sorted(allowed_ops(declaration), key=lambda op: op.value)
    usual = [op for op in ops if op in (Op.INSERT, Op.UPSERT)]
    return [
        Arrival(
            random.choice([*ops, *usual]),
            tuple(some_value(random, column.type, low) for column in declaration.schema),
            first + i,
        )
        for i in range(count)
    ]


def history(
    random: Random, declarations: Sequence[Declaration], static: set[str], steps: int
) -> list[dict[str, Fed]]:
    """What arrives in each step; times move on from step to step, with some delay."""
    result: list[dict[str, Fed]] = []
    places = dict.fromkeys((d.name for d in declarations), 0)
    for number in range(steps):
        fed = {}
        for declaration in declarations:
            name = declaration.name
            if name in static and number:
                continue
            count = random.choice((0, 1, 2, 5))
            low = max(0, 2 * number - random.randint(0, 4))
            arrivals = some_arrivals(random, declaration, count, places[name], low)
            places[name] += count
            promise = declaration.promises and random.random() < 0.2
            fed[name] = Fed(tuple(arrivals), low if promise else None)
        result.append(fed)
    return result


def judge(plan: Relation, seed: int, steps: int, shards: int, collects: bool) -> None:
    """Holds the law for one plan and one history."""
    random = Random(seed)
    sources = {leaf for kind in (Stream, StaticTable, ChangingTable) for leaf in find(plan, kind)}
    declarations = sorted((s.declaration for s in sources), key=lambda d: d.name)
    static = {s.declaration.name for s in sources if isinstance(s, StaticTable)}
    accepted: dict[str, Admission] = {d.name: begin(d) for d in declarations}
    output: tuple[Change, ...] = ()
    with TemporaryDirectory() as root:
        runner = LocalRunner(lowered(plan), root, shards, collects)
        for fed in history(random, declarations, static, steps):
            for name, what in fed.items():
                accepted[name] = admit(accepted[name], Step(what.arrivals, what.advance))
            inputs = {name: state.accepted for name, state in accepted.items()}
            manifest = runner.step(fed)
            now = manifest.details["now"]
            emitted = runner.emitted(manifest)
            assert all(change.valid_from <= now for change in emitted)
            output = consolidate((*output, *emitted))
            expected = evaluate(plan, inputs, now)
            assert_snapshot_equal(output, until(expected, now), now)


@settings(max_examples=_CASES, deadline=None)
@given(
    plan=plans(PROMISED, depth=3, kind=Kind.SNAPSHOT),
    seed=st.integers(0, 2**32),
    steps=st.integers(1, 5),
    shards=st.sampled_from((1, 2, 7)),
    collects=st.booleans(),
)
def test_random_plans(plan: Relation, seed: int, steps: int, shards: int, collects: bool) -> None:
    try:
        judge(plan, seed, steps, shards, collects)
    except UnsupportedError as error:
        event(f"not built: {error.code}")
    except EvaluationError as error:
        event(f"no value: {error.code}")


def test_a_window_on_what_is_all_there_from_the_start() -> None:
    constants = Values(schema(x="BIGINT", at="TIMESTAMP"), ((0, 1), (1, 3), (2, 50), (3, None)))
    there = Alias(Window(constants, Fixed(2), "at"), "r")
    bids = Alias(Window(PROMISED[0], Range(4), "at"), "l")
    same = Comparison("=", bids.ref("auction"), there.ref("x"))
    for plan in (there, Join(bids, there, same), AntiJoin(bids, there, same)):
        judge(plan, seed=1, steps=4, shards=2, collects=True)
