"""A program with an archive could not be cut into other shards: its rows were sought by their step,
which is no column of the exchange."""

from __future__ import annotations

from pathlib import Path

from ebbtide import Engine
from ebbtide.core.time import SECOND
from ebbtide.store.journal import Journal


def test_archives_are_rescaled(tmp_path: Path) -> None:
    engine = Engine(tmp_path, transport="local", shards=2)
    engine.execute(
        "CREATE STREAM s (x INT, at TIMESTAMP, PROGRESS FOR at AS at) ARCHIVE 1 MINUTE;"
        "CREATE STREAM k (id INT, x INT, at TIMESTAMP, PRIMARY KEY (id), PROGRESS FOR at AS at)"
        " ARCHIVE 1 MINUTE REVISE ON DEMAND"
    )
    one = engine.query("SELECT x, COUNT(*) AS n FROM s [UNBOUNDED] GROUP BY x", name="one")
    two = engine.query("SELECT id, x FROM k [UNBOUNDED]", name="two")
    engine.start(one, two, name="program")
    for second in (9, 10):
        engine.feed("s", [(x, second * SECOND) for x in range(9)])
        engine.feed("k", [(100 * second + x, x, second * SECOND) for x in range(9)])
        engine.step()
    engine.feed("k", [(x, x, 3 * SECOND) for x in range(5)])
    engine.step()
    engine.stop()
    engine.rescale("program", 3)
    latest = Journal(engine.root_of("one")).latest()
    assert latest is not None
    rows = {
        n: sum(s[3] for shard in a for area in shard for s in area) for n, a in latest.areas.items()
    }
    assert (latest.shards, rows["archive.s"], rows["waiting.k"]) == (3, 18, 5)
