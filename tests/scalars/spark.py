"""Asking Spark about scalar expressions."""

from datetime import UTC, datetime, timedelta

from py4j.protocol import Py4JJavaError
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession

from ebbtide.algebra.expression import Literal
from ebbtide.algebra.printing import sql
from ebbtide.core.time import duration, from_datetime
from scalars import ROW, T
from scalars.questions import RECORD, REFUSED, questions, type_name


def session() -> SparkSession:
    """A session in this process: ANSI mode, UTC, two cores, two partitions, no interface."""
    return (
        SparkSession.builder.master("local[2]")
        .appName("ebbtide-tests")
        .config("spark.driver.memory", "1g")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.ansi.enabled", "true")
        # `${...}` in a text is text.
        .config("spark.sql.variable.substitute", "false")
        .config("spark.log.level", "OFF")
        .getOrCreate()
    )


def make_view(spark: SparkSession) -> None:
    """Makes the view `t` with the row of the tables, as nullable columns that are not constants."""
    columns = ", ".join(
        f"IF(id = 0, CAST({sql(Literal(value, column.type))} AS {column.type}), NULL) AS {column}"
        for column, value in zip(T, ROW, strict=True)
    )
    spark.sql(f"SELECT {columns} FROM RANGE(1)").createOrReplaceTempView("t")


def values(frame: DataFrame) -> list[object]:
    """The only row of a frame, as the reference has values."""
    (row,) = frame.collect()
    return list(map(_value, row))


def _value(value: object) -> object:
    match value:
        case datetime():
            return from_datetime(value.astimezone(UTC))
        case timedelta():
            return duration(value)
        case bytearray():
            return bytes(value)
        case list() | tuple():
            return tuple(map(_value, value))
        case _:
            return value


def types(spark: SparkSession, texts: list[str]) -> list[str]:
    """The types that Spark gives to expressions, all of which it takes."""
    columns = ", ".join(f"{text} AS v{place}" for place, text in enumerate(texts))
    fields = spark.sql(f"SELECT {columns} FROM t").schema.fields
    return [type_name(field.dataType.simpleString()) for field in fields]


def type_or_refusal(spark: SparkSession, text: str) -> str:
    """The type that Spark gives to an expression, if it takes it."""
    try:
        return types(spark, [text])[0]
    except (AnalysisException, Py4JJavaError):
        return REFUSED


def record(spark: SparkSession) -> None:
    """Asks all questions and records the answers."""
    make_view(spark)
    answers = [f"{text} => {type_or_refusal(spark, text)}\n" for text in questions()]
    RECORD.write_text("".join(answers), encoding="utf-8")


if __name__ == "__main__":  # python -m scalars.spark, in the directory of the tests
    record(session())
