"""A row window of more rows than can be counted ended every step with an exception."""

from __future__ import annotations

from pathlib import Path

import pytest

from ebbtide import Engine
from ebbtide.errors import EbbtideError

MOST = 1 << 53


def engine_at(location: Path) -> Engine:
    engine = Engine(location, transport="local")
    engine.execute("CREATE STREAM s (k BIGINT, at TIMESTAMP, PROGRESS FOR at AS at)")
    return engine


@pytest.mark.parametrize("count", [MOST + 1, (1 << 63) - 1, 10**26])
@pytest.mark.parametrize("window", ["ROWS {}", "PARTITION BY k ROWS {}", "ROWS 3 SLIDE {}"])
def test_they_are_refused(tmp_path: Path, window: str, count: int) -> None:
    with pytest.raises(EbbtideError) as caught:
        engine_at(tmp_path).query(f"SELECT k FROM s [{window.format(count)}]")
    assert caught.value.code == "bad-count"
    assert caught.value.hint == "[UNBOUNDED] keeps all rows"


def test_the_largest_one_runs(tmp_path: Path) -> None:
    engine = engine_at(tmp_path)
    query = engine.query(f"SELECT k FROM s [ROWS {MOST}]", name="q")
    slides = engine.query(f"SELECT k FROM s [ROWS {MOST} SLIDE {MOST}]", name="slides")
    engine.start(query, slides, name="p")
    engine.feed("s", [(1, 1), (2, 2)])
    engine.step()
    assert query.snapshot().num_rows == 2
    assert slides.snapshot().num_rows == 0
    engine.stop()
