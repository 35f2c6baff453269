"""How far the frames of an Over reach in time.

Law: a row ``y`` can change the values of a row ``z`` only if ``low <= t(y) - t(z) <= high``, where
``t`` is the time that the partition is ordered by; None is no limit.  What is read to derive ``z``
lies within the same limits.  A row comes and goes with itself, whether its frame has it or not.
"""

from __future__ import annotations

from dataclasses import dataclass

from ebbtide.algebra.call import AggregateCall
from ebbtide.algebra.expression import Expression
from ebbtide.algebra.nullability import nullable
from ebbtide.algebra.ranking import NUMBERINGS, Frame, FrameUnit, Over, TopN
from ebbtide.analysis.formula.formula import Formula, both, compare
from ebbtide.analysis.temporal.edge import Copy
from ebbtide.analysis.temporal.predicates import term_of
from ebbtide.core.time import Duration
from ebbtide.core.types import TIMESTAMP


@dataclass(frozen=True, slots=True)
class Reach:
    """The limits of ``t(y) - t(z)``, for an order by the time ``by``."""

    by: Expression | None = None
    low: Duration | None = None
    high: Duration | None = None

    def affects(self, z: Copy, y: Copy) -> Formula:
        """That ``y`` can change the values of ``z``, or is read for them."""
        if self.by is None:
            return both()
        here = term_of(self.by, z.edge.schema, z.columns)
        there = term_of(self.by, y.edge.schema, y.columns)
        if here is None or there is None:
            return both()
        return both(
            *([] if self.low is None else [compare(here + self.low, "<=", there)]),
            *([] if self.high is None else [compare(there, "<=", here + self.high)]),
        )


def reach(node: Over | TopN) -> Reach:
    """The limits over all calls of an Over, or of the number of a row; none where the order is by
    no time."""
    if not node.order_by:
        return Reach()
    by = node.order_by[0]
    if by.expression.type != TIMESTAMP or nullable(by.expression):
        return Reach()
    limits = [_BY_NUMBER]
    if isinstance(node, Over):
        limits = [_limits(framed.call, node.frame) for framed in node.calls]
    lows, highs = [low for low, _ in limits], [high for _, high in limits]
    low = None if None in lows else min(0, *(one for one in lows if one is not None))
    high = None if None in highs else max(0, *(one for one in highs if one is not None))
    if by.descending:
        low, high = (
            None if high is None else -high,
            None if low is None else -low,
        )
    return Reach(by.expression, low, high)


_BY_NUMBER: tuple[Duration | None, Duration | None] = (None, 0)
"""The number of a row follows from those before it."""


def _limits(call: AggregateCall, frame: Frame | None) -> tuple[Duration | None, Duration | None]:
    """In the order of the partition: before is negative."""
    if call.name in NUMBERINGS or call.name == "LAG":
        return _BY_NUMBER
    if call.name == "LEAD":
        return 0, None
    if frame is None:
        return None, 0
    if frame.unit is FrameUnit.RANGE:
        return frame.start, frame.end
    # Rows are counted: only their side of the row is known.
    ahead = 0 if frame.start is not None and frame.start >= 0 else None
    behind = 0 if frame.end is not None and frame.end <= 0 else None
    return ahead, behind
