"""How long operators took: one file for a task, and none that is damaged stops anything."""

from __future__ import annotations

from pathlib import Path

import pytest

from ebbtide import Engine
from ebbtide.dataflow.timings import Timings
from ebbtide.state.files import replace
from ebbtide.store.files import sealed


def test_every_operator_says_how_long_it_took(tmp_path: Path) -> None:
    engine = Engine(tmp_path, transport="local", shards=2)
    engine.execute("CREATE STREAM s (k BIGINT, at TIMESTAMP, PROGRESS FOR at AS at)")
    run = engine.query("SELECT k, COUNT(*) AS n FROM s [RANGE 1 MINUTE] GROUP BY k").start()
    engine.feed("s", [(k, "2026-01-01 12:00:00") for k in range(10)])
    engine.step()
    (record,) = run.metrics()
    assert len(record.operators) > 1
    for operator in record.operators.values():
        assert 0 < operator.seconds_max <= operator.seconds < 2 * record.seconds
    written = [*Path(run.root, "timings").iterdir()]
    assert 0 < len(written) < 2 * len(record.operators)


def test_the_operators_of_a_task_share_a_file(tmp_path: Path) -> None:
    timings = Timings(str(tmp_path), 3)
    timings.tell(0, {"join@1": 0.5, "sum@2": 0.25})
    timings.tell(1, {"join@1": 0.125})
    timings.tell(2, {})
    assert len([*(tmp_path / "timings").iterdir()]) == 2
    found = timings.read()
    assert {name: sorted(each) for name, each in found.items()} == {
        "join@1": [0.125, 0.5],
        "sum@2": [0.25],
    }
    assert Timings(str(tmp_path), 4).read() == {}


@pytest.mark.parametrize(
    "content",
    [b"", b"{", sealed({"version": 3, "operator": "join@1", "seconds": 0.5})],
    ids=["empty", "torn", "of an earlier format"],
)
def test_a_file_that_cannot_be_read_counts_as_none(content: bytes, tmp_path: Path) -> None:
    timings = Timings(str(tmp_path), 3)
    timings.tell(0, {"sum@2": 0.25})
    replace(f"{tmp_path}/timings/join-1.json", content, sync=False)
    assert timings.read() == {"sum@2": (0.25,)}
