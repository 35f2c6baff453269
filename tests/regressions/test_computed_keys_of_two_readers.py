"""Two readers of one operator that compute the same key, each behind a pipe of its own.

They shared a route with the operator's own columns, in which the key could not be found.
"""

from pathlib import Path

import pytest

from ebbtide import Engine

SCRIPT = """
CREATE STREAM c (k BIGINT, v BIGINT, at TIMESTAMP NOT NULL, PRIMARY KEY (k, at),
  PROGRESS FOR at AS at);
"""
QUERIES = {
    "union": "SELECT k + 1 AS g, COUNT(*) AS n FROM (SELECT k FROM c [RANGE 1 HOUR] WHERE v > 0 "
    "UNION ALL SELECT k FROM c [RANGE 1 HOUR] WHERE v < 2) AS both GROUP BY k + 1",
    "join": "SELECT x.k + 1 AS g, COUNT(*) AS n FROM c [RANGE 1 HOUR] AS x "
    "JOIN c [RANGE 2 HOURS] AS y ON x.k + 1 = y.k + 1 GROUP BY x.k + 1",
}


@pytest.mark.parametrize("name", QUERIES)
def test_the_key_is_found(name: str, tmp_path: Path) -> None:
    engine = Engine(tmp_path, transport="local", shards=2)
    engine.execute(SCRIPT)
    query = engine.query(QUERIES[name], name)
    run = query.start()
    engine.feed("c", [(1, 1, 1_000_000), (2, 3, 2_000_000), (3, 0, 3_000_000)])
    engine.step()
    counts = {row["g"]: row["n"] for row in query.snapshot().to_pylist()}
    assert counts == ({2: 2, 3: 1, 4: 1} if name == "union" else {2: 1, 3: 1, 4: 1})
    run.stop()
