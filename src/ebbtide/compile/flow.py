"""Changes on their way to an operator, while a physical plan is made.

Law: a flow is a producer and a pipe; what an operator takes of it is the same changes with the
columns that its kernel wants.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ebbtide.algebra.expression import Expression
from ebbtide.algebra.relation import Filter, Map, Relation
from ebbtide.analysis.analysis import Node
from ebbtide.compile.expiring import JoinedPairs
from ebbtide.compile.kernel_choice import Chosen, KernelInput
from ebbtide.compile.physical import Producer
from ebbtide.compile.pipe import Pipe
from ebbtide.core.schema import Column, Schema
from ebbtide.core.types import BIGINT, OF_ANY_SIZE, NullType, TimestampType


@dataclass(frozen=True, slots=True)
class Flow:
    """Changes on their way: who made them, and what has happened to them.

    What is all there from the start does not move.  ``source`` is set on the way from a source to
    the first operator.
    """

    producer: Producer
    pipe: Pipe
    moves: bool = True
    source: int | None = None
    expires: bool = False
    """Whether an Expire lies below it."""
    pairs: JoinedPairs | None = None
    """The pairs of a join that it is made of, if that can send messages for them."""


@dataclass(frozen=True, slots=True)
class Taken:
    """What an operator takes of a flow: the columns that its kernel wants, and their keys."""

    producer: Producer
    pipe: Pipe
    keys: tuple[Expression, ...]
    expires: bool = False


def taken_of(flow: Flow, side: KernelInput, ends: bool = False) -> Taken:
    """What a kernel takes of a flow, if need be with the ends of its rows as a last column."""
    pipe = flow.pipe.selecting(side.columns)
    if ends:
        schema = Schema((*pipe.schema.columns, Column(f"c{len(pipe.columns)}", BIGINT)))
        pipe = replace(pipe, schema=schema, columns=(*pipe.columns, flow.pipe.valid_to))
    keys = tuple(flow.pipe.resolve(key) for key in side.keys)
    return Taken(flow.producer, pipe, keys, flow.expires)


def all_taken(chosen: Chosen, below: Sequence[Sequence[Flow]]) -> list[list[Taken]]:
    return [
        [taken_of(flow, side) for flow in flows]
        for side, flows in zip(chosen.inputs, below, strict=True)
    ]


def moves(below: Sequence[Sequence[Flow]]) -> bool:
    return any(flow.moves for flows in below for flow in flows)


def ending(flow: Flow, relation: Relation) -> Flow:
    """A flow behind a linear operator: pairs that it cuts short end before their messages come."""
    cut = isinstance(relation, Filter | Map) and relation.depends_on_now
    return replace(flow, pairs=None) if cut else flow


def named_as(flow: Flow, schema: Schema) -> Flow:
    return replace(flow, pipe=replace(flow.pipe, schema=schema))


def with_more(flow: Flow, times: Sequence[Expression]) -> Flow:
    """A flow with more columns; its schema is for the caller to say."""
    return replace(flow, pipe=replace(flow.pipe, columns=(*flow.pipe.columns, *times)))


def within(flow: Flow, node: Node) -> Flow:
    """A flow of a node's columns alone."""
    schema = node.relation.schema
    columns = flow.pipe.columns[: len(schema)]
    return replace(flow, pipe=replace(flow.pipe, schema=schema, columns=columns))


def hashed(columns: Sequence[Expression]) -> tuple[Expression, ...]:
    """The columns by which whole rows find their shard.

    Equal rows are equal in some columns, too: texts, which cost the most, are left out where a
    time spreads the rows.
    """
    known = tuple(column for column in columns if not isinstance(column.type, NullType))
    if not any(isinstance(column.type, TimestampType) for column in known):
        return known
    return tuple(column for column in known if not isinstance(column.type, OF_ANY_SIZE))
