"""What the analysis says of indexes is what the kernels ask of their SweepAreas, and no less.

Random plans run through the engine's stages, with every area watched: an index that is not claimed
must never have been of use.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import event, given, note
from hypothesis import strategies as st
from tests.properties.test_engine_law import judge

from ebbtide.algebra.combination import Join, UnionAll
from ebbtide.algebra.expression import Comparison
from ebbtide.algebra.kind import Kind
from ebbtide.algebra.printing import sql
from ebbtide.algebra.relation import Alias, Relation
from ebbtide.algebra.window import Dstream, Istream, Range, Rows, Rstream, Window
from ebbtide.analysis import analyse
from ebbtide.analysis.analysis import Node
from ebbtide.analysis.indexes import Indexes
from ebbtide.compile.kernel_choice import choose
from ebbtide.compile.lowering import lower
from ebbtide.compile.pipe import is_linear
from ebbtide.compile.pruning import all_reads
from ebbtide.core.time import INF
from ebbtide.errors import EvaluationError, UnsupportedError
from ebbtide.kernels.operators.spanning import Spanning
from ebbtide.kernels.sweeps.appearances import steps
from ebbtide.optimizer import prepared
from ebbtide.plan_text.plan_tree import plan_tree
from ebbtide.spark.types import arrow_type
from ebbtide.state.area import SweepArea
from ebbtide.state.batch import DIFF, FROM, TO, batch_schema
from ebbtide.state.columns import ints
from ebbtide.state.keep import ALWAYS, Keep
from strategies.arrivals import PROMISED
from strategies.plans import plans


@dataclass(frozen=True)
class Claim:
    """What is said of one stored input, and the area that holds it."""

    indexes: Indexes
    node: Node
    keys: list[str]

    @property
    def holds_rows(self) -> bool:
        """Whether the area holds the input's rows as they are, with their intervals."""
        node = self.node
        return node.inputs[0].edge.is_snapshot and not isinstance(node.relation, Istream | Dstream)


def claims_of(plan: Relation) -> dict[tuple[str, str], Claim]:
    """The claims about a plan, by the operator and the area at run time."""
    analysis = analyse(prepared(plan).plan)
    lowered = lower({"q": analysis})
    operators = [
        operator
        for operator in lowered.physical.operators
        if not operator.name.startswith("admission") and not isinstance(operator.kernel, Spanning)
    ]
    found = {}
    for operator, node in zip(operators, stateful(analysis.root), strict=True):
        # With all columns, whether they are read or not: keys are named by their expressions.
        chosen = choose(node.relation, all_reads(node.relation))
        given_schemas = (
            batch_schema(arrow_type(c.type) for c in side.columns) for side in chosen.inputs
        )
        layouts = chosen.kernel.areas(tuple(given_schemas))
        for store in node.stores:
            layout, columns = layouts[store.input], chosen.inputs[store.input].columns
            keys = [sql(columns[i]) for i in layout.keys if i < len(columns)]
            found[operator.name, layout.name] = Claim(store.indexes, node, keys)
    return found


def stateful(node: Node) -> Iterator[Node]:
    """The nodes that have kernels, in the order in which they are lowered."""
    for below in node.inputs:
        yield from stateful(below)
    if node.inputs and not is_linear(node.relation) and not isinstance(node.relation, UnionAll):
        yield node


@contextmanager
def watched(claims: dict[tuple[str, str], Claim]) -> Iterator[list[str]]:
    """Holds the areas of kernels against the claims while they run."""
    wrong: list[str] = []
    insert, probe, moved, turning = (
        SweepArea.insert,
        SweepArea.probe,
        SweepArea.moved,
        SweepArea.turning,
    )

    def claim(area: SweepArea) -> Claim | None:
        found = claims.get((area.scope.operator, area.layout.name))
        return found if found is not None and found.holds_rows else None

    def watched_insert(
        area: SweepArea, changes: Any, hashes: Any = None, keep: Keep = ALWAYS
    ) -> SweepArea:
        told, given = claim(area), changes
        changes = keep.of(changes)
        if told and not told.indexes.row and (ints(changes, DIFF) < 0).any():
            wrong.append(f"a negative in {area.layout.name} of {told.node.relation}")
        if told and "to" not in told.indexes.times and (ints(steps(changes), DIFF) < 0).any():
            wrong.append(f"an end in {area.layout.name} of {told.node.relation}")
        return insert(area, given, hashes, keep)

    def watched_probe(area: SweepArea, hashes: Any, since: Any = -INF, until: Any = INF) -> Any:
        told, found = claim(area), probe(area, hashes, since, until)
        if told and "from" not in told.indexes.times:
            every = probe(area, hashes, since, INF)
            if every.changes.num_rows != found.changes.num_rows:
                wrong.append(f"a beginning matters in {area.layout.name} of {told.node.relation}")
        if told and hashes is not None and not told.indexes.key and area.layout.keys:
            wrong.append(f"a key matters in {area.layout.name} of {told.node.relation}")
        return found

    def watched_moved(area: SweepArea, since: Any, upto: Any, hashes: Any = None) -> Any:
        told, found = claim(area), moved(area, since, upto, hashes)
        if told and "from" not in told.indexes.times and found.changes.num_rows:
            wrong.append(f"a beginning moves {area.layout.name} of {told.node.relation}")
        return found

    def watched_turning(area: SweepArea, after: int, upto: int) -> Any:
        told, found = claim(area), turning(area, after, upto)
        if told and "from" not in told.indexes.times:
            rows = moved(area, after + 1, upto)
            begins, ends = ints(rows.changes, FROM), ints(rows.changes, TO)
            ended = np.unique(rows.hashes[(ends > after) & (ends <= upto)])
            if len(ended) != len(found) or ((begins > upto) & (ends <= upto)).any():
                wrong.append(f"a beginning turns {area.layout.name} of {told.node.relation}")
        return found

    with (
        patch.object(SweepArea, "insert", watched_insert),
        patch.object(SweepArea, "probe", watched_probe),
        patch.object(SweepArea, "moved", watched_moved),
        patch.object(SweepArea, "turning", watched_turning),
    ):
        yield wrong


@given(plans(PROMISED, depth=3, kind=Kind.SNAPSHOT), st.integers(0, 2**32), st.integers(1, 5))
def test_an_index_that_is_not_claimed_is_of_no_use(plan: Relation, seed: int, count: int) -> None:
    note(plan_tree(plan))
    try:
        claims = claims_of(plan)
        for claim in claims.values():
            if not isinstance(claim.node.relation, Rstream):
                assert set(claim.keys) == set(claim.indexes.key)
        with watched(claims) as wrong:
            judge(plan, seed, count, shards=2, collects=True)
    except (UnsupportedError, EvaluationError) as error:
        event(error.code)
        return
    assert not wrong


@pytest.mark.parametrize("left_out", ["key", "to", "from", "row"])
def test_who_claims_too_little_is_found_out(left_out: str) -> None:
    last = Alias(Window(PROMISED[0], Rows(2), "at"), "l")
    recent = Alias(Window(PROMISED[0], Range(3), "at"), "r")
    plan = Join(last, recent, Comparison("=", last.ref("auction"), recent.ref("auction")))
    claims = claims_of(plan)
    assert not any(found_wrong(plan, claims, seed) for seed in range(5))
    lessened = {
        place: replace(claim, indexes=without(claim.indexes, left_out))
        for place, claim in claims.items()
    }
    assert any(found_wrong(plan, lessened, seed) for seed in range(20))


def without(indexes: Indexes, left_out: str) -> Indexes:
    return Indexes(
        () if left_out == "key" else indexes.key,
        tuple(time for time in indexes.times if time != left_out),
        indexes.row and left_out != "row",
    )


def found_wrong(plan: Relation, claims: dict[tuple[str, str], Claim], seed: int) -> list[str]:
    with watched(claims) as wrong:
        judge(plan, seed, steps=5, shards=1, collects=True)
    return wrong
