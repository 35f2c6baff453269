"""What happens to changes between two kernels: filters, maps and windows, composed into one.

Law: a pipe is linear: it maps every change to at most one change, by its row alone.  It is a
set of expressions over the columns of what produced the changes, which Spark evaluates before the
first exchange, and tasks behind it.

Where an operator makes several changes of one, such as HOP, there is a pipe for each.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias, TypeGuard, assert_never

from ebbtide.algebra.expression import (
    Arithmetic,
    Call,
    Comparison,
    Expression,
    FloorTo,
    IsNull,
    Literal,
    Not,
    Ref,
)
from ebbtide.algebra.nullability import nullable
from ebbtide.algebra.operand_types import arithmetic
from ebbtide.algebra.phases import Phase, during, phases, resolved
from ebbtide.algebra.relation import Alias, Filter, Map, Relation, View
from ebbtide.algebra.traits import Linear, traits
from ebbtide.algebra.window import (
    Always,
    Fixed,
    Hop,
    LinearWindow,
    Now,
    Range,
    Tumble,
    Unbounded,
    Window,
)
from ebbtide.core.schema import Column, Schema
from ebbtide.core.time import INF, NEG_INF, Duration
from ebbtide.core.tree import rewrite
from ebbtide.core.types import BIGINT, INTERVAL
from ebbtide.errors import InternalError

Piped: TypeAlias = Linear | Tumble | Hop
"""What pipes are made of."""

FEW = 12
"""HOP is done by pipes where a fact is in no more windows than this."""

VALID_FROM = Ref(Column("valid_from", BIGINT, False, "change"))
VALID_TO = Ref(Column("valid_to", BIGINT, False, "change"))


@dataclass(frozen=True, slots=True)
class Lasting:
    """A change lies within ``[time, time + most_us)``, whatever grid or condition cuts it."""

    time: Expression
    most_us: Duration


@dataclass(frozen=True, slots=True)
class Pipe:
    """The columns, the condition and the validity of a change, over its producer's columns."""

    schema: Schema
    columns: tuple[Expression, ...]
    conditions: tuple[Expression, ...] = ()
    valid_from: Expression = VALID_FROM
    valid_to: Expression = VALID_TO
    on_grid: bool = False
    """Whether its times are multiples of a slide, so that many changes have the same."""
    lasting: Lasting | None = None
    """Within which time of a fact its changes lie, where a window has put them there."""

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

    def after(self, node: Piped) -> tuple[Pipe, ...]:
        """This pipe followed by a linear operator: one for each phase of a row, if it has phases.

        A change is in every phase for a part of its time.  Of windows on a grid there is one for
        each that a fact may be in.
        """
        if isinstance(node, Tumble | Hop):
            return tuple(self._in_window(node, back) for back in range(windows(node)))
        if isinstance(node, Filter) and node.depends_on_now:
            return tuple(self.cut_to(phase) for phase in during(node.predicate))
        if isinstance(node, Map) and node.depends_on_now:
            found = phases(*(named.expression for named in node.columns))
            return tuple(self._in_phase(node, phase) for phase in found)
        return (self.then(node),)

    def then(self, node: Linear) -> Pipe:
        """This pipe followed by a linear operator that does not depend on NOW()."""
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

    def _in_phase(self, node: Map, phase: Phase) -> Pipe:
        cut = self.cut_to(phase)
        columns = tuple(self.resolve(value) for value in phase.values)
        return replace(cut, schema=node.schema, columns=columns)

    def cut_to(self, phase: Phase) -> Pipe:
        """The changes of rows in a phase, over the time of the phase."""
        conditions = tuple(self.resolve(condition) for condition in resolved(phase))
        starts = [micros(self.resolve(start)) for start in phase.starts]
        ends = [micros(self.resolve(end)) for end in phase.ends]
        return replace(
            self,
            conditions=(*self.conditions, *conditions),
            valid_from=_extreme("GREATEST", self.valid_from, starts),
            valid_to=_extreme("LEAST", self.valid_to, ends),
            on_grid=self.on_grid and not starts and not ends,
        )

    def _in_window(self, node: Tumble | Hop, back: int) -> Pipe:
        """The facts in the window that begins so many slides before the last one."""
        time = self.columns[node.input.schema.position(node.on)]
        start = window_start(time, slide_of(node), node.offset_us, back)
        end = _moved(start, node.size_us)
        conditions = (Not(IsNull(time)),) if nullable(time) else ()
        if back >= node.size_us // slide_of(node):
            conditions = (*conditions, Comparison("<", time, end))
        return replace(
            self,
            schema=node.schema,
            columns=(*self.columns, start, end),
            conditions=(*self.conditions, *conditions),
            on_grid=True,
        )

    def _windowed(self, node: Window) -> Pipe:
        place = node.input.schema.position(node.on)
        time = micros(self.columns[place])
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
            case Always():
                ends = Literal(NEG_INF, BIGINT), Literal(INF, BIGINT)
            case _:
                assert_never(spec)
        return replace(
            self,
            conditions=(*self.conditions, *_timed(spec, self.columns[place])),
            valid_from=ends[0],
            valid_to=ends[1],
            on_grid=isinstance(spec, Range) and spec.slide_us is not None,
            lasting=_lasting(spec, self.columns[place]),
        )


def _lasting(spec: LinearWindow, time: Expression) -> Lasting | None:
    match spec:
        case Range(size_us=size, slide_us=slide):
            return Lasting(time, size + (slide or 0))
        case Fixed(size_us=size):
            return Lasting(time, size)
        case Now():
            return Lasting(time, 1)
        case Unbounded() | Always():
            return None
        case _:
            assert_never(spec)


def source_pipe(schema: Schema) -> Pipe:
    """Every change as its producer made it."""
    return Pipe(schema, tuple(Ref(column) for column in schema))


def is_linear(node: Relation) -> TypeGuard[Piped]:
    """Whether an operator is part of a pipe: of windows, those that look at each fact alone."""
    if isinstance(node, Tumble | Hop):
        return windows(node) <= FEW
    return traits(node).linear and not (
        isinstance(node, Window) and not isinstance(node.spec, LinearWindow)
    )


def windows(node: Tumble | Hop) -> int:
    """In how many windows a fact is at most."""
    return -(-node.size_us // slide_of(node))


def slide_of(node: Tumble | Hop) -> Duration:
    """How long after a window the next one begins."""
    return node.slide_us if isinstance(node, Hop) else node.size_us


def window_start(time: Expression, slide: Duration, offset: Duration, back: int) -> Expression:
    """When the window begins that is so many slides before the last one to begin by a time."""
    return _moved(FloorTo(_moved(time, -offset), slide), offset - back * slide)


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


def _timed(spec: LinearWindow, time: Expression) -> tuple[Expression, ...]:
    """A fact without a time is in no window; where its time is no end, that has to be asked."""
    return (Not(IsNull(time)),) if isinstance(spec, Always) and nullable(time) else ()


def _extreme(name: str, end: Expression, others: list[Expression]) -> Expression:
    return Call(name, (end, *others)) if others else end


def _moved(time: Expression, by: Duration) -> Expression:
    """A TIMESTAMP, so much later."""
    return arithmetic("+", time, Literal(by, INTERVAL)) if by else time


def _plus(time_us: Expression, by: Duration) -> Expression:
    return Arithmetic("+", time_us, Literal(by, BIGINT))
