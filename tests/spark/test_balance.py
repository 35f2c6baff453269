"""The balance test on Spark: money that moves between accounts is never made or lost."""

from __future__ import annotations

import os
from pathlib import Path

from pyspark.sql import SparkSession
from tests.balance import BALANCE, SCRIPT, assert_balanced, settled, transfers

from ebbtide.config import Config
from ebbtide.core.change import Change, consolidate
from ebbtide.core.time import NEG_INF
from ebbtide.engine.engine import Engine
from ebbtide.state.batch import to_changes

STEPS = {"quick": 5, "ci": 10, "long": 1000}[Config.from_environment().profile]
MOST_FILES = 400


def test_the_total_is_zero_after_every_step(spark: SparkSession, tmp_path: Path) -> None:
    engine = Engine(tmp_path, spark=spark, shards=2)
    engine.execute(SCRIPT)
    query = engine.query(BALANCE, "balance")
    query.start()
    root = Path(engine.root_of("balance"))
    output: tuple[Change, ...] = ()
    shown = 0
    for rows in transfers(STEPS, seed=3):
        engine.feed("transfers", rows)
        manifest = engine.step()["balance"]
        new = to_changes(query.view.table(manifest.record))
        output = consolidate((*output, *new))
        now = manifest.record.now
        if now > NEG_INF:
            assert all(change.valid_from <= now for change in new)
            assert_balanced(output, now)
            output = settled(output, now)
        shown = max([shown, *(change.row[1] for change in output)])
        # Whatever a step looks through is as much after a thousand steps as after ten.
        assert len(os.listdir(root / "state")) < MOST_FILES
    assert shown > 5
    engine.stop()
