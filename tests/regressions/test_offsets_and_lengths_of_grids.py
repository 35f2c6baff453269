"""An offset moves a grid either way, and a window has a length.

Negative offsets were refused, and a window of no length in GROUP BY was a Python error.
"""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ebbtide import Engine
from ebbtide.errors import ParseError

DECLARED = "CREATE STREAM s (at TIMESTAMP NOT NULL, PROGRESS FOR at AS at)"
START = datetime(2026, 1, 1, tzinfo=UTC)
LENGTH, OFFSET = timedelta(minutes=10), timedelta(minutes=-3)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT window_start AS began FROM TUMBLE(s, at, 10 MINUTES OFFSET -3 MINUTES)",
        "SELECT window_start AS began FROM TUMBLE(s, at, 10 MINUTES, INTERVAL '-3' MINUTES)",
        "SELECT window_start AS began FROM HOP(s, at, 10 MINUTES, 10 MINUTES, -3 MINUTES)",
        """SELECT TUMBLE_START(at, INTERVAL '10' MINUTE, INTERVAL '-3' MINUTE) AS began
        FROM s GROUP BY at, TUMBLE(at, INTERVAL '10' MINUTE, INTERVAL '-3' MINUTE)""",
        """SELECT window.start AS began FROM s
        GROUP BY at, window(at, '10 minutes', '10 minutes', '-3 minutes')""",
    ],
)
def test_a_grid_that_is_moved_back(tmp_path: Path, query: str) -> None:
    times = [START + timedelta(minutes=minute) for minute in range(0, 40, 3)]
    engine = Engine(tmp_path, transport="local")
    engine.execute(DECLARED)
    answer = engine.query(query)
    answer.start()
    engine.feed("s", [(at,) for at in times])
    engine.step()
    found = sorted(row["began"] for row in answer.snapshot().to_pylist())
    assert found == [at - (at - START - OFFSET) % LENGTH for at in times]
    engine.stop()


@pytest.mark.parametrize(
    "window",
    [
        "TUMBLE(at, INTERVAL '0' DAY)",
        "TUMBLE(at, INTERVAL '-1' DAY)",
        "TUMBLE(at, INTERVAL '0' DAY, INTERVAL '1' HOUR)",
        "HOP(at, INTERVAL '0' DAY, INTERVAL '1' DAY)",
        "SESSION(at, INTERVAL '0' DAY)",
        "window(at, '0 minutes')",
    ],
)
def test_a_window_of_no_length(tmp_path: Path, window: str) -> None:
    engine = Engine(tmp_path, transport="local")
    engine.execute(DECLARED)
    with pytest.raises(ParseError, match="bad-duration") as refused:
        engine.query(f"SELECT COUNT(*) AS n FROM s GROUP BY {window}")
    assert refused.value.hint == "write INTERVAL 10 MINUTES"
