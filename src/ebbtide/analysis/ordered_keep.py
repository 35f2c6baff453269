"""Keep rules of operators that count rows in an order: they have no bound in time.

Law: a row to come stands after all rows at or below the horizon of the time that orders them.  So
it changes only what the last few of those take part in.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from ebbtide.algebra.call import AggregateCall
from ebbtide.algebra.expression import Literal, Ref
from ebbtide.algebra.ranking import NEIGHBOURS, NUMBERINGS, FrameUnit, Over
from ebbtide.algebra.window import LinearWindow, Rows, Session, Sessions, Window
from ebbtide.analysis.formula.progress import NEVER, Bound, Value
from ebbtide.analysis.formula.streambound import propagated
from ebbtide.analysis.keep_rules import LastRows, OpenSessions, behind
from ebbtide.analysis.temporal.edge import Edge
from ebbtide.core.time import Duration
from ebbtide.core.types import TIMESTAMP


def horizon_of(place: int, edge: Edge, retain: Mapping[Bound, Duration]) -> Value:
    """The instant at or below which no row to come has a time column."""
    return behind(propagated(edge.columns[place], edge.facts, edge.bounds), retain)


def window_rule(
    node: Window, below: Edge, retain: Mapping[Bound, Duration]
) -> LastRows | OpenSessions | None:
    """What a window keeps of its facts, if it has to look at several of them."""
    spec = node.spec
    if isinstance(spec, LinearWindow):
        return None
    match spec:
        case Rows():
            return _last_rows(node, spec, below, retain)
        case Sessions(gap_us=gap):
            return _open_sessions(node.on, gap, spec.keys, below, retain)
        case _:
            assert_never(spec)


def _last_rows(node: Window, spec: Rows, below: Edge, retain: Mapping[Bound, Duration]) -> LastRows:
    """ROWS n: the last n rows of a partition that no row to come precedes."""
    place = below.schema.position
    on = place(node.on)
    return LastRows(
        count=spec.count,
        slide=spec.slide or 1,
        on=on,
        partition=tuple(map(place, spec.partition_by)),
        order=(*map(place, node.key), *range(len(below.schema))),
        horizon=horizon_of(on, below, retain),
    )


def open_sessions(node: Session, below: Edge, retain: Mapping[Bound, Duration]) -> OpenSessions:
    """SESSION: a session that a row to come can touch."""
    return _open_sessions(node.on, node.gap_us, node.partition_by, below, retain)


def _open_sessions(
    time: str,
    gap_us: Duration,
    keys: tuple[str, ...],
    below: Edge,
    retain: Mapping[Bound, Duration],
) -> OpenSessions:
    place = below.schema.position
    on = place(time)
    return OpenSessions(gap_us, on, tuple(map(place, keys)), horizon_of(on, below, retain))


def rows_of_frames(node: Over, below: Edge, retain: Mapping[Bound, Duration]) -> LastRows | None:
    """Frames that count rows, LAG and LEAD, on facts in the order of a time that progresses."""
    counts = [_rows_around(framed.call, node) for framed in node.calls]
    order = node.order_by[0] if node.order_by else None
    refs = [key.column for key in node.partition_by if isinstance(key, Ref)]
    if (
        below.is_snapshot
        or order is None
        or order.descending
        or not isinstance(order.expression, Ref)
        or order.expression.type != TIMESTAMP
        or order.expression.column.nullable
        or len(refs) < len(node.partition_by)
        or None in counts
    ):
        return None
    on = below.schema.index(order.expression.column)
    horizon = horizon_of(on, below, retain)
    if horizon == NEVER:
        return None
    return LastRows(
        count=max(count for count in counts if count is not None),
        slide=1,
        on=on,
        partition=tuple(map(below.schema.index, refs)),
        order=(),
        horizon=horizon,
    )


def _rows_around(call: AggregateCall, node: Over) -> int | None:
    """How many rows before a new one take part in what it changes, or None."""
    if call.name in NUMBERINGS:
        return None
    if call.name in NEIGHBOURS:
        match call.arguments[1:]:
            case ():
                return 1
            case (Literal(value=int(distance)), *_):
                return abs(distance)
            case _:
                return None
    frame = node.frame
    if frame is None or frame.unit is not FrameUnit.ROWS:
        return None
    if frame.start is None or frame.end is None:
        return None
    # A new row changes rows up to `ahead` before it, which read rows up to `back` before them.
    ahead, back = max(0, frame.end), max(0, -frame.start)
    return ahead + back
