"""What operators hold, how much it is, and why.

Law: the size of a store is that of what its rule keeps.  Rows with a time that bounds them are as
many as come in a window; else they are as many as the input holds at once; and where an operator
needs no more than a count or an accumulator of them, it is one for each key.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from ebbtide.algebra.call import AggregateCall
from ebbtide.algebra.combination import Difference, Intersection, MaxUnion, StrictDifference
from ebbtide.algebra.expression import Ref
from ebbtide.algebra.ranking import Over, TopN
from ebbtide.algebra.relation import Aggregate, Distinct, Relation
from ebbtide.analysis.formula.conditions import After
from ebbtide.analysis.formula.progress import NEVER
from ebbtide.analysis.formula.streambound import Clause
from ebbtide.analysis.indexes import Indexes, held_indexes, indexes_of
from ebbtide.analysis.keep import Kept
from ebbtide.analysis.keep_rules import ByTime, LastRows, OpenSessions, Rule
from ebbtide.analysis.keys import Keys
from ebbtide.analysis.monotonicity import Monotonicity
from ebbtide.analysis.ordered import horizon_of
from ebbtide.analysis.size import Size
from ebbtide.analysis.temporal.edge import TO, Edge
from ebbtide.core.types import TIMESTAMP

BAGS = frozenset({"MEDIAN", "PERCENTILE", "PERCENTILE_DISC", "COLLECT"})
"""Aggregates whose accumulator is all of the values."""

EXTREMES = frozenset({"MIN", "MAX", "FIRST", "LAST", "ARG_MIN", "ARG_MAX"})
"""Aggregates that are one value, unless a value can be taken back."""


class Input(Protocol):
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
    """What an operator holds of one input.

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
    relation: Relation, below: tuple[Input, ...], kept: tuple[Kept, ...]
) -> tuple[Store, ...]:
    """The stores of a node; inputs of which nothing is kept have none."""
    found = (_store(relation, below, each) for each in kept)
    return tuple(store for store in found if store.size is not Size.NONE)


def _store(relation: Relation, below: tuple[Input, ...], kept: Kept) -> Store:
    source = below[kept.input]
    size = _size(kept.rule, source)
    instead = _instead(relation, source) if size is Size.UNBOUNDED else ""
    if instead:
        size = Size.KEY if _has_keys(relation) else Size.WINDOW
    indexes = indexes_of(relation, kept.input, below, kept.rule)
    return Store(kept.input, kept.rule, size, indexes, instead, kept.touch.missing)


def held_store(source: Input, kept: Kept) -> Store | None:
    """What waits at the end of a query until it is final, if anything does."""
    size = _size(kept.rule, source)
    if size is Size.NONE:
        return None
    indexes = held_indexes(source.edge, source.monotonicity, kept.rule)
    return Store(kept.input, kept.rule, size, indexes)


def _size(rule: Rule, source: Input) -> Size:
    match rule:
        case LastRows(partition=partition):
            if rule.is_unbounded:
                return source.size
            return Size.KEY if partition else Size.WINDOW
        case OpenSessions():
            return source.size if rule.is_unbounded else Size.WINDOW
        case ByTime():
            return max((_case_size(case, source) for case in rule.keep.cases), default=Size.NONE)


def _case_size(case: tuple[After, ...], source: Input) -> Size:
    by_row = any(part.variable != TO for part in case)
    return Size.WINDOW if by_row else source.size


def _instead(relation: Relation, source: Input) -> str:
    """What an operator may hold in place of rows."""
    match relation:
        case Aggregate():
            folds = all(_folds(named.call, source.monotonicity) for named in relation.calls)
            return _folded("group", bool(relation.keys)) if folds else ""
        case Distinct() | Difference() | StrictDifference() | Intersection() | MaxUnion():
            return "" if source.keys.candidates else "a count for each different row"
        case Over() if _runs(relation, source):
            return f"{_folded('partition', bool(relation.partition_by))}, and the later rows"
        case TopN() if not source.monotonicity.has_negatives and not source.edge.is_snapshot:
            return f"the first {relation.offset + relation.count} rows"
        case _:
            return ""


def _folded(unit: str, several: bool) -> str:
    return f"an accumulator for each {unit}" if several else "an accumulator"


def _runs(node: Over, source: Input) -> bool:
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
    names = {framed.call.name for framed in node.calls}
    return runs and not names & BAGS and "LEAD" not in names


def _has_keys(relation: Relation) -> bool:
    match relation:
        case Aggregate():
            return bool(relation.keys)
        case TopN() | Over():
            return bool(relation.partition_by)
        case _:
            return True


def _folds(call: AggregateCall, monotonicity: Monotonicity) -> bool:
    if call.name in BAGS:
        return False
    return call.name not in EXTREMES or not monotonicity.has_negatives
