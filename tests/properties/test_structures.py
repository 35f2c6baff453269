"""The class of an edge picks the structure of its rows, and no answer depends on which it is.

Random plans run with the structures that are chosen and with the most general one, side by side,
held to the reference at every step; even single rows are found by the order in which they lie.
"""

from __future__ import annotations

from collections import Counter
from random import Random
from tempfile import TemporaryDirectory
from unittest.mock import patch

from hypothesis import event, given, settings
from hypothesis import strategies as st
from tests.histories import Oracle, declarations_of, history
from tests.in_process import InProcess
from tests.law import QUERIES, analysed, assert_answers

from ebbtide.algebra.relation import Relation
from ebbtide.compile.lowering import lower
from ebbtide.config import Config
from ebbtide.core.change import Change, consolidate
from ebbtide.core.structure import Structure
from ebbtide.errors import EvaluationError
from ebbtide.state import search
from ebbtide.state.segment import Segment
from ebbtide.store.manifest import Manifest

_CASES = {"quick": 8, "ci": 16, "long": 2000}[Config.from_environment().profile]


@settings(max_examples=_CASES)
@given(QUERIES, st.integers(0, 2**32), st.sampled_from((1, 2)))
def test_no_answer_depends_on_the_structure(plan: Relation, seed: int, shards: int) -> None:
    steps = history(Random(seed), declarations_of(plan), 5)
    analysis, oracle = analysed(plan), Oracle.of(declarations_of(plan))
    said: tuple[Change, ...] = ()
    with TemporaryDirectory() as root, patch.object(search, "_WORTH_HALVING", 0):
        chosen = InProcess(lower({"q": analysis}), f"{root}/chosen", shards)
        general = InProcess(lower({"q": analysis}, general=True), f"{root}/general", shards)
        for fed in steps:
            oracle.take(fed)
            try:
                one, other = chosen.step(fed), general.step(fed)
            except EvaluationError:
                return event("fails")
            emitted = chosen.emitted(one)
            assert consolidate(emitted) == consolidate(general.emitted(other))
            said = consolidate((*said, *emitted))
            assert_answers(plan, said, oracle, one.record.nows["q"])
            for structure in structures(one):
                event(structure.value)
            assert set(structures(other)) <= {Structure.BY_KEY}


def structures(manifest: Manifest) -> Counter[Structure]:
    """The structures of all that is stored."""
    return Counter(
        Segment.restore(segment).structure
        for shards in manifest.areas.values()
        for areas in shards
        for segments in areas
        for segment in segments
    )
