"""What corrections would change: the difference of a step that nobody takes."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random
from typing import Any

import pytest

from ebbtide import Engine
from ebbtide.core.change import consolidate
from ebbtide.core.time import SECOND
from ebbtide.engine.what_if import WhatIf, corrections
from ebbtide.errors import EbbtideError, QueryError
from ebbtide.store.journal import Journal

SOURCES = """
    CREATE STREAM bids (auction INT, price INT, at TIMESTAMP, PROGRESS FOR at AS at)
      RETAIN 5 SECONDS ARCHIVE 60 SECONDS;
    CREATE STREAM facts (id INT, x INT, at TIMESTAMP, PRIMARY KEY (id), PROGRESS FOR at AS at)
      RETAIN 5 SECONDS ARCHIVE 60 SECONDS;
"""
VIEWS = {
    "totals": "SELECT auction, SUM(price) AS total FROM bids [RANGE 9 SECONDS] GROUP BY auction",
    "held": "SELECT id, x FROM facts [ROWS 3]",
}


def started(path: Path) -> Engine:
    engine = Engine(path, transport="local", shards=2)
    engine.execute(SOURCES)
    engine.start(*(engine.query(sql, name=n) for n, sql in VIEWS.items()), name="program")
    for second in range(0, 31, 3):
        engine.feed("bids", [(second % 2, second, second * SECOND)])
        engine.feed("facts", [(second, second, second * SECOND)])
        engine.step()
    return engine


def listing(root: str) -> dict[str, tuple[int, int]]:
    found = {}
    for path, _, names in os.walk(root):
        for name in names:
            told = os.stat(os.path.join(path, name))
            found[os.path.join(path, name)] = (told.st_size, told.st_mtime_ns)
    return found


@pytest.mark.parametrize("seed", range(6))
def test_it_is_what_the_step_would_say_and_nothing_is_touched(tmp_path: Path, seed: int) -> None:
    engine, random = started(tmp_path), Random(seed)
    changes: list[tuple[Any, ...]] = [
        ("bids", (random.randrange(2), 100, random.randrange(33) * SECOND)) for _ in range(3)
    ]
    key = random.randrange(0, 31, 3)
    changes.append(("facts", (key, None, key * SECOND), "delete"))
    changes.append(("facts", (99, 1, random.randrange(31) * SECOND)))
    before = listing(str(tmp_path))
    queries = {name: engine.definitions.query(name) for name in VIEWS}
    declared = [(engine.definitions.source(c[0]).declaration, c[1], (*c, None)[2]) for c in changes]
    rows = corrections(declared, engine.zone)
    told = {n: WhatIf(engine.location, q.view, rows).difference() for n, q in queries.items()}
    assert listing(str(tmp_path)) == before
    for source, row, *op in changes:
        engine.feed(source, [row], op=op[0] if op else None)
    engine.step()
    latest = Journal(engine.root_of("totals")).latest()
    assert latest is not None
    for name, query in queries.items():
        assert told[name] == consolidate(query.view.emitted(latest.record))
    assert any(told.values())


def test_the_difference_is_a_table_between_two_instants(tmp_path: Path) -> None:
    totals = started(tmp_path).definitions.query("totals")
    found = totals.replay([("bids", (0, 100, 6 * SECOND))], (10 * SECOND, 12 * SECOND)).to_pylist()
    said = [(row["auction"], row["total"], row["diff"]) for row in found]
    assert sorted(said) == [(0, 6, -1), (0, 106, 1)]


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (("bids", (0, 1, -100 * SECOND)), "not-replayed"),
        (("facts", (77, 1, 9 * SECOND), "delete"), "not-replayed"),
        (("nothing", (0, 1)), "unknown-name"),
        ("bids", "wrong-type"),
    ],
)
def test_what_would_not_count_is_told(tmp_path: Path, change: Any, code: str) -> None:
    totals = started(tmp_path).definitions.query("totals")
    with pytest.raises(EbbtideError) as caught:
        totals.replay([change])
    assert caught.value.code == code


def test_a_query_that_has_taken_no_step_has_nothing_to_correct(tmp_path: Path) -> None:
    engine = Engine(tmp_path, transport="local")
    engine.execute(SOURCES)
    query = engine.query(VIEWS["totals"], name="totals")
    query.start()
    with pytest.raises(QueryError) as caught:
        query.replay([("bids", (0, 1, 0))])
    assert caught.value.code == "no-step"
