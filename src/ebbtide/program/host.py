"""What an engine asks of the place where it runs: Spark, or this process.

A host turns what was fed and what is there from the start into rows that its transport takes, runs
steps under its own settings, and shows what was emitted in tables of its own kind.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol

from ebbtide.algebra.relation import Values
from ebbtide.compile.lowering import Lowered
from ebbtide.core.declaration import Declaration
from ebbtide.core.schema import Schema
from ebbtide.core.time import Duration, Instant
from ebbtide.core.values import Row
from ebbtide.dataflow.plan import Dataflow
from ebbtide.dataflow.transport import Transport
from ebbtide.sql.catalog import FileSource
from ebbtide.store.clock import Clock
from ebbtide.store.feed_log import FedRow
from ebbtide.store.readers import View
from ebbtide.store.record import StepRecord

if TYPE_CHECKING:
    from ebbtide.program.delivery import Outlet
    from ebbtide.program.run import Program, Run

Fed = Mapping[int, Sequence[tuple[int, FedRow]]]
"""Rows that were fed by hand, by source, with their places in its log."""


class Host(Protocol):
    """Where steps run."""

    def stepping(self, program: str, shards: int) -> AbstractContextManager[None]:
        """Settings for a step, and its errors as ours."""
        ...

    def transport(self, dataflow: Dataflow) -> Transport:
        """What carries the rows."""
        ...

    def fed(self, lowered: Lowered, rows: Fed) -> Any:
        """Rows that were fed by hand, as they arrive."""
        ...

    def with_static(self, lowered: Lowered, arrived: Any, sources: Mapping[int, Any]) -> Any:
        """What arrived, and all rows of sources that are there from the start."""
        ...

    def emitted(self, view: View, record: StepRecord) -> Any:
        """The changes of one step."""
        ...

    def rows(self, schema: Schema, rows: Sequence[Row]) -> Any:
        """Rows that were made here, as a table of its own kind."""
        ...

    def sinking(self, view: str, sink: str, step: int) -> AbstractContextManager[None]:
        """What a sink raises as an error of ours; it has not got the step."""
        ...

    def changes(self, view: View, since: int | None) -> Any:
        """The changes of all steps after ``since``."""
        ...

    def snapshot(self, view: View, at: Instant | None, step: int | None) -> Any:
        """The rows that are valid at an instant, or now, as said after a step, or the last."""
        ...

    def shown(self, table: Any) -> Any:
        """An Arrow table of people's rows, in the host's own kind of tables."""
        ...

    def unused(self, roots: Mapping[str, str], source: str) -> Any:
        """The rows of a source that programs did not use, each with its reason."""
        ...

    def binding(self, program: str) -> AbstractContextManager[None]:
        """Errors of sources as ours."""
        ...

    def given(self, values: Values) -> Any:
        """Rows that are written in a query, to be read when the first step comes."""
        ...

    def files(self, files: FileSource, declaration: Declaration, zone: str, streaming: bool) -> Any:
        """The rows of files; ``zone`` is for times that are written without one."""
        ...

    def run(
        self,
        program: Program,
        clock: Clock,
        sinks: Mapping[str, tuple[Outlet, ...]],
        archive: bool,
        keep: Mapping[str, Duration],
    ) -> Run:
        """A run of a program, which holds its directory."""
        ...

    def stream(self, run: Any, streams: Mapping[int, Any], trigger: dict[str, Any]) -> None:
        """Lets steps come by themselves, as rows come to streams."""
        ...

    def stop(self) -> None:
        """Ends what the host itself has started."""
        ...
