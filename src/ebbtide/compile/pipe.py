"""What happens to changes between two kernels: filters, maps and windows, composed into one.

Law: a pipe is linear: it maps every change to at most one change, by its row alone.  It is a
set of expressions over the columns of what produced the changes, which Spark evaluates before the
first exchange, and tasks behind it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeGuard, assert_never

from ebbtide.algebra.expression import (
    Arithmetic,
    Call,
    Expression,
    Literal,
    Ref,
)
from ebbtide.algebra.relation import Alias, Filter, Map, Relation, View
from ebbtide.algebra.traits import Linear, traits
from ebbtide.algebra.window import (
    Fixed,
    LinearWindow,
    Now,
    Range,
    Unbounded,
    Window,
)
from ebbtide.core.schema import Column, Schema
from ebbtide.core.time import INF, Duration
from ebbtide.core.tree import rewrite
from ebbtide.core.types import BIGINT
from ebbtide.errors import InternalError

VALID_FROM = Ref(Column("valid_from", BIGINT, False, "change"))
VALID_TO = Ref(Column("valid_to", BIGINT, False, "change"))


@dataclass(frozen=True, slots=True)
class Pipe:
    """The columns, the condition and the validity of a change, over its producer's columns."""

    schema: Schema
    columns: tuple[Expression, ...]
    conditions: tuple[Expression, ...] = ()
    valid_from: Expression = VALID_FROM
    valid_to: Expression = VALID_TO
    on_grid: bool = False
    """Whether both ends are multiples of a slide, so that many changes have the same."""

    @property
    def is_identity(self) -> bool:
        """Whether every change passes as it is, perhaps with its columns in another order."""
        return (
            not self.conditions
            and (self.valid_from, self.valid_to) == (VALID_FROM, VALID_TO)
            and all(isinstance(column, Ref) for column in self.columns)
        )

    def resolve(self, expression: Expression) -> Expression:
        """An expression over this pipe's output, as one over its input."""
        names = {column.identity: e for column, e in zip(self.schema, self.columns, strict=True)}
        return rewrite(
            expression,
            lambda node: names[node.column.identity] if isinstance(node, Ref) else node,
        )

    def then(self, node: Linear) -> Pipe:
        """This pipe followed by a linear operator."""
        match node:
            case Alias() | View():
                return replace(self, schema=node.schema)
            case Filter():
                return replace(self, conditions=(*self.conditions, self.resolve(node.predicate)))
            case Map():
                columns = tuple(self.resolve(named.expression) for named in node.columns)
                return replace(self, schema=node.schema, columns=columns)
            case Window():
                return self._windowed(node)
            case _:
                assert_never(node)

    def selecting(self, expressions: tuple[Expression, ...]) -> Pipe:
        """This pipe with other columns, computed from its own."""
        columns = tuple(
            Column(f"c{i}", expression.type) for i, expression in enumerate(expressions)
        )
        resolved = tuple(map(self.resolve, expressions))
        return replace(self, schema=Schema(columns), columns=resolved)

    def _windowed(self, node: Window) -> Pipe:
        time = micros(self.columns[node.input.schema.position(node.on)])
        spec = node.spec
        if not isinstance(spec, LinearWindow):
            raise InternalError("not-linear", "this window looks at several facts")
        match spec:
            case Range(size_us=size, slide_us=slide):
                ends = time, _plus(time, size)
                if slide is not None:
                    ends = ceil(ends[0], slide), ceil(ends[1], slide)
            case Fixed(size_us=size):
                ends = time, _plus(floor(time, size), size)
            case Now():
                ends = time, _plus(time, 1)
            case Unbounded():
                ends = time, Literal(INF, BIGINT)
            case _:
                assert_never(spec)
        return replace(
            self,
            valid_from=ends[0],
            valid_to=ends[1],
            on_grid=isinstance(spec, Range) and spec.slide_us is not None,
        )


def source_pipe(schema: Schema) -> Pipe:
    """Every change as its producer made it."""
    return Pipe(schema, tuple(Ref(column) for column in schema))


def is_linear(node: Relation) -> TypeGuard[Linear]:
    """Whether an operator is part of a pipe: of windows, those that look at each fact alone."""
    return traits(node).linear and not (
        isinstance(node, Window) and not isinstance(node.spec, LinearWindow)
    )


def micros(time: Expression) -> Expression:
    """A TIMESTAMP as microseconds."""
    return Call("UNIX_MICROS", (time,))


def floor(time_us: Expression, grid_us: Duration) -> Expression:
    """The last multiple of the grid at or before a number of microseconds."""
    grid = Literal(grid_us, BIGINT)
    return Arithmetic("-", time_us, Call("PMOD", (time_us, grid)))


def ceil(time_us: Expression, grid_us: Duration) -> Expression:
    """The first multiple of the grid at or after a number of microseconds."""
    return floor(_plus(time_us, grid_us - 1), grid_us)


def _plus(time_us: Expression, by: Duration) -> Expression:
    return Arithmetic("+", time_us, Literal(by, BIGINT))
