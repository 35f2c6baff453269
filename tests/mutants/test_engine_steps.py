"""Mistakes in steps: which rows count, what a key's operations say, frontiers, now, manifests."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.mistakes import Mistake, always, assert_noticed, given, mistakes, turned
from tests.scenarios import MERGED, SHARDED

from ebbtide.core.admission import Reason
from ebbtide.core.time import NEG_INF


def unless(reason: Reason) -> Any:
    """No row is refused for a reason."""
    return turned(lambda tests: ((why, mask) for why, mask in tests if why is not reason))


def not_strict(compute: Any) -> Any:
    """A row at the horizon is no more at or before it."""
    return SimpleNamespace(**vars(compute) | {"less_equal": compute.less})


def as_before(original: Any) -> Any:
    """A step that nothing came to describes the state before it."""

    def step(self: Any, inputs: Any, times: Any) -> Any:
        before = self.areas
        changes = original(self, inputs, times)
        if not self.rows_in:
            self.areas = before
        return changes

    return step


def only_above(original: Any) -> Any:
    """The version that is valid at the horizon is forgotten."""
    return lambda self, order, horizon: original(self, order, horizon) & (self.at > horizon)


ADMISSION = [
    Mistake("late rows count", "dataflow.judging:_Judging.tests", unless(Reason.LATE), "union"),
    Mistake(
        "late operations count", "dataflow.judging:_Judging.tests", unless(Reason.LATE), "rows"
    ),
    Mistake("a row at the horizon counts", "dataflow.judging:pc", not_strict, "join within"),
    Mistake(
        "operations without a key count",
        "dataflow.judging:_Judging.tests",
        unless(Reason.NULL_KEY),
        "left join",
    ),
    Mistake(
        "SEQUENCE is ignored",
        "kernels.admission.plain_keys:_in_order",
        given(lambda declaration, *rest: [replace(declaration, sequence=None), *rest]),
        "distinct of versions",
        (MERGED,),
        seed=3,
    ),
    Mistake(
        "a delete is an end",
        "kernels.admission.plain_keys:_Story.odd",
        turned(np.zeros_like),
        "distinct of versions",
    ),
    Mistake(
        "a version ends with the next of any key",
        "kernels.admission.plain_keys:_Story._closes",
        turned(lambda closes: np.append(np.zeros(max(len(closes) - 1, 0), bool), closes[-1:])),
        "two readers of a table",
        (MERGED,),
    ),
    Mistake(
        "the version at the horizon is forgotten",
        "kernels.admission.plain_keys:_Story.needed",
        only_above,
        "two readers of a table",
    ),
    Mistake(
        "operations are never forgotten",
        "kernels.admission.plain_keys:_Story.needed",
        turned(np.ones_like),
        "two readers of a table",
    ),
    Mistake(
        "a key that came twice is plain",
        "kernels.admission.plain_keys:_Rows.without",
        turned(np.ones_like),
        "rows",
    ),
    Mistake(
        "keys are not looked at when the horizon passes them",
        "kernels.admission.kernel:Admission._passed",
        always(np.zeros(0, np.uint64)),
        "rows",
    ),
    Mistake(
        "keys are looked for behind their first time",
        "kernels.admission.kernel:_ends",
        turned(lambda ends: (ends[0] + 1, ends[1])),
        "rows",
    ),
    Mistake(
        "keys are looked for before their last time",
        "kernels.admission.kernel:_ends",
        turned(lambda ends: (ends[0], ends[1] - 1)),
        "rows",
    ),
    Mistake(
        "operations are not remembered",
        "kernels.admission.kernel:Admission._opened",
        turned(lambda rows: rows.slice(0, 0)),
        "rows",
    ),
    Mistake(
        "a key's operations forget the version that is valid",
        "kernels.admission.kernel:_prune",
        turned(lambda kept: kept[1:]),
        "distinct of versions",
    ),
    Mistake(
        "a correction forgets what it corrects",
        "kernels.admission.kernel:_bake",
        lambda original: lambda ledger: list(ledger.operations),
        "distinct of versions",
        seed=2,
    ),
    Mistake(
        "unused rows are lost",
        "dataflow.tasks:RunningTask._leave_unused",
        always(()),
        "rows",
    ),
]

FRONTIERS = [
    Mistake(
        "frontiers stand still",
        "dataflow.observation:Seen.frontiers",
        lambda original: lambda self, before, advances: before,
        "sums",
    ),
    Mistake(
        "promises are not kept",
        "dataflow.observation:Seen.frontiers",
        given(lambda self, before, advances: [self, before, {}]),
        "sums",
    ),
    Mistake(
        "now is the progress",
        "dataflow.frontiers:now",
        given(lambda lines: [[replace(line, newest=NEG_INF) for line in lines]]),
        "sums",
    ),
    Mistake(
        "now follows the first source alone",
        "dataflow.frontiers:now",
        given(lambda lines: [lines[:1]]),
        "join",
    ),
    Mistake(
        "now before the step is forgotten",
        "dataflow.step:_nows",
        turned(lambda nows: dict.fromkeys(nows, NEG_INF)),
        "istream",
    ),
    Mistake(
        "the frontier is restored as it began",
        "dataflow.step:restored",
        given(lambda manifest, *rest: [None, *rest]),
        "rows",
    ),
    Mistake(
        "progress is restored as the newest time",
        "store.frontiers:_line",
        turned(lambda line: replace(line, progress=line.newest)),
        "sums",
    ),
    Mistake(
        "progress of the sources is mixed up",
        "dataflow.frontiers:_progress",
        lambda original: (
            lambda sources, frontiers: dict(
                zip(
                    original(sources, frontiers),
                    reversed(original(sources, frontiers).values()),
                    strict=True,
                )
            )
        ),
        "join",
    ),
]

STEPS = [
    Mistake(
        "a step without rows describes the state before it",
        "dataflow.shard:OpenOperator.step",
        as_before,
        "slide",
    ),
    Mistake(
        "a step that was made is made again",
        "store.manifest:Manifests.versions",
        turned(lambda versions: versions[:-1]),
        "filter",
    ),
    Mistake(
        "a segment in use is swept away",
        "store.manifest:Manifest.segments",
        turned(lambda names: set(sorted(names)[:-1])),
        "join",
    ),
    Mistake(
        "shards get each other's state",
        "dataflow.record:_shard",
        lambda original: lambda described: -described[0],
        "distinct",
        (SHARDED,),
    ),
    Mistake(
        "every shard has the group of nothing",
        "dataflow.shard:replace",
        lambda original: lambda old, owner=None, **new: original(old, **new),
        "sum of all",
        (SHARDED,),
    ),
    Mistake(
        "state is read from a fresh start",
        "dataflow.shard:Shard._previous",
        lambda original: {},
        "sums",
    ),
    Mistake(
        "rows stay in the first shard that made them",
        "dataflow.routing:key_hash",
        turned(lambda hashes: np.arange(len(hashes), dtype=np.uint64)),
        "sums",
        (SHARDED,),
    ),
]


@mistakes(*ADMISSION, *FRONTIERS, *STEPS)
def test_mistakes_in_steps_are_noticed(mistake: Mistake, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_noticed(mistake, monkeypatch)
