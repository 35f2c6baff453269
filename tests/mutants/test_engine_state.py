"""Mistakes in the state: rules that keep too little or too much, segments, zone maps, merges."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.mistakes import Mistake, always, assert_noticed, given, mistakes, turned
from tests.scenarios import MERGED

from ebbtide.state.batch import DIFF, where
from ebbtide.state.columns import ints
from ebbtide.state.keep import ALWAYS, After, Keep
from ebbtide.state.segment import Segment


def shifted(by: int) -> Any:
    """A rule with other values."""

    def move(keep: Keep) -> Keep:
        cases = tuple(
            tuple(After(part.column, part.value + by) for part in case) for case in keep.cases
        )
        return Keep(cases, keep.begun)

    return turned(move)


def by_the_first(self: Keep, segment: Segment) -> bool:
    """A segment goes when its first row does."""
    return not any(
        all(segment.zone(part.column)[0] > part.value for part in case) for case in self.cases
    )


def by_the_last(self: Keep, segment: Segment) -> bool:
    """A segment is taken to be kept while its last row is."""
    return any(
        all(segment.zone(part.column)[1] > part.value for part in case) for case in self.cases
    )


def ends_swapped(original: Any) -> Any:
    """The first and the last end of a segment, the wrong way round."""

    def segment(**fields: Any) -> Segment:
        to_min, to_max = fields["to_max"], fields["to_min"]
        made: Segment = original(**fields | {"to_min": to_min, "to_max": to_max})
        return made

    return segment


def positives(found: tuple[Any, Any]) -> tuple[Any, Any]:
    """What was merged without its negatives."""
    changes, hashes = found
    mask = ints(changes, DIFF) > 0
    return where(changes, mask), hashes[mask]


def twice_merged(original: Any) -> Any:
    """What is merged is there beside what it was merged from."""

    def merge(self: Any, groups: Any, keep: Any) -> Any:
        made = original(self, groups, keep)
        stay = [segment for segment in self.segments if segment not in made.segments]
        return replace(made, segments=(*stay, *made.segments))

    return merge


def without_last(self: Any, *rest: Any) -> list[Any]:
    """An area without its last segment."""
    return [replace(self, segments=self.segments[:-1]), *rest]


KEEPING = [
    Mistake("nothing is forgotten", "compile.physical:StoreRule.at", always(ALWAYS), "join"),
    Mistake(
        "versions are never forgotten", "compile.physical:StoreRule.at", always(ALWAYS), "left join"
    ),
    Mistake("rows go too early", "compile.physical:StoreRule.at", shifted(2), "join"),
    Mistake("facts go too early", "compile.physical:StoreRule.at", shifted(2), "join within"),
    Mistake("rows go too late", "compile.physical:StoreRule.at", shifted(-2), "sums"),
    Mistake(
        "a segment goes with its first row",
        "state.keep:Keep.drops",
        lambda original: by_the_first,
        "anti join",
        (MERGED,),
    ),
    Mistake("no segment goes as a whole", "state.keep:Keep.drops", always(False), "join"),
]

SEGMENTS = [
    Mistake(
        "bounds of a column are swapped",
        "state.writing:zones",
        turned(lambda zones: tuple((place, high, low) for place, low, high in zones)),
        "hop",
        (MERGED,),
    ),
    Mistake(
        "bounds of the ends are swapped",
        "state.writing:Segment",
        ends_swapped,
        "full join",
        (MERGED,),
    ),
    Mistake(
        "a merge loses negatives",
        "state.area:merged",
        turned(positives),
        "istream",
    ),
    Mistake(
        "a merge does not net",
        "state.writing:net",
        lambda original: lambda table: table,
        "sum of all",
    ),
    Mistake(
        "segments that were merged stay",
        "state.area:SweepArea._merge",
        twice_merged,
        "sum of all",
    ),
    Mistake(
        "the last segment is not asked", "state.area:SweepArea.probe", given(without_last), "join"
    ),
    Mistake(
        "the last segment does not turn",
        "state.area:SweepArea.moved",
        given(without_last),
        "sums",
    ),
    Mistake(
        "ends do not move anything",
        "state.search:_moves",
        given(lambda starts, ends, since, upto: [starts, starts, since, upto]),
        "sums",
    ),
    Mistake(
        "rows that end in the next tick are not found",
        "state.area:overlapping",
        given(lambda view, hashes, since, until: [view, hashes, since + 1, until]),
        "full join",
    ),
    Mistake(
        "rows that begin in the last tick are not found",
        "state.area:overlapping",
        given(lambda view, hashes, since, until: [view, hashes, since, until - 1]),
        "full join",
    ),
    Mistake(
        "a segment is ruled out by its last key",
        "state.area:rule_out",
        lambda original: (
            lambda segment, hashes: (
                original(segment, hashes)
                or (hashes is not None and int(hashes[-1]) <= segment.hash_max)
            )
        ),
        "join",
    ),
    Mistake(
        "the last segment is not described",
        "state.area:SweepArea.describe",
        turned(lambda described: described[:-1]),
        "join",
    ),
    Mistake(
        "rows of a segment lie in no order",
        "state.writing:_order",
        lambda original: lambda changes, hashes, by: np.arange(len(hashes)),
        "full join",
        (MERGED,),
    ),
    Mistake(
        "what is netted keeps its sign",
        "state.netting:negated",
        lambda original: lambda table: table,
        "top",
    ),
    Mistake(
        "the levels of rows are netted without their ends",
        "state.netting:net_points",
        given(lambda ids, starts, ends, diff: [ids, starts, ends + 1, diff]),
        "distinct of versions",
    ),
]


@mistakes(*KEEPING, *SEGMENTS)
def test_mistakes_in_the_state_are_noticed(
    mistake: Mistake, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert_noticed(mistake, monkeypatch)
