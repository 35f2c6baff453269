"""What views have emitted, as DataFrames.

Law: ``changes`` are all changes of the steps; ``snapshot`` at an instant is their sum there.  The
ends of the time line have no timestamp, so they are shown as NULL.  Files are verified here, once
in a process, before Spark reads them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from ebbtide.algebra.emission import REVISION
from ebbtide.core.admission import SHOWN_COLUMNS, UNUSED_COLUMNS
from ebbtide.core.schema import Schema
from ebbtide.core.time import INF, NEG_INF, Instant
from ebbtide.core.types import ArrayType, IntervalType, NullType, StructType, TimestampType
from ebbtide.spark.names import quoted
from ebbtide.spark.session import listing_here
from ebbtide.spark.types import spark_type
from ebbtide.store.archive import Archive
from ebbtide.store.history import STEP, History, HistoryPart
from ebbtide.store.pinning import pinned
from ebbtide.store.readers import View, settled, unused_parts
from ebbtide.store.record import StepRecord
from ebbtide.store.time_travel import REASON, grounds

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_OTHERWISE = (ArrayType, StructType, NullType)
_MANY = 1 << 21
"""An answer of more rows than this is read by Spark's tasks, not here."""


def changes(spark: SparkSession, view: View, since: int | None) -> DataFrame:
    """The changes of all steps after ``since``, with their validity, diff and step."""
    raw = _raw(spark, view, partial(view.parts, since))
    said = raw if since is None else raw.where(f"step > {since}")
    return _shown_changes(_with_reasons(spark, said, view, since), view, REASON)


def _with_reasons(spark: SparkSession, raw: DataFrame, view: View, since: int | None) -> DataFrame:
    """Changes, each with its reason: ``Ground`` says by which rule."""
    from pyspark.sql import functions as F

    known = grounds(view, since)
    layout = "its_step BIGINT, before BIGINT, oldest BIGINT, returned BOOLEAN"
    rows = [(step, g.before, g.oldest, g.returned) for step, g in known.items()]
    steps = F.broadcast(spark.createDataFrame(rows, layout))
    first, last = f"({NEG_INF + 1}L - 1L)", f"{INF}L"
    revises = (
        REVISION
        if view.marked
        else f"returned OR IF(valid_from = {first} AND valid_to = {last}, diff < 0, "
        f"before > {first} AND valid_from <= before)"
    )
    came = f"valid_from >= oldest OR (valid_from = {first} AND oldest < {last})"
    reason = f"CASE WHEN {revises} THEN 'revision' WHEN {came} THEN 'input' ELSE 'expiry' END"
    reason = f"IF(before IS NULL, NULL, {reason})"
    joined = raw.join(steps, raw[STEP] == steps["its_step"], "left")
    return joined.withColumn(REASON, F.expr(reason))


def emitted(spark: SparkSession, view: View, record: StepRecord) -> DataFrame:
    """The changes of one step, as ``changes`` shows them."""
    step = record.version
    if step > History.read(view.root).upto:
        return _shown_changes(_raw(spark, view, partial(view.parts_of, record)), view)
    raw = _raw(spark, view, partial(view.parts, step - 1, step))
    return _shown_changes(raw.where(f"step = {step}"), view)


def _shown_changes(raw: DataFrame, view: View, *more: str) -> DataFrame:
    ends = (
        f"timestamp_micros(CASE WHEN {name} NOT IN ({NEG_INF + 1}L - 1L, {INF}L) THEN {name} END) "
        f"AS {name}"
        for name in ("valid_from", "valid_to")
    )
    marks = [REVISION] if view.marked else []
    return raw.selectExpr(*_columns(view.schema), *ends, "diff", "step", *marks, *more)


def snapshot(
    spark: SparkSession, view: View, at: Instant | None, step: int | None = None
) -> DataFrame:
    """The rows that are valid at an instant, or now; equal rows as often as they are there."""
    names = [f"c{i}" for i in range(len(view.schema))]
    live = view.live(at, step) if _crosses(view.schema) else None
    if live is None or live.num_rows > _MANY:
        moment = view.moment(at, step)
        view.check_kept(moment)
        raw = _raw(spark, view, lambda: [p for p in view.parts(upto=step) if p.holds(moment)])
        said = raw if step is None else raw.where(f"step <= {step}")
        valid = said.where(f"valid_from <= {moment} AND valid_to > {moment}")
    else:
        valid = spark.createDataFrame(live.combine_chunks())
    counted = valid.groupBy(*names).agg({"diff": "sum"}).withColumnRenamed("sum(diff)", "n")
    repeated = counted.where("n > 0").selectExpr("*", "explode(sequence(1L, n)) AS again")
    return repeated.selectExpr(*_columns(view.schema))


def _crosses(schema: Schema) -> bool:
    """Whether the stored rows of a schema are rows for Spark as they are."""
    return not any(isinstance(column.type, _OTHERWISE) for column in schema)


def _raw(spark: SparkSession, view: View, parts: Callable[[], list[HistoryPart]]) -> DataFrame:
    return _read(spark, view, _verified(view.root, parts))


def _verified(root: str, parts: Callable[[], list[HistoryPart]]) -> list[str]:
    """Paths of files, verified and pinned, for Spark reads them later; those of now, if some were
    compacted meanwhile."""

    def files() -> list[str]:
        found = [part.file for part in parts()]
        for file in found:
            Archive(root).verify(file)
        return pinned(root, found)

    return settled(root, files)


def _read(spark: SparkSession, view: View, files: list[str]) -> DataFrame:
    stored = [f"c{i} {_stored_type(c.type)}" for i, c in enumerate(view.schema)]
    mark = f"c{len(view.schema)}"
    marks = [f"{mark} BOOLEAN"] if view.marked else []
    times = ("valid_from BIGINT", "valid_to BIGINT", "diff BIGINT", f"{STEP} BIGINT")
    layout = ", ".join([*stored, *marks, *times])
    if not files:
        return spark.createDataFrame([], layout).withColumnRenamed(mark, REVISION)
    with listing_here(spark):
        rows = spark.read.schema(layout).parquet(*files)
    return _with_step(rows).withColumnRenamed(mark, REVISION)


def _with_step(rows: DataFrame) -> DataFrame:
    """Rows with their steps, which files of one step have in their names alone."""
    from pyspark.sql import functions as F

    named = F.regexp_extract(F.col("_metadata.file_name"), r"^\d+-(\d+)-", 1).cast("bigint")
    return rows.withColumn(STEP, F.coalesce(F.col(STEP), named))


def unused(spark: SparkSession, roots: dict[str, str], source: str) -> DataFrame:
    """The rows of a source that were not used, each with its reason, by program and step."""
    from pyspark.sql import functions as F

    found = None
    for query, root in roots.items():
        files = _verified(root, partial(unused_parts, root))
        if files:
            layout = _texts(UNUSED_COLUMNS, "diff BIGINT", f"{STEP} BIGINT")
            with listing_here(spark):
                rows = spark.read.schema(layout).parquet(*files)
            rows = _with_step(rows).withColumn("query", F.lit(query))
            found = rows if found is None else found.union(rows)
    if found is None:
        layout = _texts(SHOWN_COLUMNS, "step BIGINT", "query STRING")
        return spark.createDataFrame([], layout)
    mine = found.where(F.lower("source") == source.lower())
    netted = mine.groupBy(*SHOWN_COLUMNS, "query").agg(
        F.sum("diff").alias("n"), F.max("step").alias("step")
    )
    again = netted.where("n > 0").withColumn("again", F.expr("explode(sequence(1L, n))"))
    return again.select(*SHOWN_COLUMNS, "step", "query")


def _texts(names: tuple[str, ...], *others: str) -> str:
    return ", ".join([*(f"{name} STRING" for name in names), *others])


def _columns(schema: Schema) -> list[str]:
    return [
        f"{_shown(f'c{i}', spark_type(column.type), isinstance(column.type, TimestampType))} "
        f"AS {quoted(column.name)}"
        for i, column in enumerate(schema)
    ]


def _shown(name: str, type_: str, time: bool) -> str:
    return f"timestamp_micros({name})" if time else f"CAST({name} AS {type_})"


def _stored_type(type_: object) -> str:
    if isinstance(type_, TimestampType | IntervalType):
        return "BIGINT"
    return spark_type(type_)  # type: ignore[arg-type]
