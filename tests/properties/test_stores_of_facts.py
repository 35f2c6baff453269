"""Queries on facts keep what EXPLAIN says: tumbling counts, bands, absence, frames, distinct rows.

Two streams go on for half a minute of data time; state stays as large as the rules allow, and the
answer is the reference's after every step.
"""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from tests.histories import Fed, Oracle
from tests.in_process import InProcess

from ebbtide import Engine
from ebbtide.compile.lowering import lower
from ebbtide.core.change import Change, consolidate
from ebbtide.core.time import SECOND
from ebbtide.reference import evaluate

STREAMS = """
    CREATE STREAM a (id BIGINT, at TIMESTAMP, PROGRESS FOR at AS at - INTERVAL 2 SECONDS);
    CREATE STREAM u (id BIGINT, at TIMESTAMP, PROGRESS FOR at AS at) RETAIN 1 SECOND;
"""
QUERIES = {
    "tumbling": "SELECT window_end, COUNT(*) AS n FROM TUMBLE(a, at, 4 SECONDS) "
    "GROUP BY window_end",
    "greatest": "SELECT window_end, MAX(id) AS n FROM TUMBLE(u, at, 4 SECONDS) GROUP BY window_end",
    "median": "SELECT window_end, MEDIAN(id) AS n FROM TUMBLE(a, at, 4 SECONDS) "
    "GROUP BY window_end",
    "floors": "SELECT id, SUM(id) AS n FROM u GROUP BY id, FLOOR(at TO SECOND)",
    "band": "SELECT a.id, a.at FROM a JOIN u ON a.id = u.id "
    "AND u.at BETWEEN a.at AND a.at + INTERVAL 3 SECONDS",
    "absence": "SELECT a.id, a.at FROM a WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.id = a.id "
    "AND u.at BETWEEN a.at AND a.at + INTERVAL 3 SECONDS)",
    "outer": "SELECT a.id, u.at FROM a LEFT JOIN u ON a.id = u.id "
    "AND u.at BETWEEN a.at AND a.at + INTERVAL 3 SECONDS",
    "distinct": "SELECT DISTINCT id, at FROM a",
    "difference": "SELECT id, at FROM a EXCEPT ALL SELECT id, at FROM u",
    "frame": "SELECT id, at, SUM(id) OVER (PARTITION BY id ORDER BY at "
    "RANGE BETWEEN INTERVAL 3 SECONDS PRECEDING AND CURRENT ROW) AS s FROM a",
}
MOST = 60
"""Rows of a few seconds, of all that an operator keeps, and of the segments that they share."""


@pytest.mark.parametrize("name", QUERIES)
def test_state_stays_small_and_answers_right(name: str, tmp_path: Path) -> None:
    engine = Engine(str(tmp_path))
    engine.execute(STREAMS)
    query = engine.query(QUERIES[name])
    lowered = lower({"q": query.analysis})
    runner = InProcess(lowered, str(tmp_path / "local"), shards=1)
    oracle, dice = Oracle.of(lowered.declarations), Random(name)
    output: tuple[Change, ...] = ()
    stored = 0
    for step in range(30):
        fed = {}
        for place, source in enumerate(("a", "u")):
            times = (step * SECOND - dice.randint(0, SECOND) for _ in range(2))
            rows = (("insert", (dice.randint(0, 2), max(0, at))) for at in times)
            fed[source] = Fed.of(rows, 10 * step + 4 * place)
        oracle.take(fed)
        manifest = runner.step(fed)
        output = consolidate((*output, *runner.emitted(manifest)))
        stored = sum(
            segment[3]
            for operator in lowered.nodes
            for shard in manifest.areas[operator]
            for area in shard
            for segment in area
        )
        if step % 10 == 9:
            assert output == consolidate(evaluate(query.bound.plan, oracle.accepted, 0))
        assert stored <= MOST
    assert stored > 0
