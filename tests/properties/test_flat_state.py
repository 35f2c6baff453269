"""State stays flat: queries without windows store about what their rules keep, however long.

The measurement that the documentation draws, on fewer rows and minutes.
"""

from __future__ import annotations

from docs.scripts import script
from ebbtide.config import Config

RATE = 4
MINUTES = {"quick": 8, "ci": 8, "long": 60}[Config.from_environment().profile]


def test_state_is_what_the_rules_keep_and_a_step_and_a_segment() -> None:
    flat = script("flat_state")
    step = RATE * flat.STEP // 1_000_000
    found = list(flat.samples(RATE, MINUTES))
    assert {sample.query for sample in found} == set(flat.QUERIES)
    too_much = [sample for sample in found if not sample.is_flat(step)]
    assert too_much == []
