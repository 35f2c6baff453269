"""When a window shows a fact, and which windows a fact belongs to.

Law: the table of windows in ``ebbtide.algebra.window``.  A fact without a time is in no window, and
neither is one at an end of the line, which is no instant; no window goes beyond the line.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import assert_never

from ebbtide.algebra.window import (
    Always,
    Cumulate,
    Fixed,
    Hop,
    LinearWindow,
    Now,
    Range,
    Rows,
    Session,
    Sessions,
    Tumble,
    Unbounded,
    Window,
)
from ebbtide.core.change import Change, Multiset, snapshot
from ebbtide.core.interval import Interval, interval_or_none
from ebbtide.core.time import INF, NEG_INF, Instant, ceil_to, floor_to, is_finite, shift
from ebbtide.core.values import Row, row_key


def validity(node: Window, changes: Iterable[Change]) -> Iterator[Change]:
    """The relation that a window makes of facts."""
    time = node.input.schema.position(node.on)
    facts = _timed(snapshot(changes, NEG_INF), time)
    spec = node.spec
    if isinstance(spec, LinearWindow):
        yield from _each_alone(spec, facts, time)
        return
    match spec:
        case Rows():
            yield from _row_windows(node, spec, facts, time)
        case Sessions():
            for session in _sessions_of(facts, _places(node, spec.partition_by), time, spec.gap_us):
                end = shift(session[-1][time], spec.gap_us)
                yield from (Change(row, row[time], end) for row in session)
        case _:
            assert_never(spec)


def _each_alone(spec: LinearWindow, facts: Multiset, time: int) -> Iterator[Change]:
    for row, multiplicity in facts.items():
        interval = shown_over(spec, row[time])
        if interval is not None:
            yield Change(row, interval.valid_from, interval.valid_to, multiplicity)


def shown_over(spec: LinearWindow, ts: Instant) -> Interval | None:
    """The interval over which a window of time shows a fact at ``ts``; None if it never does."""
    match spec:
        case Range(size_us=size, slide_us=slide):
            if slide is None:
                return Interval(ts, shift(ts, size))
            first, gone = ceil_to(ts, slide), ceil_to(shift(ts, size), slide)
            return interval_or_none(min(first, INF), min(gone, INF))
        case Fixed(size_us=size):
            return Interval(ts, shift(floor_to(ts, size), size))
        case Now():
            return Interval(ts, ts + 1)
        case Unbounded():
            return Interval(ts, INF)
        case Always():
            return Interval(NEG_INF, INF)
        case _:
            assert_never(spec)


def _row_windows(node: Window, spec: Rows, facts: Multiset, time: int) -> Iterator[Change]:
    schema = node.input.schema
    order = [time, *(schema.position(name) for name in node.key), *range(len(schema))]
    partitions = _partitions(facts, [schema.position(name) for name in spec.partition_by])
    slide = spec.slide or 1
    for rows in partitions:
        rows.sort(key=lambda row: row_key(row[i] for i in order))
        times = [row[time] for row in rows]
        for number, row in enumerate(rows, start=1):
            # The window is looked at only at rows whose number is a multiple of the slide.
            first = _time_of(times, ceil_to(number, slide))
            gone = _time_of(times, ceil_to(number + spec.count, slide))
            if first < gone:
                yield Change(row, first, gone)


def _time_of(times: list[Instant], number: int) -> Instant:
    return times[number - 1] if number <= len(times) else INF


def _partitions(facts: Multiset, columns: list[int]) -> list[list[Row]]:
    partitions: dict[Row, list[Row]] = defaultdict(list)
    for row in facts.elements():
        partitions[tuple(row[i] for i in columns)].append(row)
    return list(partitions.values())


def assigned(node: Tumble | Hop | Session | Cumulate, facts: Multiset) -> Multiset:
    """Every fact with ``window_start`` and ``window_end`` of each of its windows."""
    time = node.input.schema.position(node.on)
    timed = _timed(facts, time)
    if isinstance(node, Session):
        return _sessions(node, timed, time)
    result: Multiset = Counter()
    for row, multiplicity in timed.items():
        for start, end in _windows_of(node, row[time]):
            result[(*row, max(start, NEG_INF), min(end, INF))] += multiplicity
    return result


def _timed(facts: Multiset, time: int) -> Multiset:
    return Counter(
        {row: n for row, n in facts.items() if row[time] is not None and is_finite(row[time])}
    )


def _windows_of(node: Tumble | Hop | Cumulate, ts: Instant) -> Iterator[tuple[Instant, Instant]]:
    match node:
        case Tumble(size_us=size):
            start = ts - (ts - node.offset_us) % size
            yield start, start + size
        case Hop(slide_us=slide, size_us=size):
            last = ts - (ts - node.offset_us) % slide
            for start in range(last, ts - size, -slide):
                yield start, start + size
        case Cumulate(step_us=step, size_us=size):
            start = ts - (ts - node.offset_us) % size
            for end in range(start + step, start + size + 1, step):
                if end > ts:
                    yield start, end
        case _:
            assert_never(node)


def _sessions(node: Session, facts: Multiset, time: int) -> Multiset:
    result: Multiset = Counter()
    for session in _sessions_of(facts, _places(node, node.partition_by), time, node.gap_us):
        result.update(_session(session, time, node.gap_us))
    return result


def _places(node: Window | Session, names: tuple[str, ...]) -> list[int]:
    return [node.input.schema.position(name) for name in names]


def _sessions_of(
    facts: Multiset, columns: list[int], time: int, gap_us: int
) -> Iterator[list[Row]]:
    """The rows of every session, in the order of their times."""
    for rows in _partitions(facts, columns):
        rows.sort(key=lambda row: row[time])
        session: list[Row] = []
        for row in rows:
            if session and row[time] > session[-1][time] + gap_us:
                yield session
                session = []
            session.append(row)
        yield session


def _session(rows: list[Row], time: int, gap_us: int) -> list[Row]:
    start, end = rows[0][time], shift(rows[-1][time], gap_us)
    return [(*row, start, end) for row in rows]
