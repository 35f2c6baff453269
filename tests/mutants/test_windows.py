"""Wrong windows on purpose: off by one, forgetting to slide, partitions, touching sessions."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from ebbtide.algebra import Cumulate, Fixed, Hop, Range, Rows, Session
from ebbtide.core.interval import Interval
from laws.mutation import Function, Mutant, assert_noticed, pairs

DEFINED = "every window shows at every instant what its definition says"
BY_ROWS = "a row window shows the last rows of each partition at every instant"
ALL_WINDOWS = "TUMBLE, HOP and CUMULATE give all windows that hold a fact"


def shown(
    of: type, change: Callable[[Any, int, Interval], Interval]
) -> Callable[[Function], Function]:
    """A window of a form that shows a fact over another interval."""

    def wrong(original: Function) -> Function:
        def run(spec: Any, ts: int) -> Interval | None:
            right = original(spec, ts)
            return change(spec, ts, right) if isinstance(spec, of) and right else right

        return run

    return wrong


def by_rows(change: Callable[[Rows], Rows]) -> Callable[[Function], Function]:
    """A row window by another specification."""
    return lambda original: lambda node, spec, *rest: original(node, change(spec), *rest)


def without_last(of: type) -> Callable[[Function], Function]:
    """One window of a fact left out."""
    return lambda original: (
        lambda node, ts: list(original(node, ts))[: -1 if isinstance(node, of) else None]
    )


def sessions_apart(original: Function) -> Function:
    """Touching sessions stay apart: with all times doubled, a gap that is one tick too short."""

    def run(node: Session, facts: Counter, time: int) -> Counter:
        doubled = Counter({_at(row, time, 2 * row[time]): n for row, n in facts.items()})
        result: Counter = Counter()
        for row, n in original(replace(node, gap_us=2 * node.gap_us - 1), doubled, time).items():
            *fact, start, end = row
            halved = _at(tuple(fact), time, fact[time] // 2)
            result[(*halved, start // 2, (end + 1) // 2)] += n
        return result

    return run


def _at(row: tuple, time: int, ts: int) -> tuple:
    return (*row[:time], ts, *row[time + 1 :])


MUTANTS = [
    Mutant(
        "[RANGE d] ends a tick late",
        "windows.shown_over",
        shown(Range, lambda spec, ts, right: Interval(right.valid_from, right.valid_to + 1)),
        (DEFINED, "(9) a sliding window subtracts what it has left behind", "[NOW] is [RANGE 1]"),
    ),
    Mutant(
        "[RANGE d] begins a tick late",
        "windows.shown_over",
        shown(Range, lambda spec, ts, right: Interval(right.valid_from + 1, right.valid_to + 1)),
        (DEFINED, "(9) a sliding window subtracts what it has left behind"),
    ),
    Mutant(
        "[RANGE d SLIDE s] forgets to slide",
        "windows.shown_over",
        shown(Range, lambda spec, ts, right: Interval(ts, ts + spec.size_us)),
        (DEFINED,),
    ),
    Mutant(
        "[FIXED d] lasts its whole length",
        "windows.shown_over",
        shown(Fixed, lambda spec, ts, right: Interval(ts, ts + spec.size_us)),
        (DEFINED, "(10) a fixed window subtracts what was there before its section"),
    ),
    Mutant(
        "[ROWS n] shows one row more",
        "windows._row_windows",
        by_rows(lambda spec: replace(spec, count=spec.count + 1)),
        (BY_ROWS,),
    ),
    Mutant(
        "[ROWS n] shows one row less",
        "windows._row_windows",
        by_rows(lambda spec: replace(spec, count=max(1, spec.count - 1))),
        (BY_ROWS,),
    ),
    Mutant(
        "[ROWS n SLIDE m] forgets to slide",
        "windows._row_windows",
        by_rows(lambda spec: replace(spec, slide=None)),
        (BY_ROWS,),
    ),
    Mutant(
        "[PARTITION BY k ROWS n] forgets its partitions",
        "windows._row_windows",
        by_rows(lambda spec: replace(spec, partition_by=())),
        (BY_ROWS, "a group of a partitioned row window is the row window of the group"),
    ),
    Mutant(
        "touching sessions stay apart",
        "windows._sessions",
        sessions_apart,
        ("a session is what touches",),
    ),
    Mutant(
        "HOP leaves out the earliest window",
        "windows._windows_of",
        without_last(Hop),
        (ALL_WINDOWS, "HOP by its size is TUMBLE"),
    ),
    Mutant(
        "CUMULATE leaves out the whole section",
        "windows._windows_of",
        without_last(Cumulate),
        (ALL_WINDOWS, "CUMULATE in one step is TUMBLE"),
    ),
]


@pairs(MUTANTS)
def test_the_law_notices(mutant: Mutant, law: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_noticed(mutant, law, monkeypatch)
