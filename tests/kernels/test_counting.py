"""Distinct, the differences, the intersections, max-union and union against the reference."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide import algebra
from ebbtide.algebra.relation import Values
from ebbtide.core.change import consolidate
from ebbtide.core.schema import Column, Schema
from ebbtide.core.types import BIGINT, STRING
from ebbtide.kernels.operators.difference import Difference
from ebbtide.kernels.operators.distinct import Distinct
from ebbtide.kernels.operators.intersection import Intersection
from ebbtide.kernels.operators.max_union import MaxUnion
from ebbtide.kernels.operators.strict_difference import StrictDifference
from ebbtide.state.batch import batch_schema
from kernels.simulation import canonical, cut, histories, run, without_collection

SCHEMA = batch_schema([pa.int64(), pa.string()])
INPUT = Values(Schema((Column("a", BIGINT), Column("b", STRING))), ())
ROWS = st.sampled_from([(1, "x"), (2, "x"), (None, None), (1, "y")])

ONE = [(Distinct(), algebra.Distinct(INPUT))]
TWO = [
    (Difference(), algebra.Difference(INPUT, INPUT)),
    (StrictDifference(), algebra.StrictDifference(INPUT, INPUT)),
    (Intersection(), algebra.Intersection(INPUT, INPUT)),
    (Intersection(all=False), algebra.Intersection(INPUT, INPUT, all=False)),
    (MaxUnion(), algebra.MaxUnion(INPUT, INPUT)),
]
KEY = (0, 1)


@pytest.mark.parametrize(("kernel", "node"), [*ONE, *TWO])
@given(data=st.data(), seed=st.integers(0, 99), shards=st.sampled_from([1, 2, 7]))
def test_a_kernel_emits_what_the_reference_says(kernel, node, data, seed, shards) -> None:
    count = 1 if isinstance(kernel, Distinct) else 2
    history = data.draw(histories([ROWS] * count))
    schemas, keys = (SCHEMA,) * count, (KEY,) * count
    accepted = [[] for _ in range(count)]

    def check(step, output, emitted) -> None:
        for index, changes in enumerate(step.inputs):
            accepted[index] += changes
        assert consolidate(output) == canonical(node, accepted, keys, step.now)
        assert len(consolidate(emitted)) == len(emitted), "a step shows only its net effect"

    first = run(kernel, schemas, history, each=check)
    other = run(kernel, schemas, cut(history, seed), shards)
    kept = run(kernel, schemas, without_collection(cut(history, seed + 1)), shards)
    assert consolidate(first.output) == consolidate(other.output) == consolidate(kept.output)


@pytest.mark.parametrize(("kernel", "node"), TWO[:1])
@given(history=histories([ROWS] * 2))
def test_a_kernel_starts_again_between_any_two_steps(
    kernel, node, history, tmp_path_factory
) -> None:
    directory: Path = tmp_path_factory.mktemp("state")
    stored = run(kernel, (SCHEMA, SCHEMA), history, directory=directory)
    kept = run(kernel, (SCHEMA, SCHEMA), history)
    assert stored.output == kept.output
