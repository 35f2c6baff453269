"""From the logical to the physical plan.

Law: linear operators become pipes, every other one an operator with a kernel, behind an exchange
by the key that its kernel needs.  What each of them keeps is what the analysis proves of its node;
nothing about time is derived here.  What the engine cannot run is refused, and by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import assert_never

from ebbtide.algebra.combination import UnionAll
from ebbtide.algebra.emission import Emit, answer_schema
from ebbtide.algebra.expression import Expression, Literal, Ref
from ebbtide.algebra.kind import Kind
from ebbtide.algebra.operators import Source, operator
from ebbtide.algebra.ranking import Over
from ebbtide.algebra.relation import Values
from ebbtide.algebra.window import Dstream, Istream, Window
from ebbtide.analysis.analysis import Node
from ebbtide.analysis.finality import When
from ebbtide.analysis.formula.progress import bounds_of, shifted
from ebbtide.analysis.formula.streambound import propagated
from ebbtide.analysis.formula.terms import Var
from ebbtide.analysis.keep_rules import ByTime, LastRows, OpenSessions, Rule
from ebbtide.analysis.temporal.edge import TO
from ebbtide.analysis.verdict import Analysis, passing_node
from ebbtide.compile.arrival import arrival_schema
from ebbtide.compile.kernel_choice import Chosen, choose, positional
from ebbtide.compile.physical import (
    KEEP_ALL,
    FromOperator,
    FromSource,
    Line,
    Operator,
    Output,
    Physical,
    PlanEdge,
    Producer,
    StoreRule,
)
from ebbtide.compile.pipe import Pipe, is_linear, source_pipe
from ebbtide.compile.pruning import Reads, all_reads, reads_below
from ebbtide.compile.stages import Stages, arrange
from ebbtide.core.declaration import Declaration, TableDeclaration
from ebbtide.core.schema import Column, Schema
from ebbtide.core.time import Duration
from ebbtide.core.types import STRING, TIMESTAMP, NullType
from ebbtide.errors import UnsupportedError
from ebbtide.kernels.admission.kernel import Admission
from ebbtide.kernels.kernel import Kernel
from ebbtide.kernels.operators.final import AtOnce, Final
from ebbtide.kernels.operators.held import Held
from ebbtide.state.segment import ENDS


@dataclass(frozen=True, slots=True)
class Lowered:
    """A physical plan, its stages, and the declarations of its sources by their numbers."""

    physical: Physical
    stages: Stages
    declarations: tuple[Declaration, ...]
    given: tuple[tuple[int, Values], ...]
    """The sources that are rows written in the query, by their numbers."""
    nodes: Mapping[str, Node] = field(default_factory=dict)
    """What is proved of the node that each operator stands for; admissions stand for none."""


@dataclass(frozen=True, slots=True)
class _Flow:
    """Changes on their way: who made them, and what has happened to them.

    What is all there from the start does not move.  ``source`` is set on the way from a source to
    the first operator.
    """

    producer: Producer
    pipe: Pipe
    moves: bool = True
    source: int | None = None


@dataclass(slots=True)
class _Lowering:
    declarations: list[Declaration] = field(default_factory=list)
    given: list[tuple[int, Values]] = field(default_factory=list)
    operators: list[Operator] = field(default_factory=list)
    edges: list[PlanEdge] = field(default_factory=list)
    admissions: dict[int, int] = field(default_factory=dict)
    nodes: dict[str, Node] = field(default_factory=dict)
    lines: set[Line] = field(default_factory=set)
    outputs: list[Output] = field(default_factory=list)
    view: str = ""

    def flows(self, node: Node, reads: Reads) -> list[_Flow]:
        """The changes of a node, of whose columns ``reads`` are read; a union has several."""
        relation = operator(node.relation)
        carried = _carried(node)
        of_inputs = [
            read | more for read, more in zip(reads_below(relation, reads), carried, strict=True)
        ]
        if isinstance(relation, Values):
            return [self._values(relation)]
        if isinstance(relation, Source):
            return [self._source(relation.declaration)]
        below = list(map(self.flows, node.inputs, of_inputs))
        if isinstance(relation, UnionAll):
            left, right = below
            return [*left, *(_named_as(flow, relation.schema) for flow in right)]
        if isinstance(relation, Window):
            self._windowed(node, relation, below[0])
        if is_linear(relation):
            return [replace(flow, pipe=flow.pipe.then(relation)) for flow in below[0]]
        return [self._operator(node, choose(relation, reads, carried), below)]

    def output(self, view: str, analysis: Analysis) -> None:
        """The edges of what a view emits.

        What operators make stays in its shard.  Rows of sources pass an exchange, where equal ones
        meet and different ones spread over the shards.  Where a projection has left out the times
        by which rows pass, they go along with the row until it does.
        """
        self.view, root = view, analysis.root
        passing = _passing(analysis)
        given = passing.given(root.relation.schema)
        for flow in self._passed(root, passing, all_reads(root.relation)):
            pipe = replace(flow.pipe, schema=given)
            keys = pipe.columns if isinstance(flow.producer, FromSource) else ()
            hashed = tuple(key for key in keys if not isinstance(key.type, NullType))
            self.edges.append(PlanEdge(flow.producer, pipe, ~len(self.outputs), 0, hashed))
        schema = answer_schema(root.relation.schema, analysis.emit)
        marked = analysis.emit.needs_finality
        self.outputs.append(Output(view, schema, given, passing.kernel, passing.waits, marked))

    def _passed(self, node: Node, passing: _Passing, reads: Reads, above: int = 0) -> list[_Flow]:
        """The changes of a node, each with the times by which it passes."""
        if above == passing.depth:
            flows = self.flows(node, reads | frozenset(passing.hidden))
            return [_with(flow, [flow.pipe.columns[i] for i in passing.hidden]) for flow in flows]
        relation = operator(node.relation)
        assert is_linear(relation)
        (below,) = reads_below(relation, reads)
        flows = self._passed(node.inputs[0], passing, below, above + 1)
        width, hidden = len(node.inputs[0].relation.schema), len(passing.hidden)
        found = []
        for flow in flows:
            pipe = replace(
                flow.pipe,
                schema=node.inputs[0].relation.schema,
                columns=flow.pipe.columns[:width],
            ).then(relation)
            times = flow.pipe.columns[len(flow.pipe.columns) - hidden :]
            found.append(_with(replace(flow, pipe=pipe), times))
        return found

    def _source(self, declaration: Declaration) -> _Flow:
        number = self._number(declaration)
        given = arrival_schema(declaration)
        rows = declaration.row_schema
        if isinstance(declaration, TableDeclaration) and declaration.time is not None:
            self.lines.add((number, declaration.time))
        if declaration.key:
            return self._admitted(declaration, number, given, rows)
        columns = tuple(Ref(given.column(column.name)) for column in rows)
        pipe = replace(source_pipe(rows), columns=columns)
        return _Flow(FromSource(number), pipe, _moves(declaration), number)

    def _admitted(
        self, declaration: Declaration, source: int, given: Schema, rows: Schema
    ) -> _Flow:
        """The rows of a source with a key, behind its admission; all who read it share one."""
        if source not in self.admissions:
            self.admissions[source] = len(self.operators)
            texts = tuple(Column(f"text{i}", STRING) for i in range(3))
            self.operators.append(
                Operator(
                    f"admission.{declaration.name}",
                    Admission(declaration, source),
                    (positional(given),),
                    Schema((*rows.columns, *texts)),
                    tuple((rows.position(name),) for name in declaration.key),
                )
            )
            keys = tuple(Ref(given.column(name)) for name in declaration.key)
            pipe = replace(source_pipe(given), schema=positional(given))
            number = self.admissions[source]
            self.edges.append(PlanEdge(FromSource(source), pipe, number, 0, keys))
        number = self.admissions[source]
        return _Flow(FromOperator(number), source_pipe(rows), _moves(declaration), source)

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

    def _windowed(self, node: Node, window: Window, flows: Sequence[_Flow]) -> None:
        """A window stands on a time of a source, or on a computed one that progresses."""
        below = node.inputs[0].edge
        for flow in flows:
            if not flow.moves:
                continue
            time = flow.pipe.resolve(Ref(below.schema.column(window.on)))
            if flow.source is not None and isinstance(time, Ref):
                self.lines.add((flow.source, time.column.name))
                continue
            on = below.columns[below.schema.position(window.on)]
            heard = bounds_of(propagated(on, below.facts, below.bounds))
            if not heard:
                raise UnsupportedError(
                    "computed-time",
                    f'a window on the computed time "{window.on}", which does not progress, '
                    "cannot be run yet",
                )
            names = [declaration.name for declaration in self.declarations]
            self.lines |= {(names.index(bound.stream), bound.attribute) for bound in heard}

    def _operator(self, node: Node, chosen: Chosen, below: Sequence[Sequence[_Flow]]) -> _Flow:
        relation, number = node.relation, len(self.operators)
        name = f"{self.view}.{node.id}"
        self.nodes[name] = node
        rules = input_rules(node, chosen)
        self.operators.append(
            Operator(
                name,
                chosen.kernel,
                tuple(_schema(side.columns) for side in chosen.inputs),
                chosen.output,
                chosen.carries,
                rules,
                KEEP_ALL if node.emitted is None else _store_rule(node.emitted, lambda i: i),
                node.begun,
                node.edge.kind is Kind.FACT and any(i.edge.kind is Kind.FACT for i in node.inputs),
            )
        )
        for index, (side, flows) in enumerate(zip(chosen.inputs, below, strict=True)):
            for flow in flows:
                keys = tuple(flow.pipe.resolve(key) for key in side.keys)
                pipe = flow.pipe.selecting(side.columns)
                self.edges.append(PlanEdge(flow.producer, pipe, number, index, keys))
        made = replace(source_pipe(chosen.output), schema=relation.schema)
        if chosen.kept is not None:
            made = replace(made, columns=tuple(map(_kept(chosen), chosen.kept, relation.schema)))
        made = replace(made, conditions=tuple(map(made.resolve, chosen.conditions)))
        moves = any(flow.moves for flows in below for flow in flows)
        return _Flow(FromOperator(number), made, moves)


def lower(views: Mapping[str, Analysis]) -> Lowered:
    """The physical plan of a program, by the names of its views."""
    lowering = _Lowering()
    for name, analysis in views.items():
        lowering.output(name, analysis)
    physical = Physical(
        tuple(declaration.name for declaration in lowering.declarations),
        tuple(lowering.operators),
        tuple(lowering.edges),
        tuple(lowering.outputs),
        frozenset(lowering.lines),
    )
    declarations = tuple(lowering.declarations)
    stages = arrange(physical, tuple(map(arrival_schema, declarations)))
    return Lowered(physical, stages, declarations, tuple(lowering.given), lowering.nodes)


def input_rules(node: Node, chosen: Chosen) -> tuple[StoreRule, ...]:
    """The rule of each input's area, over the columns that the kernel stores of it."""
    known = {kept.input: kept.rule for kept in node.kept}

    if isinstance(node.relation, Over) and any(isinstance(r, LastRows) for r in known.values()):
        raise UnsupportedError(
            "fact-frames",
            "LAG, LEAD and frames of rows on a stream without a window cannot be run yet",
            hint="add a window such as [RANGE 1 HOUR] after the stream's name",
        )

    def rule(place: int) -> StoreRule:
        columns = chosen.inputs[place].columns
        schema = node.inputs[place].relation.schema
        found = known.get(place)
        if found is None:
            return KEEP_ALL
        shift_us = 1 if isinstance(node.relation, Istream | Dstream) else 0
        return _store_rule(found, lambda i: columns.index(Ref(schema[i])), shift_us)

    return tuple(map(rule, range(len(chosen.inputs))))


def _store_rule(rule: Rule, place: Callable[[int], int], shift_us: Duration = 0) -> StoreRule:
    """A rule over the columns of an area, whose ends may be moved."""
    match rule:
        case ByTime():
            columns = {variable: place(i) for i, variable in _named(rule)}
            return StoreRule(
                tuple(
                    tuple(
                        (ENDS, shifted(part.value, shift_us))
                        if part.variable == TO
                        else (columns[part.variable], part.value)
                        for part in case
                    )
                    for case in rule.keep.cases
                ),
                shift_us if rule.turns else None,
            )
        case LastRows() | OpenSessions():
            # Such an area has each row until the instant after it is done with.
            return StoreRule((((ENDS, shifted(rule.horizon, 1)),),))
        case _:
            assert_never(rule)


def _named(rule: Rule) -> list[tuple[int, Var]]:
    """The columns that a rule names, by position."""
    if not isinstance(rule, ByTime):
        return []
    named = {part.variable for case in rule.keep.cases for part in case}
    return [(place, variable) for place, variable in rule.columns if variable in named]


def _carried(node: Node) -> tuple[Reads, ...]:
    """The columns of each input that the rule of its store names."""
    found: list[Reads] = [frozenset() for _ in node.inputs]
    for kept in node.kept:
        found[kept.input] = frozenset(place for place, _ in _named(kept.rule))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Passing:
    """How rows leave a view: by which kernel and rule, and where the times of that rule are.

    They pass ``depth`` nodes below the root, by columns there that are ``hidden`` above.
    """

    kernel: Kernel
    waits: StoreRule | None = None
    depth: int = 0
    hidden: tuple[int, ...] = ()

    def given(self, schema: Schema) -> Schema:
        """The columns of an answer, and those that are hidden."""
        times = (Column(f"passes{i}", TIMESTAMP, True, "passing") for i in range(len(self.hidden)))
        return Schema((*schema.columns, *times))


def _passing(analysis: Analysis) -> _Passing:
    """How the rows of a view pass: by what is proved of when they are final."""
    emit, root = analysis.emit, analysis.root
    if emit is Emit.CHANGES:
        return _Passing(Held())
    told = emit is Emit.CHANGES_WITH_FINALITY
    if root.finality.when is not When.BY_PROGRESS:
        return _Passing(AtOnce(told))
    depth, node = root.finality.depth, passing_node(root)
    columns = {variable: place for place, variable in node.finality.columns}
    named = [columns[part.variable] for part in node.finality.waits if part.variable != TO]
    hidden = tuple(named) if depth else ()
    width = len(root.relation.schema)
    case = tuple(
        (_place(columns.get(part.variable), hidden, width), part.value)
        for part in node.finality.waits
    )
    segments = node.edge.is_snapshot
    # Of a changing relation nothing is known after now, however far its times have come.
    rule = StoreRule((case,), turning=1 if segments else None)
    return _Passing(Final(segments, len(hidden), told), rule, depth, hidden)


def _place(column: int | None, hidden: tuple[int, ...], width: int) -> int:
    """Where the time of a pass rule is in a row that waits."""
    if column is None:
        return ENDS
    return width + hidden.index(column) if hidden else column


def _with(flow: _Flow, times: Sequence[Expression]) -> _Flow:
    """A flow with more columns; its schema is for the caller to say."""
    return replace(flow, pipe=replace(flow.pipe, columns=(*flow.pipe.columns, *times)))


def _moves(declaration: Declaration) -> bool:
    return not (isinstance(declaration, TableDeclaration) and declaration.static)


def _kept(chosen: Chosen) -> Callable[[int | None, Column], Expression]:
    """The operator's column at a place of what its kernel emits; what nobody reads is NULL."""

    def column(place: int | None, named: Column) -> Expression:
        return Literal(None, named.type) if place is None else Ref(chosen.output[place])

    return column


def _named_as(flow: _Flow, schema: Schema) -> _Flow:
    return replace(flow, pipe=replace(flow.pipe, schema=schema))


def _schema(columns: Sequence[Expression]) -> Schema:
    return Schema(tuple(Column(f"c{i}", column.type) for i, column in enumerate(columns)))
