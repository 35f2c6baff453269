"""A fact with two times that progress has settled once the horizon of one of them has passed it; a
delete without its fact was unused only when that of the slower one had."""

from __future__ import annotations

from pathlib import Path

from ebbtide import Engine
from ebbtide.core.time import SECOND
from ebbtide.store.readers import unused


def test_a_fact_settles_by_the_first_of_its_times(tmp_path: Path) -> None:
    engine = Engine(tmp_path, transport="local", shards=1)
    engine.execute(
        "CREATE STREAM s (id INT, at TIMESTAMP, seen TIMESTAMP, PRIMARY KEY (id), "
        "PROGRESS FOR at AS at, PROGRESS FOR seen AS seen - INTERVAL 1 HOUR)"
    )
    query = engine.query("SELECT id, at FROM s [UNBOUNDED ON at]", name="q")
    query.start()
    engine.feed("s", [(1, 5 * SECOND, 100 * SECOND)])
    engine.feed("s", [(3, 6 * SECOND, 100 * SECOND)], op="delete")
    engine.step()
    engine.feed("s", [(2, 50 * SECOND, 100 * SECOND)])
    engine.step()
    engine.feed("s", [(1, 60 * SECOND, 100 * SECOND)])
    engine.step()
    ids = [row[0] for row in query.view.snapshot(60 * SECOND)]
    assert ids == [1, 1, 2]
    assert [row.reason for row, _ in unused(query.view.root, "s")] == ["no-positive"]
