"""Mistakes in kernels: joins, partners, aggregates, ranks, windows, streams, sets.

Each is told from the kernel as it is by a scenario that runs through the whole engine.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tests.mistakes import Mistake, always, assert_noticed, given, mistakes, turned
from tests.scenarios import FINE, MERGED

from ebbtide.core.time import INF
from ebbtide.kernels.condition import Side
from ebbtide.kernels.operators.join import product
from ebbtide.kernels.sweeps.counting import Rule
from ebbtide.state.area import Found
from ebbtide.state.batch import DIFF, FROM, TO, cancel, where, with_times
from ebbtide.state.columns import ints


def pairs_from_the_first(original: Any) -> Any:
    """A pair that begins with the first of its rows."""

    def common(left: Any, right: Any, *times: Any) -> Any:
        _, valid_to, diff = original(left, right, *times)
        valid_from = np.minimum(times[0][left], times[3][right])
        return valid_from, np.maximum(valid_to, valid_from), diff

    return common


def pairs_by_the_left(original: Any) -> Any:
    """A pair that counts as often as its left row."""

    def common(left: Any, right: Any, *times: Any) -> Any:
        valid_from, valid_to, _ = original(left, right, *times)
        return valid_from, valid_to, times[2][left]

    return common


def one_way(condition: Any, left: Side, right: Side) -> Any:
    """Pairs of what is new on the left alone."""
    return cancel(product(condition, left.new, right.all))


def new_pairs_twice(condition: Any, left: Side, right: Side) -> Any:
    """Pairs of two new rows, counted from both sides."""
    parts = [product(condition, left.new, right.all), product(condition, left.all, right.new)]
    return cancel(pa.concat_tables(parts))


def none_of(found: Found) -> Found:
    """Nothing of what was found."""
    return Found(found.changes.slice(0, 0), found.hashes[:0])


def comers(side: Side) -> Side:
    """A side on which nothing new ever leaves."""
    mask = ints(side.new.changes, DIFF) > 0
    return Side(Found(where(side.new.changes, mask), side.new.hashes[mask]), side.before)


def later(since: int = 0, until: int = 0) -> Any:
    """Stretches with other ends."""
    return turned(lambda found: (found[0], found[1] + since, found[2] + until))


def still(place: int) -> Any:
    """Nothing happens by time alone."""

    def stopped(*old: Any) -> Any:
        return [
            replace(value, before=value.now) if index == place else value
            for index, value in enumerate(old)
        ]

    return given(stopped)


def no_earlier_than(original: Any) -> Any:
    """Late changes are looked at from ``before`` on only."""

    def touched(inputs: Any, areas: Any, output: Any, times: Any, **rest: Any) -> Any:
        found = original(inputs, areas, output, times, **rest)
        return replace(found, since=np.maximum(found.since, times.before + 1))

    return touched


def short_lived(original: Any) -> Any:
    """What is stored ends a tick early."""

    def settled(area: Any, changes: Any, *rest: Any) -> Any:
        starts, ends, diff = (ints(changes, name) for name in (FROM, TO, DIFF))
        return original(area, with_times(changes, starts, ends - 1, diff), *rest)

    return settled


JOINS = [
    Mistake(
        "the farthest partner is taken for the nearest",
        "kernels.operators.asof_join:AsofJoin._ranks",
        turned(lambda ranks: -ranks),
        "asof join",
    ),
    Mistake(
        "a nearer row that comes later changes nothing",
        "kernels.operators.asof_join:AsofJoin._changed",
        lambda original: (
            lambda self, left, right: original(self, Side(left.new, none_of(left.before)), right)
        ),
        "asof join of facts",
    ),
    Mistake(
        "a right row that has gone is still a partner",
        "kernels.operators.asof_join:_swept",
        given(lambda *old: (*old[:5], np.full_like(old[5], INF))),
        "asof join",
    ),
    Mistake("NULL joins NULL", "kernels.condition:with_key", always(None), "full join"),
    Mistake(
        "a pair ends a tick late",
        "kernels.operators.join:_common",
        turned(lambda found: (found[0], found[1] + 1, found[2])),
        "join",
    ),
    Mistake(
        "a pair begins with its first row",
        "kernels.operators.join:_common",
        pairs_from_the_first,
        "join",
    ),
    Mistake(
        "a pair counts by its left row alone",
        "kernels.operators.join:_common",
        pairs_by_the_left,
        "join with versions",
    ),
    Mistake(
        "new rows do not meet each other",
        "kernels.condition:Side.all",
        lambda original: lambda self: self.before,
        "join",
        (MERGED,),
    ),
    Mistake(
        "new rows of the right meet no stored ones",
        "kernels.operators.join:paired",
        lambda original: one_way,
        "join",
    ),
    Mistake(
        "new rows meet each other twice",
        "kernels.operators.join:paired",
        lambda original: new_pairs_twice,
        "join",
        (MERGED,),
    ),
    Mistake(
        "partners are not asked for the last tick",
        "kernels.condition:stretches",
        later(until=-1),
        "full join",
    ),
    Mistake(
        "partners are not asked for the first tick",
        "kernels.condition:stretches",
        later(since=1),
        "join",
    ),
    Mistake(
        "what is unknown of a pair holds",
        "kernels.condition:_truth",
        given(lambda values: [values.fill_null(True)]),
        "semi join",
        (FINE, MERGED),
    ),
    Mistake(
        "a pair is asked for its keys alone",
        "kernels.condition:Condition.pairs",
        given(lambda self, *sides: [replace(self, residual=None), *sides]),
        "semi join",
    ),
    Mistake(
        "a partner that leaves the semi join is overlooked",
        "kernels.operators.semi_join:changed",
        given(lambda condition, mine, other: [condition, mine, comers(other)]),
        "semi join",
        seed=1,
    ),
    Mistake(
        "a partner that leaves the left join is overlooked",
        "kernels.operators.outer_join:changed",
        given(lambda condition, mine, other: [condition, mine, comers(other)]),
        "left join",
    ),
    Mistake(
        "a late partner covers no stored row",
        "kernels.operators.anti_join:changed",
        given(
            lambda condition, mine, other: [condition, Side(mine.new, none_of(mine.before)), other]
        ),
        "anti join",
    ),
    Mistake(
        "the anti join is asked for the other rows",
        "kernels.operators.anti_join:changed",
        lambda original: lambda *sides, partnered: original(*sides, partnered=not partnered),
        "anti join",
    ),
    Mistake(
        "a row without a key is in no anti join",
        "kernels.operators.anti_join:keyless",
        turned(lambda rows: rows.slice(0, 0)),
        "anti join",
    ),
    Mistake(
        "a row without a key is in no outer join",
        "kernels.operators.outer_join:keyless",
        turned(lambda rows: rows.slice(0, 0)),
        "left join",
    ),
    Mistake(
        "the other side of an outer join is kept",
        "kernels.operators.outer_join:OuterJoin._alone",
        given(
            lambda self, *rest: [
                replace(self, keeps_left=self.keeps_right, keeps_right=self.keeps_left),
                *rest,
            ]
        ),
        "left join",
    ),
    Mistake(
        "one side's changes alone find the partners of kept rows",
        "kernels.operators.outer_join:partners",
        given(lambda area, *changes: [area, changes[-1]]),
        "full join",
    ),
    Mistake(
        "the pairs of an outer join are forgotten",
        "kernels.operators.outer_join:paired",
        turned(lambda pairs: pairs.slice(0, 0)),
        "full join",
    ),
]

AGGREGATES = [
    Mistake(
        "what is taken back is added",
        "kernels.sweeps.region:TouchedRows.spans",
        turned(lambda spans: spans._replace(diff=np.abs(spans.diff))),
        "sum of all",
    ),
    Mistake(
        "accumulators stay when rows expire",
        "kernels.aggregates.incremental:touched_rows",
        still(3),
        "sums",
    ),
    Mistake(
        "accumulators are not led back for late rows",
        "kernels.aggregates.incremental:region_of",
        turned(lambda region: region._replace(since=region.since + 1)),
        "sums",
    ),
    Mistake(
        "an extreme that is taken back stays",
        "kernels.aggregates.incremental:is_unclear",
        turned(np.zeros_like),
        "extremes",
    ),
    Mistake(
        "heirs never end",
        "kernels.aggregates.incremental:from_heirs",
        turned(
            lambda found: found._replace(
                spans=found.spans._replace(ends=np.full_like(found.spans.ends, INF))
            )
        ),
        "extremes",
    ),
    Mistake(
        "there are no heirs",
        "kernels.aggregates.incremental:extreme",
        turned(lambda found: (found[0], found[1].chosen(slice(0, 0)))),
        "extremes",
    ),
    Mistake(
        "MIN is MAX",
        "kernels.aggregates.incremental:extreme",
        given(lambda call, *rest: [replace(call, function="MAX"), *rest]),
        "extremes",
    ),
    Mistake(
        "NULLs are counted",
        "kernels.aggregates.call:Call.keeps_nulls",
        lambda original: lambda self: True,
        "median",
        seed=5,
    ),
    Mistake(
        "FIRST skips NULLs",
        "kernels.aggregates.call:KEEPS_NULLS",
        lambda original: frozenset(),
        "first and last",
    ),
    Mistake(
        "FIRST is the last",
        "kernels.aggregates.choice:order",
        turned(np.invert),
        "first and last",
    ),
    Mistake(
        "there is no group of nothing",
        "kernels.aggregates.incremental:touched_rows",
        given(lambda *old: [*old[:-1], False]),
        "sum of all",
    ),
    Mistake(
        "a median is looked at only when rows come",
        "kernels.aggregates.rescan:touched",
        still(3),
        "median",
    ),
    Mistake(
        "a median is not revised by late rows",
        "kernels.aggregates.rescan:touched",
        no_earlier_than,
        "median",
    ),
    Mistake(
        "of rows that never end the best of one call is kept",
        "kernels.aggregates.choice:BestRows.__call__",
        given(lambda self, *rest: [replace(self, calls=self.calls[:1]), *rest]),
        "best for ever",
        seed=1,
    ),
]

RANKS = [
    Mistake(
        "ties are broken by arrival",
        "kernels.operators.top_n:in_order",
        given(lambda table, words, columns: [table, words, range(0)]),
        "top",
    ),
    Mistake(
        "OFFSET is ignored",
        "kernels.operators.top_n:TopN.listed",
        given(lambda self, *rest: [replace(self, offset=0), *rest]),
        "top",
    ),
    Mistake(
        "LIMIT is one more",
        "kernels.operators.top_n:TopN.listed",
        given(lambda self, *rest: [replace(self, count=self.count + 1), *rest]),
        "top",
    ),
    Mistake(
        "a row that leaves lets none move up",
        "kernels.sweeps.rederivation:touched",
        still(3),
        "top",
    ),
    Mistake(
        "LAG looks ahead",
        "kernels.operators.over:_neighbours",
        given(lambda call, *rest: [replace(call, distance=-call.distance), *rest]),
        "over",
    ),
    Mistake(
        "a frame is a row longer",
        "kernels.operators.over:Over._framed",
        turned(
            lambda frame: replace(frame, start=None if frame.start is None else frame.start - 1)
        ),
        "over",
    ),
    Mistake(
        "neighbours of a change are not looked at",
        "kernels.operators.over:Over._reach",
        turned(lambda reach: reach._replace(before=0, after=0)),
        "over",
    ),
    Mistake(
        "numbers reach no further than what is looked at",
        "kernels.operators.over:Over._reach",
        turned(lambda reach: reach._replace(before=reach.seen)),
        "rank",
        seed=1,
    ),
    Mistake(
        "RANK is ROW_NUMBER",
        "kernels.operators.over:_numbers",
        lambda original: lambda ranking, numbers: numbers.rows + 1,
        "rank",
    ),
]

WINDOWS = [
    Mistake(
        "a row window has a row more",
        "kernels.windows.row_window:Rows._shown",
        given(lambda self, *rest: [replace(self, count=self.count + 1), *rest]),
        "rows",
    ),
    Mistake(
        "a row window forgets to slide",
        "kernels.windows.row_window:Rows._shown",
        given(lambda self, *rest: [replace(self, slide=1), *rest]),
        "rows by key",
    ),
    Mistake(
        "a row window reads only what is done with later",
        "kernels.windows.row_window:stretches",
        later(since=4),
        "rows",
    ),
    Mistake(
        "a slide of rows is done with early",
        "kernels.windows.row_window:settled",
        short_lived,
        "rows by key",
    ),
    Mistake(
        "a session is not found by a fact before its start",
        "kernels.windows.session:stretches",
        later(until=-3),
        "session",
        seed=2,
    ),
    Mistake(
        "a session is not found by a fact that touches its end",
        "kernels.windows.session:settled",
        short_lived,
        "session",
    ),
    Mistake(
        "sessions of all partitions are one",
        "kernels.windows.session:Session._sessions",
        given(
            lambda self, found, copies: [
                self,
                replace(found, partitions=np.zeros_like(found.partitions)),
                copies,
            ]
        ),
        "session",
    ),
    Mistake(
        "sections begin a tick late",
        "compile.pipe:window_start",
        given(lambda time, size, offset, back: [time, size, offset + 1, back]),
        "in windows",
    ),
    Mistake(
        "HOP leaves out the earliest window",
        "compile.pipe:windows",
        turned(lambda count: count - 1),
        "hop",
    ),
    Mistake(
        "HOP of many windows leaves out the earliest",
        "kernels.windows.hop:Hop.changes",
        given(lambda self, changes: [replace(self, size_us=self.size_us - 2), changes]),
        "hop of many",
    ),
    Mistake(
        "CUMULATE has only whole sections",
        "kernels.windows.cumulate:Cumulate.changes",
        given(lambda self, changes: [replace(self, step_us=self.size_us), changes]),
        "cumulate",
    ),
]

STREAMS = [
    Mistake(
        "ISTREAM says what went",
        "kernels.operators.istream:turned",
        lambda original: lambda *rest, sign: original(*rest, sign=-sign),
        "istream",
    ),
    Mistake(
        "DSTREAM says what came",
        "kernels.operators.dstream:turned",
        lambda original: lambda *rest, sign: original(*rest, sign=-sign),
        "dstream",
    ),
    Mistake(
        "what was said is not taken back",
        "kernels.sweeps.appearances:_facts",
        given(lambda stored, *rest: [(stored[0], none_of(stored[1])), *rest]),
        "istream",
    ),
    Mistake(
        "what happens now is said a tick later",
        "kernels.sweeps.appearances:_facts",
        given(
            lambda stored, new, times, sign: [stored, new, replace(times, now=times.now - 1), sign]
        ),
        "istream",
    ),
    Mistake(
        "RSTREAM shows now a step later",
        "kernels.operators.rstream:_stretch",
        given(lambda first, now: [first, now - 1]),
        "rstream",
    ),
    Mistake(
        "RSTREAM has another grid",
        "kernels.operators.rstream:Rstream._read",
        given(lambda self, *rest: [replace(self, every_us=self.every_us + 1), *rest]),
        "rstream",
    ),
]

SETS = [
    Mistake(
        "EXCEPT ALL takes away all copies",
        "kernels.operators.difference:count_step",
        given(lambda rule, *rest: [Rule.STRICT_DIFFERENCE, *rest]),
        "except all",
    ),
    Mistake(
        "EXCEPT takes away copy by copy",
        "kernels.operators.strict_difference:count_step",
        given(lambda rule, *rest: [Rule.DIFFERENCE, *rest]),
        "except",
    ),
    Mistake(
        "INTERSECT ALL has every row once",
        "kernels.operators.intersection:count_step",
        given(lambda rule, *rest: [Rule.STRICT_INTERSECTION, *rest]),
        "intersect all",
    ),
    Mistake(
        "INTERSECT counts copies",
        "kernels.operators.intersection:count_step",
        given(lambda rule, *rest: [Rule.INTERSECTION, *rest]),
        "intersect",
    ),
    Mistake(
        "UNION MAX has what is in both",
        "kernels.operators.max_union:count_step",
        given(lambda rule, *rest: [Rule.INTERSECTION, *rest]),
        "max",
    ),
    Mistake(
        "DISTINCT does not see copies end",
        "kernels.sweeps.counting:touched",
        still(3),
        "distinct",
        seed=1,
    ),
    Mistake(
        "DISTINCT is not revised by late rows",
        "kernels.sweeps.counting:touched",
        no_earlier_than,
        "distinct",
    ),
    Mistake(
        "DISTINCT forgets what it has said",
        "kernels.sweeps.counting:settled",
        lambda original: lambda area, *rest: area,
        "distinct",
    ),
    Mistake(
        "sides of a difference are swapped",
        "kernels.operators.difference:count_step",
        given(lambda rule, inputs, *rest: [rule, inputs[::-1], *rest]),
        "except all",
    ),
]

HELD = [
    Mistake(
        "what begins in the next tick is shown",
        "kernels.operators.held:Held.step",
        given(
            lambda self, inputs, areas, times: [
                self,
                inputs,
                areas,
                replace(times, now=times.now + 1),
            ]
        ),
        "slide",
    ),
    Mistake(
        "what begins later is lost",
        "kernels.operators.held:_waiting",
        turned(lambda rows: rows.slice(0, 0)),
        "slide",
    ),
    Mistake(
        "what waited waits for one tick more",
        "kernels.operators.held:_waiting",
        turned(
            lambda rows: with_times(rows, ints(rows, FROM), ints(rows, TO) + 1, ints(rows, DIFF))
        ),
        "slide",
        seed=1,
    ),
    Mistake(
        "what begins in a step waits on",
        "kernels.operators.spanning:_touched",
        turned(lambda hashes: hashes[:0]),
        "left join",
    ),
    Mistake(
        "what waits is forgotten",
        "kernels.operators.spanning:_rises",
        turned(lambda rises: False),
        "anti join",
    ),
]


@mistakes(*JOINS, *AGGREGATES, *RANKS, *WINDOWS, *STREAMS, *SETS, *HELD)
def test_mistakes_in_kernels_are_noticed(mistake: Mistake, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_noticed(mistake, monkeypatch)
