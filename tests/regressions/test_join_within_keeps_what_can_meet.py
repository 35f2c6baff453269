"""A join of two hours within five seconds kept an hour of rows, whatever EXPLAIN said."""

from __future__ import annotations

from pathlib import Path

from tests.histories import Fed
from tests.in_process import InProcess

from ebbtide import Engine
from ebbtide.compile.lowering import lower
from ebbtide.core.time import SECOND

STREAMS = """
    CREATE STREAM a (id BIGINT, at TIMESTAMP, PROGRESS FOR at AS at);
    CREATE STREAM u (id BIGINT, at TIMESTAMP, PROGRESS FOR at AS at);
"""
WITHIN = """
    SELECT a.id FROM a [RANGE 1 HOUR] JOIN u [RANGE 1 HOUR]
    ON a.id = u.id AND u.at BETWEEN a.at - INTERVAL 5 SECONDS AND a.at + INTERVAL 5 SECONDS
"""


def test_a_join_within_five_seconds_keeps_five_seconds_of_rows(tmp_path: Path) -> None:
    engine = Engine(str(tmp_path))
    engine.execute(STREAMS)
    query = engine.query(WITHIN)
    assert "keep while a.at > progress(u.at) - 5 s" in query.explain(verbose=True)
    runner = InProcess(lower({"q": query.analysis}), str(tmp_path / "local"), shards=1)
    pairs = 0
    for second in range(500):
        row = Fed.of([("insert", (1, second * SECOND))], second)
        manifest = runner.step({"a": row, "u": row})
        pairs += len(runner.emitted(manifest))
        stored = sum(s[3] for shard in manifest.areas["q.join@0"] for area in shard for s in area)
        # Five seconds of each side, and what shares a segment with them.
        assert stored <= 2 * (6 + 12)
    assert pairs == 500 * 11 - 2 * (5 + 4 + 3 + 2 + 1)
