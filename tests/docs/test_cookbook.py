"""Every recipe of the cookbook, run in this process, says what the reference evaluator says."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.histories import Fed, accepted, declarations_of

from docs import ROOT, run_python
from ebbtide.algebra.emission import Emit
from ebbtide.core.admission import Arrival, Op
from ebbtide.core.change import end_points, snapshot
from ebbtide.engine.engine import Engine
from ebbtide.program.run import Run
from ebbtide.reference import evaluate
from ebbtide.store.feed_log import Advance, FedRow
from ebbtide.store.journal import Journal

PAGE = ROOT / "docs/how-to/cookbook.md"
RECIPES = 16


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    """The engine of the page, after all its blocks have run."""
    names: dict[str, Any] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("cookbook"))
        run_python(PAGE, names, spark=False)
    made = names["engine"]
    assert isinstance(made, Engine)
    return made


def history(engine: Engine, run: Run) -> list[dict[str, Fed]]:
    """What the steps of a run took, source by source."""
    told: list[dict[str, Fed]] = []
    before: dict[str, int] = {}
    declarations = [d for d in run.program.lowered.declarations if engine.catalog.find(d.name)]
    for record in Journal(run.root).entries():
        fed = {}
        for declaration in declarations:
            start, end = before.get(declaration.name, 0), record.positions.get(declaration.name, 0)
            entries = [e for e in engine.log_of(declaration).read(start)[0] if e[0] < end]
            rows = [(place, e) for place, e in entries if isinstance(e, FedRow)]
            ahead = [e.to for _, e in entries if isinstance(e, Advance)]
            arrivals = tuple(Arrival(Op(row.op), row.values, place) for place, row in rows)
            fed[declaration.name] = Fed(arrivals, max(ahead, default=None))
        before = dict(record.positions)
        told.append(fed)
    return told


def test_every_recipe_says_what_the_reference_says(engine: Engine) -> None:
    judged = 0
    for run in engine._runs.values():
        query = engine.definitions.query(run.name)
        plan = query.bound.plan
        inputs = accepted(declarations_of(plan), history(engine, run))
        assert any(inputs.values()), run.name
        now = run.status.now_us
        assert now is not None
        right = evaluate(plan, inputs, now)
        said = tuple(change for _, change in query.view.changes())
        assert said, run.name
        for at in {*end_points(said, right), now}:
            if at > now:
                continue
            shown, expected = snapshot(said, at), snapshot(right, at)
            if query.bound.emit is Emit.CHANGES:
                assert shown == expected, (run.name, at)
            else:
                assert Counter(shown) <= Counter(expected), (run.name, at)
        judged += 1
    assert judged >= RECIPES


def test_the_page_is_on_the_site() -> None:
    assert "how-to/cookbook.md" in Path(ROOT / "mkdocs.yml").read_text(encoding="utf-8")
