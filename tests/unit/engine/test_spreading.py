"""What a query emits without a kernel spreads over the shards, and equal rows still meet."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from ebbtide import Engine
from ebbtide.compile.lowering import lower
from ebbtide.core.admission import Arrival, Op
from ebbtide.core.change import Change, consolidate
from histories import Fed
from in_process import InProcess

SCRIPT = """
CREATE STREAM s (a BIGINT, at TIMESTAMP, PROGRESS FOR at AS at);
CREATE STREAM t (a BIGINT, at TIMESTAMP, PROGRESS FOR at AS at);
"""
LINEAR = "SELECT a DIV 4 AS b FROM s [RANGE 5 SECONDS] WHERE a > 3"
SECOND = 1_000_000


@pytest.mark.parametrize(
    "text",
    [
        LINEAR,
        f"{LINEAR} UNION ALL SELECT a DIV 4 AS b FROM t [RANGE 5 SECONDS] WHERE a > 3",
        f"{LINEAR} UNION ALL SELECT MAX(a) AS b FROM t [RANGE 5 SECONDS] WHERE a < 0 GROUP BY a",
    ],
)
def test_linear_output_spreads(text: str, tmp_path: Path) -> None:
    engine = Engine(tmp_path / "engine")
    engine.execute(SCRIPT)
    lowered = lower({"q": engine.query(text).analysis})
    runner = InProcess(lowered, str(tmp_path / "local"), shards=4)
    rows = tuple(Arrival(Op.INSERT, (a, SECOND), a) for a in range(84))
    manifest = runner.step({"s": Fed(rows), "t": Fed(rows)})
    streams = 2 if "UNION ALL SELECT a" in text else 1
    expected = [Change((b,), SECOND, 6 * SECOND, 4 * streams) for b in range(1, 21)]
    assert Counter(consolidate(runner.emitted(manifest))) == Counter(expected)
    files = [str(written.file) for written in manifest.record.output["q"]]
    shards = {Path(file).name.split("-")[0] for file in files}
    assert shards == {"0", "1", "2", "3"}
