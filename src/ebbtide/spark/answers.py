"""What views have emitted, as DataFrames.

Law: ``changes`` are all changes of the steps; ``snapshot`` at an instant is their sum there.  The
ends of the time line have no timestamp, so they are shown as NULL.  Files are verified here, once
in a process, before Spark reads them.
"""

from __future__ import annotations

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
from ebbtide.store.journal import Journal
from ebbtide.store.readers import View
from ebbtide.store.record import StepRecord

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_OTHERWISE = (ArrayType, StructType, NullType)
_MANY = 1 << 21
"""An answer of more rows than this is read by Spark's tasks, not here."""


def changes(spark: SparkSession, view: View, since: int | None) -> DataFrame:
    """The changes of all steps after ``since``, with their validity, diff and step."""
    return _shown_changes(_raw(spark, view, view.records(since)), view)


def emitted(spark: SparkSession, view: View, record: StepRecord) -> DataFrame:
    """The changes of one step, as ``changes`` shows them."""
    return _shown_changes(_raw(spark, view, [record]), view)


def _shown_changes(raw: DataFrame, view: View) -> DataFrame:
    ends = (
        f"timestamp_micros(CASE WHEN {name} NOT IN ({NEG_INF + 1}L - 1L, {INF}L) THEN {name} END) "
        f"AS {name}"
        for name in ("valid_from", "valid_to")
    )
    marks = [REVISION] if view.marked else []
    return raw.selectExpr(*_columns(view.schema), *ends, "diff", "step", *marks)


def snapshot(
    spark: SparkSession, view: View, at: Instant | None, step: int | None = None
) -> DataFrame:
    """The rows that are valid at an instant, or now; equal rows as often as they are there."""
    names = [f"c{i}" for i in range(len(view.schema))]
    live = view.live(at, step) if _crosses(view.schema) else None
    if live is None or live.num_rows > _MANY:
        records = view.records(upto=step)
        moment = at if at is not None else view.now(records)
        raw = _raw(spark, view, records)
        valid = raw.where(f"valid_from <= {moment} AND valid_to > {moment}")
    else:
        valid = spark.createDataFrame(live.combine_chunks())
    counted = valid.groupBy(*names).agg({"diff": "sum"}).withColumnRenamed("sum(diff)", "n")
    repeated = counted.where("n > 0").selectExpr("*", "explode(sequence(1L, n)) AS again")
    return repeated.selectExpr(*_columns(view.schema))


def _crosses(schema: Schema) -> bool:
    """Whether the stored rows of a schema are rows for Spark as they are."""
    return not any(isinstance(column.type, _OTHERWISE) for column in schema)


def _raw(spark: SparkSession, view: View, records: list[StepRecord]) -> DataFrame:
    archive = Archive(view.root)
    files = [archive.verify(file) for record in records for file in view.files(record)]
    return _read(spark, view, files)


def _read(spark: SparkSession, view: View, files: list[str]) -> DataFrame:
    from pyspark.sql import functions as F

    stored = [f"c{i} {_stored_type(c.type)}" for i, c in enumerate(view.schema)]
    mark = f"c{len(view.schema)}"
    marks = [f"{mark} BOOLEAN"] if view.marked else []
    layout = ", ".join([*stored, *marks, "valid_from BIGINT", "valid_to BIGINT", "diff BIGINT"])
    if not files:
        empty = spark.createDataFrame([], f"{layout}, step BIGINT")
        return empty.withColumnRenamed(mark, REVISION)
    step = F.regexp_extract(F.col("_metadata.file_name"), r"^\d+-(\d+)-", 1)
    with listing_here(spark):
        rows = spark.read.schema(layout).parquet(*files)
    return rows.withColumnRenamed(mark, REVISION).withColumn("step", step.cast("bigint"))


def unused(spark: SparkSession, roots: dict[str, str], source: str) -> DataFrame:
    """The rows of a source that were not used, each with its reason, by program and step."""
    from pyspark.sql import functions as F

    found = None
    for query, root in roots.items():
        written = [file for record in Journal(root).entries() for file in record.unused]
        files = [Archive(root).verify(str(file.file)) for file in written]
        if files:
            step = F.regexp_extract(F.col("_metadata.file_name"), r"^\d+-(\d+)-", 1)
            with listing_here(spark):
                rows = spark.read.schema(_texts(UNUSED_COLUMNS, "diff BIGINT")).parquet(*files)
            rows = rows.withColumn("step", step.cast("bigint")).withColumn("query", F.lit(query))
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
