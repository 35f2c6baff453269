"""What people ask of a query first: how fresh it is, when it is final, what late rows do, and how
much it keeps.

Law: nothing is proved here.  Every sentence follows from the verdict and from the stores, with the
promises of the sources in the place of their progress.  How long rows are kept is shown for sources
whose newest rows are of the same time; how many they are, for rows that come at a steady rate.
Numbers of rows and bytes are estimates, and upper ones where conditions leave rows out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias, cast

from ebbtide.algebra.emission import Emit
from ebbtide.algebra.expression import Ref
from ebbtide.algebra.recursion import Recursion
from ebbtide.algebra.relation import Aggregate, ChangingTable, Filter, Map, Relation, Stream
from ebbtide.algebra.traits import SameRows
from ebbtide.algebra.window import Cumulate, Hop, Tumble, Window
from ebbtide.analysis import advice
from ebbtide.analysis.analysis import Node
from ebbtide.analysis.finality import Finality, When
from ebbtide.analysis.formula.progress import AnyValue, Bound, Fastest, Limit, Progress, Slowest
from ebbtide.analysis.formula.progress import Value as ProgressValue
from ebbtide.analysis.formula.terms import Var
from ebbtide.analysis.keep_rules import ByTime, LastRows, OpenSessions
from ebbtide.analysis.replay import approximates, hindrance, reaches_back
from ebbtide.analysis.size import Size
from ebbtide.analysis.stores import Store
from ebbtide.analysis.temporal.edge import FROM, Edge
from ebbtide.analysis.temporal.sources import bound_of
from ebbtide.analysis.verdict import Analysis, passing_node
from ebbtide.core.declaration import Declaration, Late, StreamDeclaration, Way
from ebbtide.core.schema import Column
from ebbtide.core.time import INF, MILLISECOND, NEG_INF, SECOND, UNITS, Duration
from ebbtide.core.tree import find, fold
from ebbtide.core.types import BooleanType, DateType, DoubleType, IntegerType, TimestampType
from ebbtide.core.words import counted, size

REPLAYS_ALL = "REPLAY ALL"

Rates: TypeAlias = Mapping[str, float]
"""Rows a second of event time, by the name of their source."""

_UNITS = (("d", "DAY"), ("h", "HOUR"), ("min", "MINUTE"), ("s", "SECOND"), ("ms", "MILLISECOND"))
_ENDS_AND_SIGN = 32
"""The bytes of a stored change beside its columns: two ends, a sign, and the hash of its key."""
_TEXT = 24
"""What a value without a fixed width is taken to need."""
_SEGMENTS = 2
"""A row that comes and goes makes so many segments of an answer, at most."""


@dataclass(frozen=True, slots=True)
class StoreOutlook:
    """One of the stores: what is in it, how long a row stays, and how much it is if that is known.

    ``stays_us`` is None where no time bounds it, and ``rows`` where no rate is known.
    """

    what: str
    stays_us: Duration | None = None
    rows: int | None = None
    bytes: int | None = None

    def __str__(self) -> str:
        text = self.what
        if self.stays_us is not None:
            text += f" for {length(self.stays_us)}" if self.stays_us else ", within a step only"
        if self.rows is not None and self.bytes is not None:
            text += f": about {counted(self.rows, 'row')}, {size(self.bytes)}"
        return text


@dataclass(frozen=True, slots=True)
class Outlook:
    """The answers, as sentences; what is kept also as numbers."""

    fresh: str
    final: str
    late: tuple[str, ...]
    kept: tuple[StoreOutlook, ...]

    @property
    def rows(self) -> int | None:
        """The rows of all stores, if they are known."""
        return _sum([each.rows for each in self.kept])

    @property
    def bytes(self) -> int | None:
        """The bytes of all stores, if they are known."""
        return _sum([each.bytes for each in self.kept])


def outlook(analysis: Analysis, rates: Rates | None = None, replays: str = REPLAYS_ALL) -> Outlook:
    """What is to be expected of a query; ``replays`` is how old rows are replayed."""
    delays = _delays(analysis.plan)
    stores = [(node, store) for node in analysis.nodes() for store in node.stores]
    kept = [_kept(node, store, delays, rates or {}) for node, store in stores]
    kept += [_held(analysis, store, delays, rates or {}) for store in analysis.held]
    return Outlook(
        _fresh(analysis),
        _final(analysis.verdict.finality, delays, _arrivals(analysis.plan)),
        tuple(
            _late(source, _replay_hindrance(analysis), replays)
            for source in _sources(analysis.plan)
            if any(not promise.arrival for promise in source.promises)
        ),
        tuple(kept),
    )


def length(us: Duration) -> str:
    """A length of time in the two largest units that it has.

    >>> length(4_265_000_000), length(90_000_000), length(2_000)
    ('1 h 11 min', '1 min 30 s', '2 ms')
    """
    parts, rest = [], us
    for short, name in _UNITS:
        count, rest = divmod(rest, UNITS[name])
        if count:
            parts.append(f"{count} {short}")
    return " ".join(parts[:2]) or f"{us} us"


# --- fresh, final, late ------------------------------------------------------------------------


def _fresh(analysis: Analysis) -> str:
    if analysis.emit is Emit.FINAL and analysis.verdict.finality.when is not When.AT_ONCE:
        return "a row is shown when it is final, and not before"
    shown = "a row is shown in the step that reads what it is made of"
    ends = analysis.root.edge.is_snapshot and not analysis.root.edge.bounds.is_static
    return f"{shown}; it leaves by itself as now moves on" if ends else shown


def _arrivals(plan: Relation) -> frozenset[Bound]:
    """The times that the clock moves."""
    return frozenset(
        bound_of(source, promise.attribute)
        for source in _sources(plan)
        for promise in source.promises
        if promise.arrival
    )


def _final(finality: Finality, delays: Mapping[Bound, Duration], arrivals: frozenset[Bound]) -> str:
    if finality.when is not When.BY_PROGRESS:
        return str(finality)
    ways = [_condition(variable, value, delays, arrivals) for variable, value in finality.progress]
    return f"once {', or once '.join(ways)}"


def _condition(
    variable: Var,
    value: ProgressValue,
    delays: Mapping[Bound, Duration],
    arrivals: frozenset[Bound],
) -> str:
    """Which rows must have come for a row to be final, or how late it must be."""
    time = "its end" if variable == FROM else str(variable)

    def step(node: ProgressValue, below: tuple[str, ...]) -> str:
        match cast(AnyValue, node):
            case Limit():
                return "everything is there"
            case Progress(of, by) if of in arrivals:
                return f"the clock of a step is {_after(-by)} {time}"
            case Progress(of, by):
                return f'"{of.stream}" has a row {_after(delays.get(of, 0) - by)} {time}'
            case Slowest():
                return " and ".join(below)
            case Fastest():
                return " or ".join(below)

    return fold(value, step)


def _after(lag: Duration) -> str:
    if lag == 0:
        return "after"
    return f"{length(lag)} after" if lag > 0 else f"{length(-lag)} before"


def _replay_hindrance(analysis: Analysis) -> str | None:
    """Why no row of the past can be replayed; None if those can whose archive reaches back."""
    recursive = any(True for _ in find(analysis.plan, Recursion))
    return hindrance(_sources(analysis.plan), recursive, analysis.expiry)


def _late(source: Declaration, hindered: str | None, replays: str) -> str:
    delay = source.promises[0].delay_us
    begins = f'"{source.name}": rows that come {length(delay)} behind' if delay else None
    begins = begins or f'"{source.name}": rows that come behind others'
    if isinstance(source, StreamDeclaration) and reaches_back(source):
        return f"{begins} are late, and {_replayed(source, delay, hindered, replays)}"
    if isinstance(source, StreamDeclaration) and approximates(source):
        kept, until = length(delay + source.kept_us), length(delay + source.approximate_us)
        first = f"revise the answer; from {kept} on they are" if source.kept_us else "are"
        return (
            f"{begins} are late, and {first} set aside, and come into approximations; from {until} "
            "on they do not"
        )
    if source.late is Late.REVISE and source.retain_us:
        until = length(delay + source.retain_us)
        return f"{begins} are late, and revise the answer; from {until} on they are set aside"
    return f"{begins} are late, and are set aside"


def _replayed(
    source: StreamDeclaration, delay: Duration, hindered: str | None, replays: str
) -> str:
    """What becomes of late rows of a stream whose archive holds more than its operators."""
    kept, until = length(delay + source.kept_us), length(delay + (source.archive_us or 0))
    begins = f"revise the answer; from {kept} on they are" if source.kept_us else "are"
    if hindered is not None:
        return f"{begins} set aside, although they are archived: {hindered}"
    if source.replay is Way.ALL:
        replays = REPLAYS_ALL
    return f"{begins} replayed from the archive ({replays}); from {until} on they are set aside"


# --- what is kept ------------------------------------------------------------------------------


def _kept(node: Node, store: Store, delays: Mapping[Bound, Duration], rates: Rates) -> StoreOutlook:
    name = advice.name_of(node.relation.children[store.input] if node.inputs else node.relation)
    if store.size in (Size.TABLE, Size.UNBOUNDED):
        return StoreOutlook(_boundless(store, name))
    if store.instead and node.inputs:
        return StoreOutlook(f"{store.instead} of {name}")
    what = f"{store.instead or 'rows'} of {name}"
    match store.rule:
        case LastRows(count=count, partition=partition):
            each = " for each partition" if partition else ""
            return StoreOutlook(f"the last {counted(count, 'row')} of {name}{each}")
        case OpenSessions():
            return StoreOutlook(f"rows of {name} in sessions that are open")
        case ByTime():
            edge = node.inputs[store.input].edge if node.inputs else node.edge
            stays = _stays(store.rule, edge, delays)
            if stays is None:
                return StoreOutlook(f"{what} until nothing can change them")
            return _counted(what, stays, node, store, delays, rates)


def _held(
    analysis: Analysis, store: Store, delays: Mapping[Bound, Duration], rates: Rates
) -> StoreOutlook:
    what = "rows of the answer that are not final yet"
    if store.size in (Size.TABLE, Size.UNBOUNDED) or not isinstance(store.rule, ByTime):
        return StoreOutlook(what)
    node = passing_node(analysis.root)
    stays = _stays(store.rule, node.edge, delays)
    rate = _rate(node.relation, rates)
    return _amounted(what, stays, rate, _width(node.relation.schema))


def _boundless(store: Store, name: str) -> str:
    if store.size is Size.TABLE:
        return f"as much as {name} holds"
    return f"every row of {name}, for ever"


def _counted(
    what: str,
    stays: Duration | None,
    node: Node,
    store: Store,
    delays: Mapping[Bound, Duration],
    rates: Rates,
) -> StoreOutlook:
    source = node.relation.children[store.input] if node.inputs else node.relation
    columns = _stored_columns(node.relation, source)
    kept = _amounted(what, stays, _rate(source, rates), _width(columns))
    if node.emitted is None or kept.rows is None or kept.bytes is None:
        return kept
    segments = round(
        kept.rows * _SEGMENTS * min(1.0, _revised(node.emitted, delays) / (stays or 1))
    )
    room = kept.bytes + segments * _width(node.relation.schema)
    return StoreOutlook(f"{what}, and what was said of them,", stays, kept.rows + segments, room)


def _revised(rule: ByTime, delays: Mapping[Bound, Duration]) -> Duration:
    """How far back what was said may still be taken back."""
    cases = (
        min((_behind(part.value, delays) for part in case), default=INF) for case in rule.keep.cases
    )
    return max(0, *cases, 0)


def _amounted(what: str, stays: Duration | None, rate: float | None, width: int) -> StoreOutlook:
    if stays is None or rate is None:
        return StoreOutlook(what, stays)
    rows = round(stays / SECOND * rate)
    return StoreOutlook(what, stays, rows, rows * width)


def _stays(rule: ByTime, edge: Edge, delays: Mapping[Bound, Duration]) -> Duration | None:
    """How long a row is kept from its arrival on, at most, if its times say that."""

    def part(variable: Var, value: ProgressValue) -> Duration:
        ahead = min((edge.facts.dist(own, variable) for own in edge.bounds.variables), default=INF)
        behind = _behind(value, delays)
        return INF if INF in (ahead, behind) else max(0, ahead + behind)

    cases = [
        min((part(p.variable, p.value) for p in case), default=INF) for case in rule.keep.cases
    ]
    longest = max(cases, default=0)
    return None if longest >= INF else longest - longest % MILLISECOND


def _behind(value: ProgressValue, delays: Mapping[Bound, Duration]) -> Duration:
    """How far a value lies behind the newest rows of the sources.

    Progress is a microsecond less than what is promised: a row at that time may still come.
    """

    def step(node: ProgressValue, below: tuple[Duration, ...]) -> Duration:
        match cast(AnyValue, node):
            case Limit(instant):
                return NEG_INF if instant == INF else INF
            case Progress(of, by):
                return delays.get(of, 0) + 1 - by
            case Slowest():
                return max(below)
            case Fastest():
                return min(below)

    return fold(value, step)


def _rate(relation: Relation, rates: Rates) -> float | None:
    """The rows a second of a relation that is made of one source row by row."""
    if isinstance(relation, Stream | ChangingTable):
        known = {name.casefold(): rate for name, rate in rates.items()}
        return known.get(relation.declaration.name.casefold())
    if isinstance(relation, SameRows | Filter | Map | Window | Tumble | Hop | Cumulate):
        below = _rate(relation.input, rates)
        return None if below is None else below * _copies(relation)
    return None


def _copies(relation: Relation) -> int:
    """In how many windows a fact is."""
    if isinstance(relation, Hop):
        return -(-relation.size_us // relation.slide_us)
    if isinstance(relation, Cumulate):
        return -(-relation.size_us // relation.step_us)
    return 1


def _stored_columns(relation: Relation, source: Relation) -> Iterator[Column]:
    """The columns of an input that an operator keeps: an aggregate those that it reads."""
    if not isinstance(relation, Aggregate):
        yield from source.schema
        return
    read = [named.expression for named in relation.keys]
    for named in relation.calls:
        read += named.call.arguments
        read += [] if named.call.filter is None else [named.call.filter]
    yield from {ref.column: None for expression in read for ref in find(expression, Ref)}


def _width(columns: Iterable[Column]) -> int:
    return _ENDS_AND_SIGN + sum(map(_bytes, columns))


def _bytes(column: Column) -> int:
    match column.type:
        case BooleanType():
            return 1
        case IntegerType(bits=bits):
            return bits // 8
        case DateType():
            return 4
        case DoubleType() | TimestampType():
            return 8
        case _:
            return _TEXT


def _delays(plan: Relation) -> dict[Bound, Duration]:
    """How far behind its newest row the progress of each source is."""
    return {
        bound_of(source, promise.attribute): promise.delay_us
        for source in _sources(plan)
        for promise in source.promises
    }


def _sources(plan: Relation) -> tuple[Declaration, ...]:
    found = [stream.declaration for stream in find(plan, Stream)]
    tables = [table.declaration for table in find(plan, ChangingTable)]
    return tuple(dict.fromkeys([*found, *tables]))


def _sum(numbers: list[int | None]) -> int | None:
    return None if None in numbers else sum(cast(list[int], numbers))
