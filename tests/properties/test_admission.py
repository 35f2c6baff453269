"""Admission: what is accepted depends on the arrivals and not on their order; nothing is lost; and
what lies below the horizon stays as it is."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from ebbtide.core.admission import Admission, Arrival, Op, Step, admit, begin, replay
from ebbtide.core.change import consolidate, is_relation, until
from ebbtide.core.declaration import (
    Declaration,
    Late,
    Promise,
    StreamDeclaration,
    TableDeclaration,
)
from ebbtide.core.schema import schema

LAST = 20
lates = st.sampled_from(Late)


@dataclass(frozen=True)
class Kind:
    """A kind of input: its operations, and how it is declared."""

    ops: tuple[Op, ...]
    table: bool
    key: tuple[str, ...]

    def declaration(
        self, delay_us: int, retain_us: int, late: Late, life: int | None
    ) -> Declaration:
        promises = (Promise("at", delay_us),)
        if self.table:
            return TableDeclaration(
                "t",
                schema(id="BIGINT", at="TIMESTAMP", seq="BIGINT", v="BIGINT"),
                self.key,
                time="at",
                sequence="seq",
                lifetime_us=life,
                promises=promises,
                retain_us=retain_us,
                late=late,
            )
        return StreamDeclaration(
            "s",
            schema(id="BIGINT", at="TIMESTAMP", seq="BIGINT", v="BIGINT"),
            self.key,
            promises,
            retain_us,
            late,
            append_only=False,
        )


TABLE = Kind((Op.UPSERT, Op.UPSERT, Op.END, Op.DELETE, Op.REPLACE), True, ("id",))
STREAM = Kind((Op.INSERT, Op.INSERT, Op.DELETE, Op.REPLACE), False, ("id", "at"))
STREAM_WITHOUT_TIME_IN_KEY = Kind(STREAM.ops, False, ("id",))
kinds = st.sampled_from([TABLE, STREAM, STREAM_WITHOUT_TIME_IN_KEY])


@st.composite
def operations(
    draw: st.DrawFn, kind: Kind, times: st.SearchStrategy[int]
) -> tuple[Op, tuple[int, ...]]:
    row = draw(st.tuples(st.integers(1, 2), times, st.integers(0, 1), st.integers(0, 3)))
    return draw(st.sampled_from(kind.ops)), row


@st.composite
def arrivals(draw: st.DrawFn, kind: Kind) -> list[Arrival]:
    rows = draw(st.lists(operations(kind, st.integers(0, LAST)), max_size=9))
    return [Arrival(op, row, offset) for offset, (op, row) in enumerate(rows)]


@st.composite
def cut(draw: st.DrawFn, rows: Sequence[Arrival]) -> list[Step]:
    """The rows in this order, cut into steps, empty ones among them."""
    places = sorted(draw(st.lists(st.integers(0, len(rows)), max_size=5)))
    bounds = [0, *places, len(rows)]
    return [Step(tuple(rows[a:b])) for a, b in pairwise(bounds)]


def standing(state: Admission) -> tuple[object, ...]:
    return (state.accepted, state.contributing, state.pending, state.unused)


def accounted(state: Admission) -> list[int]:
    lists = [state.contributing, state.pending, [row.arrival for row in state.unused]]
    return sorted(arrival.offset for rows in lists for arrival in rows)


def below(state: Admission, horizon: int) -> tuple[object, ...]:
    """What a state says at and below a horizon."""
    if isinstance(state.declaration, TableDeclaration):
        return consolidate(until(state.accepted, horizon))
    return tuple(change for change in state.accepted if change.row[1] <= horizon)


@given(st.data(), kinds, st.none() | st.integers(1, LAST))
def test_any_order_and_any_cut_give_the_same_where_nothing_is_late(
    data: st.DataObject, kind: Kind, life: int | None
) -> None:
    declaration = kind.declaration(LAST, LAST, Late.REVISE, life)
    rows = data.draw(arrivals(kind))
    straight = replay(declaration, [Step(tuple(rows))])
    shuffled = replay(declaration, data.draw(cut(data.draw(st.permutations(rows)))))
    assert standing(straight) == standing(shuffled)


@given(st.data(), st.sampled_from([TABLE, STREAM]), st.integers(0, 8), st.integers(0, LAST), lates)
def test_any_order_within_the_promise_gives_the_same(
    data: st.DataObject, kind: Kind, delay: int, retain: int, late: Late
) -> None:
    life = data.draw(st.none() | st.integers(1, LAST))
    declaration = kind.declaration(delay, retain, late, life)
    rows = data.draw(arrivals(kind))

    def on_time() -> list[Step]:
        waits = data.draw(st.lists(st.integers(0, delay), min_size=len(rows), max_size=len(rows)))
        order = sorted(rows, key=lambda arrival: arrival.row[1] + waits[arrival.offset])
        return data.draw(cut(order))

    assert standing(replay(declaration, on_time())) == standing(replay(declaration, on_time()))


@st.composite
def near(draw: st.DrawFn, kind: Kind, state: Admission, seen: int) -> Step:
    """A step of rows around the horizon, where what is accepted and what is not meet."""
    horizon = max(0, state.frontier["at"].horizon)
    rows = draw(st.lists(operations(kind, st.integers(horizon, horizon + 9)), max_size=4))
    return Step(tuple(Arrival(op, row, seen + n) for n, (op, row) in enumerate(rows)))


@given(st.data(), kinds, st.integers(0, 3), st.integers(0, 6), lates)
def test_every_step_accounts_for_every_arrival_and_leaves_what_is_below_the_horizon(
    data: st.DataObject, kind: Kind, delay: int, retain: int, late: Late
) -> None:
    life = data.draw(st.none() | st.integers(1, 9))
    state = begin(kind.declaration(delay, retain, late, life))
    seen = 0
    for _ in range(data.draw(st.integers(1, 5))):
        horizon = state.frontier["at"].horizon
        step = data.draw(near(kind, state, seen))
        after = admit(state, step)
        seen += len(step.arrivals)
        assert accounted(after) == list(range(seen))
        assert is_relation(after.accepted)
        assert below(after, horizon) == below(state, horizon)
        state = after


@given(st.data(), kinds, st.integers(0, 6), st.integers(0, LAST + 9))
def test_the_passing_of_time_alone_changes_nothing_that_is_accepted(
    data: st.DataObject, kind: Kind, retain: int, advance: int
) -> None:
    state = replay(
        kind.declaration(LAST, retain, Late.REVISE, None),
        data.draw(cut(data.draw(arrivals(kind)))),
    )
    assert admit(state, Step(advance=advance)).accepted == state.accepted
