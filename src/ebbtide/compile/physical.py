"""The physical plan of a program: operators with kernels, and the edges between them.

Law: every stateful operator of the logical plan is one operator here, with a kernel; everything
linear between two of them is the pipe of an edge.  Operators stand behind those that feed them.
Where they run, and what travels, is for ``stages`` to say.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from ebbtide.algebra.expression import Expression
from ebbtide.compile.pipe import Pipe
from ebbtide.core.schema import Schema
from ebbtide.core.types import ArrayType, BinaryType, StringType, StructType
from ebbtide.kernels.kernel import Kernel

_OF_ANY_SIZE = (StringType, BinaryType, ArrayType, StructType)


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
    """Changes on their way to an input of an operator, or to output ``~consumer``.

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


@dataclass(frozen=True, slots=True)
class Operator:
    """A kernel, and the schemas of its inputs and its output.

    ``carries`` has, for each key of its exchange, the places of its output that hold it; None if
    the keys are not there.
    """

    name: str
    kernel: Kernel
    inputs: tuple[Schema, ...]
    output: Schema
    carries: tuple[tuple[int, ...], ...] | None = None


@dataclass(frozen=True, slots=True)
class Output:
    """What a view emits: its name and its columns."""

    name: str
    schema: Schema


@dataclass(frozen=True, slots=True)
class Physical:
    """What a step runs."""

    sources: tuple[str, ...]
    operators: tuple[Operator, ...]
    edges: tuple[Edge, ...]
    outputs: tuple[Output, ...]

    @property
    def has_fixed_rows(self) -> bool:
        """Whether all rows have the same size, so that many of them are never too much."""
        schemas = [edge.pipe.schema for edge in self.edges]
        schemas += [operator.output for operator in self.operators]
        types = (column.type for schema in schemas for column in schema)
        return not any(isinstance(type_, _OF_ANY_SIZE) for type_ in types)
