"""The balance test without Spark: a thousand steps of the engine's own stages and state."""

from __future__ import annotations

from pathlib import Path

from tests.balance import BALANCE, SCRIPT, assert_balanced, settled, transfers
from tests.histories import Fed
from tests.in_process import InProcess

from ebbtide.compile.lowering import lower
from ebbtide.config import Config
from ebbtide.core.admission import Arrival, Op
from ebbtide.core.change import Change, consolidate
from ebbtide.core.time import NEG_INF
from ebbtide.engine.engine import Engine

STEPS = {"quick": 20, "ci": 40, "long": 1000}[Config.from_environment().profile]


def test_the_total_is_zero_after_every_step(tmp_path: Path) -> None:
    engine = Engine(tmp_path / "engine")
    engine.execute(SCRIPT)
    query = engine.query(BALANCE, "balance")
    runner = InProcess(lower({"q": query.analysis}), str(tmp_path / "local"), 3)
    output: tuple[Change, ...] = ()
    place, shown = 0, 0
    for rows in transfers(STEPS, seed=3):
        arrivals = tuple(Arrival(Op.INSERT, row, place + i) for i, row in enumerate(rows))
        place += len(rows)
        manifest = runner.step({"transfers": Fed(arrivals)})
        now = manifest.record.now
        output = consolidate((*output, *runner.emitted(manifest)))
        if now > NEG_INF:
            assert_balanced(output, now)
            output = settled(output, now)
        shown = max([shown, *(change.row[1] for change in output)])
    assert shown > 5
