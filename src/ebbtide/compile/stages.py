"""In which stage each operator runs, and what travels between stages.

Law: rows that an operator has to see together are in one shard when it runs.  A stage begins with
an exchange; neighbours share one where the rows that meet in the second have met in the first, that
is, where all columns by which the first was sharded are among the keys of the second.  Rows of a
source enter once for every key by which somebody wants them, and go straight to the stage that
reads them.

    source ──entry route──> stage 1: admission ──feed──> join ──feed──> output
                                                          │
                                                          └──route──> stage 2: aggregate ──> output

What is linear on the way is the pipe of a feed, which the reader's task evaluates, or the pipe of a
route, which is evaluated before the exchange.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TypeAlias

from ebbtide.algebra.expression import Expression, Ref
from ebbtide.algebra.failing import can_fail
from ebbtide.compile.physical import (
    Cycle,
    FromOperator,
    FromSource,
    Physical,
    PlanEdge,
    Producer,
    SourceRows,
)
from ebbtide.compile.pipe import VALID_FROM, VALID_TO, Pipe, source_pipe
from ebbtide.core.schema import Schema
from ebbtide.core.tree import find
from ebbtide.core.types import Type
from ebbtide.errors import UnsupportedError
from ebbtide.kernels.operators.recursion import seeks_singly

_VALIDITY = {VALID_FROM.column.identity, VALID_TO.column.identity}


@dataclass(frozen=True, slots=True)
class Route:
    """Rows that travel to a stage: what they are, and by which values they find their shard.

    ``pipe`` leads from the producer's columns to the route's, and is evaluated before the exchange;
    ``keys`` are over the producer's columns.
    """

    tag: int
    producer: Producer
    stage: int
    pipe: Pipe
    keys: tuple[Expression, ...]
    everywhere: bool = False
    """Whether its rows go to every shard."""
    rows: SourceRows = SourceRows.FRESH

    @property
    def schema(self) -> Schema:
        """The columns of its rows."""
        return self.pipe.schema

    @property
    def repeats(self) -> bool:
        """Whether many changes are equal: on a grid of time there is one for each key."""
        return self.pipe.on_grid and set(self.pipe.columns) <= set(self.keys)


@dataclass(frozen=True, slots=True)
class FromRoute:
    """Rows that came through an exchange."""

    tag: int


Origin: TypeAlias = FromRoute | FromOperator


@dataclass(frozen=True, slots=True)
class Feed:
    """What an input takes: rows of a route or of an operator of the same stage, through a pipe."""

    origin: Origin
    pipe: Pipe | None


@dataclass(frozen=True, slots=True)
class Stages:
    """The stage of every operator, the routes, and what each input is fed from."""

    of_operator: tuple[int, ...]
    of_edge: tuple[int, ...]
    """The stage in which an edge is read; an output's is read where it is made."""
    routes: tuple[Route, ...]
    feeds: tuple[Feed, ...]
    """One for each edge of the physical plan."""
    sharded_by: tuple[tuple[int, ...], ...]
    """Which keys of each operator's edges choose the shard; none if all is in the first."""

    @property
    def count(self) -> int:
        """How many stages there are: a step has at least one."""
        return max((1, *self.of_operator))

    def arriving(self, stage: int) -> tuple[Route, ...]:
        """The routes that a stage reads."""
        return tuple(route for route in self.routes if route.stage == stage)

    @property
    def entering(self) -> tuple[Route, ...]:
        """The routes from sources."""
        return tuple(route for route in self.routes if isinstance(route.producer, FromSource))

    def leaving(self, operator: int) -> tuple[Route, ...]:
        """The routes on which an operator's rows travel on."""
        return tuple(r for r in self.routes if r.producer == FromOperator(operator))


def arrange(physical: Physical, rows: Sequence[Schema]) -> Stages:
    """The stages of a physical plan; ``rows`` are the columns of each source's rows on arrival."""
    placing = _Placing(physical)
    cycles = {cycle.recursion: cycle for cycle in physical.cycles}
    members = {number for cycle in physical.cycles for number in cycle.members}
    for number in range(len(physical.operators)):
        if number in cycles:
            placing.place_cycle(cycles[number])
        elif number not in members:
            placing.place(number)
    return _Routing(physical, rows, placing).stages()


class _Placing:
    """The stage of each operator, and which of its keys choose the shard."""

    def __init__(self, physical: Physical) -> None:
        self.physical = physical
        self.stage: list[int] = [0] * len(physical.operators)
        self.by: list[tuple[int, ...]] = [()] * len(physical.operators)
        self.spread: set[int] = set()
        self.together: set[int] = set()

    def place(self, number: int) -> None:
        """Places an operator behind all those that feed it."""
        edges = [e for e in self.physical.edges if e.consumer == number and not e.aside]
        from_operators = [e for e in edges if isinstance(e.producer, FromOperator)]
        last = max((self.stage[_operator(e)] for e in from_operators), default=0)
        shared = self._shared([e for e in from_operators if self.stage[_operator(e)] == last])
        keys = len(edges[0].keys) if edges else 0
        if shared is not None and _alike(edges, shared):
            self.stage[number], self.by[number] = last, shared
        else:
            self.stage[number], self.by[number] = last + 1, tuple(range(keys))

    def place_cycle(self, cycle: Cycle) -> None:
        """Places a recursion, and all that its rows come to, in one stage behind the others."""
        together = {*cycle.members, cycle.recursion}
        edges = [edge for edge in self.physical.edges if edge.consumer in together]
        outside = [
            _operator(edge)
            for edge in edges
            if isinstance(edge.producer, FromOperator) and _operator(edge) not in together
        ]
        stage = max((self.stage[number] for number in outside), default=0) + 1
        round_ = _kept_round(self.physical, cycle)
        keyed = [edge for edge in edges if edge.keys and edge.consumer != cycle.recursion]
        if keyed and not round_.kept:
            raise UnsupportedError(
                "recursion-needs-exchange",
                f'rows of "{cycle.name}" would have to move to other shards in every round',
                detail="no column of it is a key of every join and group that it goes through and "
                "comes back as it was",
                hint="join and group by a column of it that is declared NOT NULL, and insert that "
                "column unchanged",
            )
        for number in together:
            self.stage[number], self.by[number] = stage, round_.by(number)
        if round_.kept:
            self.spread |= round_.spread
            self.together |= together

    def goes_everywhere(self, edge: PlanEdge) -> bool:
        """Whether changes from outside of a cycle go to every shard."""
        inside = isinstance(edge.producer, FromOperator) and _operator(edge) in self.together
        return edge.consumer in self.spread and not inside

    def _shared(self, edges: Sequence[PlanEdge]) -> tuple[int, ...] | None:
        """The keys by which rows of these edges are sharded as they come, if all agree."""
        found = {self._kept_together(edge) for edge in edges}
        return next(iter(found)) if len(found) == 1 else None

    def _kept_together(self, edge: PlanEdge) -> tuple[int, ...] | None:
        number = _operator(edge)
        producer, by = self.physical.operators[number], self.by[number]
        if producer.carries is None or bool(by) != bool(edge.keys):
            return None
        found: list[int] = []
        for key in by:
            columns = [Ref(producer.output[place]) for place in producer.carries[key]]
            places = [edge.keys.index(column) for column in columns if column in edge.keys]
            if not places:
                return None
            found.append(places[0])
        return tuple(found)


class _Following:
    """Some columns of a recursion on their way through the operators on its cycle.

    Those that are ``kept`` come back as they were.  Operators bring rows together by them, among
    others of their ``keys``; or else they ``spread``: they look for partners of each row by itself,
    so that what comes to them from outside may go to every shard.
    """

    def __init__(self, physical: Physical, cycle: Cycle, columns: AbstractSet[int]) -> None:
        self.physical = physical
        self.kept = set(columns)
        self.spread: set[int] = set()
        self.keys: dict[int, dict[int, int]] = {}
        self.places: dict[int, dict[int, tuple[int, ...]]] = {
            cycle.recursion: {column: (column,) for column in columns}
        }
        for number in cycle.members:
            self._follow(number)
        back = self.keys[cycle.recursion] = self._keys(cycle.recursion)
        self.kept = {column for column in self.kept if back.get(column) == column}

    def by(self, number: int) -> tuple[int, ...]:
        """The keys of an operator that are the kept columns, in their order."""
        keys = self.keys.get(number, {})
        return tuple(keys[column] for column in sorted(self.kept)) if keys else ()

    def _follow(self, number: int) -> None:
        operator = self.physical.operators[number]
        keys = self._keys(number)
        if keys and operator.carries is not None:
            self.keys[number] = keys
            self.places[number] = {c: operator.carries[key] for c, key in keys.items()}
        else:
            self.spread.add(number)
            self.places[number] = self._passed(number)
        self.kept &= self.places[number].keys()

    def _keys(self, number: int) -> dict[int, int]:
        """The columns that are keys of an operator, the same ones wherever rows come from."""
        edges = [edge for edge in self.physical.edges if edge.consumer == number]
        found: dict[int, int] = {}
        for column in self.kept:
            keys = {self._key(edge, column) for edge in edges if self._is_inside(edge)}
            key = keys.pop() if len(keys) == 1 else None
            if key is not None and len({edge.keys[key].type for edge in edges}) == 1:
                found[column] = key
        return found

    def _key(self, edge: PlanEdge, column: int) -> int | None:
        held = (key for key in self._held(edge, column) if key in edge.keys)
        return next(map(edge.keys.index, held), None)

    def _passed(self, number: int) -> dict[int, tuple[int, ...]]:
        """Where the columns of rows that look for partners are then."""
        edges = [edge for edge in self.physical.edges if edge.consumer == number]
        inside = [edge for edge in edges if self._is_inside(edge)]
        sides = {edge.input for edge in inside}
        mixed = sides & {edge.input for edge in edges if edge not in inside}
        operator = self.physical.operators[number]
        if len(sides) > 1 or mixed or not seeks_singly(operator.kernel, *sides):
            return {}
        first = len(operator.inputs[0]) if sides == {1} else 0
        found: dict[int, tuple[int, ...]] = {}
        for column in self.kept:
            each = [
                {p for p, e in enumerate(edge.pipe.columns) if e in self._held(edge, column)}
                for edge in inside
            ]
            places = set.intersection(*each)
            if places:
                found[column] = tuple(first + place for place in sorted(places))
        return found

    def _held(self, edge: PlanEdge, column: int) -> list[Expression]:
        """What holds a column where an edge begins."""
        number = _operator(edge)
        output = self.physical.operators[number].output
        return [Ref(output[place]) for place in self.places[number].get(column, ())]

    def _is_inside(self, edge: PlanEdge) -> bool:
        return isinstance(edge.producer, FromOperator) and _operator(edge) in self.places


def _kept_round(physical: Physical, cycle: Cycle) -> _Following:
    """The columns by which the rows of a recursion find, and keep, their shard."""
    columns: AbstractSet[int] = set(range(len(physical.operators[cycle.recursion].output)))
    while True:
        found = _Following(physical, cycle, columns)
        if found.kept == columns:
            return found
        columns = found.kept


class _Routing:
    """What travels: edges that end in the stage in which they begin need no route."""

    def __init__(
        self,
        physical: Physical,
        rows: Sequence[Schema],
        placing: _Placing,
    ) -> None:
        self.physical = physical
        self.rows = rows
        self.placing = placing

    def stages(self) -> Stages:
        groups: dict[
            tuple[Producer, int, tuple[Expression, ...], Pipe | None, bool, SourceRows], list[int]
        ] = {}
        feeds: dict[int, Feed] = {}
        for number, edge in enumerate(self.physical.edges):
            stage = self._consumed(edge)
            if isinstance(edge.producer, FromOperator) and self._made(edge) == stage:
                feeds[number] = Feed(edge.producer, edge.pipe)
            else:
                everywhere = self.placing.goes_everywhere(edge)
                keys, apart = self._keys(edge), self._apart(edge)
                together = (edge.producer, stage, keys, apart, everywhere, edge.rows)
                groups.setdefault(together, []).append(number)
        routes: list[Route] = []
        for (producer, stage, keys, _, everywhere, rows), numbers in groups.items():
            pipes = [self.physical.edges[number].pipe for number in numbers]
            shared = self._common(producer, pipes)
            route = Route(len(routes), producer, stage, shared, keys, everywhere, rows)
            routes.append(route)
            for number, pipe in zip(numbers, pipes, strict=True):
                # A route that several share has their producer's columns, only fewer of them.
                rest = None if pipe == shared else pipe
                feeds[number] = Feed(FromRoute(route.tag), rest)
        edges = self.physical.edges
        return Stages(
            tuple(self.placing.stage),
            tuple(map(self._consumed, edges)),
            tuple(routes),
            tuple(feeds[number] for number in range(len(edges))),
            tuple(self.placing.by),
        )

    def _consumed(self, edge: PlanEdge) -> int:
        if edge.consumer < 0:
            # Rows of an output stay where they are made; those of sources enter at once.
            made = self._made(edge)
            return made or 1
        return self.placing.stage[edge.consumer]

    def _made(self, edge: PlanEdge) -> int:
        is_made = isinstance(edge.producer, FromOperator)
        return self.placing.stage[_operator(edge)] if is_made else 0

    def _keys(self, edge: PlanEdge) -> tuple[Expression, ...]:
        if edge.consumer < 0 or edge.aside:
            return edge.keys
        return tuple(edge.keys[i] for i in self.placing.by[edge.consumer])

    def _apart(self, edge: PlanEdge) -> Pipe | None:
        """The pipe of an edge whose keys are computed by it: a task finds them only behind it, and
        a key that can fail is computed only of rows on which it does not."""
        keys = self._keys(edge)
        computed = not all(isinstance(key, Ref) for key in keys)
        behind = isinstance(edge.producer, FromOperator) or any(map(can_fail, keys))
        return edge.pipe if computed and behind else None

    def _common(self, producer: Producer, pipes: Sequence[Pipe]) -> Pipe:
        """What is done before the exchange: all of a pipe if there is one, else a choice of
        columns."""
        if all(pipe == pipes[0] for pipe in pipes):
            return pipes[0]
        given = self._columns(producer)
        read = {ref.column.identity for pipe in pipes for ref in _refs(pipe)} - _VALIDITY
        return source_pipe(Schema(tuple(c for c in given if c.identity in read)))

    def _columns(self, producer: Producer) -> Schema:
        match producer:
            case FromSource(source):
                return self.rows[source]
            case FromOperator(operator):
                return self.physical.operators[operator].output


def _refs(pipe: Pipe) -> Iterable[Ref]:
    expressions = (*pipe.columns, *pipe.conditions, pipe.valid_from, pipe.valid_to)
    return (ref for expression in expressions for ref in find(expression, Ref))


def _operator(edge: PlanEdge) -> int:
    assert isinstance(edge.producer, FromOperator)
    return edge.producer.operator


def _alike(edges: Sequence[PlanEdge], by: tuple[int, ...]) -> bool:
    """Whether all inputs have the same types there: equal values of others have other hashes."""
    types: list[tuple[Type, ...]] = [tuple(edge.keys[i].type for i in by) for edge in edges]
    return all(one == types[0] for one in types)
