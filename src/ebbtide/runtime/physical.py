"""The physical plan: operators with kernels, and the edges between them.

Law: every stateful operator of the logical plan is one operator here, with a kernel; everything
linear between two of them is the pipe of an edge.  An operator runs in the stage after the last
of its producers, behind an exchange by its key; sources are stage 0.  An edge to an operator in a
later stage is carried through the stages between.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from ebbtide.algebra.expression import Expression
from ebbtide.core.schema import Schema
from ebbtide.core.types import ArrayType, BinaryType, StringType, StructType
from ebbtide.kernels.kernel import Kernel
from ebbtide.runtime.linear import Pipe

_OF_ANY_SIZE = (StringType, BinaryType, ArrayType, StructType)

OUTPUT = -1
"""The consumer of what the query itself emits."""


@dataclass(frozen=True, slots=True)
class FromSource:
    """Changes that a source makes of its rows."""

    source: int


@dataclass(frozen=True, slots=True)
class FromOperator:
    """Changes that an operator emits."""

    operator: int


Line: TypeAlias = tuple[int, str]
"""A time attribute of a source, by the source's number."""

Producer: TypeAlias = FromSource | FromOperator


@dataclass(frozen=True, slots=True)
class Edge:
    """Changes on their way to an input of an operator, or to the output.

    ``keys`` are over the producer's columns; changes with equal keys meet in one shard.
    ``lines`` are the time attributes by which its changes come: none of it begins at or before
    the least of their horizons any more.
    """

    producer: Producer
    pipe: Pipe
    consumer: int
    input: int
    keys: tuple[Expression, ...]
    lines: frozenset[Line]

    @property
    def repeats(self) -> bool:
        """Whether many changes are equal: on a grid of time there is one for each key."""
        return self.pipe.on_grid and set(self.pipe.columns) <= set(self.keys)


@dataclass(frozen=True, slots=True)
class Operator:
    """A kernel, the schemas of its inputs and its output, and the stage in which it runs."""

    name: str
    kernel: Kernel
    inputs: tuple[Schema, ...]
    output: Schema
    stage: int


@dataclass(frozen=True, slots=True)
class Physical:
    """What a step runs."""

    sources: tuple[str, ...]
    operators: tuple[Operator, ...]
    edges: tuple[Edge, ...]
    output: Schema

    @property
    def stages(self) -> int:
        """How many exchanges a step has."""
        return max((operator.stage for operator in self.operators), default=0)

    @property
    def repeats(self) -> bool:
        """Whether many of the changes that the sources make are equal."""
        return all(edge.repeats for edge in self.edges if isinstance(edge.producer, FromSource))

    @property
    def has_fixed_rows(self) -> bool:
        """Whether all rows have the same size, so that many of them are never too much."""
        schemas = [edge.pipe.schema for edge in self.edges]
        schemas += [operator.output for operator in self.operators]
        types = (column.type for schema in schemas for column in schema)
        return not any(isinstance(type_, _OF_ANY_SIZE) for type_ in types)

    def produced_in(self, edge: Edge) -> int:
        """The stage in which an edge begins."""
        if isinstance(edge.producer, FromOperator):
            return self.operators[edge.producer.operator].stage
        return 0

    def consumed_in(self, edge: Edge) -> int:
        """The stage in which an edge ends; the output comes after the last."""
        if edge.consumer == OUTPUT:
            return self.stages + 1
        return self.operators[edge.consumer].stage
