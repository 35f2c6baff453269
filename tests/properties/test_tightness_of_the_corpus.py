"""The window and band-join queries of the corpus keep a row no more than a step too long.

For each stored row, brute force finds the last row that could still meet it, by asking the
reference about the operator; the rule may keep it until the horizon has come there, and at most
one step of the query's grid longer.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from itertools import chain

from corpus import NEXMARK_SCRIPT, statements
from ebbtide.algebra.combination import (
    Difference,
    Intersection,
    Join,
    MaxUnion,
    Product,
    StrictDifference,
)
from ebbtide.algebra.expression import CeilTo, FloorTo
from ebbtide.algebra.ranking import TopN
from ebbtide.algebra.relation import Aggregate, Distinct, Stream
from ebbtide.algebra.window import Cumulate, Hop, Range, Tumble
from ebbtide.analysis import Size, analyse
from ebbtide.analysis.analysis import Node
from ebbtide.analysis.formula.progress import Bound
from ebbtide.analysis.keep_rules import ByTime
from ebbtide.analysis.stores import Store
from ebbtide.core.change import Change, consolidate, fact
from ebbtide.core.time import DAY, HOUR, INF, MINUTE, SECOND
from ebbtide.core.tree import find
from ebbtide.core.types import DecimalType, DoubleType, IntegerType, StringType, TimestampType
from ebbtide.optimizer import prepared
from ebbtide.reference import apply, evaluate
from ebbtide.sql import parse
from ebbtide.sql.binder import bind
from ebbtide.sql.bound import BoundQuery, Declared
from ebbtide.sql.catalog import Catalog

JUDGED = (
    Aggregate, Distinct, TopN, Join, Product,
    Difference, StrictDifference, Intersection, MaxUnion,
)  # fmt: skip
START = 1000 * DAY
NEAR = [0, *(sign * d for d in (1, SECOND, MINUTE, HOUR) for sign in (1, -1))]
FAR = 40 * DAY


@dataclass(frozen=True)
class Case:
    """A store of a query, whose inputs are made row by row from streams."""

    sql: str
    node: Node
    store: Store

    @property
    def step(self) -> int:
        """The longest step of a grid in the query below the store, at least a tick."""
        return max(steps(self.node.relation), default=1)


SCRIPTS = [
    ("schema.sql", "statements.sql"),
    ("papers.sql",),
    ("plain.sql",),
    NEXMARK_SCRIPT,
]


def cases() -> Iterator[Case]:
    """The stores of windows and bands in the corpus."""
    for script in SCRIPTS:
        catalog = Catalog()
        for text in statements(*script):
            match bind(parse(text)[0], catalog):
                case Declared(catalog=later):
                    catalog = later
                case BoundQuery() as query:
                    yield from cases_of(text, query)
                case _:
                    pass


def cases_of(text: str, query: BoundQuery) -> Iterator[Case]:
    """The stores of a query."""
    for node in analyse(prepared(query.plan, query.on_error).plan, query.emit).nodes():
        if isinstance(node.relation, JUDGED) and all(map(is_linear, node.inputs)):
            yield from (Case(text, node, store) for store in node.stores if is_bounded(store))


def is_bounded(store: Store) -> bool:
    """Whether rows are kept, as many as come in a window."""
    return store.size is Size.WINDOW and not store.instead


def is_linear(node: Node) -> bool:
    """Whether a node's rows are made one by one from those of one stream."""
    streams = list(find(node.relation, Stream))
    # What the admission of a stream with a key stores is no part of this.
    above = (below for below in node.walk() if below.inputs)
    return len(streams) == 1 and not any(below.stores or below.kept for below in above)


def steps(value: object) -> Iterator[int]:
    """The steps of all grids in a plan."""
    match value:
        case Tumble(size_us=step) | Hop(slide_us=step) | Cumulate(size_us=step):
            yield step
        case Range(slide_us=int(step)):
            yield step
        case FloorTo(grid_us=step) | CeilTo(grid_us=step):
            yield step
        case _:
            pass
    if isinstance(value, tuple):
        yield from chain.from_iterable(map(steps, value))
    elif is_dataclass(value):
        for field in fields(value):
            yield from steps(getattr(value, field.name))


def made(node: Node, at: int) -> tuple[Change, ...]:
    """What an input makes of a row of its stream, all of whose times are ``at``."""
    (stream,) = find(node.relation, Stream)
    values = {IntegerType: 1, DoubleType: 200.0, StringType: "a", TimestampType: at}
    row = tuple(
        None if isinstance(c.type, DecimalType) else values.get(type(c.type)) for c in stream.schema
    )
    return evaluate(node.relation, {stream.declaration.name: [fact(row)]})


def meets(case: Case, stored: Change, other: int, at: int) -> bool:
    """Whether a row that comes to an input matters to the operator more because of a stored one."""
    nothing: list[tuple[Change, ...]] = [()] * len(case.node.inputs)
    new = made(case.node.inputs[other], at)

    def output(with_stored: bool, with_new: bool) -> tuple[Change, ...]:
        inputs = list(nothing)
        if with_stored:
            inputs[case.store.input] += (stored,)
        if with_new:
            inputs[other] += new
        return apply(case.node.relation, tuple(map(consolidate, inputs)), INF)

    both = output(True, True) + output(False, False)
    alone = output(True, False) + output(False, True)
    return consolidate(both) != consolidate(alone)


def last(holds, low: int, high: int) -> int:
    """The last instant from ``low`` on, where it holds, to ``high``, where it does not."""
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def needed_until(case: Case, stored: Change, at: int) -> int | None:
    """The last progress of all streams at which a row that may come meets a stored one."""
    found = []
    for other, source in enumerate(case.node.inputs):
        (stream,) = find(source.relation, Stream)
        near = [at + d for d in NEAR if meets(case, stored, other, at + d)]
        if near:
            latest = last(lambda t: meets(case, stored, other, t), max(near), at + FAR)  # noqa: B023
            found.append(latest + stream.declaration.retain_us - 1)
    return max(found, default=None)


def kept_until(case: Case, stored: Change, at: int) -> int:
    """The last progress of all streams at which the rule keeps a stored row."""
    rule = case.store.rule
    assert isinstance(rule, ByTime)
    bounds = [
        Bound(stream.declaration.name, promise.attribute)
        for stream in find(case.node.relation, Stream)
        for promise in stream.declaration.promises
    ]
    return last(lambda p: rule.keeps(stored, dict.fromkeys(bounds, p)), at - FAR, at + FAR)


def test_a_row_is_kept_for_a_step_of_the_grid_at_most_too_long() -> None:
    judged = set()
    for case in cases():
        for at in (START, START + 17 * SECOND + 3):
            for stored in made(case.node.inputs[case.store.input], at)[:1]:
                needed = needed_until(case, stored, at)
                if needed is None:
                    continue
                late = kept_until(case, stored, at) - needed
                assert 0 <= late < case.step, (case.sql, str(case.store.rule), late)
                judged.add((case.sql, case.store))
    assert len(judged) >= 60, len(judged)
