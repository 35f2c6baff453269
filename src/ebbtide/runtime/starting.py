"""Starting a query: its sources are found and bound, and Structured Streaming set off if needed."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from ebbtide.core.declaration import Declaration
from ebbtide.errors import SourceError, UnsupportedError
from ebbtide.runtime.feed import FeedLog
from ebbtide.runtime.heartbeat import heartbeat_of, heartbeat_rows
from ebbtide.runtime.journal import Journal
from ebbtide.runtime.lowering import Lowered, lower
from ebbtide.runtime.run import Run
from ebbtide.runtime.sinks import sinks_of
from ebbtide.runtime.sources import arrivals_of, given_table, is_stream, read_files
from ebbtide.runtime.translation import translated
from ebbtide.sql.catalog import FileSource, ViewEntry
from ebbtide.sql.syntax import Emit

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from ebbtide.runtime.engine import Engine
    from ebbtide.runtime.query import Query


@dataclass(frozen=True, slots=True)
class _Sources:
    """The sources of a query by their numbers: streams, what is there from the start, and logs."""

    streams: dict[int, DataFrame] = field(default_factory=dict)
    static: dict[int, Callable[[], DataFrame]] = field(default_factory=dict)
    logs: dict[int, FeedLog] = field(default_factory=dict)


def started(
    engine: Engine,
    query: Query,
    *,
    sink: Any = None,
    archive: bool = True,
    trigger: dict[str, Any] | None = None,
    heartbeat: str | None = None,
) -> Run:
    """The run of a query; ``trigger`` is Spark's, for queries on streams.

    ``sink`` is one sink or several (``ebbtide.runtime.sinks``).  Without the archive what a step
    emits is gone with the next one.  With a heartbeat ``now`` follows the clock, and steps come
    in idle time.
    """
    if query.bound.emit is Emit.FINAL:
        raise UnsupportedError(
            "final-not-built", "EMIT FINAL cannot be run yet", hint="EMIT CHANGES"
        )
    lowered = lower(query.analysis)
    with translated(query.name):
        sources = _bound(engine, lowered)
        streams, logs = bool(sources.streams), bool(sources.logs)
        beat = heartbeat_of(heartbeat, lowered.declarations, streams, logs)
        run = Run(query, lowered, sinks_of(sink), archive, beat)
    try:
        latest = Journal(run.root).latest()
        if latest is not None and run.delivery.wants_rows:
            run.deliver(engine.spark, latest)
        run.static, run.logs = sources.static, sources.logs
        if streams or beat.beats:
            _stream(engine, run, sources.streams, trigger or beat.trigger)
    except BaseException:
        run.stop()
        raise
    return run


def _bound(engine: Engine, lowered: Lowered) -> _Sources:
    given = dict(lowered.given)
    sources = _Sources()
    for number, declaration in enumerate(lowered.declarations):
        if number in given:
            sources.static[number] = partial(_given, engine, lowered, number)
        else:
            _bind(engine, number, declaration, sources)
    return sources


def _bind(
    engine: Engine,
    number: int,
    declaration: Declaration,
    sources: _Sources,
) -> None:
    entry = engine.entry_of(declaration)
    if isinstance(entry, ViewEntry):
        raise SourceError("not-a-source", f'"{entry.name}" is a view')
    frame = engine.frame_of(declaration)
    if frame is None and entry.files is None:
        sources.logs[number] = engine.log_of(declaration)
    elif is_stream(declaration):
        if frame is None and entry.files is not None:
            frame = _files(engine, entry.files, declaration, True)
        if frame is not None:
            sources.streams[number] = frame
    else:
        sources.static[number] = partial(_static, engine, declaration)


def _static(engine: Engine, declaration: Declaration) -> DataFrame:
    frame = engine.frame_of(declaration)
    if frame is not None:
        return frame
    entry = engine.entry_of(declaration)
    if isinstance(entry, ViewEntry) or entry.files is None:
        raise SourceError("not-a-source", f'"{entry.name}" has no files')
    return _files(engine, entry.files, declaration, False)


def _files(
    engine: Engine, files: FileSource, declaration: Declaration, streaming: bool
) -> DataFrame:
    return read_files(engine.spark, files, declaration, engine.zone.key, streaming)


def _given(engine: Engine, lowered: Lowered, number: int) -> DataFrame:
    values = dict(lowered.given)[number]
    return engine.spark.createDataFrame(given_table(values.schema, values.rows))


def _stream(
    engine: Engine, run: Run, streams: dict[int, DataFrame], trigger: dict[str, Any]
) -> None:
    shape = run.shape(engine.spark)
    # The heartbeat comes last: the order of the sources is part of the checkpoint.
    union = None
    for number, frame in sorted(streams.items()):
        declaration = run.lowered.declarations[number]
        rows = arrivals_of(frame, shape, number, declaration)
        union = rows if union is None else union.union(rows)
    if run.heartbeat.beats:
        beats = heartbeat_rows(engine.spark, shape)
        union = beats if union is None else union.union(beats)
    if union is None:
        return
    writer = union.writeStream.queryName(run.name).foreachBatch(run.batch)
    writer = writer.option("checkpointLocation", os.path.join(run.root, "checkpoint"))
    if trigger:
        writer = writer.trigger(**trigger)
    run.streaming = writer.start()
