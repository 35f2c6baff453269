"""A verdict that is not "unbounded" is true of what lies on disk: it stops growing.

Queries run through the engine's own lowering, stages and state, for many small steps.  What the
verdict calls bounded has to be as small at the end as it was half-way; what it calls unbounded only
because rows cannot be folded has to grow, or the verdict is too strict.
"""

from __future__ import annotations

from tempfile import TemporaryDirectory

import pytest
from tests.histories import Fed
from tests.in_process import InProcess

from analysed import World
from ebbtide.analysis import Size
from ebbtide.compile.lowering import lower
from ebbtide.store.readers import LIVE

WORLD = World(
    """
    CREATE STREAM orders (id BIGINT, total DOUBLE, at TIMESTAMP NOT NULL, PROGRESS FOR at AS at);
    CREATE STREAM quiet (id BIGINT, total DOUBLE, at TIMESTAMP NOT NULL);
    CREATE STREAM keyed (id BIGINT, total DOUBLE, at TIMESTAMP NOT NULL,
      PRIMARY KEY (id, at), PROGRESS FOR at AS at) APPEND ONLY;
    CREATE TABLE rates (id BIGINT NOT NULL, rate DOUBLE, at TIMESTAMP NOT NULL,
      PRIMARY KEY (id), PROGRESS FOR at AS at) TIME at;
    """
)
STEPS, ROWS, KEYS = 40, 40, 4


def fed(source: str, step: int, rows: int = ROWS, every_us: int = 1000) -> dict[str, Fed]:
    """Rows of a step: some of each key, none of them late."""
    first = step * rows
    op = "upsert" if source == "rates" else "insert"
    given = ((op, (i % KEYS, (i * 7 % 11) / 8, i * every_us)) for i in range(first, first + rows))
    return {source: Fed.of(given, first)}


def stored(sql: str, source: str) -> tuple[Size, int, int]:
    """The verdict, and the most rows that lie on disk in the first and in the second half."""
    analysis = WORLD.analysed(sql)
    sizes = []
    with TemporaryDirectory() as root:
        runner = InProcess(lower({"q": analysis}), root, 1)
        for step in range(STEPS):
            manifest = runner.step(fed(source, step))
            stores = {n: s for n, s in manifest.areas.items() if not n.startswith(LIVE)}
            shards = [shard for shards in stores.values() for shard in shards]
            segments = [s for areas in shards for area in areas for s in area]
            sizes.append(sum(segment[3] for segment in segments))
    half = len(sizes) // 2
    return analysis.verdict.state.size, max(sizes[:half]), max(sizes[half:])


@pytest.mark.parametrize(
    ("calls", "source"),
    [
        ("COUNT(*) AS n", "orders"),
        ("SUM(total) AS s", "orders"),
        ("MIN(total) AS m, BOOL_OR(total > 1) AS b", "orders"),
        ("FIRST(total) AS f", "orders"),
        ("ARG_MAX(id, total) AS a, STDDEV(total) AS d", "orders"),
        ("AVG(total) AS m, MAX(total) AS t, LAST(total) AS l", "keyed"),
    ],
)
def test_what_folds_stops_growing(calls: str, source: str) -> None:
    sql = f"SELECT id, {calls} FROM {source} [UNBOUNDED] GROUP BY id"
    size, first, second = stored(sql, source)
    assert size is Size.KEY
    assert second <= 1.25 * first < STEPS * ROWS


@pytest.mark.parametrize("calls", ["MEDIAN(total)", "COUNT(DISTINCT total)", "COLLECT(total)"])
def test_what_does_not_fold_is_called_unbounded_and_is(calls: str) -> None:
    sql = f"SELECT id, {calls} AS a FROM orders [UNBOUNDED] GROUP BY id"
    size, first, second = stored(sql, "orders")
    assert size is Size.UNBOUNDED
    assert second >= 1.9 * first


@pytest.mark.parametrize(
    ("sql", "source", "size"),
    [
        ("SELECT id, COUNT(*) AS n FROM quiet [RANGE 10 MILLISECONDS ON at] GROUP BY id",
         "quiet", Size.UNBOUNDED),
        ("SELECT id, COUNT(*) AS n FROM quiet [UNBOUNDED ON at] GROUP BY id",
         "quiet", Size.UNBOUNDED),
        ("SELECT id, COUNT(*) AS n FROM orders [RANGE 10 MILLISECONDS] GROUP BY id",
         "orders", Size.WINDOW),
        ("SELECT DISTINCT id FROM orders [UNBOUNDED]", "orders", Size.KEY),
        ("SELECT id FROM keyed [RANGE 10 MILLISECONDS]", "keyed", Size.WINDOW),
        ("SELECT MAX(rate) AS top, SUM(rate) AS sum FROM rates", "rates", Size.TABLE),
    ],
)  # fmt: skip
def test_the_verdict_is_what_lies_on_disk(sql: str, source: str, size: Size) -> None:
    found, first, second = stored(sql, source)
    assert found is size
    if size is Size.UNBOUNDED:
        assert second >= 1.9 * first
    else:
        assert second <= 1.25 * first < STEPS * ROWS
