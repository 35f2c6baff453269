"""Conditions of semi, anti and outer joins may use every expression over both sides."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from ebbtide import Engine
from ebbtide.compile.lowering import lower
from ebbtide.core.admission import Arrival, Op
from ebbtide.core.change import consolidate
from ebbtide.errors import EvaluationError
from histories import Fed
from in_process import InProcess

SCRIPT = """
CREATE STREAM l (k BIGINT, s STRING, at TIMESTAMP, PROGRESS FOR at AS at);
CREATE STREAM r (k BIGINT, s STRING, at TIMESTAMP, PROGRESS FOR at AS at);
"""
SECOND = 1_000_000
LEFT = ((1, "tide", SECOND), (2, "ebb", SECOND), (3, None, SECOND))
RIGHT = ((1, "TIDE", SECOND), (1, "flow", SECOND), (2, "x", SECOND), (3, "y", SECOND))


def emitted(text: str, tmp_path: Path) -> Counter[tuple[object, ...]]:
    """The rows that a query emits for the rows of both sides."""
    engine = Engine(tmp_path / "engine")
    engine.execute(SCRIPT)
    runner = InProcess(lower({"q": engine.query(text).analysis}), str(tmp_path / "local"), shards=2)
    fed = {
        name: Fed(tuple(Arrival(Op.INSERT, row, n) for n, row in enumerate(rows)))
        for name, rows in (("l", LEFT), ("r", RIGHT))
    }
    return Counter(change.row for change in consolidate(runner.emitted(runner.step(fed))))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "SELECT l.k, r.s FROM l [RANGE 5 SECONDS] l LEFT JOIN r [RANGE 5 SECONDS] r "
            "ON l.k = r.k AND CONCAT(UPPER(l.s), '!') LIKE CONCAT(r.s, '%')",
            [(1, "TIDE"), (2, None), (3, None)],
        ),
        (
            "SELECT l.k FROM l [RANGE 5 SECONDS] l WHERE EXISTS (SELECT 1 "
            "FROM r [RANGE 5 SECONDS] r WHERE l.k = r.k AND LENGTH(l.s) + 1 - LENGTH(r.s) = 1)",
            [(1,)],
        ),
        (
            "SELECT l.k FROM l [RANGE 5 SECONDS] l WHERE NOT EXISTS (SELECT 1 "
            "FROM r [RANGE 5 SECONDS] r WHERE l.k = r.k AND COALESCE(l.s, r.s) RLIKE '^[a-t]')",
            [(3,)],
        ),
    ],
)
def test_functions_of_both_sides(text: str, expected: list[object], tmp_path: Path) -> None:
    assert emitted(text, tmp_path) == Counter(expected)


def test_a_row_with_a_pair_that_fails_is_not_padded(tmp_path: Path) -> None:
    text = (
        "SELECT l.k FROM l [RANGE 5 SECONDS] l LEFT JOIN r [RANGE 5 SECONDS] r "
        "ON l.k = r.k AND 1 / (LENGTH(l.s) - LENGTH(r.s)) > 0"
    )
    assert emitted(text, tmp_path / "quarantine") == Counter([(2,), (3,)])
    with pytest.raises(EvaluationError, match="division-by-zero"):
        emitted(f"{text} ON ERROR FAIL", tmp_path / "fail")
