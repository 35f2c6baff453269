"""A task that is repeated sends the same parcels, in whatever order its rows come."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from ebbtide import Engine
from ebbtide.compile.arrival import arrival_schema
from ebbtide.compile.lowering import lower
from ebbtide.core.frontier import InputFrontier
from ebbtide.dataflow.plan import Dataflow
from ebbtide.dataflow.record import Given
from ebbtide.dataflow.routing import Parcel
from ebbtide.dataflow.step import Stepper
from ebbtide.dataflow.tasks import StageTask
from ebbtide.local.host import arrived_table
from ebbtide.local.transport import LocalEntered, LocalTransport
from ebbtide.spark.exchange import batches_of, packed
from ebbtide.spark.shelf import Shelf
from ebbtide.spark.transport import SendingTask

SQL = (
    "SELECT v, COUNT(*) AS n FROM (SELECT a.v + b.v AS v FROM s [RANGE 5 SECONDS] a"
    " JOIN s [RANGE 9 SECONDS] b ON a.k = b.k) AS pairs GROUP BY v"
)


class Listening(LocalTransport):
    """A transport that tells what its first tasks got."""

    tasks: Sequence[StageTask] = ()
    rows: Mapping[int, list[Any]] = {}

    def enter(self, arrived: Mapping[int, Any], before: tuple[InputFrontier, ...]) -> Any:
        entered = super().enter(arrived, before)
        Listening.rows = {tag: list(tables) for tag, tables in entered.shards[0].items()}

        class Entered(LocalEntered):
            def run(self, tasks: Sequence[StageTask]) -> list[str]:
                Listening.tasks = tasks
                return super().run(tasks)

        return Entered(entered.dataflow, entered.shards, entered.seen)


@pytest.mark.parametrize("beside", [False, True])
def test_the_order_of_rows_is_not_in_the_parcels(tmp_path: Path, beside: bool) -> None:
    shelf = Shelf(str(tmp_path), least=0) if beside else None
    engine = Engine(tmp_path / "engine", transport="local")
    engine.execute("CREATE STREAM s (k BIGINT, v BIGINT, at TIMESTAMP, PROGRESS FOR at AS at)")
    lowered = lower({"v": engine.query(SQL, name="v").analysis})
    assert lowered.stages.count == 2
    flow = Dataflow(lowered, 1)
    rows = [(i % 7, i, (i * i % 50) * 1_000_000, None, i, None) for i in range(200)]
    (declaration,) = lowered.declarations
    arrived = {0: arrived_table(arrival_schema(declaration), rows)}
    Stepper(flow, Listening(flow), str(tmp_path / "root")).step(0, arrived, Given({}, None))
    on = tuple(route for route in lowered.stages.routes if route.stage > 1)
    task = SendingTask(Listening.tasks[0], on, 3, shelf)
    tables = {tag: pa.concat_tables(found) for tag, found in Listening.rows.items()}
    backwards = {tag: t.take(pa.array(range(len(t) - 1, -1, -1))) for tag, t in tables.items()}
    sent = [
        sorted(str(batch.to_pydict()) for batch in task(batches_of(packed(_parcels(given), shelf))))
        for given in (tables, backwards)
    ]
    assert len(sent[0]) > 2
    assert sent[0] == sent[1]


def _parcels(given: dict[int, Any]) -> Iterator[Parcel]:
    return (Parcel(tag, 0, rows) for tag, rows in given.items())
