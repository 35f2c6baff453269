"""Operators that number the rows of a partition, or look at the rows around a row.

Rows that an order does not tell apart are told apart by all their columns, so that every result
is a function of the rows alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from ebbtide.algebra.call import AggregateCall, SortKey
from ebbtide.algebra.expression import Expression
from ebbtide.algebra.relation import Relation
from ebbtide.core.schema import Column, Schema
from ebbtide.core.types import BIGINT
from ebbtide.errors import BindError


class Ranking(Enum):
    """How rows of a partition are numbered by an order."""

    ROW_NUMBER = "ROW_NUMBER"
    RANK = "RANK"
    DENSE_RANK = "DENSE_RANK"


@dataclass(frozen=True, slots=True)
class TopN(Relation):
    """The rows of each partition whose number in the order is greater than ``offset`` and at most
    ``offset + count``.

    ROW_NUMBER breaks ties by all columns.  ``number_as`` adds the number as a column.
    """

    input: Relation
    count: int
    order_by: tuple[SortKey, ...]
    partition_by: tuple[Expression, ...] = ()
    ranking: Ranking = Ranking.ROW_NUMBER
    offset: int = 0
    number_as: str | None = None

    def _derive(self) -> Schema:
        if self.count < 0 or self.offset < 0:
            raise BindError("bad-count", "a number of rows cannot be negative")
        if self.number_as is None:
            return self.input.schema
        return self.input.schema + Schema((Column(self.number_as, BIGINT, False),))


class FrameUnit(Enum):
    """What the bounds of a frame count."""

    ROWS = "ROWS"
    RANGE = "RANGE"


@dataclass(frozen=True, slots=True)
class Frame:
    """The rows around a row: from ``start`` to ``end``, both included; None is unbounded.

    Bounds are offsets from the current row, negative for PRECEDING: counts of rows, or amounts
    of the one sort key (microseconds, if that is a time), where 0 includes all peers.
    """

    unit: FrameUnit
    start: int | None = None
    end: int | None = 0

    def __post_init__(self) -> None:
        if self.start is not None and self.end is not None and self.start > self.end:
            raise BindError("bad-frame", "the frame ends before it starts")


@dataclass(frozen=True, slots=True)
class FrameCall:
    """A column computed for every row over its frame or partition, and its name.

    ``name`` ROW_NUMBER, RANK, DENSE_RANK, LAG or LEAD, with the arguments in ``call``; any other
    name is an aggregate over the frame.
    """

    name: str
    call: AggregateCall


@dataclass(frozen=True, slots=True)
class Over(Relation):
    """Every row, and for each call the value over the row's frame in its partition.

    Without a frame it is the whole partition, or with an order the rows up to the last peer.
    """

    input: Relation
    calls: tuple[FrameCall, ...]
    partition_by: tuple[Expression, ...] = ()
    order_by: tuple[SortKey, ...] = ()
    frame: Frame | None = None

    def _derive(self) -> Schema:
        if self.frame is not None and self.frame.unit is FrameUnit.RANGE:
            bounded = self.frame.start not in (None, 0) or self.frame.end not in (None, 0)
            if bounded and len(self.order_by) != 1:
                raise BindError("bad-frame", "a RANGE frame needs exactly one ORDER BY column")
        return self.input.schema + Schema(tuple(map(over_column, self.calls)))


NUMBERINGS = frozenset(ranking.value for ranking in Ranking)
NEIGHBOURS = frozenset({"LAG", "LEAD"})


def over_column(framed: FrameCall) -> Column:
    """The column that a call over frames makes."""
    call = framed.call
    if call.name in NUMBERINGS:
        return Column(framed.name, BIGINT, False)
    if call.name in NEIGHBOURS:
        if not call.arguments:
            raise BindError("wrong-arguments", f"{call.name} needs an argument")
        return Column(framed.name, call.arguments[0].type)
    return Column(framed.name, call.type, call.function.nullable)
