"""From the logical to the physical plan.

Law: linear operators become pipes, every other one an operator with a kernel, behind an exchange
by the key that its kernel needs.  What each of them keeps is what the analysis proves of its node;
nothing about time is derived here.  What the engine cannot run is refused, and by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ebbtide.algebra.combination import Join, Product, UnionAll
from ebbtide.algebra.emission import answer_schema
from ebbtide.algebra.expression import Expression, Literal, Ref
from ebbtide.algebra.kind import Kind
from ebbtide.algebra.operators import Source, operator
from ebbtide.algebra.quarantine import ERRORS
from ebbtide.algebra.ranking import Over
from ebbtide.algebra.recursion import Recurrence, Recursion
from ebbtide.algebra.relation import Aggregate, Relation, Values
from ebbtide.algebra.traits import KeepsKind
from ebbtide.algebra.window import Window
from ebbtide.analysis.advice import to_progress
from ebbtide.analysis.analysis import Node
from ebbtide.analysis.expiry import carries_ends, expired_inputs, passes_ends, sends_messages
from ebbtide.analysis.formula.progress import bounds_of
from ebbtide.analysis.formula.streambound import propagated
from ebbtide.analysis.keep_rules import LastRows
from ebbtide.analysis.structure import structures_of
from ebbtide.analysis.verdict import Analysis
from ebbtide.compile.arrival import arrival_schema
from ebbtide.compile.draft import Draft
from ebbtide.compile.expiring import (
    JoinedPairs,
    expire,
    join_messages,
    row_messages,
    told,
    under_strategy,
    with_ends,
    without_folds,
)
from ebbtide.compile.flow import (
    Flow,
    Taken,
    all_taken,
    ending,
    hashed,
    moves,
    named_as,
    taken_of,
    with_more,
    within,
)
from ebbtide.compile.guards import guard_of, guarded, left_out
from ebbtide.compile.kernel_choice import Chosen, by_last_rows, choose, positional
from ebbtide.compile.passing import Passing, holding, passing_of
from ebbtide.compile.physical import (
    KEEP_ALL,
    Cycle,
    FromOperator,
    FromSource,
    Operator,
    Output,
    Physical,
    PlanEdge,
)
from ebbtide.compile.pipe import is_linear, source_pipe
from ebbtide.compile.pruning import Reads, all_reads, reads_below
from ebbtide.compile.replaying import Replays, affected, replays_of
from ebbtide.compile.slices import Slice, slice_of
from ebbtide.compile.stages import Stages, arrange
from ebbtide.compile.store_rules import carried_of, input_rules, store_rule
from ebbtide.core.declaration import Declaration, arrivals_of
from ebbtide.core.expiry import BY_INTERVAL, Expiry, Strategy
from ebbtide.core.output_name import errors_name, lineage_name, view_of
from ebbtide.core.schema import Column, Schema
from ebbtide.core.types import NullType
from ebbtide.errors import UnsupportedError
from ebbtide.kernels.operators import recursion
from ebbtide.kernels.operators.gathered import Gathered
from ebbtide.kernels.operators.spanning import Spanning


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
    """The sources of which rows are replayed that operators have forgotten."""
    slices: Mapping[int, Slice] = field(default_factory=dict)
    """What minimal replays of outputs read, of those that can be replayed this way."""

    @property
    def replayed(self) -> frozenset[str]:
        """The names of the sources that can be replayed."""
        return frozenset(self.declarations[number].name for number in self.replays.sources)


@dataclass(slots=True)
class _Lowering:
    draft: Draft
    nodes: dict[str, Node] = field(default_factory=dict)
    around: dict[str, int] = field(default_factory=dict)
    """What stands for the recursions around a node, whose operators have no number yet."""
    view: str = ""
    expiry: Expiry = BY_INTERVAL
    general: bool = False
    """Whether rows lie in the most general structure, whatever their classes allow."""
    guards: dict[Relation, list[Flow]] = field(default_factory=dict)
    """What the guards of the view leave out, by the operators that they are; equal ones are one."""

    def flows(self, node: Node, reads: Reads) -> list[Flow]:
        """The changes of a node, of whose columns ``reads`` are read; a union has several."""
        relation = operator(node.relation)
        carried = carried_of(node)
        of_inputs = [
            read | more for read, more in zip(reads_below(relation, reads), carried, strict=True)
        ]
        if isinstance(relation, Values):
            return [self.draft.values(relation)]
        if isinstance(relation, Recurrence):
            own = replace(source_pipe(positional(relation.schema)), schema=relation.schema)
            return [Flow(FromOperator(self.around[relation.name]), own)]
        if isinstance(relation, Source):
            return [self.draft.source(relation.declaration)]
        if isinstance(relation, Recursion):
            return [self._recursion(node, relation, *of_inputs)]
        below = list(map(self.flows, node.inputs, of_inputs))
        if isinstance(relation, UnionAll):
            left, right = below
            return [*left, *(named_as(flow, relation.schema) for flow in right)]
        if isinstance(relation, Window):
            self._windowed(node, relation, below[0])
        if is_linear(relation):
            self._guarded(relation, below[0])
            return [
                replace(ending(flow, relation), pipe=pipe)
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
        return [self._operator(node, chosen, all_taken(chosen, below), moves(below))]

    def _guarded(self, relation: Relation, below: Sequence[Flow]) -> None:
        """Notes what a guard leaves out of what comes to it."""
        check = guard_of(relation)
        if check is not None and relation not in self.guards:
            self.guards[relation] = [
                replace(ending(flow, relation), pipe=pipe)
                for flow in below
                for pipe in left_out(flow.pipe, check)
            ]

    def output(self, view: str, analysis: Analysis) -> None:
        """The edges of what a view emits.

        What operators make stays in its shard, unless equal rows have to meet.  Rows of sources
        pass an exchange, where equal ones meet and different ones spread over the shards.

        Where a projection has left out the times by which rows pass, they go along with the row
        until it does.
        """
        self.view, root, self.guards = view, analysis.root, {}
        self.expiry = analysis.expiry
        passing = passing_of(analysis)
        given = passing.given(root.relation.schema)
        ends = root.edge.is_snapshot and carries_ends(root, self.expiry)
        flows = self._passed(root, passing, all_reads(root.relation))
        self._to_output(view, flows, given, ends, passing.spans, passing.gathers)
        schema = answer_schema(root.relation.schema, analysis.emit)
        marked = analysis.emit.needs_finality
        self.draft.outputs.append(
            Output(view, schema, given, passing.kernel, passing.waits, marked)
        )

    def errors(self, view: str, analysis: Analysis) -> None:
        """The edges of what the view that was lowered last leaves out."""
        for number, watched in enumerate(analysis.watched):
            self.view = f"{errors_name(view)}.{number}"
            self.flows(watched, frozenset())
        if self.guards:
            name = errors_name(view)
            held, spans = holding(guarded(guard) for guard in self.guards)
            left = [flow for flows in self.guards.values() for flow in flows]
            self._to_output(name, left, ERRORS, spans=spans)
            self.draft.outputs.append(Output(name, ERRORS, ERRORS, held))

    def _to_output(
        self,
        name: str,
        flows: Sequence[Flow],
        given: Schema,
        ends: bool = False,
        spans: bool = False,
        gathers: bool = False,
    ) -> None:
        """The edges of the next output; its rows may have ``ends``, pass a Spanning, or meet."""
        flows = [
            self._with_ends(place, flow, given) if ends and self._is_sent_whole(flow) else flow
            for place, flow in enumerate(flows)
        ]
        if spans or (gathers and not self._meet(flows)):
            flows = [self._together(name, flows, given, spans)]
        for flow in flows:
            pipe = replace(flow.pipe, schema=given)
            keys = hashed(pipe.columns) if isinstance(flow.producer, FromSource) else ()
            self.draft.edges.append(
                PlanEdge(flow.producer, pipe, ~len(self.draft.outputs), 0, keys)
            )

    def _with_ends(self, place: int, flow: Flow, given: Schema) -> Flow:
        """An answer that is rows of a source, with their ends as negatives."""
        whole = replace(flow.pipe, schema=positional(given))
        rows = Taken(flow.producer, whole, hashed(whole.columns))
        taken = self._expired(f"{self.view}.answer.{place}", flow, rows)
        return Flow(taken.producer, taken.pipe, flow.moves)

    def _meet(self, flows: Sequence[Flow]) -> bool:
        """Whether equal rows of some flows are in one shard as they come."""
        if all(isinstance(flow.producer, FromSource) for flow in flows):
            return True
        (flow, *others) = flows
        if others or not isinstance(flow.producer, FromOperator):
            return False
        made = self.draft.operators[flow.producer.operator]
        return made.carries is not None and all(
            any(Ref(made.output[place]) in flow.pipe.columns for place in places)
            for places in made.carries
        )

    def _together(self, name: str, flows: Sequence[Flow], given: Schema, spans: bool) -> Flow:
        """What brings equal rows of some flows together, and may let pass what has begun alone."""
        number, schema = len(self.draft.operators), positional(given)
        places = tuple(i for i, c in enumerate(schema) if not isinstance(c.type, NullType))
        carries = tuple((place,) for place in places)
        kernel = Spanning(places) if spans else Gathered()
        called = f"{name}.{'spanning' if spans else 'gathered'}"
        self.draft.operators.append(Operator(called, kernel, (schema,), schema, carries))
        for flow in flows:
            keys = tuple(flow.pipe.columns[place] for place in places)
            pipe = replace(flow.pipe, schema=schema)
            self.draft.edges.append(PlanEdge(flow.producer, pipe, number, 0, keys))
        return Flow(FromOperator(number), source_pipe(schema), moves([flows]))

    def _passed(self, node: Node, passing: Passing, reads: Reads, above: int = 0) -> list[Flow]:
        """The changes of a node, each with the times by which it passes."""
        if above == passing.depth:
            flows = self.flows(node, reads | frozenset(passing.hidden))
            return [
                with_more(flow, [flow.pipe.columns[i] for i in passing.hidden]) for flow in flows
            ]
        relation = operator(node.relation)
        assert is_linear(relation)
        (below,) = reads_below(relation, reads)
        flows = self._passed(node.inputs[0], passing, below, above + 1)
        self._guarded(relation, [within(flow, node.inputs[0]) for flow in flows])
        width, hidden = len(node.inputs[0].relation.schema), len(passing.hidden)
        found = []
        for flow in flows:
            below_it = replace(
                flow.pipe,
                schema=node.inputs[0].relation.schema,
                columns=flow.pipe.columns[:width],
            )
            times = flow.pipe.columns[len(flow.pipe.columns) - hidden :]
            found += [
                with_more(replace(flow, pipe=pipe), times) for pipe in below_it.after(relation)
            ]
        return found

    def _windowed(self, node: Node, window: Window, flows: Sequence[Flow]) -> None:
        """A window stands on a time of a source, or on a computed one that progresses."""
        below = node.inputs[0].edge
        for flow in flows:
            if not flow.moves:
                continue
            time = flow.pipe.resolve(Ref(below.schema.column(window.on)))
            if flow.source is not None and isinstance(time, Ref):
                self.draft.lines.add((flow.source, time.column.name))
                continue
            on = below.columns[below.schema.position(window.on)]
            heard = bounds_of(propagated(on, below.facts, below.bounds))
            if not heard:
                raise UnsupportedError(
                    "computed-time",
                    f'a window on the computed time "{window.on}", which does not progress, '
                    "cannot be run yet",
                    hint=to_progress(window, below) or "leave out the window, and ask for facts",
                )
            names = [declaration.name for declaration in self.draft.declarations]
            places = ((names.index(bound.stream), bound.attribute) for bound in heard)
            # When rows came does not move now.
            self.draft.lines |= {
                (n, a) for n, a in places if a not in arrivals_of(self.draft.declarations[n])
            }

    def _is_sent_whole(self, flow: Flow) -> bool:
        """Whether an answer that is rows of a source gets their ends as negatives."""
        negative = self.expiry.strategy is Strategy.NEGATIVE
        return negative and flow.source is not None

    def _sending(
        self, node: Node, relation: Relation, chosen: Chosen, below: Sequence[Sequence[Flow]]
    ) -> Flow:
        """An operator, where rows of its inputs expire by rows of their own."""
        if sends_messages(self.expiry) and passes_ends(relation):
            return self._passing_ends(node, relation, chosen, below)
        name, taken = f"{self.view}.{node.id}", all_taken(chosen, below)
        for index in expired_inputs(node, self.expiry):
            taken[index] = [
                self._expired(f"{name}.{index}.{place}", flow, take)
                for place, (flow, take) in enumerate(zip(below[index], taken[index], strict=True))
            ]
        expires = any(take.expires for takes in taken for take in takes)
        if isinstance(relation, Aggregate) and expires:
            holds = all(named.call.fold.holds_under(True) for named in relation.calls)
            chosen = without_folds(chosen, holds)
        return replace(self._operator(node, chosen, taken, moves(below)), expires=expires)

    def _passing_ends(
        self, node: Node, relation: Relation, chosen: Chosen, below: Sequence[Sequence[Flow]]
    ) -> Flow:
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
            [taken_of(flow, side, ends=sends) for flow in its]
            for side, its in zip(chosen.inputs, below, strict=True)
        ]
        made = self._operator(node, chosen, taken, moves(below))
        expires = any(flow.expires for flow in flows)
        pairs = None
        if sends and isinstance(made.producer, FromOperator):
            pipe = replace(source_pipe(chosen.output), conditions=made.pipe.conditions)
            left = len(chosen.inputs[0].columns) + 1
            pairs = JoinedPairs(made.producer.operator, pipe, left, chosen.carries or ())
        return replace(made, expires=expires, pairs=pairs)

    def _expired(self, name: str, flow: Flow, taken: Taken) -> Taken:
        """Rows behind an Expire, and behind whatever tells it that they expire."""
        carried = self.expiry.strategy is Strategy.PIGGYBACK
        number = len(self.draft.operators)
        messages = None
        if flow.pairs is not None and flow.pairs.reaches(taken.keys):
            messages = join_messages(f"{name}.messages", flow.pairs, carried, number)
        elif carried:
            rows = taken.producer, taken.pipe, taken.keys
            messages = row_messages(f"{name}.messages", *rows, number)
        for operator_, edge in () if messages is None else (messages,):
            self.draft.operators.append(operator_)
            self.draft.edges += [edge, told(number, number + 1)]
            number += 1
        rows = taken.producer, taken.pipe, taken.keys
        expiring, edge = expire(f"{name}.expire", *rows, number, messages is not None)
        self.draft.operators.append(expiring)
        self.draft.edges.append(edge)
        keys = tuple(Ref(taken.pipe.schema[place]) for (place,) in expiring.carries or ())
        return Taken(FromOperator(number), source_pipe(taken.pipe.schema), keys, expires=True)

    def _operator(
        self, node: Node, chosen: Chosen, below: Sequence[Sequence[Taken]], moves: bool
    ) -> Flow:
        relation, number = node.relation, len(self.draft.operators)
        name = f"{self.view}.{node.id}"
        self.nodes[name] = node
        emitted = KEEP_ALL if node.emitted is None else store_rule(node.emitted, lambda i: i)
        static = node.edge.is_snapshot and all(i.edge.bounds.is_static for i in node.inputs)
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
            static,
            structures=() if self.general else structures_of(node, self.expiry),
        )
        expires = any(take.expires for takes in below for take in takes)
        self.draft.operators.append(under_strategy(self.expiry, node, made_of, expires))
        for index, takes in enumerate(below):
            for take in takes:
                self.draft.edges.append(
                    PlanEdge(take.producer, take.pipe, number, index, take.keys)
                )
        made = replace(source_pipe(chosen.output), schema=relation.schema)
        if chosen.kept is not None:
            made = replace(made, columns=tuple(map(_kept(chosen), chosen.kept, relation.schema)))
        made = replace(made, conditions=tuple(map(made.resolve, chosen.conditions)))
        return Flow(FromOperator(number), made, moves)

    def _recursion(self, node: Node, relation: Recursion, reads: Reads) -> Flow:
        """A recursion, and those of the operators below it that its own rows come to."""
        assert node.solution is not None
        pending = ~len(self.around)
        self.around[relation.name] = pending
        below = self.flows(node.inputs[0], reads)
        chosen = choose(relation, reads)
        gain_us = None if node.solution.linear else node.solution.gain_us
        kernel = recursion.Recursion(relation.place, gain_us)
        taken = all_taken(chosen, [below])
        flow = self._operator(node, replace(chosen, kernel=kernel), taken, moves([below]))
        del self.around[relation.name]
        number = len(self.draft.operators) - 1
        self.draft.edges = [
            replace(edge, producer=FromOperator(number))
            if edge.producer == FromOperator(pending)
            else edge
            for edge in self.draft.edges
        ]
        self.guards = {
            guard: _renumbered(flows, pending, number) for guard, flows in self.guards.items()
        }
        self.draft.cycles.append(Cycle(relation.name, number, self._reached(number)))
        names = [declaration.name for declaration in self.draft.declarations]
        self.draft.lines |= {(names.index(b.stream), b.attribute) for b in node.solution.enters}
        return flow

    def _reached(self, recursion: int) -> tuple[int, ...]:
        """The operators that rows of a recursion come to before they come back to it."""
        found, pending = {recursion}, [recursion]
        while pending:
            producer = FromOperator(pending.pop())
            next_ = {
                edge.consumer for edge in self.draft.edges if edge.producer == producer
            } - found
            found |= next_
            pending += next_
        return tuple(sorted(found - {recursion}))


def _renumbered(flows: Sequence[Flow], before: int, after: int) -> list[Flow]:
    """Flows with an operator known by its number in the place of what stood for it."""
    known = FromOperator(before), FromOperator(after)
    return [replace(f, producer=known[1]) if f.producer == known[0] else f for f in flows]


def lower(views: Mapping[str, Analysis], general: bool = False) -> Lowered:
    """The physical plan of a program, by the names of its views.

    Rows lie as their classes allow, or all in the most ``general`` structure.
    """
    draft = Draft()
    lowering = _Lowering(draft, general=general)
    for name, analysis in views.items():
        lowering.output(name, analysis)
        lowering.errors(name, analysis)
        if analysis.lineage is not None:
            # It leaves out what the view leaves out, so that is said once.
            lowering.output(lineage_name(name), analysis.lineage)
    cyclic = {n for cycle in draft.cycles for n in (cycle.recursion, *cycle.members)}
    expiries = [views[view_of(output.name)].expiry for output in draft.outputs]
    replays = replays_of(draft.edges, expiries, cyclic, tuple(draft.declarations))
    draft.archives(replays)
    physical, declarations = draft.physical, tuple(draft.declarations)
    stages = arrange(physical, tuple(map(arrival_schema, declarations)))
    outputs = affected(physical, replays.sources)
    found = {output: slice_of(physical, declarations, output) for output in outputs}
    slices = {output: its for output, its in found.items() if isinstance(its, Slice)}
    given = tuple(draft.given)
    return Lowered(physical, stages, declarations, given, lowering.nodes, replays, slices)


def _kept(chosen: Chosen) -> Callable[[int | None, Column], Expression]:
    """The operator's column at a place of what its kernel emits; what nobody reads is NULL."""

    def column(place: int | None, named: Column) -> Expression:
        return Literal(None, named.type) if place is None else Ref(chosen.output[place])

    return column
