"""A task that runs again gets its rows in another order, and writes files of the same names.

What a task says travels through the next exchange; if a name differed, Spark would take the stage
for one that cannot be repeated, and give the step up.
"""

from __future__ import annotations

from pathlib import Path
from random import Random

import pyarrow as pa

from ebbtide.compile.stages import FromRoute
from ebbtide.core.time import NEG_INF
from ebbtide.dataflow.shard import Job, Shard, StatePlace
from ebbtide.dataflow.tags import UNUSED
from ebbtide.dataflow.tasks import Emission, Input, StageTask, Take, unused_rows
from ebbtide.kernels.kernel import Times
from ebbtide.kernels.operators.held import Held
from ebbtide.state.batch import batch_schema

SCHEMA = batch_schema([pa.int64(), pa.list_(pa.string())])


def said(root: Path, order: list[int]) -> list[str]:
    """What a task says that gets rows in an order."""
    job = Job("output.v", Held(), Times(NEG_INF, 100))
    taken = Input((Take(FromRoute(0), None),), SCHEMA, net=True)
    task = StageTask(StatePlace(str(root), 0), (), (Emission("v", job, taken),), ())
    rows = [(i % 3, [str(i)], i, i + 1 + i % 2, 1) for i in order]
    columns = [
        pa.array(values, field.type)
        for values, field in zip(zip(*rows, strict=True), SCHEMA, strict=True)
    ]
    changes = pa.Table.from_arrays(columns, schema=SCHEMA)
    texts = [f'["s", "late", "row {i}", "insert"]' for i in order]
    refused = unused_rows(texts, pa.array([1] * len(order), pa.int64()))
    _, told = task.run({0: changes, UNUSED: refused}, Shard(task.place, 0))
    return told


def test_names_do_not_depend_on_the_order_of_rows(tmp_path: Path) -> None:
    order = list(range(40))
    first = said(tmp_path / "one", order)
    Random(7).shuffle(order)
    assert said(tmp_path / "two", order) == first
    assert any("unused" in text for text in first)
