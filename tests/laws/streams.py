"""ISTREAM, DSTREAM and RSTREAM: what they say rebuilds the relation, and their definitions."""

from collections import Counter

from hypothesis import strategies as st

from ebbtide.algebra import (
    Dstream,
    Filter,
    IsNull,
    Istream,
    Literal,
    Map,
    Named,
    Not,
    Ref,
    Relation,
    Rstream,
    Unbounded,
    Window,
)
from ebbtide.core.change import Change, snapshot
from ebbtide.core.types import BOOLEAN
from ebbtide.core.values import Row
from ebbtide.reference import evaluate
from laws import Law
from laws.worlds import NOW, ROW, A, S, equation, worlds
from strategies import relations

BEFORE = -1  # every finite time of generated data comes after this instant
Changes = tuple[Change, ...]


def said(plan: Relation, data: Changes, now: int) -> Counter[Row]:
    """The facts that a plan has made up to now."""
    return snapshot(evaluate(plan, {"a": data}, now), 0)


def check_rebuild(case: tuple[int, Changes]) -> None:
    """The first snapshot, and all that came less all that went, is the snapshot now."""
    now, data = case
    came, went = said(Istream(A), data, now), said(Dstream(A), data, now)
    rows = snapshot(data, BEFORE)
    for t in range(BEFORE + 1, now + 1):
        rows.update(Counter({row[:-1]: n for row, n in came.items() if row[-1] == t}))
        rows.subtract(Counter({row[:-1]: n for row, n in went.items() if row[-1] == t}))
        assert +rows == rows, t
        assert +rows == snapshot(data, t), t


def check_definitions(case: tuple[int, Changes]) -> None:
    now, data = case
    came, went = Counter(), Counter()
    for t in range(BEFORE + 1, now + 1):
        here, before = snapshot(data, t), snapshot(data, t - 1)
        came.update({(*row, t): n for row, n in (here - before).items()})
        went.update({(*row, t): n for row, n in (before - here).items()})
    assert said(Istream(A), data, now) == came
    assert said(Dstream(A), data, now) == went


def check_samples(case: tuple[int, int, Changes]) -> None:
    now, every, data = case
    turns = [t for change in evaluate(A, {"a": data}) for t in (change.valid_from, change.valid_to)]
    first = min((t for t in turns if abs(t) < 1000), default=None)
    expected: Counter[Row] = Counter()
    for t in range(0, now + 1):
        if first is not None and t >= first and t % every == 0:
            expected.update({(*row, t): n for row, n in snapshot(data, t).items()})
    assert said(Rstream(A, every), data, now) == expected


def check_now_only_grows(case: tuple[int, int, Changes]) -> None:
    """Facts that were made stay made: only later ones are added."""
    now, later, data = case
    for plan in (Istream(A), Dstream(A), Rstream(A, 7)):
        early, late = said(plan, data, now), said(plan, data, now + later)
        assert early <= late
        assert all(row[-1] > now for row in late - early)


def check_a_window_stands_on_what_came(case: tuple[int, Changes]) -> None:
    """What has come since the first instant, less what has gone since, as windows."""
    _, data = case
    came = evaluate(Window(Istream(A), Unbounded(), on="instant"), {"a": data}, NOW)
    went = evaluate(Window(Dstream(A), Unbounded(), on="instant"), {"a": data}, NOW)
    for t in range(BEFORE + 1, NOW + 1):
        rows = snapshot(data, BEFORE)
        for row, n in snapshot(came, t).items():
            rows[row[:-1]] += n
        for row, n in snapshot(went, t).items():
            rows[row[:-1]] -= n
        assert +rows == snapshot(data, t), t


def stamped() -> Relation:
    """Every fact that has a time, with its time once more."""
    timed = Filter(S, Not(IsNull(S.ref("at"))))
    kept = [Named(column.name, Ref(column)) for column in S.schema]
    return Map(timed, (*kept, Named("instant", S.ref("at"))))


DATA = relations(ROW)
TIMES = st.integers(0, 45)

LAWS = [
    Law("ISTREAM and DSTREAM rebuild the relation", st.tuples(TIMES, DATA), check_rebuild, 0.5),
    Law(
        "ISTREAM and DSTREAM are differences of neighbouring snapshots",
        st.tuples(TIMES, DATA),
        check_definitions,
        0.5,
    ),
    Law(
        "RSTREAM samples the relation",
        st.tuples(TIMES, st.integers(1, 9), DATA),
        check_samples,
        0.5,
    ),
    Law(
        "what was said stays said as now moves on",
        st.tuples(TIMES, st.integers(0, 9), DATA),
        check_now_only_grows,
        0.5,
    ),
    Law(
        "windows on ISTREAM and DSTREAM rebuild the relation",
        st.tuples(TIMES, DATA),
        check_a_window_stands_on_what_came,
        0.25,
    ),
    equation(
        "ISTREAM of an unbounded window says each fact at its time",
        lambda w: (Istream(Window(S, Unbounded(), on="at")), stamped()),
        worlds("", "s"),
    ),
    equation(
        "DSTREAM of an unbounded window says nothing",
        lambda w: (
            Dstream(Window(S, Unbounded(), on="at")),
            Filter(Istream(Window(S, Unbounded(), on="at")), Literal(False, BOOLEAN)),
        ),
        worlds("", "s"),
    ),
]
