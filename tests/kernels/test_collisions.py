"""Keys that share a hash by accident are still different keys, in state and in kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ebbtide.core.change import consolidate
from ebbtide.kernels.grouping import exact, firsts
from ebbtide.kernels.operators.aggregate import Aggregate
from ebbtide.state import area, netting, writing
from ebbtide.state.hashing import key_hash
from kernels.simulation import canonical, histories, run
from kernels.test_aggregate import EXTREMES, NAMES, OTHERS, ROWS, SCHEMA, SUMS, lowered, plan
from kernels.test_counting import KEY, TWO
from kernels.test_counting import ROWS as PAIRS
from kernels.test_counting import SCHEMA as PAIR


@pytest.fixture
def two_hashes(monkeypatch) -> None:
    """A world in which there are only two hashes."""

    def poor(table: Any, columns: Any) -> Any:
        return key_hash(table, columns) % np.uint64(2)

    for module in (area, netting, writing):
        monkeypatch.setattr(module, "key_hash", poor)


anyway = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.mark.usefixtures("two_hashes")
@pytest.mark.parametrize(
    "calls", [SUMS[:6], EXTREMES[:3], OTHERS[:6]], ids=["sums", "best", "rest"]
)
@anyway
@given(data=st.data())
def test_aggregates_of_keys_with_one_hash(calls, data) -> None:
    keys = ("k", "s")
    positions = tuple(NAMES.index(key) for key in keys)
    kernel = Aggregate(positions, tuple(lowered(call) for call in calls))
    accepted: list[Any] = []

    def check(step: Any, output: Any, emitted: Any) -> None:
        accepted.extend(step.inputs[0])
        wanted = canonical(plan(keys, calls), [accepted], [positions], step.now)
        assert consolidate(output) == wanted

    run(kernel, (SCHEMA,), data.draw(histories([ROWS])), keys=(positions,), each=check)


@pytest.mark.usefixtures("two_hashes")
@pytest.mark.parametrize(("kernel", "node"), TWO)
@anyway
@given(data=st.data())
def test_counts_of_rows_with_one_hash(kernel, node, data) -> None:
    accepted: list[list[Any]] = [[], []]

    def check(step: Any, output: Any, emitted: Any) -> None:
        for index, changes in enumerate(step.inputs):
            accepted[index] += changes
        assert consolidate(output) == canonical(node, accepted, (KEY, KEY), step.now)

    run(kernel, (PAIR, PAIR), data.draw(histories([PAIRS] * 2)), each=check)


def test_the_hash_of_no_key_is_what_the_areas_use() -> None:
    table = pa.table({"a": [1, 2]})
    assert len(set(key_hash(table, ()).tolist())) == 1


@given(
    st.lists(st.tuples(st.sampled_from(["", "a", "b", None]), st.integers(0, 40)), max_size=60),
    st.integers(1, 64),
)
def test_groups_are_exact_whatever_share_a_hash(rows, hashes) -> None:
    texts, numbers = zip(*rows, strict=True) if rows else ((), ())
    table = pa.table({"c0": pa.array(texts, pa.string()), "c1": pa.array(numbers, pa.int64())})
    poor = key_hash(table, (0, 1)) % np.uint64(hashes)
    found = exact(table, (0, 1), poor)
    assert len(set(zip(found.ids.tolist(), rows, strict=True))) == len(set(rows)) == found.count
    chosen = firsts(table, found)
    assert [tuple(row.values()) for row in chosen.to_pylist()] == [rows[i] for i in found.first]
    assert found.ids[found.first].tolist() == list(range(found.count))
