"""What operators and sources hold, how much it is, and why.

Law: the size of a store is that of what its rule keeps.  Rows with a time that bounds them are as
many as come in a window; rows that are kept until they end are as many as the input holds at once;
and rows that are kept always are all that ever came, unless the input is static.  Where an operator
needs no more than a count or an accumulator of rows that never end, it is one for each key: once
the horizon has passed their beginning, which it only does if what comes promises progress.

A source with a key holds operations, too: those that a later one can still meet, and of a table the
last version of each key.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol, assert_never

from ebbtide.algebra.combination import Difference, Intersection, MaxUnion, StrictDifference
from ebbtide.algebra.expression import Ref
from ebbtide.algebra.kind import Kind, kind
from ebbtide.algebra.operators import operator
from ebbtide.algebra.ranking import NEIGHBOURS, NUMBERINGS, Over, TopN
from ebbtide.algebra.relation import (
    Aggregate,
    ChangingTable,
    Distinct,
    Relation,
    StaticTable,
    Stream,
)
from ebbtide.algebra.traits import EmitsOnce
from ebbtide.analysis.formula.conditions import After, Keep
from ebbtide.analysis.formula.dnf import NOTHING_KNOWN
from ebbtide.analysis.formula.progress import NEVER, Progress
from ebbtide.analysis.formula.streambound import Clause
from ebbtide.analysis.indexes import Indexes, held_indexes, indexes_of
from ebbtide.analysis.keep import Kept
from ebbtide.analysis.keep_rules import ByTime, LastRows, OpenSessions, Rule, behind
from ebbtide.analysis.keys import Keys
from ebbtide.analysis.monotonicity import Monotonicity
from ebbtide.analysis.monotonicity import monotonicity as monotonicity_
from ebbtide.analysis.ordered_keep import horizon_of
from ebbtide.analysis.size import Size
from ebbtide.analysis.size import derive as size_
from ebbtide.analysis.temporal.edge import TO, Edge
from ebbtide.analysis.temporal.sources import bound_of, retentions
from ebbtide.core.folds import Fold
from ebbtide.core.tree import fold
from ebbtide.core.types import TIMESTAMP
from ebbtide.core.words import counted


class StoredInput(Protocol):
    """What is known about an input of an operator."""

    @property
    def edge(self) -> Edge: ...
    @property
    def keys(self) -> Keys: ...
    @property
    def monotonicity(self) -> Monotonicity: ...
    @property
    def size(self) -> Size: ...


@dataclass(frozen=True, slots=True)
class Store:
    """What an operator holds of one input, or a source of its operations.

    ``instead`` says what may stand in for the rows; ``missing`` are the clauses of the input to
    come that no time of a stored row bounds; ``indexes`` is what the rows are found by.
    """

    input: int
    rule: Rule
    size: Size
    indexes: Indexes
    instead: str = ""
    missing: tuple[Clause, ...] = ()


def stores_of(
    relation: Relation, below: tuple[StoredInput, ...], kept: tuple[Kept, ...]
) -> tuple[Store, ...]:
    """The stores of a node; inputs of which nothing is kept have none."""
    if isinstance(relation, Stream | ChangingTable | StaticTable):
        return _admission(relation)
    found = (_store(relation, below, each) for each in kept)
    return tuple(store for store in found if store.size is not Size.NONE)


def waits_for_ever(store: Store) -> bool:
    """Whether a row waits for what promises no progress, so that it is never dropped."""
    match store.rule:
        case LastRows() | OpenSessions():
            return store.rule.is_unbounded
        case ByTime():
            return () in store.missing


def folds(node: Aggregate, size: Size, monotonicity: Monotonicity) -> bool:
    """Whether accumulators, or the best row, stand in for rows of the input that never end."""
    negatives = monotonicity.has_negatives
    return size > Size.WINDOW and all(
        named.call.fold.holds_under(negatives) for named in node.calls
    )


def folds_input(node: Aggregate) -> bool:
    """The same, from the plan alone."""
    return folds(node, fold(node.input, size_), monotonicity_(node.input))


def keeps_first(node: TopN) -> bool:
    """Whether the first rows stand in for all: facts that only come move no row ahead."""
    return kind(node.input) is Kind.FACT and not monotonicity_(node.input).has_negatives


def _store(relation: Relation, below: tuple[StoredInput, ...], kept: Kept) -> Store:
    source = below[kept.input]
    indexes = indexes_of(relation, kept.input, below, kept.rule)
    size = _size(kept.rule, source)
    store = Store(kept.input, kept.rule, size, indexes, "", kept.touch.missing)
    if size is not Size.UNBOUNDED or (source.edge.is_snapshot and waits_for_ever(store)):
        return store
    instead = _instead(relation, source)
    if not instead:
        return store
    return replace(store, size=Size.KEY if _has_keys(relation) else Size.WINDOW, instead=instead)


def _admission(source: Stream | ChangingTable | StaticTable) -> tuple[Store, ...]:
    """What the admission of a source with a key stores: see ``core.admission``."""
    declaration = source.declaration
    if not declaration.key:
        return ()
    edge = Edge(declaration.schema, Kind.FACT, NOTHING_KNOWN)
    retain = retentions(source)
    times = [p.attribute for p in declaration.promises if not p.arrival]
    if isinstance(source, ChangingTable):
        time = (declaration.time or "").casefold()
        times = [name for name in times if name.casefold() == time]
    places = [declaration.schema.position(name) for name in times]
    waits = tuple(
        After(edge.columns[place], behind(Progress(bound_of(declaration, name)), retain))
        for place, name in zip(places, times, strict=True)
    )
    rule = ByTime(Keep((waits,)), tuple(edge.columns.items()))
    size = _admitted_size(source, bool(waits))
    instead = "operations"
    if isinstance(source, ChangingTable) and waits:
        instead = "operations, and the last version of each key,"
    indexes = Indexes(declaration.key, tuple(str(part.variable) for part in waits))
    missing: tuple[Clause, ...] = () if waits else ((),)
    return (Store(0, rule, size, indexes, instead, missing),)


def _admitted_size(source: Stream | ChangingTable | StaticTable, progresses: bool) -> Size:
    match source:
        case StaticTable():
            return Size.TABLE
        case Stream():
            return Size.WINDOW if progresses else Size.UNBOUNDED
        case ChangingTable(declaration=declaration):
            if not progresses:
                return Size.UNBOUNDED
            return Size.TABLE if declaration.lifetime_us is None else Size.WINDOW


def held_store(source: StoredInput, kept: Kept) -> Store | None:
    """What waits at the end of a query until it is final, if anything does."""
    size = _size(kept.rule, source)
    if size is Size.NONE:
        return None
    indexes = held_indexes(source.edge, source.monotonicity, kept.rule)
    return Store(kept.input, kept.rule, size, indexes)


def _size(rule: Rule, source: StoredInput) -> Size:
    match rule:
        case LastRows(partition=partition):
            if rule.is_unbounded:
                return _all_of(source)
            return Size.KEY if partition else Size.WINDOW
        case OpenSessions():
            return _all_of(source) if rule.is_unbounded else Size.WINDOW
        case ByTime():
            otherwise = source.size if rule.turns else Size.NONE
            return max((_case_size(case, source) for case in rule.keep.cases), default=otherwise)


def _case_size(case: tuple[After, ...], source: StoredInput) -> Size:
    if not case:
        return _all_of(source)
    by_row = any(part.variable != TO for part in case)
    return Size.WINDOW if by_row else source.size


def _all_of(source: StoredInput) -> Size:
    """How many rows there ever are."""
    return source.size if source.monotonicity.static else Size.UNBOUNDED


def _instead(relation: Relation, source: StoredInput) -> str:
    """What an operator may hold in place of rows."""
    node = operator(relation)
    if isinstance(node, EmitsOnce):
        return ""
    match node:
        case Aggregate():
            folded = folds(node, source.size, source.monotonicity)
            return _folded("group", bool(node.keys)) if folded else ""
        case Distinct() | Difference() | StrictDifference() | Intersection() | MaxUnion():
            return "" if source.keys.candidates else "a count for each different row"
        case Over() if _runs(node, source):
            return f"{_folded('partition', bool(node.partition_by))}, and the later rows"
        case TopN() if keeps_first(node):
            return f"the first {counted(node.offset + node.count, 'row')}"
        case Over() | TopN():
            return ""
        case _:
            assert_never(node)


def _folded(unit: str, several: bool) -> str:
    return f"an accumulator for each {unit}" if several else "an accumulator"


def _runs(node: Over, source: StoredInput) -> bool:
    """Whether values run on in the order of a time, so that what is settled can be folded."""
    order = node.order_by[0] if node.order_by else None
    if source.edge.is_snapshot or order is None or order.descending:
        return False
    if not isinstance(order.expression, Ref) or order.expression.type != TIMESTAMP:
        return False
    place = source.edge.schema.index(order.expression.column)
    if horizon_of(place, source.edge, {}) == NEVER or order.expression.column.nullable:
        return False
    frame = node.frame
    runs = frame is None or (frame.start is None and frame.end is not None and frame.end <= 0)
    calls = [framed.call for framed in node.calls]
    folded = all(
        call.name in NUMBERINGS | NEIGHBOURS or call.fold is not Fold.ROWS for call in calls
    )
    return runs and folded and all(call.name != "LEAD" for call in calls)


def _has_keys(relation: Relation) -> bool:
    node = operator(relation)
    if isinstance(node, EmitsOnce):
        return True
    match node:
        case Aggregate():
            return bool(node.keys)
        case TopN() | Over():
            return bool(node.partition_by)
        case Distinct() | MaxUnion() | Difference() | StrictDifference() | Intersection():
            return True
        case _:
            assert_never(node)
