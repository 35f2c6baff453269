"""What a view has said over time, as bars: a lane for each key, with the values in its bars.

Law: lanes are those of the key, unless others are asked for, in the order of their keys or, in a
top-n, of their ranks.  Which changes are drawn is decided by the store.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import tzinfo
from itertools import takewhile
from typing import Any

from ebbtide.algebra.expression import Ref
from ebbtide.algebra.identifiers import identifier
from ebbtide.algebra.kind import Kind, kind
from ebbtide.algebra.ranking import TopN
from ebbtide.algebra.relation import Alias, Filter, Map, Relation, View
from ebbtide.analysis import analyse
from ebbtide.columnar.evaluation import Columnar
from ebbtide.core.change import Change
from ebbtide.core.declaration import TableDeclaration
from ebbtide.core.schema import Schema
from ebbtide.core.text import write
from ebbtide.core.time import INF, NEG_INF, Instant, format_instant
from ebbtide.core.tree import find
from ebbtide.core.types import TIMESTAMP, TimestampType, Type
from ebbtide.core.values import Row, Value, row_key
from ebbtide.drawing import Bar
from ebbtide.engine.location import StoredQuery
from ebbtide.errors import QueryError
from ebbtide.optimizer import optimise
from ebbtide.sql.binder import bind_query
from ebbtide.sql.catalog import Catalog, TableEntry
from ebbtide.sql.parser import parse_query
from ebbtide.store.drawn_changes import drawn_changes

__all__ = ["LaneBars", "LaneChoice", "lane_bars"]


@dataclass(frozen=True, slots=True)
class LaneChoice:
    """What is to be drawn: rows that hold within ``[since, until)``, under a condition, a lane for
    each value of the columns ``by``, or of the key, and at most so many lanes."""

    since: Instant = NEG_INF
    until: Instant = INF
    condition: str | None = None
    by: tuple[str, ...] = ()
    lanes: int = 40


@dataclass(frozen=True, slots=True)
class LaneBars:
    """The bars, lane by lane; which columns tell the lanes apart and which stand in the bars; and
    how many lanes and bars are left out."""

    bars: tuple[Bar, ...]
    lane_columns: tuple[str, ...]
    bar_columns: tuple[str, ...]
    lanes_left_out: int = 0
    bars_left_out: int = 0


def lane_bars(query: StoredQuery, choice: LaneChoice, zone: tzinfo) -> LaneBars:
    """The bars of a view."""
    schema, plan = query.bound.schema, optimise(query.bound.plan)
    places = _lane_places(schema, choice.by, plan, query)
    rest = [place for place in range(len(schema)) if place not in places]
    found = drawn_changes(
        query.view,
        places,
        fact_time=_fact_time(plan),
        condition=None if choice.condition is None else _holds(choice.condition, schema, zone),
        since=choice.since,
        until=choice.until,
        lanes=choice.lanes,
    )
    names = tuple(column.name for column in schema)
    bars = [
        bar
        for change in _in_order(found.changes, plan, places)
        for bar in _bars(change, schema, places, rest, zone, query.name)
    ]
    return LaneBars(
        tuple(bars),
        tuple(names[place] for place in places),
        tuple(names[place] for place in rest),
        found.lanes_left_out,
        found.bars_left_out,
    )


def _fact_time(plan: Relation) -> int | None:
    """The column of the first time of facts; None for snapshots, and for facts without a time."""
    times = (place for place, column in enumerate(plan.schema) if column.type == TIMESTAMP)
    return next(times, None) if kind(plan) is Kind.FACT else None


def _lane_places(
    schema: Schema, by: Sequence[str], plan: Relation, query: StoredQuery
) -> list[int]:
    """The columns that tell lanes apart: those asked for, the key, or all that are not times."""
    if by:
        return [schema.position(name) for name in by]
    key = analyse(plan, query.bound.emit).key
    if key is not None:
        return [schema.position(name) for name in key]
    if _fact_time(plan) is not None:
        return [place for place, column in enumerate(schema) if column.type != TIMESTAMP]
    return list(range(len(schema)))


def _holds(condition: str, schema: Schema, zone: tzinfo) -> Columnar:
    """The condition of a query on rows like these, as a function of their columns."""
    rows = TableEntry(TableDeclaration("rows", schema))
    query = parse_query(f"SELECT * FROM {identifier('rows')} WHERE {condition}")
    filters = list(find(bind_query(query, Catalog().add(rows)).plan, Filter))
    if len(filters) != 1:
        raise QueryError(
            "bad-condition", f"'{condition}' is not a condition on the columns of a row"
        )
    (node,) = filters
    return Columnar(node.predicate, node.input.schema, str(zone))


def _in_order(changes: Sequence[Change], plan: Relation, places: Sequence[int]) -> list[Change]:
    """Lanes in the order of a top-n, or of their keys, each with its bars in the order of time."""
    ranked = _rank_places(plan)
    lanes: dict[Row, list[Change]] = {}
    for change in changes:
        lanes.setdefault(tuple(change.row[place] for place in places), []).append(change)
    for members in lanes.values():
        members.sort(key=lambda change: (change.valid_from, change.valid_to, -change.diff))

    def place(lane: Row) -> Any:
        last = max((c for c in lanes[lane]), key=lambda c: (c.diff > 0, c.valid_to, c.valid_from))
        ranks = [(row_key((last.row[at],)), descending) for at, descending in ranked]
        return [_Turned(key) if descending else key for key, descending in ranks], row_key(lane)

    return [change for lane in sorted(lanes, key=place) for change in lanes[lane]]


@dataclass(frozen=True, slots=True, order=False)
class _Turned:
    """A key that sorts the other way round."""

    key: Any

    def __lt__(self, other: _Turned) -> bool:
        return bool(other.key < self.key)


def _rank_places(plan: Relation) -> list[tuple[int, bool]]:
    """The columns of an answer that say which row is first in a top-n, as far as they are there."""
    if isinstance(plan, Alias | View | Filter):
        return _rank_places(plan.input)
    if isinstance(plan, Map):
        kept = {
            plan.input.schema.index(named.expression.column): place
            for place, named in reversed(list(enumerate(plan.columns)))
            if isinstance(named.expression, Ref)
        }
        below = _rank_places(plan.input)
        there = takewhile(lambda key: key[0] in kept, below)
        return [(kept[at], turned) for at, turned in there]
    if isinstance(plan, TopN):
        if plan.number_as is not None:
            return [(len(plan.schema) - 1, False)]
        refs = [(key.expression, key.descending) for key in plan.order_by]
        schema = plan.input.schema
        columns = takewhile(lambda key: isinstance(key[0], Ref), refs)
        return [(schema.index(e.column), d) for e, d in columns if isinstance(e, Ref)]
    return []


def _bars(
    change: Change,
    schema: Schema,
    places: Sequence[int],
    rest: Sequence[int],
    zone: tzinfo,
    name: str,
) -> list[Bar]:
    """A bar of what holds; of what was taken back two, which cancel each other."""

    def text(chosen: Sequence[int]) -> str:
        return ", ".join(_cell(change.row[i], schema[i].type, zone) for i in chosen)

    def bar(diff: int) -> Bar:
        ends = change.valid_from, change.valid_to
        return Bar(text(places) or name, *ends, diff, "", text(rest))

    holds = change.diff > 0 or change.valid_from == change.valid_to
    return [bar(change.diff)] if holds else [bar(-change.diff), bar(change.diff)]


def _cell(value: Value, type_: Type, zone: tzinfo) -> str:
    if value is None:
        return "NULL"
    if isinstance(type_, TimestampType):
        return format_instant(value, zone)
    return write(value, type_, zone)
