"""Which kernel runs an operator, on which columns of its inputs, behind which key.

Law: the kernel's output, restricted to the columns that are kept, is the operator's.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import assert_never

from ebbtide.algebra.call import AggregateCall
from ebbtide.algebra.combination import (
    AntiJoin,
    AsofJoin,
    Difference,
    Intersection,
    Join,
    MaxUnion,
    Outer,
    OuterJoin,
    Product,
    SemiJoin,
    StrictDifference,
    UnionAll,
)
from ebbtide.algebra.expression import Expression, Literal, Ref
from ebbtide.algebra.operators import Joining, Matching, Source, operator
from ebbtide.algebra.ranking import NEIGHBOURS, NUMBERINGS, FrameUnit, Over, TopN
from ebbtide.algebra.recursion import Recursion
from ebbtide.algebra.relation import (
    Aggregate,
    Distinct,
    Filter,
    Map,
    Relation,
    Unnest,
)
from ebbtide.algebra.traits import SameRows
from ebbtide.algebra.window import (
    Cumulate,
    Dstream,
    Hop,
    Istream,
    LinearWindow,
    Rows,
    Rstream,
    Session,
    Sessions,
    Tumble,
    Window,
)
from ebbtide.analysis.equalities import split_condition
from ebbtide.analysis.stores import folds_input, keeps_first
from ebbtide.columnar.evaluation import Columnar
from ebbtide.compile.kernel_columns import Columns
from ebbtide.compile.pruning import Reads, assigning_reads, joined_reads
from ebbtide.core.schema import Column, Schema
from ebbtide.core.types import BOOLEAN, INT
from ebbtide.errors import InternalError, UnsupportedError
from ebbtide.kernels.condition import Condition
from ebbtide.kernels.kernel import Kernel
from ebbtide.kernels.operators import (
    aggregate,
    anti_join,
    asof_join,
    difference,
    distinct,
    dstream,
    intersection,
    istream,
    join,
    max_union,
    outer_join,
    over,
    over_facts,
    recursion,
    rstream,
    semi_join,
    strict_difference,
    top_facts,
    top_n,
    unnest,
)
from ebbtide.kernels.sweeps import frames, numbering
from ebbtide.kernels.windows import cumulate, hop, row_window, session


@dataclass(frozen=True, slots=True)
class KernelInput:
    """The columns that a kernel wants of an input, and the key of its exchange."""

    columns: tuple[Expression, ...]
    keys: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Chosen:
    """A kernel, its inputs, the schema of what it emits, and which of that is the operator's.

    A column that nobody reads is None.  ``conditions`` are left to the pipe behind it, over the
    operator's columns.  ``carries`` has, for each key of the exchange, the places of the kernel's
    output that hold it, if it is there.
    """

    kernel: Kernel
    inputs: tuple[KernelInput, ...]
    output: Schema
    kept: tuple[int | None, ...] | None = None
    conditions: tuple[Expression, ...] = ()
    carries: tuple[tuple[int, ...], ...] | None = None


def choose(relation: Relation, reads: Reads, carried: tuple[Reads, ...] | None = None) -> Chosen:
    """The kernel of an operator, of whose columns ``reads`` are read.

    Of its inputs the columns that are ``carried`` are stored too, for their rules name them.
    """
    node = operator(relation)
    by_input = carried or tuple(frozenset() for _ in node.children)
    if isinstance(node, Source | SameRows | Filter | Map | UnionAll | Tumble):
        raise _without_kernel(node)
    match node:
        case Distinct():
            return _rows(node, distinct.Distinct())
        case Difference():
            return _rows(node, difference.Difference())
        case StrictDifference():
            return _rows(node, strict_difference.StrictDifference())
        case MaxUnion():
            return _rows(node, max_union.MaxUnion())
        case Intersection():
            return _rows(node, intersection.Intersection(node.all))
        case Product() | Join():
            return _join(node, joined_reads(node, reads), by_input)
        case SemiJoin() | AntiJoin() | OuterJoin() | AsofJoin():
            return _matched(node, by_input)
        case Aggregate():
            return _aggregate(node, by_input[0])
        case TopN():
            return _top(node)
        case Over():
            return _over(node)
        case Window():
            return _window(node)
        case Session():
            return _session(node)
        case Hop() | Cumulate():
            return _in_windows(node, reads | by_input[0])
        case Unnest():
            return _unnest(node, reads)
        case Istream():
            return _rows(node, istream.Istream())
        case Dstream():
            return _rows(node, dstream.Dstream())
        case Recursion():
            return _rows(node, recursion.Recursion(node.place))
        case Rstream():
            # What is there from -inf on begins where anything first changes, in any shard.
            return replace(
                _rows(node, rstream.Rstream(node.every_us)),
                inputs=(KernelInput(all_of(node.input), ()),),
                carries=(),
            )
        case _:
            assert_never(node)


def _without_kernel(node: Relation) -> InternalError:
    return InternalError("no-kernel", f"{type(node).__name__} runs in a pipe, without a kernel")


def _rows(node: Relation, kernel: Kernel) -> Chosen:
    """A kernel that looks at whole rows: they are its key."""
    sides = tuple(KernelInput(columns, columns) for columns in map(all_of, node.children))
    carries = _at(range(len(node.children[0].schema)))
    return Chosen(kernel, sides, positional(node.schema), carries=carries)


def _unnest(node: Unnest, reads: Reads) -> Chosen:
    """What is read of a row, and its array behind it."""
    width = len(node.input.schema)
    read = [place for place in sorted(reads) if place < width]
    row = tuple(all_of(node.input)[place] for place in read)
    kept = [read.index(place) if place in read else None for place in range(width)]
    added = range(len(row), len(row) + len(node.schema) - width)
    columns = (*(node.schema[place] for place in read), *node.schema.columns[width:])
    return Chosen(
        unnest.Unnest(node.place is not None, node.pads),
        (KernelInput((*row, node.array), row or (node.array,)),),
        Schema(tuple(Column(f"c{i}", column.type) for i, column in enumerate(columns))),
        (*kept, *added),
        carries=_at(range(len(row))) if row else None,
    )


@dataclass(frozen=True, slots=True)
class _Narrow:
    """What is read of the rows that are put into windows, where they are, and what comes of it."""

    places: tuple[int, ...]
    row: tuple[Expression, ...]
    output: Schema
    kept: tuple[int | None, ...]

    @staticmethod
    def of(node: Hop | Cumulate, reads: Reads) -> _Narrow:
        """The columns that are read, and those that the windows depend on."""
        width = len(node.input.schema)
        wanted = assigning_reads(node, reads)
        places = tuple(sorted(wanted))
        columns = (*(node.schema[place] for place in places), *node.schema.columns[width:])
        kept = [places.index(place) if place in wanted else None for place in range(width)]
        added = range(len(places), len(columns))
        row = all_of(node.input)
        return _Narrow(
            places,
            tuple(row[place] for place in places),
            positional(Schema(columns)),
            (*kept, *added),
        )

    def place(self, schema: Schema, name: str) -> int:
        """Where a column of the whole row is."""
        return self.places.index(schema.position(name))


def _in_windows(node: Hop | Cumulate, reads: Reads) -> Chosen:
    narrow = _Narrow.of(node, reads)
    on = narrow.place(node.input.schema, node.on)
    kernel: Kernel
    match node:
        case Hop():
            kernel = hop.Hop(on, node.slide_us, node.size_us, node.offset_us)
        case Cumulate():
            kernel = cumulate.Cumulate(on, node.step_us, node.size_us, node.offset_us)
        case _:
            assert_never(node)
    side, carries = KernelInput(narrow.row, narrow.row), _at(range(len(narrow.row)))
    return Chosen(kernel, (side,), narrow.output, narrow.kept, carries=carries)


def _join(node: Product | Join, reads: Reads, carried: tuple[Reads, ...]) -> Chosen:
    predicate = node.predicate if isinstance(node, Join) else None
    split = split_condition(predicate, node.left.schema, node.right.schema)
    sides, condition, kept = _sides(node, split.left, split.right, reads, carried)
    output = Schema(tuple(Column(f"c{i}", t.type) for i, t in enumerate(_both(sides))))
    return Chosen(join.Join(condition), sides, output, kept, split.rest, _on_both(sides, condition))


def _matched(
    node: SemiJoin | AntiJoin | OuterJoin | AsofJoin, carried: tuple[Reads, ...]
) -> Chosen:
    split = split_condition(node.predicate, node.left.schema, node.right.schema)
    reads = frozenset(range(len(node.left.schema) + len(node.right.schema)))
    sides, condition, kept = _sides(node, split.left, split.right, reads, carried)
    theirs = Columns(list(sides[1].columns))
    near = theirs.sort(node.order_by) if isinstance(node, AsofJoin) else ()
    sides = sides[0], replace(sides[1], columns=tuple(theirs.expressions))
    if split.rest:
        given = _joined_columns(node, sides)
        condition = Condition(condition.left, condition.right, Columnar(split.residual, given))
    both = Schema(tuple(Column(f"c{i}", e.type) for i, e in enumerate(_both(sides))))
    left_only = Schema(both.columns[: len(sides[0].columns)])
    match node:
        case SemiJoin():
            kernel: Kernel = semi_join.SemiJoin(condition)
        case AntiJoin():
            kernel = anti_join.AntiJoin(condition)
        case OuterJoin():
            keeps = node.kept is not Outer.RIGHT, node.kept is not Outer.LEFT
            # A row without a partner has no keys on the other side.
            carries = _at(condition.left) if node.kept is Outer.LEFT else None
            outer = outer_join.OuterJoin(condition, *keeps)
            return Chosen(outer, sides, both, kept, carries=carries)
        case AsofJoin():
            asof = asof_join.AsofJoin(condition, near, node.pads)
            return Chosen(asof, sides, both, kept, carries=_at(condition.left))
    kept_left = kept[: len(node.left.schema)]
    return Chosen(kernel, sides, left_only, kept_left, carries=_at(condition.left))


def _sides(
    node: Joining,
    left_keys: tuple[Expression, ...],
    right_keys: tuple[Expression, ...],
    reads: Reads,
    carried: tuple[Reads, ...],
) -> tuple[tuple[KernelInput, KernelInput], Condition, tuple[int | None, ...]]:
    """Both sides' columns that are read or carried, their keys, and where joined columns are."""
    left, right = node.left, node.right
    rows = (*all_of(left), *all_of(right))
    mine, theirs = Columns(), Columns()
    kept: list[int | None] = []
    for place, column in enumerate(rows):
        side = mine if place < len(left.schema) else theirs
        kept.append(side.place(column) if place in reads else None)
    condition = Condition(mine.places(left_keys), theirs.places(right_keys))
    for side, relation, places in zip((mine, theirs), node.children, carried, strict=True):
        side.places(all_of(relation)[i] for i in sorted(places))
    width = len(mine.expressions)
    for place in range(len(left.schema), len(rows)):
        found = kept[place]
        kept[place] = None if found is None else width + found
    sides = (
        KernelInput(tuple(mine.expressions), left_keys),
        KernelInput(tuple(theirs.expressions), right_keys),
    )
    return sides, condition, tuple(kept)


def _both(sides: tuple[KernelInput, KernelInput]) -> tuple[Expression, ...]:
    return sides[0].columns + sides[1].columns


def _joined_columns(node: Matching, sides: tuple[KernelInput, KernelInput]) -> Schema:
    """The columns that a residual condition sees, keys under names of their own."""
    columns: list[Column] = []
    for number, (relation, side) in enumerate(zip(node.children, sides, strict=True)):
        columns += relation.schema.columns
        extra = side.columns[len(relation.schema) :]
        columns += [Column(f"k{i}", e.type, True, f"key{number}") for i, e in enumerate(extra)]
    return Schema(tuple(columns))


def _aggregate(node: Aggregate, carried: Reads) -> Chosen:
    columns, row = Columns(), all_of(node.input)
    keys = columns.places(named.expression for named in node.keys)
    calls = tuple(columns.call(named.call, row) for named in node.calls)
    columns.places(row[i] for i in sorted(carried))
    if not columns.expressions:
        columns.place(Literal(True, BOOLEAN))
    group = tuple(columns.expressions[i] for i in keys)
    kernel = aggregate.Aggregate(keys, calls, folds_input(node))
    side = KernelInput(tuple(columns.expressions), group)
    return Chosen(kernel, (side,), positional(node.schema), carries=_at(range(len(keys))))


def _top(node: TopN) -> Chosen:
    row = all_of(node.input)
    columns = Columns(list(row))
    partition = columns.places(node.partition_by)
    order = columns.sort(node.order_by)
    kernel = top_n.TopN(
        node.count,
        order,
        partition,
        numbering.Ranking[node.ranking.value],
        node.offset,
        node.number_as is not None,
    )
    if keeps_first(node):
        return _widened(node, top_facts.TopFacts(kernel), columns, partition)
    return _widened(node, kernel, columns, partition)


def _over(node: Over) -> Chosen:
    row = all_of(node.input)
    columns = Columns(list(row))
    partition = columns.places(node.partition_by)
    order = columns.sort(node.order_by)
    calls = tuple(_frame_call(columns, call.call, row) for call in node.calls)
    frame = node.frame
    bounds = (
        None
        if frame is None
        else frames.Frame(frame.unit is FrameUnit.ROWS, frame.start, frame.end)
    )
    return _widened(node, over.Over(calls, partition, order, bounds), columns, partition)


def by_last_rows(chosen: Chosen, on: int, count: int) -> Chosen:
    """The kernel of an Over on facts, of which only the last rows and those to come matter."""
    assert isinstance(chosen.kernel, over.Over)
    return replace(chosen, kernel=over_facts.OverFacts(chosen.kernel, on, count))


def _frame_call(
    columns: Columns, call: AggregateCall, row: tuple[Expression, ...]
) -> over.FrameCall:
    if call.name in NUMBERINGS:
        return over.Number(numbering.Ranking[call.name])
    if call.name in NEIGHBOURS:
        value, *options = call.arguments
        distance = options[0] if options else Literal(1, INT)
        if not isinstance(distance, Literal):
            raise UnsupportedError(
                "distance-not-constant", f"the distance of {call.name} must be written as a number"
            )
        default = columns.place(options[1]) if len(options) > 1 else None
        steps = distance.value if call.name == "LEAD" else -distance.value
        return over.Neighbour(columns.place(value), steps, default)
    return over.Framed(columns.call(call, row))


def _widened(
    node: TopN | Over, kernel: Kernel, columns: Columns, partition: tuple[int, ...]
) -> Chosen:
    """A kernel that adds columns behind those that it was given, some of them for it alone."""
    given = len(columns.expressions)
    added = len(node.schema) - len(node.input.schema)
    types = [e.type for e in columns.expressions]
    types += [column.type for column in node.schema.columns[len(node.input.schema) :]]
    output = Schema(tuple(Column(f"c{i}", type_) for i, type_ in enumerate(types)))
    kept = (*range(len(node.input.schema)), *range(given, given + added))
    side = KernelInput(tuple(columns.expressions), tuple(columns.expressions[i] for i in partition))
    return Chosen(kernel, (side,), output, kept, carries=_at(partition))


def _window(node: Window) -> Chosen:
    schema = node.input.schema
    on, partition = schema.position(node.on), tuple(map(schema.position, node.spec.keys))
    spec = node.spec
    if isinstance(spec, LinearWindow):
        raise _without_kernel(node)
    match spec:
        case Rows(count=count, slide=slide):
            key = tuple(map(schema.position, node.key))
            kernel: Kernel = row_window.Rows(on, count, slide or 1, partition, key)
        case Sessions(gap_us=gap):
            kernel = session.Sessions(on, gap, partition)
        case _:
            assert_never(spec)
    row = all_of(node.input)
    side = KernelInput(row, tuple(row[i] for i in partition))
    return Chosen(kernel, (side,), positional(node.schema), carries=_at(partition))


def _at(places: Iterable[int]) -> tuple[tuple[int, ...], ...]:
    return tuple((place,) for place in places)


def _on_both(
    sides: tuple[KernelInput, KernelInput], condition: Condition
) -> tuple[tuple[int, ...], ...]:
    """Pairs have equal keys, so the columns of either side hold them."""
    width = len(sides[0].columns)
    pairs = zip(condition.left, condition.right, strict=True)
    return tuple((left, width + right) for left, right in pairs)


def _session(node: Session) -> Chosen:
    schema = node.input.schema
    partition = tuple(schema.position(name) for name in node.partition_by)
    kernel = session.Session(schema.position(node.on), node.gap_us, partition)
    row = all_of(node.input)
    side = KernelInput(row, tuple(row[i] for i in partition))
    return Chosen(kernel, (side,), positional(node.schema), carries=_at(partition))


def all_of(relation: Relation) -> tuple[Expression, ...]:
    """Every column of a relation."""
    return tuple(Ref(column) for column in relation.schema)


def positional(schema: Schema) -> Schema:
    """The same types under names by position."""
    return Schema(tuple(Column(f"c{i}", column.type) for i, column in enumerate(schema)))
