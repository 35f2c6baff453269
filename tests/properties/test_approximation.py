"""An approximation from a summary that leaves nothing out is exact.

A histogram whose bins are single values, and a sample of all but one of a million rows, hold what
the archive of all rows holds.  So for random queries and late rows, what is estimated at an instant
is what a query over archived streams, which has replayed the late rows, says of it.
"""

from __future__ import annotations

from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import event, given, settings
from hypothesis import strategies as st

from ebbtide import Engine
from ebbtide.config import Config
from ebbtide.core.values import row_key

CASES = {"quick": 8, "ci": 10, "long": 2000}[Config.from_environment().profile]

STREAM = """
    CREATE STREAM bids (auction BIGINT, price BIGINT, at TIMESTAMP NOT NULL,
      PROGRESS FOR at AS at) RETAIN 2 MICROSECONDS ARCHIVE 200 MICROSECONDS {how};
    CREATE TABLE shops (auction BIGINT, name STRING);
"""
HOW = ("AS HISTOGRAM OF price EVERY 1 MICROSECOND", "SAMPLE 99.9999 PERCENT")
QUERIES = (
    "SELECT auction, price FROM bids {w} WHERE price > 0",
    "SELECT auction, SUM(price) AS s, COUNT(*) AS n, AVG(price) AS a FROM bids {w}"
    " GROUP BY auction",
    "SELECT MAX(price) AS m, COUNT(price) AS n FROM bids {w}",
    "SELECT DISTINCT price FROM bids {w}",
    "SELECT x.auction, y.price FROM bids {w} x JOIN bids {w} y ON x.auction = y.price",
    "SELECT x.auction, y.price FROM bids {w} x LEFT JOIN bids {w} y ON x.auction = y.price",
    "SELECT auction FROM bids {w} b WHERE NOT EXISTS"
    " (SELECT 1 FROM bids {w} c WHERE c.auction = b.price)",
    "SELECT auction, price FROM bids {w} ORDER BY price DESC LIMIT 2",
    "SELECT s.name, COUNT(*) AS n FROM bids {w} b JOIN shops s ON b.auction = s.auction"
    " GROUP BY s.name",
)
WINDOWS = (
    "[RANGE 8 MICROSECONDS]",
    "[RANGE 9 MICROSECONDS SLIDE 3 MICROSECONDS]",
    "[FIXED 10 MICROSECONDS]",
    "[NOW]",
)


def ran(path: str, how: str, sql: str, seed: int) -> Any:
    """A query over a history with late rows."""
    random, engine = Random(seed), Engine(path, transport="local", shards=2)
    engine.execute(STREAM.format(how=how))
    query = engine.query(sql, name="q")
    query.start()
    if "shops" in sql:
        engine.feed("shops", [(n, f"shop {n}") for n in range(3)])
    for step in range(6):
        rows = []
        for _ in range(random.randint(1, 5)):
            at = 8 * step + random.randint(0, 8)
            if step > 2 and random.random() < 0.4:
                at = max(0, at - random.randint(10, 40))
            rows.append((random.randint(0, 2), random.choice((0, 1, 2, 50, None)), at))
        engine.feed("bids", rows)
        engine.step()
    return query


@settings(max_examples=CASES, deadline=None)
@given(
    how=st.sampled_from(HOW),
    sql=st.sampled_from(QUERIES),
    window=st.sampled_from(WINDOWS),
    seed=st.integers(0, 2**32),
)
def test_a_summary_that_leaves_nothing_out_is_exact(
    how: str, sql: str, window: str, seed: int
) -> None:
    text = sql.format(w=window)
    with TemporaryDirectory() as root:
        whole = ran(f"{root}/whole", "", text, seed)
        part = ran(f"{root}/part", how, text, seed)
        assert whole.engine.late("bids").num_rows == 0
        event(f"{part.engine.late('bids').num_rows} rows came too late")
        width = len(part.schema)
        for at in range(0, whole.view.now() + 1, 3):
            exact = sorted(whole.view.snapshot(at), key=row_key)
            found = part.approximate(at).to_pylist()
            near = sorted((tuple(row.values())[:width] for row in found), key=row_key)
            assert near == exact, (at, how, text, seed)
