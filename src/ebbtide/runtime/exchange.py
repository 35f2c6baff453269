"""From one table of tagged changes to the next: pipes and shard keys, evaluated by Spark.

Law: a row of an edge becomes the row that the edge's pipe makes of it, or none; a row that an edge
is only carried with stays as it is.  All edges go through one SELECT, so that what produced the
rows runs once.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ebbtide.algebra.expression import Expression
from ebbtide.algebra.printing import sql
from ebbtide.core.schema import Column, Schema
from ebbtide.core.types import DoubleType, Type
from ebbtide.runtime.linear import VALID_FROM, VALID_TO, Pipe, in_spark
from ebbtide.runtime.shape import SHARD, TAG, Shape
from ebbtide.runtime.types import spark_type
from ebbtide.state.batch import DIFF, FROM, TO

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True, slots=True)
class Passage:
    """How the rows of one tag get into the next table, under another tag.

    ``given`` is the schema of the rows as they come; without a pipe they are carried.  ``texts``
    are columns that are written in Spark's own SQL.
    """

    tag: int
    given: Schema
    pipe: Pipe | None = None
    keys: tuple[Expression, ...] = ()
    texts: tuple[str, ...] | None = None


def passed(
    rows: DataFrame,
    before: Shape,
    after: Shape,
    passages: Mapping[int, Passage],
    shards: int,
    without: Collection[str] = (),
) -> DataFrame:
    """The rows of the next table, each with its shard; ``passages`` are by the tags of this one.

    Columns that the reader knows anyway can be left out.
    """
    conditions = {
        tag: text
        for tag, passage in passages.items()
        if (text := _condition(before, tag, passage)) is not None
    }
    kept = rows.where(_case(conditions, "TRUE")) if conditions else rows
    columns = _columns(before, after, passages, shards)
    return kept.selectExpr(*(f"{columns[n]} AS {n}" for n in columns if n not in without))


def merged(rows: DataFrame) -> DataFrame:
    """Equal changes as one, so that fewer of them go through the exchange."""
    from pyspark.sql import functions as F

    others = [name for name in rows.columns if name != DIFF]
    return rows.groupBy(*others).agg(F.sum(DIFF).alias(DIFF)).select(*rows.columns)


def _columns(
    before: Shape, after: Shape, passages: Mapping[int, Passage], shards: int
) -> dict[str, str]:
    tags = {tag: str(passage.tag) for tag, passage in passages.items()}
    keys = {
        tag: _shard(before, tag, passage, shards)
        for tag, passage in passages.items()
        if passage.pipe is not None
    }
    columns = {TAG: f"CAST({_case(tags, TAG)} AS INT)", SHARD: f"CAST({_case(keys, SHARD)} AS INT)"}
    for slot, type_ in zip(after.layout.names, after.layout.slots, strict=True):
        values = _slot_values(before, after, slot, passages)
        columns[slot] = _case(values, f"CAST(NULL AS {spark_type(type_)})")
    for name, of in ((FROM, "valid_from"), (TO, "valid_to")):
        values = {
            tag: _text(before, tag, passage, getattr(passage.pipe, of))
            for tag, passage in passages.items()
            if passage.pipe is not None
        }
        changed = {tag: text for tag, text in values.items() if text != name}
        columns[name] = f"CAST({_case(changed, name)} AS BIGINT)"
    return {**columns, DIFF: DIFF}


def _slot_values(
    before: Shape, after: Shape, slot: str, passages: Mapping[int, Passage]
) -> dict[int, str]:
    values: dict[int, str] = {}
    for tag, passage in passages.items():
        slots = after.slots(passage.tag)
        if slot not in slots:
            continue
        place = slots.index(slot)
        if passage.texts is not None:
            values[tag] = passage.texts[place]
        elif passage.pipe is None:
            values[tag] = before.slots(tag)[place]
        else:
            values[tag] = _text(before, tag, passage, passage.pipe.columns[place])
    return values


def _condition(before: Shape, tag: int, passage: Passage) -> str | None:
    pipe = passage.pipe
    if pipe is None:
        return None
    texts = [f"({_text(before, tag, passage, term)})" for term in pipe.conditions]
    if (pipe.valid_from, pipe.valid_to) != (VALID_FROM, VALID_TO):
        ends = (_text(before, tag, passage, end) for end in (pipe.valid_from, pipe.valid_to))
        texts.append(" < ".join(ends))
    return " AND ".join(texts) or None


def _shard(before: Shape, tag: int, passage: Passage, shards: int) -> str:
    if not passage.keys:
        return "0"
    texts = (_hashed(_text(before, tag, passage, key), key.type) for key in passage.keys)
    return f"pmod(xxhash64({', '.join(texts)}), {shards})"


def _hashed(text: str, type_: Type) -> str:
    # 0.0 and -0.0 are one value, and so have one hash.
    return f"({text} + 0D)" if isinstance(type_, DoubleType) else text


def _text(before: Shape, tag: int, passage: Passage, expression: Expression) -> str:
    slots = before.slots(tag)

    def named(column: Column) -> str:
        if column.identity == VALID_FROM.column.identity:
            return FROM
        if column.identity == VALID_TO.column.identity:
            return TO
        return slots[passage.given.index(column)]

    return sql(in_spark(expression), named)


def _case(values: Mapping[int, str], otherwise: str) -> str:
    if not values:
        return otherwise
    branches = " ".join(f"WHEN {tag} THEN {text}" for tag, text in values.items())
    return f"CASE {TAG} {branches} ELSE {otherwise} END"
