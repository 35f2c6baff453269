"""The law for conditions on NOW(), in every plan of which there is at least one.

What the engine shows, after every step and at every instant up to ``now``, is the reference's, for
random conditions on random relations, below operators of every kind; and so it is whatever is
forgotten on the way.  ``tests/differential`` has another judge of the same conditions.
"""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import event, given, settings
from hypothesis import strategies as st
from tests.properties.test_engine_law import judge

from ebbtide.algebra.call import AggregateCall
from ebbtide.algebra.combination import AntiJoin, Outer, OuterJoin, SemiJoin
from ebbtide.algebra.expression import Comparison, Ref
from ebbtide.algebra.kind import Kind
from ebbtide.algebra.relation import (
    Aggregate,
    Alias,
    Distinct,
    Filter,
    Map,
    Named,
    NamedCall,
    Relation,
)
from ebbtide.algebra.window import Istream
from ebbtide.config import Config
from ebbtide.errors import EvaluationError, TemporalError, UnsupportedError
from strategies.arrivals import PROMISED
from strategies.expressions import now_predicate_from
from strategies.plans import plans

_CASES = {"quick": 25, "ci": 48, "long": 3000}[Config.from_environment().profile]


@st.composite
def plans_with_now(draw: st.DrawFn) -> Relation:
    """A condition on NOW(), or a column that is one, and perhaps an operator above it."""
    below = draw(plans(PROMISED, depth=1, kind=Kind.SNAPSHOT))
    condition = now_predicate_from(draw, below.schema, 2)
    cut: Relation = Filter(below, condition)
    if draw(st.integers(0, 3)) == 0:
        kept = (Named(f"c{i}", Ref(column)) for i, column in enumerate(below.schema))
        cut = Map(below, (*kept, Named("said", condition)))
    return draw(st.sampled_from(_ABOVE))(cut)


def _grouped(below: Relation) -> Relation:
    key = Named("k", Ref(below.schema[0]))
    return Aggregate(below, (key,), (NamedCall("n", AggregateCall("COUNT")),))


def _matched(make: Callable[..., Relation]) -> Callable[[Relation], Relation]:
    def both(below: Relation) -> Relation:
        left, right = (Alias(_numbered(below), name) for name in "lr")
        return make(left, right, Comparison("=", left.ref("c0"), right.ref("c0")))

    return both


def _numbered(below: Relation) -> Relation:
    named = (Named(f"c{i}", Ref(column)) for i, column in enumerate(below.schema))
    return Map(below, tuple(named))


_ABOVE: tuple[Callable[[Relation], Relation], ...] = (
    lambda below: below,
    Distinct,
    _grouped,
    Istream,
    _matched(SemiJoin),
    _matched(AntiJoin),
    _matched(lambda left, right, on: OuterJoin(left, right, on, Outer.LEFT)),
)


@settings(max_examples=_CASES, deadline=None)
@given(
    plan=plans_with_now(),
    seed=st.integers(0, 2**32),
    steps=st.integers(1, 5),
    shards=st.sampled_from((1, 2, 7)),
    collects=st.booleans(),
)
def test_random_conditions(
    plan: Relation, seed: int, steps: int, shards: int, collects: bool
) -> None:
    try:
        judge(plan, seed, steps, shards, collects)
    except UnsupportedError as error:
        event(f"not built: {error.code}")
    except TemporalError as error:
        if error.code != "too-many-phases":
            raise
        event(f"refused: {error.code}")
    except EvaluationError as error:
        event(f"no value: {error.code}")
