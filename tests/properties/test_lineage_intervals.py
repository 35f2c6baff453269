"""The law of lineage as intervals, for random queries that can have it.

Without its intervals, the plan that carries them has the rows of the given plan, copy by copy.  The
intervals of a row lie between the times of the inputs that ``why`` names; where no operator keeps
rows away or puts them in order they are exactly the smallest and the largest of those that it
names as sources.  (``why`` also names inputs of rows that others keep away, and those have no part
in what the row is made of.)  And the engine stores them so, through late rows, deletes and replays.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from random import Random
from tempfile import TemporaryDirectory

from hypothesis import assume, event, given, settings
from hypothesis import strategies as st
from tests.histories import Oracle, declarations_of, history
from tests.in_process import InProcess
from tests.law import analysed, assert_answers, is_wanted
from tests.properties.test_replay import ARCHIVED, with_old_rows

from ebbtide.algebra import Relation, Stream
from ebbtide.algebra.combination import (
    Difference,
    Intersection,
    Join,
    MaxUnion,
    Product,
    StrictDifference,
    UnionAll,
)
from ebbtide.algebra.relation import Aggregate, Alias, Distinct, Filter, Map, Unnest, View
from ebbtide.algebra.window import (
    Cumulate,
    Dstream,
    Hop,
    Istream,
    LinearWindow,
    Rstream,
    Tumble,
    Window,
)
from ebbtide.compile.lowering import lower
from ebbtide.config import Config
from ebbtide.core.change import Change, consolidate
from ebbtide.core.output_name import lineage_name
from ebbtide.core.time import Instant
from ebbtide.core.tree import find
from ebbtide.core.values import Row, row_key
from ebbtide.errors import EvaluationError, UnsupportedError
from ebbtide.lineage import Role, why
from ebbtide.lineage.intervals import with_intervals
from ebbtide.plan_text.plan_tree import plan_tree
from ebbtide.reference.evaluation import evaluate_at
from strategies.plans import BUILDERS, plans, queries
from strategies.timed import timed_plans

NOW = 15
CASES = {"quick": 30, "ci": 30, "long": 20_000}[Config.from_environment().profile]
Inputs = Mapping[str, tuple[Change, ...]]

REFUSED = (MaxUnion, Difference, StrictDifference, Intersection, Istream, Dstream, Rstream)
STATED = [kind for kind in BUILDERS if kind not in REFUSED]
EXACT = (
    *(View, Alias, Filter, Map, Unnest, Distinct, Aggregate, Tumble, Hop, Cumulate),
    *(Join, Product, UnionAll),
)
"""Operators whose rows come of their inputs alone: none is there because others are not."""


def carried(plan: Relation) -> Relation | None:
    """The plan with intervals, if it can have them."""
    try:
        return with_intervals(plan)
    except UnsupportedError:
        return None


def is_exact(plan: Relation) -> bool:
    return all(
        isinstance(node, EXACT)
        or not node.children
        or (isinstance(node, Window) and isinstance(node.spec, LinearWindow))
        for node in find(plan, Relation)
    )


def spans(rows: Counter[Row], row: Row, streams: list[str]) -> dict[str, tuple[object, object]]:
    """The smallest and the largest time of each stream over all copies of a row."""
    width = len(row)
    mine = [found[width:] for found in rows if row_key(found[:width]) == row_key(row)]
    result = {}
    for place, name in enumerate(streams):
        lows = [times[2 * place] for times in mine if times[2 * place] is not None]
        highs = [times[2 * place + 1] for times in mine if times[2 * place + 1] is not None]
        result[name] = (min(lows, default=None), max(highs, default=None))
    return result


@settings(max_examples=2 * CASES)
@given(
    queries(depth=3, max_changes=5, operators=STATED),
    st.integers(0, 12),
    st.randoms(use_true_random=False),
)
def test_intervals_span_the_inputs_that_why_names(
    query: tuple[Relation, Inputs], at: Instant, random: Random
) -> None:
    plan, inputs = query
    more = carried(plan)
    assume(more is not None)
    assert more is not None
    inputs = {name: consolidate(changes) for name, changes in inputs.items()}
    rows, found = evaluate_at(plan, inputs, at, NOW), evaluate_at(more, inputs, at, NOW)
    width = len(plan.schema)
    stripped: Counter[object] = Counter()
    for each, copies in found.items():
        stripped[row_key(each[:width])] += copies
    said = f"at {at} of\n{plan_tree(plan)}\n{plan_tree(more)}"
    assert stripped == {row_key(row): copies for row, copies in rows.items()}, said
    assume(rows)
    row = random.choice(list(rows))
    streams = [name.removesuffix("_first") for name in more.schema.names[width::2]]
    lineage = why(plan, inputs, row, at, NOW)
    times = {s.declaration.name: s.declaration.row_schema for s in find(plan, Stream)}
    for name, span in spans(found, row, streams).items():
        place = times[name].position(str(_time_of(plan, name)))
        causes = [c for c in lineage.causes if c.source == name and c.role is not Role.INSTEAD]
        named = [c.change.row[place] for c in causes]
        sources = [c.change.row[place] for c in causes if c.role is Role.SOURCE]
        if is_exact(plan):
            assert span == (min(sources, default=None), max(sources, default=None)), (said, row)
            event("exact")
        elif span != (None, None):
            assert min(named) <= span[0] <= span[1] <= max(named), (said, row, lineage)
            event("between")


def _time_of(plan: Relation, name: str) -> str | None:
    return next(s.declaration.time for s in find(plan, Stream) if s.declaration.name == name)


def is_stated(plan: Relation) -> bool:
    more = carried(plan)
    return more is not None and is_wanted(plan) and is_wanted(more)


STORED = st.one_of(timed_plans(ARCHIVED), plans(ARCHIVED, depth=3, operators=STATED)).filter(
    is_stated
)


@settings(max_examples=CASES // 2, deadline=None)
@given(
    plan=STORED,
    seed=st.integers(0, 2**32),
    steps=st.integers(2, 7),
    shards=st.sampled_from((1, 2, 5)),
    restarts=st.booleans(),
)
def test_the_engine_stores_the_intervals_beside_the_answer(
    plan: Relation, seed: int, steps: int, shards: int, restarts: bool
) -> None:
    more = with_intervals(plan)
    program = lower({"q": replace(analysed(plan), lineage=analysed(more))})
    declarations, random = declarations_of(plan), Random(seed)
    every = with_old_rows(random, history(random, declarations, steps), declarations)
    oracle = Oracle.of(declarations, program.replayed)
    said: dict[str, tuple[Change, ...]] = {"q": (), lineage_name("q"): ()}
    with TemporaryDirectory() as root:
        runner = InProcess(program, root, shards)
        for fed in every:
            if restarts:
                runner = InProcess(program, root, shards, version=runner.version)
            oracle.take(fed)
            try:
                manifest = runner.step(fed)
            except EvaluationError as error:
                event(error.code)
                return
            for name, meant in (("q", plan), (lineage_name("q"), more)):
                said[name] = consolidate((*said[name], *runner.emitted(manifest, name)))
                assert_answers(meant, said[name], oracle, manifest.record.nows[name])
