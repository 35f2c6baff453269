"""Which part of its input an answer depends on at some instants: what a minimal replay reads.

Law: a snapshot operator says of an instant what follows from the rows that are valid at it.  So a
revision of a row that is valid over ``[from, to)`` changes the answer at those instants alone, and
what it says there follows from the rows that are valid at one of them.  Where every operator on the
way meets rows with equal keys only, and the answer has that key, rows with another key do not
count either (paper 3, section 3: the minimal replay sequence, by key and time).

    revised            |=======|
    valid then   |---------|                replayed
                             |-------|      replayed
           |----|               |-----|     not touched
    answer             |~~~~~~~|            derived again

Where a row's part in the answer has no such bound, all is replayed, and EXPLAIN says why.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ebbtide.algebra.expression import Expression, Ref
from ebbtide.analysis.replay import is_static
from ebbtide.compile.physical import FromOperator, FromSource, Output, Physical, PlanEdge
from ebbtide.compile.pipe import Pipe
from ebbtide.compile.replaying import upstream
from ebbtide.core.declaration import Declaration
from ebbtide.core.types import NullType
from ebbtide.kernels.admission.kernel import Admission
from ebbtide.kernels.kernel import Kernel
from ebbtide.kernels.operators.held import Held
from ebbtide.kernels.operators.spanning import Spanning
from ebbtide.kernels.operators.waiting import WaitingRows
from ebbtide.kernels.windows.row_window import Rows
from ebbtide.kernels.windows.session import Session, Sessions


@dataclass(frozen=True, slots=True)
class Leaf:
    """A way of a source's rows into an answer: the pipe that windows them, and their keys.

    ``time`` is the attribute that the window stands on, and no row is valid for longer than
    ``most_us`` from it; of a static table there is neither.
    """

    source: int
    pipe: Pipe
    keys: tuple[Expression, ...]
    time: str = ""
    most_us: int = 0


@dataclass(frozen=True, slots=True)
class Slice:
    """The ways of all rows into an answer, and the places of their keys in it.

    Where it is ``linear``, every row changes the answer by itself.
    """

    leaves: tuple[Leaf, ...]
    places: tuple[int, ...]
    linear: bool


def slice_of(physical: Physical, declarations: Sequence[Declaration], output: int) -> Slice | str:
    """What a minimal replay of an output reads, or why there is none."""
    reason = _boundless(physical, declarations, output)
    if reason is not None:
        return reason
    keyed = _Keyed(physical, declarations)
    found: dict[int, Mapping[int, Expression]] = {}
    for place in range(len(physical.outputs[output].given)):
        columns = keyed.of_output(output, place)
        if columns is not None:
            found[place] = columns
    leaves = []
    for source, edge in keyed.leaves(output):
        keys = tuple(found[place][source] for place in sorted(found))
        lasting = edge.pipe.lasting
        if lasting is None:
            leaves.append(Leaf(source, edge.pipe, keys))
        else:
            assert isinstance(lasting.time, Ref)
            leaves.append(Leaf(source, edge.pipe, keys, lasting.time.column.name, lasting.most_us))
    operators = upstream(physical.edges, output).operators
    linear = all(_is_entry(physical, number) for number in operators)
    return Slice(tuple(leaves), tuple(sorted(found)), linear)


def replay_text(physical: Physical, declarations: Sequence[Declaration], output: int) -> str:
    """How old rows of an output are replayed, and why, for people."""
    found = slice_of(physical, declarations, output)
    if isinstance(found, str):
        return f"REPLAY ALL: {found}"
    if found.linear:
        return "REPLAY DIRECT: each row changes the answer by itself"
    names = [physical.outputs[output].given[place].name for place in found.places]
    alike = f" with equal {', '.join(names)}" if names else ""
    return f"REPLAY MINIMAL: rows{alike} that are valid at the same time"


def _boundless(physical: Physical, declarations: Sequence[Declaration], output: int) -> str | None:
    """Why the part of a row in an output has no bound; None if it has one."""
    if not isinstance(physical.outputs[output].kernel, Held):
        return "rows wait until they are final"
    for number in sorted(upstream(physical.edges, output).operators):
        operator = physical.operators[number]
        # What has not begun yet is held there, and no replay is minimal that reaches beyond now.
        holds = isinstance(operator.kernel, Spanning)
        if not operator.by_instant and not holds and not _is_entry(physical, number):
            return _beyond_instants(operator.kernel)
    for source, edge in _Keyed(physical, declarations).leaves(output):
        declaration = declarations[source]
        if is_static(declaration):
            continue
        lasting = edge.pipe.lasting
        if lasting is None:
            return f'rows of "{declaration.name}" count without an end'
        times = {promise.attribute for promise in declaration.promises if not promise.arrival}
        if not isinstance(lasting.time, Ref) or lasting.time.column.name not in times:
            return f'a window of "{declaration.name}" stands on a time that does not progress'
    return None


def _beyond_instants(kernel: Kernel) -> str:
    """Why what an operator says of an instant depends on more than what is valid at it."""
    match kernel:
        case Rows():
            return "a window of rows moves with every row before it"
        case Sessions() | Session():
            return "a session ends where its rows do"
        case _:
            return "it asks for more than what is valid at an instant"


def _is_entry(physical: Physical, number: int) -> bool:
    return isinstance(physical.operators[number].kernel, Admission | WaitingRows)


@dataclass(frozen=True, slots=True)
class _Keyed:
    """How the keys of an answer lead back to columns of the sources."""

    physical: Physical
    declarations: Sequence[Declaration]

    def leaves(self, output: int) -> Iterator[tuple[int, PlanEdge]]:
        """The edges on which rows of sources come, behind their admissions."""
        operators = upstream(self.physical.edges, output).operators
        for edge in self.physical.edges:
            source = self._source(edge)
            reads = edge.consumer == ~output or (
                edge.consumer in operators and not _is_entry(self.physical, edge.consumer)
            )
            if reads and source is not None:
                yield source, edge

    def of_output(self, output: int, place: int) -> Mapping[int, Expression] | None:
        """For each source the expression that is the answer's column; None if it is no key."""
        made: Output = self.physical.outputs[output]
        kind = made.given[place].type
        if isinstance(kind, NullType):
            return None
        found: dict[int, Expression] = {}
        for edge in self._edges(~output):
            if not self._followed(edge, edge.pipe.columns[place], found):
                return None
        return found if all(e.type == kind for e in found.values()) else None

    def _followed(self, edge: PlanEdge, key: Expression, found: dict[int, Expression]) -> bool:
        """Whether a key of an edge's producer leads to one expression of each source; notes it."""
        source = self._source(edge)
        if source is not None:
            return found.setdefault(source, key) == key
        assert isinstance(edge.producer, FromOperator)
        producer = self.physical.operators[edge.producer.operator]
        held = producer.carries or ()
        for number, places in enumerate(held):
            if not any(key == Ref(producer.output[place]) for place in places):
                continue
            tried = dict(found)
            edges = list(self._edges(edge.producer.operator))
            if edges and all(self._followed(each, each.keys[number], tried) for each in edges):
                found |= tried
                return True
        return False

    def _edges(self, consumer: int) -> list[PlanEdge]:
        return [edge for edge in self.physical.edges if edge.consumer == consumer]

    def _source(self, edge: PlanEdge) -> int | None:
        match edge.producer:
            case FromSource(source):
                return source
            case FromOperator(operator):
                kernel = self.physical.operators[operator].kernel
                return kernel.source if isinstance(kernel, Admission) else None
