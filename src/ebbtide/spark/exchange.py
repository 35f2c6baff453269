"""Pipes and shard keys in Spark's own SQL: what is evaluated before the first exchange.

Law: a row of a route becomes the row that the route's pipe makes of it, or none.  All routes go
through one SELECT, so that what produced the rows runs once.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ebbtide.algebra.expression import Call, CeilTo, Expression, FloorTo
from ebbtide.algebra.printing import sql
from ebbtide.compile.pipe import VALID_FROM, VALID_TO, Pipe, ceil, floor, micros
from ebbtide.core.schema import Column, Schema
from ebbtide.core.tree import rewrite
from ebbtide.core.types import DoubleType, Type
from ebbtide.spark.tagged_rows import SHARD, TAG, Shape
from ebbtide.spark.types import spark_type
from ebbtide.state.batch import DIFF, FROM, TO

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True, slots=True)
class Passage:
    """How rows of a source get into the exchange by a route, under its tag.

    ``given`` is the schema of the rows as they come.  ``texts`` are columns that are written in
    Spark's own SQL, in place of a pipe.
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
    kept = rows.where(by_tag(conditions, "TRUE")) if conditions else rows
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
    columns = {
        TAG: f"CAST({by_tag(tags, TAG)} AS INT)",
        SHARD: f"CAST({by_tag(keys, SHARD)} AS INT)",
    }
    for slot, type_ in zip(after.layout.names, after.layout.slots, strict=True):
        values = _slot_values(before, after, slot, passages)
        columns[slot] = by_tag(values, f"CAST(NULL AS {spark_type(type_)})")
    for name, of in ((FROM, "valid_from"), (TO, "valid_to")):
        values = {
            tag: _text(before, tag, passage, getattr(passage.pipe, of))
            for tag, passage in passages.items()
            if passage.pipe is not None
        }
        changed = {tag: text for tag, text in values.items() if text != name}
        columns[name] = f"CAST({by_tag(changed, name)} AS BIGINT)"
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
        elif passage.pipe is not None:
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
    keys = [(_text(before, tag, passage, key), key.type) for key in passage.keys]
    return shard_text(keys, shards)


def shard_text(keys: Sequence[tuple[str, Type]], shards: int) -> str:
    """The shard of a row by the values of its keys; rows without keys are all in the first."""
    if not keys:
        return "0"
    return f"pmod(xxhash64({', '.join(_hashed(*key) for key in keys)}), {shards})"


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


def in_spark(expression: Expression) -> Expression:
    """The same value in terms that Spark has: no FLOOR or CEIL to a grid."""

    def rule(node: Expression) -> Expression:
        match node:
            case FloorTo():
                return Call("TIMESTAMP_MICROS", (floor(micros(node.operand), node.grid_us),))
            case CeilTo():
                return Call("TIMESTAMP_MICROS", (ceil(micros(node.operand), node.grid_us),))
            case _:
                return node

    return rewrite(expression, rule)


def by_tag(values: Mapping[int, str], otherwise: str) -> str:
    """One expression for rows of every tag."""
    if not values:
        return otherwise
    branches = " ".join(f"WHEN {tag} THEN {text}" for tag, text in values.items())
    return f"CASE {TAG} {branches} ELSE {otherwise} END"
