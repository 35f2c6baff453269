"""This process as the place where an engine runs its steps: no JVM, no Spark.

Sources are those that are fed by hand and the rows that queries have written in them; answers are
Arrow tables, with times as timestamps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

from ebbtide.algebra.emission import REVISION
from ebbtide.algebra.relation import Values
from ebbtide.compile.arrival import arrival_schema
from ebbtide.compile.lowering import Lowered
from ebbtide.core.admission import SHOWN_COLUMNS, Op
from ebbtide.core.change import Change
from ebbtide.core.declaration import Declaration
from ebbtide.core.schema import Schema
from ebbtide.core.time import Duration, Instant, is_finite
from ebbtide.core.types import Type
from ebbtide.core.values import Row
from ebbtide.dataflow.plan import Dataflow
from ebbtide.errors import EbbtideError, SourceError, UnsupportedError
from ebbtide.local.transport import LocalTransport
from ebbtide.program.delivery import Outlet
from ebbtide.program.run import Program, Run
from ebbtide.sql.catalog import FileSource
from ebbtide.state.batch import DIFF, FROM, TO, to_changes
from ebbtide.state.types import arrow_type, shown_type
from ebbtide.store.clock import Clock
from ebbtide.store.feed_log import FedRow
from ebbtide.store.readers import View, unused
from ebbtide.store.record import StepRecord
from ebbtide.store.time_travel import REASON, grounds, reasons


class LocalHost:
    """Runs steps here."""

    @contextmanager
    def stepping(self, program: str, shards: int) -> Iterator[None]:
        yield

    def transport(self, dataflow: Dataflow) -> LocalTransport:
        return LocalTransport(dataflow)

    def fed(
        self, lowered: Lowered, rows: Mapping[int, Sequence[tuple[int, FedRow]]]
    ) -> dict[int, Any]:
        return {
            source: arrived_table(
                arrival_schema(lowered.declarations[source]),
                [(*row.values, row.op, place, row.malformed) for place, row in fed],
            )
            for source, fed in rows.items()
        }

    def with_static(
        self, lowered: Lowered, arrived: Mapping[int, Any], sources: Mapping[int, Any]
    ) -> dict[int, Any]:
        static = {}
        for source, read in sources.items():
            rows = [(*row, Op.INSERT.value, i, None) for i, row in enumerate(read())]
            static[source] = arrived_table(arrival_schema(lowered.declarations[source]), rows)
        return {**arrived, **static}

    def emitted(self, view: View, record: StepRecord) -> Any:
        return _shown(view, [(record.version, view.table(record))])

    def rows(self, schema: Schema, rows: Sequence[Row]) -> Any:
        return rows_table(schema, rows)

    @contextmanager
    def sinking(self, view: str, sink: str, step: int) -> Iterator[None]:
        try:
            yield
        except EbbtideError:
            raise
        except Exception as error:
            raise SourceError(
                "sink-failed",
                f'{sink} of query "{view}" did not take step {step}',
                detail=repr(error),
                hint="put it right: it gets the step again before the next, or at the next start",
            ) from error

    def changes(self, view: View, since: int | None) -> Any:
        steps = view.steps(since)
        known = grounds(view, since)
        nothing = pa.array([], pa.string())
        said = [reasons(view, to_changes(table), known.get(step)) for step, table in steps]
        column = pa.chunked_array([*(pa.array(one, pa.string()) for one in said), nothing])
        return _shown(view, steps).append_column(REASON, column)

    def snapshot(self, view: View, at: Instant | None, step: int | None) -> Any:
        return rows_table(view.schema, view.snapshot(at, step))

    def shown(self, table: Any) -> Any:
        return table

    def unused(self, roots: Mapping[str, str], source: str) -> Any:
        texts = [(name, pa.string()) for name in SHOWN_COLUMNS]
        schema = pa.schema([*texts, ("step", pa.int64()), ("query", pa.string())])
        found = [
            dict(zip(schema.names, (*row.shown, step, name), strict=True))
            for name, root in roots.items()
            for row, step in unused(root, source)
        ]
        return pa.Table.from_pylist(found, schema=schema)

    @contextmanager
    def binding(self, program: str) -> Iterator[None]:
        yield

    def given(self, values: Values) -> Callable[[], Sequence[Row]]:
        return lambda: values.rows

    def files(self, files: FileSource, declaration: Declaration, zone: str, streaming: bool) -> Any:
        raise UnsupportedError(
            "needs-spark",
            f'the files of "{declaration.name}" are read by Spark, and this engine has none',
            hint='Engine(...) without transport="local", or feed the rows',
        )

    def run(
        self,
        program: Program,
        clock: Clock,
        sinks: Mapping[str, tuple[Outlet, ...]],
        archive: bool,
        keep: Mapping[str, Duration],
    ) -> Run:
        return Run(program, self, clock, sinks, archive, keep)

    def stream(self, run: Any, streams: Mapping[int, Any], trigger: dict[str, Any]) -> None:
        raise UnsupportedError(
            "needs-spark",
            "streams and heartbeats need Spark, and this engine has none",
            hint='Engine(...) without transport="local"',
        )

    def stop(self) -> None:
        pass


def arrived_table(schema: Schema, rows: Sequence[Row]) -> Any:
    """Rows as an Arrow table in the types of kernels."""
    columns = [pa.array([row[i] for row in rows], arrow_type(c.type)) for i, c in enumerate(schema)]
    return pa.Table.from_arrays(columns, names=[f"c{i}" for i in range(len(columns))])


def rows_table(schema: Schema, rows: Sequence[Row]) -> Any:
    """Rows of an answer as an Arrow table, with their names and with times as timestamps."""
    columns = _named(schema, arrived_table(schema, rows).columns)
    return pa.Table.from_arrays(columns, names=list(schema.names))


def changes_table(schema: Schema, changes: Sequence[Change]) -> Any:
    """Changes as an Arrow table for people: the row, its validity and its diff."""
    rows = rows_table(schema, [change.row for change in changes])
    ends = (
        pa.array([t if is_finite(t) else None for t in times], pa.int64())
        for times in ([c.valid_from for c in changes], [c.valid_to for c in changes])
    )
    for name, times in zip((FROM, TO), ends, strict=True):
        rows = rows.append_column(name, times.cast(pa.timestamp("us", "UTC")))
    return rows.append_column(DIFF, pa.array([c.diff for c in changes], pa.int64()))


def _shown(view: View, steps: Sequence[tuple[int, Any]]) -> Any:
    nothing = (-1, view.layout.empty_table())
    marks = [REVISION] if view.marked else []
    names = [*view.schema.names, FROM, TO, DIFF, "step", *marks]
    width = len(view.schema)
    tables = []
    for step, table in [*steps, nothing]:
        columns = _named(view.schema, table.columns[:width])
        ends = [_ends(table.column(name)) for name in (FROM, TO)]
        number = pa.repeat(pa.scalar(step, pa.int64()), table.num_rows)
        marked = table.columns[width : width + len(marks)]
        arrays = [*columns, *ends, table.column(DIFF), number, *marked]
        tables.append(pa.Table.from_arrays(arrays, names=names))
    return pa.concat_tables(tables)


def _named(schema: Schema, columns: Sequence[Any]) -> list[Any]:
    return [_timed(column, c.type) for column, c in zip(columns, schema, strict=True)]


def _timed(column: Any, type_: Type) -> Any:
    wanted = shown_type(type_)
    return column if column.type == wanted else column.cast(wanted)


def _ends(column: Any) -> Any:
    """Instants as timestamps; the ends of the line have none."""
    values = [t if is_finite(t) else None for t in column.to_pylist()]
    return pa.array(values, pa.int64()).cast(pa.timestamp("us", "UTC"))
