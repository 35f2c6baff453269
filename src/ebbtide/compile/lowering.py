"""From the logical to the physical plan.

Law: linear operators become pipes, every other one an operator with a kernel, behind an exchange
by the key that its kernel needs.  What the engine cannot run is refused here, and by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias, cast

from ebbtide.algebra.combination import AntiJoin, Join, Product, SemiJoin, UnionAll
from ebbtide.algebra.expression import Expression, Literal, Ref
from ebbtide.algebra.kind import Kind, kind
from ebbtide.algebra.operators import operator
from ebbtide.algebra.relation import (
    Aggregate,
    ChangingTable,
    Distinct,
    Relation,
    StaticTable,
    Stream,
    Values,
)
from ebbtide.algebra.window import Cumulate, Dstream, Hop, Istream, Rstream, Tumble, Window
from ebbtide.compile.arrival import arrival_schema
from ebbtide.compile.kernel_choice import Chosen, choose, positional
from ebbtide.compile.physical import (
    Edge,
    FromOperator,
    FromSource,
    Line,
    Operator,
    Output,
    Physical,
    Producer,
)
from ebbtide.compile.pipe import Linear, Pipe, is_linear, source_pipe
from ebbtide.compile.pruning import Reads, all_reads, reads_below
from ebbtide.compile.stages import Stages, arrange
from ebbtide.core.declaration import Declaration, TableDeclaration
from ebbtide.core.schema import Column, Schema
from ebbtide.core.types import STRING, NullType, TimestampType
from ebbtide.errors import UnsupportedError
from ebbtide.kernels.admission.kernel import Admission

Identity: TypeAlias = tuple[str | None, str]


@dataclass(frozen=True, slots=True)
class Lowered:
    """A physical plan, its stages, and the declarations of its sources by their numbers."""

    physical: Physical
    stages: Stages
    declarations: tuple[Declaration, ...]
    given: tuple[tuple[int, Values], ...]
    """The sources that are rows written in the query, by their numbers."""
    nodes: Mapping[str, Relation] = field(default_factory=dict)
    """The node of the logical plan that each operator stands for; admissions stand for none."""


@dataclass(frozen=True, slots=True)
class _Flow:
    """Changes on their way: who made them, what has happened to them, how time comes to them.

    What is all there from the start does not move, and is waited for by nobody.  ``times`` has the
    lines of those columns of facts whose values, in all that still comes, lie beyond the horizon.
    """

    producer: Producer
    pipe: Pipe
    lines: frozenset[Line]
    moves: bool = True
    times: Mapping[Identity, frozenset[Line]] = field(default_factory=dict)

    def lines_of(self, time: Expression) -> frozenset[Line] | None:
        """The lines of a time, if it is a column about which they say something."""
        column = self.pipe.resolve(time)
        return self.times.get(column.column.identity) if isinstance(column, Ref) else None


@dataclass(slots=True)
class _Lowering:
    declarations: list[Declaration] = field(default_factory=list)
    given: list[tuple[int, Values]] = field(default_factory=list)
    operators: list[Operator] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    admissions: dict[int, int] = field(default_factory=dict)
    nodes: dict[str, Relation] = field(default_factory=dict)

    def flows(self, relation: Relation, reads: Reads) -> list[_Flow]:
        """The changes of a relation, of whose columns ``reads`` are read; a union has several."""
        node = operator(relation)
        of_inputs = reads_below(node, reads)
        match node:
            case Stream() | StaticTable() | ChangingTable():
                return [self._source(node.declaration)]
            case Values():
                return [self._values(node)]
            case UnionAll():
                left, right = map(self.flows, node.children, of_inputs)
                return [*left, *(_named_as(flow, node.schema) for flow in right)]
            case _ if is_linear(node):
                linear = cast(Linear, node)
                return [self._piped(flow, linear) for flow in self.flows(linear.input, *of_inputs)]
            case _:
                below = list(map(self.flows, node.children, of_inputs))
                if isinstance(node, Window):
                    below = [[_timed(flow, node) for flow in flows] for flows in below]
                return [self._operator(node, choose(node, reads), below)]

    def output(self, number: int, relation: Relation) -> None:
        """The edges of what a view emits.

        What operators make stays in its shard.  Rows of sources pass an exchange, where equal ones
        meet and different ones spread over the shards.
        """
        for flow in self.flows(relation, all_reads(relation)):
            pipe = replace(flow.pipe, schema=relation.schema)
            keys = pipe.columns if isinstance(flow.producer, FromSource) else ()
            hashed = tuple(key for key in keys if not isinstance(key.type, NullType))
            self.edges.append(Edge(flow.producer, pipe, ~number, 0, hashed, flow.lines))

    def _source(self, declaration: Declaration) -> _Flow:
        number = self._number(declaration)
        given = arrival_schema(declaration)
        rows = declaration.row_schema
        if declaration.key:
            return self._admitted(declaration, number, given, rows)
        columns = tuple(Ref(given.column(column.name)) for column in rows)
        pipe = replace(source_pipe(rows), columns=columns)
        moves, times = _moves(declaration), _attributes(rows, number)
        return _Flow(FromSource(number), pipe, frozenset(), moves, times)

    def _admitted(
        self, declaration: Declaration, source: int, given: Schema, rows: Schema
    ) -> _Flow:
        """The rows of a source with a key, behind its admission; all who read it share one."""
        if source not in self.admissions:
            self.admissions[source] = len(self.operators)
            texts = tuple(Column(f"text{i}", STRING) for i in range(3))
            self.operators.append(
                Operator(
                    f"admission{len(self.operators)}",
                    Admission(declaration, source),
                    (positional(given),),
                    Schema((*rows.columns, *texts)),
                    tuple((rows.position(name),) for name in declaration.key),
                )
            )
            keys = tuple(Ref(given.column(name)) for name in declaration.key)
            pipe = replace(source_pipe(given), schema=positional(given))
            number = self.admissions[source]
            self.edges.append(Edge(FromSource(source), pipe, number, 0, keys, frozenset()))
        number = self.admissions[source]
        lines: frozenset[Line] = frozenset()
        if isinstance(declaration, TableDeclaration) and declaration.time is not None:
            lines = frozenset({(source, declaration.time)})
        moves, times = _moves(declaration), _attributes(rows, source)
        return _Flow(FromOperator(number), source_pipe(rows), lines, moves, times)

    def _values(self, node: Values) -> _Flow:
        declaration = TableDeclaration(f"values_{len(self.given)}", node.schema)
        flow = self._source(declaration)
        self.given.append((len(self.declarations) - 1, node))
        return flow

    def _number(self, declaration: Declaration) -> int:
        for number, known in enumerate(self.declarations):
            if known.name == declaration.name:
                return number
        self.declarations.append(declaration)
        return len(self.declarations) - 1

    def _piped(self, flow: _Flow, node: Linear) -> _Flow:
        timed = _timed(flow, node) if isinstance(node, Window) else flow
        return replace(timed, pipe=flow.pipe.then(node))

    def _operator(self, node: Relation, chosen: Chosen, below: Sequence[Sequence[_Flow]]) -> _Flow:
        number = len(self.operators)
        name = f"{type(node).__name__.lower()}{number}"
        self.nodes[name] = node
        lines = frozenset(line for flows in below for flow in flows for line in flow.lines)
        self.operators.append(
            Operator(
                name,
                chosen.kernel,
                tuple(_schema(side.columns) for side in chosen.inputs),
                chosen.output,
                chosen.carries,
            )
        )
        for index, (side, flows) in enumerate(zip(chosen.inputs, below, strict=True)):
            for flow in flows:
                keys = tuple(flow.pipe.resolve(key) for key in side.keys)
                pipe = flow.pipe.selecting(side.columns)
                self.edges.append(Edge(flow.producer, pipe, number, index, keys, flow.lines))
        made = replace(source_pipe(chosen.output), schema=node.schema)
        if chosen.kept is not None:
            made = replace(made, columns=tuple(map(_kept(chosen), chosen.kept, node.schema)))
        made = replace(made, conditions=tuple(map(made.resolve, chosen.conditions)))
        moves = any(flow.moves for flows in below for flow in flows)
        known = {
            column.column.identity: found
            for place, column in enumerate(made.columns)
            if isinstance(column, Ref) and (found := _traced(node, place, below, lines)) is not None
        }
        return _Flow(FromOperator(number), made, lines, moves, known)


def lower(views: Mapping[str, Relation]) -> Lowered:
    """The physical plan of a program of snapshot queries, by the names of its views."""
    lowering = _Lowering()
    for number, plan in enumerate(views.values()):
        if kind(plan) is Kind.FACT:
            raise UnsupportedError(
                "fact-query",
                "a query on streams without windows cannot be run yet",
                hint="add a window such as [RANGE 1 HOUR] after each stream's name",
            )
        lowering.output(number, plan)
    physical = Physical(
        tuple(declaration.name for declaration in lowering.declarations),
        tuple(lowering.operators),
        tuple(lowering.edges),
        tuple(Output(name, plan.schema) for name, plan in views.items()),
    )
    declarations = tuple(lowering.declarations)
    stages = arrange(physical, tuple(map(arrival_schema, declarations)))
    return Lowered(physical, stages, declarations, tuple(lowering.given), lowering.nodes)


def _moves(declaration: Declaration) -> bool:
    return not (isinstance(declaration, TableDeclaration) and declaration.static)


def _attributes(rows: Schema, source: int) -> dict[Identity, frozenset[Line]]:
    times = (column for column in rows if isinstance(column.type, TimestampType))
    return {column.identity: frozenset({(source, column.name)}) for column in times}


def _traced(
    node: Relation, place: int, below: Sequence[Sequence[_Flow]], lines: frozenset[Line]
) -> frozenset[Line] | None:
    """The lines of the time at a place of an operator's facts.

    A time that tells groups apart is as new as what changes its group; one that is only carried
    along may be old when another row makes its fact come or go.
    """
    match node:
        case Istream() | Dstream() | Rstream():
            return lines if place == len(node.schema) - 1 else None
        case Aggregate(keys=keys) if place < len(keys):
            time = keys[place].expression
        case Distinct():
            time = Ref(node.input.schema[place])
        case Tumble() | Hop() | Cumulate() if place != len(node.input.schema):
            # A window begins before its fact, and ends after it.
            given = node.input.schema
            time = Ref(given[place] if place < len(given) else given.column(node.on))
        case Join() | Product() | SemiJoin() | AntiJoin() if place < len(
            node.left.schema
        ) and not any(flow.moves for flow in below[1]):
            time = Ref(node.left.schema[place])
        case _:
            return None
    found = [flow.lines_of(time) for flow in below[0] if flow.moves]
    known = [its for its in found if its is not None]
    return frozenset().union(*known) if len(known) == len(found) else None


def _timed(flow: _Flow, node: Window) -> _Flow:
    """The flow of facts, by the time that a window on them stands on."""
    if not flow.moves:
        return flow
    lines = flow.lines_of(Ref(node.input.schema.column(node.on)))
    if lines is None:
        raise UnsupportedError(
            "computed-time", f'a window on the computed time "{node.on}" cannot be run yet'
        )
    return replace(flow, lines=lines)


def _kept(chosen: Chosen) -> Callable[[int | None, Column], Expression]:
    """The operator's column at a place of what its kernel emits; what nobody reads is NULL."""

    def column(place: int | None, named: Column) -> Expression:
        return Literal(None, named.type) if place is None else Ref(chosen.output[place])

    return column


def _named_as(flow: _Flow, schema: Schema) -> _Flow:
    return replace(flow, pipe=replace(flow.pipe, schema=schema))


def _schema(columns: Sequence[Expression]) -> Schema:
    return Schema(tuple(Column(f"c{i}", column.type) for i, column in enumerate(columns)))
