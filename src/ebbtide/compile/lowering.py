"""From the logical to the physical plan.

Law: linear operators become pipes, every other one an operator with a kernel, behind an exchange
by the key that its kernel needs.  What each of them keeps is what the analysis proves of its node;
nothing about time is derived here.  What the engine cannot run is refused, and by name.

What the guards of a view's plan do not let pass is an output of its own, beside the view's: it is
taken from where the guard stands, so it costs no state.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import assert_never

from ebbtide.algebra.combination import Join, Product, UnionAll
from ebbtide.algebra.emission import Emit, answer_schema
from ebbtide.algebra.expression import (
    Expression,
    Failure,
    FailurePart,
    Literal,
    Not,
    Probe,
    Ref,
    RowText,
    Succeeds,
)
from ebbtide.algebra.kind import Kind
from ebbtide.algebra.operators import Source, operator
from ebbtide.algebra.phases import phases
from ebbtide.algebra.quarantine import ERRORS
from ebbtide.algebra.ranking import Over
from ebbtide.algebra.recursion import Recurrence, Recursion
from ebbtide.algebra.relation import Aggregate, Filter, Map, Relation, Values
from ebbtide.algebra.traits import KeepsKind
from ebbtide.algebra.window import Dstream, Istream, Window
from ebbtide.analysis.analysis import Node
from ebbtide.analysis.archive_keep import archive_keep
from ebbtide.analysis.begun import has_begun
from ebbtide.analysis.expiry import (
    above_delayed,
    carries_ends,
    expired_inputs,
    passes_ends,
    sees_expiry,
    sends_messages,
)
from ebbtide.analysis.finality import When
from ebbtide.analysis.formula.progress import bounds_of, shifted
from ebbtide.analysis.formula.streambound import propagated
from ebbtide.analysis.formula.terms import Var
from ebbtide.analysis.keep_rules import ByTime, LastRows, OpenSessions, Rule
from ebbtide.analysis.structure import structures_of
from ebbtide.analysis.temporal.edge import TO
from ebbtide.analysis.verdict import Analysis, passing_node
from ebbtide.compile.arrival import arrival_schema
from ebbtide.compile.expiring import (
    JoinedPairs,
    by_ends,
    expire,
    join_messages,
    row_messages,
    told,
    with_ends,
    without_folds,
)
from ebbtide.compile.kernel_choice import Chosen, KernelInput, by_last_rows, choose, positional
from ebbtide.compile.physical import (
    KEEP_ALL,
    Cycle,
    FromOperator,
    FromSource,
    Line,
    Operator,
    Output,
    Physical,
    PlanEdge,
    Producer,
    SourceRows,
    StoreRule,
    archive_name,
    waiting_name,
)
from ebbtide.compile.pipe import Pipe, is_linear, source_pipe
from ebbtide.compile.pruning import Reads, all_reads, reads_below
from ebbtide.compile.replaying import Replays, replays_of
from ebbtide.compile.stages import Stages, arrange
from ebbtide.core.declaration import (
    Declaration,
    StreamDeclaration,
    TableDeclaration,
    arrivals_of,
)
from ebbtide.core.expiry import BY_INTERVAL, Expiry, Strategy
from ebbtide.core.output_name import errors_name, view_of
from ebbtide.core.row_text import told_apart
from ebbtide.core.schema import Column, Schema
from ebbtide.core.time import Duration
from ebbtide.core.tree import find
from ebbtide.core.types import BIGINT, STRING, TIMESTAMP, NullType
from ebbtide.errors import UnsupportedError
from ebbtide.kernels.admission.kernel import Admission
from ebbtide.kernels.kernel import Kernel
from ebbtide.kernels.operators import recursion
from ebbtide.kernels.operators.archive_summary import Summarised
from ebbtide.kernels.operators.final import AtOnce, Final
from ebbtide.kernels.operators.held import Held
from ebbtide.kernels.operators.input_archive import InputArchive
from ebbtide.kernels.operators.triggered import Triggered
from ebbtide.kernels.operators.waiting import WaitingRows
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
    replays: Replays = field(default_factory=Replays)
    """The sources of which rows are replayed that operators have let go of."""

    @property
    def replayed(self) -> frozenset[str]:
        """The names of the sources that can be replayed."""
        return frozenset(self.declarations[number].name for number in self.replays.sources)


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
    expires: bool = False
    """Whether an Expire lies below it."""
    pairs: JoinedPairs | None = None
    """The pairs of a join that it is made of, if that can send messages for them."""


@dataclass(frozen=True, slots=True)
class _Taken:
    """What an operator takes of a flow: the columns that its kernel wants, and their keys."""

    producer: Producer
    pipe: Pipe
    keys: tuple[Expression, ...]
    expires: bool = False


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
    cycles: list[Cycle] = field(default_factory=list)
    around: dict[str, int] = field(default_factory=dict)
    """What stands for the recursions around a node, whose operators have no number yet."""
    view: str = ""
    expiry: Expiry = BY_INTERVAL
    general: bool = False
    """Whether rows lie in the most general structure, whatever their classes allow."""
    guards: dict[Relation, list[_Flow]] = field(default_factory=dict)
    """What the guards of the view leave out, by the operators that they are; equal ones are one."""

    def flows(self, node: Node, reads: Reads) -> list[_Flow]:
        """The changes of a node, of whose columns ``reads`` are read; a union has several."""
        relation = operator(node.relation)
        carried = _carried(node)
        of_inputs = [
            read | more for read, more in zip(reads_below(relation, reads), carried, strict=True)
        ]
        if isinstance(relation, Values):
            return [self._values(relation)]
        if isinstance(relation, Recurrence):
            own = replace(source_pipe(positional(relation.schema)), schema=relation.schema)
            return [_Flow(FromOperator(self.around[relation.name]), own)]
        if isinstance(relation, Source):
            return [self._source(relation.declaration)]
        if isinstance(relation, Recursion):
            return [self._recursion(node, relation, *of_inputs)]
        below = list(map(self.flows, node.inputs, of_inputs))
        if isinstance(relation, UnionAll):
            left, right = below
            return [*left, *(_named_as(flow, relation.schema) for flow in right)]
        if isinstance(relation, Window):
            self._windowed(node, relation, below[0])
        if is_linear(relation):
            self._guarded(relation, below[0])
            return [
                replace(_ending(flow, relation), pipe=pipe)
                for flow in below[0]
                for pipe in flow.pipe.after(relation)
            ]
        self._guarded(relation, below[0])
        chosen = choose(relation, reads, carried)
        rule = node.kept[0].rule if node.kept else None
        if isinstance(relation, Over) and isinstance(rule, LastRows):
            chosen = by_last_rows(chosen, rule.on, rule.count)
        if self.expiry.strategy.sends:
            return [self._sending(node, relation, chosen, below)]
        return [self._operator(node, chosen, _all_taken(chosen, below), _move(below))]

    def _guarded(self, relation: Relation, below: Sequence[_Flow]) -> None:
        """Notes what a guard leaves out of what comes to it."""
        check = guard_of(relation)
        if check is not None and relation not in self.guards:
            self.guards[relation] = [
                replace(_ending(flow, relation), pipe=pipe)
                for flow in below
                for pipe in _left_out_of(flow.pipe, check)
            ]

    def output(self, view: str, analysis: Analysis) -> None:
        """The edges of what a view emits.

        What operators make stays in its shard.  Rows of sources pass an exchange, where equal ones
        meet and different ones spread over the shards.  Where a projection has left out the times
        by which rows pass, they go along with the row until it does.
        """
        self.view, root, self.guards = view, analysis.root, {}
        self.expiry = analysis.expiry
        passing = _passing(analysis)
        given = passing.given(root.relation.schema)
        ends = root.edge.is_snapshot and carries_ends(root, self.expiry)
        self._to_output(self._passed(root, passing, all_reads(root.relation)), given, ends)
        schema = answer_schema(root.relation.schema, analysis.emit)
        marked = analysis.emit.needs_finality
        self.outputs.append(Output(view, schema, given, passing.kernel, passing.waits, marked))
        for number, watched in enumerate(analysis.watched):
            self.view = f"{errors_name(view)}.{number}"
            self.flows(watched, frozenset())
        if self.guards:
            self._to_output([flow for flows in self.guards.values() for flow in flows], ERRORS)
            self.outputs.append(Output(errors_name(view), ERRORS, ERRORS, Held()))

    def _to_output(self, flows: Sequence[_Flow], given: Schema, ends: bool = False) -> None:
        """The edges of the next output; its rows may have ``ends``."""
        for place, flow in enumerate(flows):
            if ends and self._is_sent_whole(flow):
                whole = replace(flow.pipe, schema=positional(given))
                rows = _Taken(flow.producer, whole, _hashed(whole.columns))
                taken = self._expired(f"{self.view}.answer.{place}", flow, rows)
                flow = _Flow(taken.producer, taken.pipe, flow.moves)
            pipe = replace(flow.pipe, schema=given)
            keys = _hashed(pipe.columns) if isinstance(flow.producer, FromSource) else ()
            self.edges.append(PlanEdge(flow.producer, pipe, ~len(self.outputs), 0, keys))

    def _passed(self, node: Node, passing: _Passing, reads: Reads, above: int = 0) -> list[_Flow]:
        """The changes of a node, each with the times by which it passes."""
        if above == passing.depth:
            flows = self.flows(node, reads | frozenset(passing.hidden))
            return [_with(flow, [flow.pipe.columns[i] for i in passing.hidden]) for flow in flows]
        relation = operator(node.relation)
        assert is_linear(relation)
        (below,) = reads_below(relation, reads)
        flows = self._passed(node.inputs[0], passing, below, above + 1)
        self._guarded(relation, [_within(flow, node.inputs[0]) for flow in flows])
        width, hidden = len(node.inputs[0].relation.schema), len(passing.hidden)
        found = []
        for flow in flows:
            below_it = replace(
                flow.pipe,
                schema=node.inputs[0].relation.schema,
                columns=flow.pipe.columns[:width],
            )
            times = flow.pipe.columns[len(flow.pipe.columns) - hidden :]
            found += [_with(replace(flow, pipe=pipe), times) for pipe in below_it.after(relation)]
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
            defers = isinstance(declaration, StreamDeclaration) and declaration.defers
            held = self._waiting(source, declaration.key) if defers else None
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
            if held is not None:
                made = self.operators[held].output
                again = tuple(Ref(made[given.position(name)]) for name in declaration.key)
                pipe = source_pipe(made)
                self.edges.append(PlanEdge(FromOperator(held), pipe, number, 0, again))
        number = self.admissions[source]
        return _Flow(FromOperator(number), source_pipe(rows), _moves(declaration), source)

    def archives(self, replays: Replays) -> None:
        """The archives of the sources that have one, each behind all who read it; of static tables
        that a replay meets, all rows.

        Rows with a key stay in the shard of their admission; others spread over all shards.
        """
        for number, declaration in enumerate(tuple(self.declarations)):
            rule = KEEP_ALL if number in replays.met else archive_rule(declaration)
            if rule is None:
                continue
            old = number in replays.sources
            waits = old and isinstance(declaration, StreamDeclaration) and declaration.defers
            admission = self.admissions.get(number)
            if admission is not None and old and not waits:
                self._admits_old(admission)
            flow, rows = self._source(declaration), declaration.row_schema
            names = declaration.key or rows.names
            keys = tuple(flow.pipe.resolve(Ref(rows.column(name))) for name in names)
            hashed = tuple(key for key in keys if not isinstance(key.type, NullType))
            pipe = replace(flow.pipe, schema=positional(rows))
            held = None
            if waits and admission is None:
                held = self._waiting(number, tuple(c.name for c in rows if _hashes(c)))
            takes = SourceRows.ALL if old and not waits else SourceRows.FRESH
            self.edges.append(PlanEdge(flow.producer, pipe, len(self.operators), 0, hashed, takes))
            if held is not None:
                given = self.operators[held].output
                keys = tuple(Ref(given[place]) for (place,) in self.operators[held].carries or ())
                columns = tuple(
                    Ref(given[arrival_schema(declaration).position(column.name)]) for column in rows
                )
                again = replace(source_pipe(positional(rows)), columns=columns)
                self.edges.append(PlanEdge(FromOperator(held), again, len(self.operators), 0, keys))
            self.operators.append(
                Operator(
                    archive_name(declaration.name),
                    InputArchive(number, _summarised(declaration)),
                    (positional(rows),),
                    positional(rows),
                    rules=(rule,),
                )
            )

    def _admits_old(self, admission: int) -> None:
        """Has an admission take old rows at once."""
        self.edges = [
            replace(edge, rows=SourceRows.ALL) if edge.consumer == admission else edge
            for edge in self.edges
        ]

    def _waiting(self, source: int, names: Sequence[str]) -> int:
        """What holds old rows of a source until they are replayed, sharded by some columns."""
        declaration, number = self.declarations[source], len(self.operators)
        given = arrival_schema(declaration)
        rows = positional(given)
        self.operators.append(
            Operator(
                waiting_name(declaration.name),
                WaitingRows(declaration, source),
                (rows,),
                rows,
                tuple((given.position(name),) for name in names),
            )
        )
        pipe = replace(source_pipe(given), schema=rows)
        keys = tuple(Ref(given.column(name)) for name in names)
        self.edges.append(PlanEdge(FromSource(source), pipe, number, 0, keys, SourceRows.OLD))
        return number

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
                    hint="leave out the window, and ask for facts",
                )
            names = [declaration.name for declaration in self.declarations]
            places = ((names.index(bound.stream), bound.attribute) for bound in heard)
            # When rows came does not move now.
            self.lines |= {(n, a) for n, a in places if a not in arrivals_of(self.declarations[n])}

    def _is_sent_whole(self, flow: _Flow) -> bool:
        """Whether an answer that is rows of a source gets their ends as negatives."""
        negative = self.expiry.strategy is Strategy.NEGATIVE
        return negative and flow.source is not None

    def _sending(
        self, node: Node, relation: Relation, chosen: Chosen, below: Sequence[Sequence[_Flow]]
    ) -> _Flow:
        """An operator, where rows of its inputs expire by rows of their own."""
        if sends_messages(self.expiry) and passes_ends(relation):
            return self._passing_ends(node, relation, chosen, below)
        name, taken = f"{self.view}.{node.id}", _all_taken(chosen, below)
        for index in expired_inputs(node, self.expiry):
            taken[index] = [
                self._expired(f"{name}.{index}.{place}", flow, take)
                for place, (flow, take) in enumerate(zip(below[index], taken[index], strict=True))
            ]
        expires = any(take.expires for takes in taken for take in takes)
        if isinstance(relation, Aggregate) and expires:
            holds = all(named.call.fold.holds_under(True) for named in relation.calls)
            chosen = without_folds(chosen, holds)
        return replace(self._operator(node, chosen, taken, _move(below)), expires=expires)

    def _passing_ends(
        self, node: Node, relation: Relation, chosen: Chosen, below: Sequence[Sequence[_Flow]]
    ) -> _Flow:
        """An operator whose rows have their ends; a join may send messages for its pairs."""
        flows = [flow for side in below for flow in side]
        joins = isinstance(relation, Join | Product) and self.expiry.join_message
        sends = joins and all(
            flow.source is not None or not carries_ends(input_, self.expiry)
            for input_, its in zip(node.inputs, below, strict=True)
            for flow in its
        )
        if sends:
            chosen = with_ends(chosen)
        taken = [
            [_taken(flow, side, ends=sends) for flow in its]
            for side, its in zip(chosen.inputs, below, strict=True)
        ]
        made = self._operator(node, chosen, taken, _move(below))
        expires = any(flow.expires for flow in flows)
        pairs = None
        if sends and isinstance(made.producer, FromOperator):
            pipe = replace(source_pipe(chosen.output), conditions=made.pipe.conditions)
            left = len(chosen.inputs[0].columns) + 1
            pairs = JoinedPairs(made.producer.operator, pipe, left, chosen.carries or ())
        return replace(made, expires=expires, pairs=pairs)

    def _expired(self, name: str, flow: _Flow, taken: _Taken) -> _Taken:
        """Rows behind an Expire, and behind whatever tells it that they expire."""
        carried = self.expiry.strategy is Strategy.PIGGYBACK
        number = len(self.operators)
        messages = None
        if flow.pairs is not None and flow.pairs.reaches(taken.keys):
            messages = join_messages(f"{name}.messages", flow.pairs, carried, number)
        elif carried:
            rows = taken.producer, taken.pipe, taken.keys
            messages = row_messages(f"{name}.messages", *rows, number)
        for operator_, edge in () if messages is None else (messages,):
            self.operators.append(operator_)
            self.edges += [edge, told(number, number + 1)]
            number += 1
        rows = taken.producer, taken.pipe, taken.keys
        expiring, edge = expire(f"{name}.expire", *rows, number, messages is not None)
        self.operators.append(expiring)
        self.edges.append(edge)
        keys = tuple(Ref(taken.pipe.schema[place]) for (place,) in expiring.carries or ())
        return _Taken(FromOperator(number), source_pipe(taken.pipe.schema), keys, expires=True)

    def _operator(
        self, node: Node, chosen: Chosen, below: Sequence[Sequence[_Taken]], moves: bool
    ) -> _Flow:
        relation, number = node.relation, len(self.operators)
        name = f"{self.view}.{node.id}"
        self.nodes[name] = node
        emitted = KEEP_ALL if node.emitted is None else _store_rule(node.emitted, lambda i: i)
        made_of = Operator(
            name,
            chosen.kernel,
            tuple(takes[0].pipe.schema for takes in below),
            chosen.output,
            chosen.carries,
            input_rules(node, chosen),
            emitted,
            node.begun,
            node.edge.kind is Kind.FACT and any(i.edge.kind is Kind.FACT for i in node.inputs),
            node.edge.is_snapshot and isinstance(relation, KeepsKind),
            structures=() if self.general else structures_of(node, self.expiry),
        )
        self.operators.append(self._under_expiry(node, made_of, below))
        for index, takes in enumerate(below):
            for take in takes:
                self.edges.append(PlanEdge(take.producer, take.pipe, number, index, take.keys))
        made = replace(source_pipe(chosen.output), schema=relation.schema)
        if chosen.kept is not None:
            made = replace(made, columns=tuple(map(_kept(chosen), chosen.kept, relation.schema)))
        made = replace(made, conditions=tuple(map(made.resolve, chosen.conditions)))
        return _Flow(FromOperator(number), made, moves)

    def _under_expiry(
        self, node: Node, made: Operator, below: Sequence[Sequence[_Taken]]
    ) -> Operator:
        """An operator under the strategy of its view: what it keeps, sends, and when it runs."""
        if not self.expiry.compression and sees_expiry(node):
            made = replace(made, compresses=False)
        if self.expiry.strategy is Strategy.INPUT:
            if above_delayed(node):
                made = replace(made, rules=tuple(KEEP_ALL for _ in made.rules), emitted=KEEP_ALL)
            if sees_expiry(node):
                return replace(made, kernel=Triggered(made.kernel), by_instant=False)
            return made
        if not any(take.expires for takes in below for take in takes):
            return made
        rules = tuple(
            by_ends(node, rule) if input_.edge.is_snapshot else rule
            for input_, rule in zip(node.inputs, made.rules, strict=True)
        )
        return replace(made, rules=rules, emitted=by_ends(node, made.emitted))

    def _recursion(self, node: Node, relation: Recursion, reads: Reads) -> _Flow:
        """A recursion, and those of the operators below it that its own rows come to."""
        assert node.solution is not None
        pending = ~len(self.around)
        self.around[relation.name] = pending
        below = self.flows(node.inputs[0], reads)
        chosen = choose(relation, reads)
        gain_us = None if node.solution.linear else node.solution.gain_us
        kernel = recursion.Recursion(relation.place, gain_us)
        taken = _all_taken(chosen, [below])
        flow = self._operator(node, replace(chosen, kernel=kernel), taken, _move([below]))
        del self.around[relation.name]
        number = len(self.operators) - 1
        self.edges = [
            replace(edge, producer=FromOperator(number))
            if edge.producer == FromOperator(pending)
            else edge
            for edge in self.edges
        ]
        self.cycles.append(Cycle(relation.name, number, self._reached(number)))
        names = [declaration.name for declaration in self.declarations]
        self.lines |= {(names.index(b.stream), b.attribute) for b in node.solution.enters}
        return flow

    def _reached(self, recursion: int) -> tuple[int, ...]:
        """The operators that rows of a recursion come to before they come back to it."""
        found, pending = {recursion}, [recursion]
        while pending:
            producer = FromOperator(pending.pop())
            next_ = {edge.consumer for edge in self.edges if edge.producer == producer} - found
            found |= next_
            pending += next_
        return tuple(sorted(found - {recursion}))


def lower(views: Mapping[str, Analysis], general: bool = False) -> Lowered:
    """The physical plan of a program, by the names of its views.

    Rows lie as their classes allow, or all in the most ``general`` structure.
    """
    lowering = _Lowering()
    lowering.general = general
    for name, analysis in views.items():
        lowering.output(name, analysis)
    cyclic = {n for cycle in lowering.cycles for n in (cycle.recursion, *cycle.members)}
    declared = tuple(lowering.declarations)
    expiries = [views[view_of(output.name)].expiry for output in lowering.outputs]
    replays = replays_of(lowering.edges, expiries, cyclic, declared)
    lowering.archives(replays)
    physical = Physical(
        tuple(declaration.name for declaration in lowering.declarations),
        tuple(lowering.operators),
        tuple(lowering.edges),
        tuple(lowering.outputs),
        frozenset(lowering.lines),
        tuple(lowering.cycles),
    )
    declarations = tuple(lowering.declarations)
    stages = arrange(physical, tuple(map(arrival_schema, declarations)))
    return Lowered(physical, stages, declarations, tuple(lowering.given), lowering.nodes, replays)


def _summarised(declaration: Declaration) -> Summarised | None:
    return Summarised.of(declaration) if isinstance(declaration, StreamDeclaration) else None


def _hashes(column: Column) -> bool:
    return not isinstance(column.type, NullType)


def archive_rule(declaration: Declaration) -> StoreRule | None:
    """The rule of a source's archive over its columns; None if it has no archive."""
    keep = archive_keep(declaration)
    if keep is None:
        return None
    position = declaration.row_schema.position
    return StoreRule(
        tuple(
            tuple((position(part.variable.attribute), part.value) for part in case)
            for case in keep.cases
        )
    )


def input_rules(node: Node, chosen: Chosen) -> tuple[StoreRule, ...]:
    """The rule of each input's area, over the columns that the kernel stores of it."""
    known = {kept.input: kept.rule for kept in node.kept}

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
        return _Passing(Held(has_begun(root.relation)))
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


def _within(flow: _Flow, node: Node) -> _Flow:
    """A flow of a node's columns alone."""
    schema = node.relation.schema
    columns = flow.pipe.columns[: len(schema)]
    return replace(flow, pipe=replace(flow.pipe, schema=schema, columns=columns))


def guard_of(relation: Relation) -> Succeeds | None:
    """What an operator asks of the rows that come to it, if it is a guard."""
    if isinstance(relation, Filter):
        return relation.predicate if isinstance(relation.predicate, Succeeds) else None
    if not isinstance(relation, Aggregate):
        return None
    filters = (named.call.filter for named in relation.calls)
    asked = (condition.operand for condition in filters if isinstance(condition, Not))
    return next((check for check in asked if isinstance(check, Succeeds)), None)


def _left_out_of(pipe: Pipe, check: Succeeds) -> list[Pipe]:
    """What a check leaves out in each phase of a row; if NOW() is not in it, there is one."""
    found = []
    for phase in phases(check):
        (asked,) = phase.values
        if isinstance(asked, Succeeds):
            found.append(_left_out(pipe.cut_to(phase), asked))
    return found


def _left_out(pipe: Pipe, check: Succeeds) -> Pipe:
    """The rows behind a pipe on which a check says no, as rows of ``ERRORS``."""
    row = Schema(tuple(ref.column for ref in check.row if isinstance(ref, Ref)))
    refs = {ref.column.identity: ref for operand in check.operands for ref in find(operand, Ref)}
    given = tuple(refs.values())
    probe = Probe(check.operands, Schema(tuple(ref.column for ref in given)))
    columns = (
        Literal(check.operator, STRING),
        Failure(probe, given, FailurePart.EXPRESSION),
        RowText(told_apart(row), check.row),
        Failure(probe, given, FailurePart.ERROR),
    )
    return replace(
        pipe,
        schema=ERRORS,
        columns=tuple(map(pipe.resolve, columns)),
        conditions=(*pipe.conditions, pipe.resolve(Not(check))),
    )


def _moves(declaration: Declaration) -> bool:
    return not (isinstance(declaration, TableDeclaration) and declaration.static)


def _kept(chosen: Chosen) -> Callable[[int | None, Column], Expression]:
    """The operator's column at a place of what its kernel emits; what nobody reads is NULL."""

    def column(place: int | None, named: Column) -> Expression:
        return Literal(None, named.type) if place is None else Ref(chosen.output[place])

    return column


def _taken(flow: _Flow, side: KernelInput, ends: bool = False) -> _Taken:
    """What a kernel takes of a flow, if need be with the ends of its rows as a last column."""
    pipe = flow.pipe.selecting(side.columns)
    if ends:
        schema = Schema((*pipe.schema.columns, Column(f"c{len(pipe.columns)}", BIGINT)))
        pipe = replace(pipe, schema=schema, columns=(*pipe.columns, flow.pipe.valid_to))
    keys = tuple(flow.pipe.resolve(key) for key in side.keys)
    return _Taken(flow.producer, pipe, keys, flow.expires)


def _all_taken(chosen: Chosen, below: Sequence[Sequence[_Flow]]) -> list[list[_Taken]]:
    return [
        [_taken(flow, side) for flow in flows]
        for side, flows in zip(chosen.inputs, below, strict=True)
    ]


def _move(below: Sequence[Sequence[_Flow]]) -> bool:
    return any(flow.moves for flows in below for flow in flows)


def _ending(flow: _Flow, relation: Relation) -> _Flow:
    """A flow behind a linear operator: pairs that it cuts short end before their messages come."""
    cut = isinstance(relation, Filter | Map) and relation.depends_on_now
    return replace(flow, pairs=None) if cut else flow


def _hashed(columns: Sequence[Expression]) -> tuple[Expression, ...]:
    """The columns by which whole rows find their shard."""
    return tuple(column for column in columns if not isinstance(column.type, NullType))


def _named_as(flow: _Flow, schema: Schema) -> _Flow:
    return replace(flow, pipe=replace(flow.pipe, schema=schema))


def _schema(columns: Sequence[Expression]) -> Schema:
    return Schema(tuple(Column(f"c{i}", column.type) for i, column in enumerate(columns)))
