"""The law with columns of arrival: a second time line, which the clock of the steps moves.

Random plans over sources of which one has an ARRIVAL column, random histories, and a clock that
stands still, walks and leaps between steps.  After every step the answers, early and final ones,
are the reference's on what was accepted, arrivals included, with collection and without.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random

from hypothesis import HealthCheck, Phase, event, given, settings
from hypothesis import strategies as st
from tests.final_law import held_to_finality
from tests.histories import declarations_of, history, row_by_row
from tests.law import analysed, held_to, is_wanted

from ebbtide.algebra.emission import Emit
from ebbtide.algebra.relation import Relation, Stream
from ebbtide.analysis import When
from ebbtide.config import Config
from ebbtide.core.declaration import Promise
from ebbtide.core.tree import find
from ebbtide.errors import EvaluationError, TemporalError
from strategies.arrivals import BIDS_LATE, CLICKS_KEYED, REPORTS
from strategies.sources import SHOPS, Source
from strategies.timed import timed_plans

CASES = {"quick": 2, "ci": 6, "long": 1500}[Config.from_environment().profile]

STAMPED = Stream(
    replace(REPORTS.declaration, promises=(Promise("at", 2), Promise("received", arrival=True)))
)
KEYED = Stream(
    replace(
        CLICKS_KEYED.declaration,
        name="stamped",
        append_only=True,
        schema=replace(
            CLICKS_KEYED.declaration.schema,
            columns=(
                *CLICKS_KEYED.declaration.schema,
                replace(REPORTS.declaration.schema.column("received"), nullable=True),
            ),
        ),
        promises=(Promise("at", 1), Promise("received", arrival=True)),
    )
)
SOURCES: tuple[Source, ...] = (BIDS_LATE, STAMPED, KEYED, SHOPS)


def is_stamped(plan: Relation) -> bool:
    """Whether the engine runs a plan, and some source of it has a column of arrival."""
    if not {leaf.declaration.name for leaf in find(plan, Stream)} & {"reports", "stamped"}:
        return False
    try:
        return is_wanted(plan)
    except TemporalError:
        return False  # a window on an arrival


PLANS = timed_plans(SOURCES).filter(is_stamped)


def readings(random: Random, steps: int) -> list[int]:
    """What the clock says in each step: it never goes back, and may stand still."""
    clock = random.randint(-2, 3)
    found = []
    for _ in range(steps):
        clock += random.choice((0, 0, 1, 1, 2, 5))
        found.append(clock)
    return found


def story(plans: Sequence[Relation], seed: int, steps: int, fine: bool) -> tuple[list, list[int]]:
    random = Random(seed)
    declarations = list({d.name: d for plan in plans for d in declarations_of(plan)}.values())
    told = history(random, declarations, steps, counts=(0, 1, 2, 3))
    told = row_by_row(told, declarations) if fine else told
    quiet: list = [{}, {}, {}]
    return [*told, *quiet], readings(random, len(told) + len(quiet))


@settings(
    max_examples=CASES,
    deadline=None,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=list(HealthCheck),
)
@given(
    plans=st.lists(PLANS, min_size=2, max_size=2, unique=True),
    seed=st.integers(0, 2**32),
    steps=st.integers(1, 4),
    fine=st.booleans(),
    shards=st.sampled_from((1, 2)),
)
def test_the_law(plans: list[Relation], seed: int, steps: int, fine: bool, shards: int) -> None:
    told, clocks = story(plans, seed, steps, fine)
    final = [p for p in plans if analysed(p).verdict.finality.when is not When.NEVER]
    try:
        held_to(plans, told, shards, clocks)
        emits = (Emit.FINAL, Emit.CHANGES_WITH_FINALITY)
        left = held_to_finality(list(zip(final, emits, strict=False)), told, shards, clocks)
    except EvaluationError as error:
        event(f"no value: {error.code}")
    else:
        event("rows have left" if left else "nothing has left")
