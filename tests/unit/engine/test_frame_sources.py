"""DataFrames as sources, without a JVM: their types, and all that SQL can declare of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import types as spark

from ebbtide import Engine
from ebbtide.core.declaration import Late, Promise, StreamDeclaration, TableDeclaration
from ebbtide.engine.script import declared_text
from ebbtide.errors import EbbtideError
from ebbtide.spark.frames import schema_of, values_of
from ebbtide.sql.binder import execute
from ebbtide.sql.catalog import Catalog, StreamEntry, TableEntry
from ebbtide.sql.parser import parse


@dataclass
class Frame:
    """What a declaration asks of a DataFrame."""

    schema: spark.StructType
    isStreaming: bool = True
    selected: list[str] = field(default_factory=list)

    def selectExpr(self, *expressions: str) -> Frame:
        return Frame(self.schema, self.isStreaming, list(expressions))


OPERATIONS = spark.StructType(
    [
        spark.StructField("id", spark.LongType(), False),
        spark.StructField("price", spark.FloatType()),
        spark.StructField("at", spark.TimestampType()),
        spark.StructField("seen", spark.TimestampNTZType()),
        spark.StructField("n", spark.LongType()),
        spark.StructField("op", spark.StringType()),
        spark.StructField("tags", spark.MapType(spark.StringType(), spark.FloatType())),
    ]
)


def declared(engine: Engine, name: str) -> Any:
    """The declaration, which its statement in SQL makes, too."""
    entry = engine.catalog.get(name)
    assert isinstance(entry, StreamEntry | TableEntry)
    (statement,) = parse(declared_text(entry.declaration))
    same = execute(statement, Catalog()).get(name)
    assert isinstance(same, StreamEntry | TableEntry)
    assert same.declaration == entry.declaration
    return entry.declaration


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    return Engine(tmp_path)


def test_types_that_hold_the_same_values() -> None:
    assert str(schema_of(Frame(OPERATIONS))) == (  # type: ignore[arg-type]
        "id BIGINT, price DOUBLE, at TIMESTAMP, seen TIMESTAMP, n BIGINT, op STRING, "
        "tags ARRAY<STRUCT<key: STRING, value: DOUBLE>>"
    )


def test_maps_are_arrays_of_their_entries_at_any_depth() -> None:
    inner = spark.StructType(
        [spark.StructField("m", spark.MapType(spark.LongType(), spark.LongType()))]
    )
    nested = spark.StructType(
        [spark.StructField("a", spark.ArrayType(inner)), spark.StructField("b", spark.LongType())]
    )
    found: Any = values_of(Frame(nested))  # type: ignore[arg-type]
    assert found.selected == [
        "transform(`a`, x0 -> if(x0 IS NULL, NULL, struct(transform(array_sort(map_keys(x0.`m`)), "
        "x1 -> struct(x1 AS key, x0.`m`[x1] AS value)) AS `m`))) AS `a`",
        "`b` AS `b`",
    ]
    plain = Frame(spark.StructType([spark.StructField("b", spark.LongType())]))
    assert values_of(plain) is plain  # type: ignore[arg-type]


def test_all_unusable_columns_are_named_at_once() -> None:
    frame = Frame(
        spark.StructType(
            [
                spark.StructField("v", spark.VariantType()),
                spark.StructField("id", spark.LongType()),
                spark.StructField("y", spark.ArrayType(spark.YearMonthIntervalType())),
            ]
        )
    )
    with pytest.raises(EbbtideError, match="unknown-type") as caught:
        schema_of(frame)  # type: ignore[arg-type]
    assert '"v" is variant, "y" is array<' in caught.value.message
    assert caught.value.hint == (
        'frame.withColumns({"v": frame["v"].cast("string"), "y": frame["y"].cast("string")})'
    )


def test_a_stream_takes_what_sql_declares(engine: Engine) -> None:
    engine.stream(
        "bids",
        Frame(OPERATIONS),  # type: ignore[arg-type]
        time={"at": "5 seconds", "seen": timedelta(minutes=1)},
        key="id",
        op="op",
        retain="1 day",
        late="quarantine",
        idle="5m",
        not_beyond="1h",
    )
    found = declared(engine, "bids")
    assert isinstance(found, StreamDeclaration)
    assert found.promises == (Promise("at", 5_000_000), Promise("seen", 60_000_000))
    assert (found.op, found.append_only, found.late) == ("op", False, Late.QUARANTINE)
    assert (found.idle_after_us, found.not_beyond_us) == (300_000_000, 3_600_000_000)
    engine.stream("plain", Frame(OPERATIONS), time=["at", "seen"], key="id")  # type: ignore[arg-type]
    assert declared(engine, "plain").append_only


def test_a_table_changes_if_it_has_a_time(engine: Engine) -> None:
    engine.table(
        "prices",
        Frame(OPERATIONS),  # type: ignore[arg-type]
        key="id",
        time="at",
        op="op",
        sequence="n",
        lifetime="1 day",
        lateness="5 seconds",
        retain="1 hour",
        idle="1 minute",
    )
    found = declared(engine, "prices")
    assert isinstance(found, TableDeclaration)
    assert (found.time, found.op, found.sequence, found.static) == ("at", "op", "n", False)
    assert engine.query("SELECT id, price FROM prices").key == ("id",)
    engine.table("shops", Frame(OPERATIONS, isStreaming=False), key="id")  # type: ignore[arg-type]
    assert declared(engine, "shops").static


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"op": "op"}, "time-needed"),
        ({"idle": "1m"}, "time-needed"),
        ({"time": "at"}, "key-needed"),
        ({"time": "at", "key": "id", "op": "n"}, "wrong-type"),
        ({"time": "at", "key": "id", "sequence": "nix"}, "unknown-column"),
        ({"time": "n", "key": "id"}, "not-a-time"),
        ({"time": "at", "key": "id", "lifetime": "soon"}, "bad-duration"),
    ],
)
def test_what_is_wrong_is_refused(engine: Engine, arguments: dict[str, Any], code: str) -> None:
    with pytest.raises(EbbtideError) as caught:
        engine.table("t", Frame(OPERATIONS), **arguments)  # type: ignore[arg-type]
    assert caught.value.code == code
