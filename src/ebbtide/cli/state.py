"""``ebbtide state``: what is stored, by operator and age, and when it will be forgotten."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from ebbtide.cli.options import location_of, location_option
from ebbtide.cli.row_formats import COUNT, INSTANT, TEXT, ShownColumn, console, format_option, show
from ebbtide.core.time import NEG_INF, SECOND, Instant, is_finite
from ebbtide.core.values import Row
from ebbtide.core.words import counted, size

if TYPE_CHECKING:
    from ebbtide.engine.location import StoredQuery
    from ebbtide.state.segment import Segment

_COLUMNS = [
    ShownColumn("query", TEXT),
    ShownColumn("operator", TEXT),
    ShownColumn("what", TEXT),
    ShownColumn("area", TEXT),
    ShownColumn("rows", COUNT),
    ShownColumn("bytes", COUNT),
    ShownColumn("oldest", INSTANT),
    ShownColumn("age", TEXT),
    ShownColumn("ends", INSTANT),
]
_NO_TIMES: Row = (None, None, None)
_RULES = [ShownColumn("rule", TEXT), ShownColumn("forgotten at", TEXT)]


@click.command("state")
@click.argument("view", required=False)
@click.option("--segments", is_flag=True, help="Every segment by itself, the oldest first.")
@location_option
@format_option
def command(view: str | None, segments: bool, location: str, format_: str) -> None:
    """Show what the queries of a location, or VIEW alone, have stored.

    For every operator: how much, from when to when it is valid, the rule by which it is
    forgotten, and the progress at which all of it will be.
    """
    place = location_of(location)
    queries = place.queries() if view is None else [place.query(view)]
    if format_ == "table":
        for query in queries:
            console().print("\n".join(_report(query, segments)), soft_wrap=True)
        return
    rows = (row for query in queries for row in _rows(query, segments))
    show([*_COLUMNS, *([] if segments else _RULES)], rows, format_)


def _report(query: StoredQuery, segments: bool) -> Iterator[str]:
    """What a query stores, for people: a paragraph for each operator."""
    from ebbtide.cli.display import moment
    from ebbtide.engine.state_report import holdings
    from ebbtide.store.readers import progress

    now, reached = progress(query.root, query.name)
    frontier = NEG_INF if reached is None else reached
    yield f"{query.name}: now {moment(now)}, progress {moment(frontier)}"
    yield f"  {_kept(query)}"
    said = ""
    for holding in holdings(query):
        if holding.what != said:
            said = holding.what
            yield f"  {said}, {holding.operator}"
        times = _span(holding.oldest, holding.newest, now) if holding.timed else ""
        yield f"    {holding.area:<13}{_amount(holding.rows, holding.bytes)}{times}"
        if segments:
            for segment in sorted(holding.segments, key=_begin):
                times = _span(segment.from_min, segment.to_max, now) if holding.timed else ""
                yield f"      a segment  {_amount(segment.rows, segment.bytes)}{times}"
        held = holding.held and f"held {holding.held}"
        gone = holding.gone and f"forgotten at {holding.gone}"
        for text in filter(None, (held, holding.keeps, gone)):
            yield f"{'':17}{text}"
    if not said:
        yield "  nothing is stored"
    yield from _waiting(query)


def _kept(query: StoredQuery) -> str:
    """How far back changes are kept, and in how many files."""
    from ebbtide.cli.display import moment
    from ebbtide.core.time import format_duration
    from ebbtide.store.history import History

    mine = History.read(query.root).view(query.name)
    files = [*mine.parts, *([] if mine.base is None else [mine.base])]
    bound = "for ever" if mine.keep_us is None else f"for {format_duration(mine.keep_us)}"
    since = (
        "" if mine.base is None else f", after step {mine.floor}, from {moment(mine.base.until)}"
    )
    room = size(sum(part.bytes for part in files))
    amount = f", in {len(files)} compacted files of {room}" if files else ""
    return f"changes are kept {bound}{since}{amount}"


def _amount(rows: int, count: int) -> str:
    return f"{rows:>11,} rows  {size(count):>7}"


def _span(oldest: Instant, newest: Instant, now: Instant) -> str:
    from ebbtide.cli.display import moment

    age = _age(oldest, now)
    return f"  {moment(oldest)} .. {moment(newest, oldest)}{f', {age} old' if age else ''}"


def _rows(query: StoredQuery, segments: bool) -> Iterator[Row]:
    from ebbtide.engine.state_report import holdings
    from ebbtide.store.readers import progress

    now, _ = progress(query.root, query.name)
    for holding in holdings(query):
        name = query.name, holding.operator, holding.what, holding.area
        if not segments:
            times = _times(holding.oldest, holding.newest, now) if holding.timed else _NO_TIMES
            yield (*name, holding.rows, holding.bytes, *times, holding.keeps, holding.gone)
            continue
        for segment in sorted(holding.segments, key=_begin):
            times = _times(segment.from_min, segment.to_max, now) if holding.timed else _NO_TIMES
            yield (*name, segment.rows, segment.bytes, *times)


def _times(oldest: Instant, newest: Instant, now: Instant) -> Row:
    return oldest, _age(oldest, now), newest


def _begin(segment: Segment) -> tuple[Instant, Instant]:
    return segment.from_min, segment.to_max


def _age(since: Instant, now: Instant) -> str:
    """How long ago something began, as on a stop watch."""
    from ebbtide.cli.display import elapsed

    if not is_finite(since) or not is_finite(now):
        return ""
    return elapsed(max(0, now - since) / SECOND)


def _waiting(query: StoredQuery) -> Iterator[str]:
    """How many operations on the sources of a query wait for the row that they are about."""
    from ebbtide.engine.pending import pending
    from ebbtide.sql.catalog import ViewEntry

    for entry in query.catalog:
        if isinstance(entry, ViewEntry):
            continue
        count = len(pending(query.root, entry.declaration))
        if count:
            waits = (
                f"{counted(count, 'operation')} on {entry.name} {'wait' if count > 1 else 'waits'}"
            )
            yield f"  {waits} for a row: ebbtide late {entry.name} --pending"
