"""Tests of the tests: kernels that are wrong on purpose are found out.

``Hasty`` lets go of its state an instant too early.  That it is caught says two things: the
histories reach the edge of every keep rule, and no rule keeps an instant more than it must.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random
from typing import Any

import pytest
from tests.kernels import test_facts, test_join, test_ranking, test_streams
from tests.kernels.harness import Case, Step, check, history

from ebbtide.algebra import combination, ranking, window
from ebbtide.algebra.call import SortKey
from ebbtide.core.change import Change
from ebbtide.core.time import NEG_INF, shift
from ebbtide.kernels.kernel import Kernel, Result, Times
from ebbtide.kernels.operators.anti_join import AntiJoin
from ebbtide.kernels.operators.istream import Istream
from ebbtide.kernels.operators.join import Join
from ebbtide.kernels.operators.outer_join import OuterJoin
from ebbtide.kernels.operators.rstream import Rstream
from ebbtide.kernels.operators.semi_join import SemiJoin
from ebbtide.kernels.operators.top_n import TopN
from ebbtide.kernels.ordering import SortColumn
from ebbtide.kernels.windows.row_window import Rows
from ebbtide.kernels.windows.session import Session
from ebbtide.state.keep import Keep

_FACTS = test_facts.FACTS
_RANKED = test_ranking.RELATION
_RELATION = test_streams.RELATION


def _full(left: Any, right: Any, predicate: Any) -> Any:
    return combination.OuterJoin(left, right, predicate, combination.Outer.FULL)


CASES = {
    "join": test_join.case("one key", combination.Join, Join),
    "semi join": test_join.case("one key", combination.SemiJoin, SemiJoin),
    "anti join": test_join.case("one key", combination.AntiJoin, AntiJoin),
    "outer join": test_join.case("one key", _full, lambda c: OuterJoin(c, True, True)),
    "rows": Case(window.Window(_FACTS.node, window.Rows(2), "at"), Rows(1, 2), (_FACTS,), ((),)),
    "rows slide": Case(
        window.Window(_FACTS.node, window.Rows(3, 2), "at"), Rows(1, 3, 2), (_FACTS,), ((),)
    ),
    "session": Case(window.Session(_FACTS.node, "at", 2), Session(1, 2), (_FACTS,), ((),)),
    "istream": Case(window.Istream(_RELATION.node), Istream(), (_RELATION,), ((0, 1),)),
    "top-n": Case(
        ranking.TopN(_RANKED.node, 1, (SortKey(_RANKED.node.ref("x")),)),
        TopN(1, (SortColumn(1),)),
        (_RANKED,),
        ((),),
    ),
}


@dataclass(frozen=True)
class Hasty:
    """A kernel that believes that the horizons have come further than they have."""

    kernel: Kernel

    def __getattr__(self, name: str) -> Any:
        return getattr(self.kernel, name)

    def step(self, inputs: Any, areas: Any, times: Times) -> Result:
        hasty = replace(times, inputs=tuple(map(_hasty, times.inputs)), output=_hasty(times.output))
        return self.kernel.step(inputs, areas, hasty)


def _hasty(keep: Keep) -> Keep:
    cases = (tuple(replace(p, value=shift(p.value, 1)) for p in case) for case in keep.cases)
    return Keep(tuple(cases))


@pytest.mark.parametrize("name", CASES)
def test_who_forgets_an_instant_too_early_is_found_out(name: str) -> None:
    case = CASES[name]
    hasty = replace(case, kernel=Hasty(case.kernel))
    for seed in range(2000):
        steps = history(Random(seed), case.inputs, steps=5, size=6)
        try:
            check(hasty, steps, shards=1, collect=True, restart=False)
        except AssertionError:
            check(case, steps, shards=1, collect=True, restart=False)
            return
    pytest.fail("no history tells them apart")


def test_rstream_keeps_what_is_over_until_its_beginning_is_final() -> None:
    """Chance does not find the edge of RSTREAM's rule: the first change of all is taken back."""
    case = Case(window.Rstream(_RELATION.node, 1), Rstream(1), (_RELATION,), ((),))
    first = (Change((0, "a"), NEG_INF, 3), Change((1, "a"), NEG_INF, 8), Change((1, "b"), 5, 9))
    longer = (Change((0, "a"), 3, 20),)
    steps = [Step((first,), 10, (2,)), Step((longer,), 10, (2,))]
    check(case, steps, shards=1, collect=True, restart=True)
    with pytest.raises(AssertionError):
        check(replace(case, kernel=Hasty(case.kernel)), steps, 1, collect=True, restart=False)
