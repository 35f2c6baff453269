"""Mistakes in queries without windows: each has its code, and what its hint says works.

The hint of a mistake is typed in the place of what was wrong.
"""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from ebbtide import Engine
from ebbtide.errors import EbbtideError

DECLARED = """
CREATE STREAM a (k BIGINT, v BIGINT, at TIMESTAMP NOT NULL, PROGRESS FOR at AS at);
CREATE STREAM b (k BIGINT, v BIGINT, at TIMESTAMP NOT NULL, PROGRESS FOR at AS at);
CREATE STREAM r (k BIGINT, n BIGINT, at TIMESTAMP NOT NULL, PROGRESS FOR at AS at);
CREATE STREAM s (k BIGINT, n BIGINT, at TIMESTAMP NOT NULL, PROGRESS FOR at AS at);
"""
FED = "INSERT INTO r SELECT k, v, at FROM a"


@dataclass(frozen=True)
class Mistake:
    """What is written, the code, a part of the hint, and what was wrong and is right instead."""

    script: str
    code: str
    hint: str
    wrong: str
    right: str


MISTAKES = {
    "a new row at the same time": Mistake(
        f"{FED}; INSERT INTO r SELECT k, n + 1, at FROM r",
        "recursion-not-later",
        "at + INTERVAL 1 SECOND",
        "n + 1, at FROM",
        "n + 1, at + INTERVAL 1 SECOND FROM",
    ),
    "a new row that is earlier": Mistake(
        f"{FED}; INSERT INTO r SELECT k, n, at - INTERVAL 1 SECOND FROM r",
        "recursion-not-later",
        "at + INTERVAL 1 SECOND",
        "at - INTERVAL 1 SECOND",
        "at + INTERVAL 1 SECOND",
    ),
    "a partner at the same time": Mistake(
        f"{FED}; INSERT INTO r SELECT r.k, b.v, b.at FROM r JOIN b ON b.k = r.k"
        " AND b.at >= r.at AND b.at <= r.at + INTERVAL 1 MINUTE",
        "recursion-not-later",
        "add a condition on it",
        "b.at >= r.at",
        "b.at > r.at",
    ),
    "absence at the same time": Mistake(
        "INSERT INTO r SELECT k, v, at FROM a WHERE NOT EXISTS (SELECT 1 FROM r WHERE r.k = a.k"
        " AND r.at <= a.at AND r.at >= a.at - INTERVAL 1 MINUTE)",
        "recursion-not-later",
        "add a condition on it",
        "r.at <= a.at",
        "r.at < a.at",
    ),
    "a cycle of two streams on which time stands still": Mistake(
        f"{FED}; INSERT INTO s SELECT k, n, at + INTERVAL 1 SECOND FROM r;"
        " INSERT INTO r SELECT k, n, at - INTERVAL 1 SECOND FROM s",
        "recursion-not-later",
        "at + INTERVAL 1 SECOND",
        "at - INTERVAL 1 SECOND",
        "at + INTERVAL 1 SECOND",
    ),
    "FINAL of counts without an end": Mistake(
        "SELECT a.k, COUNT(*) AS n FROM a GROUP BY a.k EMIT FINAL",
        "never-final",
        "GROUP BY FLOOR(a.at TO 1 HOUR)",
        "a.k, COUNT(*) AS n FROM a GROUP BY a.k",
        "a.k, FLOOR(a.at TO 1 HOUR) AS at, COUNT(*) AS n FROM a"
        " GROUP BY a.k, FLOOR(a.at TO 1 HOUR)",
    ),
    "FINAL of absence without an end": Mistake(
        "SELECT k FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE b.k = a.k) EMIT FINAL",
        "never-final",
        "AND b.at BETWEEN a.at AND a.at + INTERVAL 1 HOUR",
        "b.k = a.k",
        "b.k = a.k AND b.at BETWEEN a.at AND a.at + INTERVAL 1 HOUR",
    ),
    "INSERT with fewer columns": Mistake(
        "INSERT INTO r SELECT k, at FROM a",
        "column-count",
        "INSERT INTO r (k, at)",
        "INSERT INTO r",
        "INSERT INTO r (k, at)",
    ),
    "INSERT with more columns": Mistake(
        "INSERT INTO r SELECT k, v AS n, at, v FROM a",
        "column-count",
        "SELECT k, n, at",
        "SELECT k, v AS n, at, v FROM a",
        "SELECT k, n, at FROM (SELECT *, v AS n FROM a)",
    ),
    "INSERT with another type": Mistake(
        "INSERT INTO r SELECT k, 'x' AS n, at FROM a",
        "type-mismatch",
        "CAST('x' AS BIGINT) AS n",
        "'x' AS n",
        "CAST('x' AS BIGINT) AS n",
    ),
    "INSERT with a time that may be NULL": Mistake(
        "INSERT INTO r SELECT a.k, a.v, b.at FROM a LEFT JOIN b ON b.k = a.k"
        " AND b.at BETWEEN a.at AND a.at + INTERVAL 1 MINUTE",
        "null-column",
        "COALESCE",
        "a.v, b.at FROM",
        "a.v, COALESCE(b.at, a.at) FROM",
    ),
    "INSERT of a time that does not progress": Mistake(
        "INSERT INTO r SELECT k, v, TIMESTAMP '2026-01-01' FROM a",
        "insert-without-progress",
        "leave out PROGRESS FOR at",
        "INSERT INTO r",
        "CREATE STREAM t (k BIGINT, n BIGINT, at TIMESTAMP NOT NULL); INSERT INTO t",
    ),
    "INSERT of a chosen time that goes backwards": Mistake(
        "INSERT INTO r SELECT a.k, a.v, LEAST(a.at, b.at) AS at FROM a JOIN b ON b.k = a.k"
        " AND b.at >= a.at - INTERVAL 1 MINUTE",
        "insert-without-progress",
        "GREATEST(a.at, b.at) AS at",
        "LEAST(a.at, b.at) AS at",
        "GREATEST(a.at, b.at) AS at",
    ),
    "a view of a chosen time that goes backwards": Mistake(
        "CREATE VIEW w (k, at, PROGRESS FOR at) AS SELECT a.k, LEAST(a.at, b.at) AS at"
        " FROM a JOIN b ON b.k = a.k AND b.at >= TIMESTAMP '2026-01-01'; SELECT * FROM w"
        " ALLOW UNBOUNDED STATE",
        "invalid-view",
        "leave out PROGRESS FOR at",
        "(k, at, PROGRESS FOR at)",
        "(k, at)",
    ),
    "FINAL by a chosen time that goes backwards": Mistake(
        "SELECT a.k, LEAST(a.at, b.at) AS at, COUNT(*) AS n FROM a JOIN b ON b.k = a.k"
        " AND b.at >= a.at GROUP BY a.k, LEAST(a.at, b.at) EMIT FINAL",
        "never-final",
        "FLOOR(b.at TO 1 HOUR)",
        "LEAST(a.at, b.at) AS at, COUNT(*) AS n FROM a JOIN b ON b.k = a.k"
        " AND b.at >= a.at GROUP BY a.k, LEAST(a.at, b.at)",
        "LEAST(a.at, b.at) AS at, FLOOR(b.at TO 1 HOUR) AS t, COUNT(*) AS n FROM a JOIN b"
        " ON b.k = a.k AND b.at >= a.at AND b.at <= a.at + INTERVAL 1 HOUR"
        " GROUP BY a.k, LEAST(a.at, b.at), FLOOR(b.at TO 1 HOUR)",
    ),
}


def taken(script: str) -> None:
    """Declares what a script declares, and has its last query judged."""
    engine = Engine("nowhere", transport="local")
    engine.execute(DECLARED)
    *before, last = script.split("; ")
    for statement in before:
        engine.execute(statement)
    if last.startswith("SELECT"):
        assert engine.query(last).analysis
    else:
        engine.execute(last)


@pytest.mark.parametrize("mistake", MISTAKES.values(), ids=MISTAKES)
def test_it_is_told_with_its_code_and_a_hint(mistake: Mistake) -> None:
    with pytest.raises(EbbtideError) as caught:
        taken(mistake.script)
    assert caught.value.code == mistake.code
    assert mistake.hint in (caught.value.hint or "")


@pytest.mark.parametrize("mistake", MISTAKES.values(), ids=MISTAKES)
def test_what_the_hint_says_works(mistake: Mistake) -> None:
    assert mistake.wrong in mistake.script
    taken(mistake.script.replace(mistake.wrong, mistake.right))
