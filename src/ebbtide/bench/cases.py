"""The queries that are measured, in every system's words, with their expected answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ebbtide.bench import answers
from ebbtide.bench.answers import Answer
from ebbtide.bench.data import ReadingFiles


@dataclass(frozen=True)
class BenchCase:
    """A query on one or two streams ``s`` and ``u`` of readings.

    ``expected`` is what its snapshot has for each key at an instant; ``flink`` the same question
    in Flink's SQL, into these columns, and ``flink_rows`` how many rows Flink answers with.
    """

    name: str
    title: str
    sql: str
    streams: int
    expected: Callable[..., Answer]
    flink: str
    flink_columns: str
    flink_rows: Callable[..., int]


_OVER = (
    "SELECT k, {call} OVER (PARTITION BY k ORDER BY `at`"
    " RANGE BETWEEN INTERVAL '5' MINUTE PRECEDING AND CURRENT ROW) FROM s"
)


def _each(rows: ReadingFiles) -> int:
    return len(rows)


CASES = (
    BenchCase(
        "mean",
        "`AVG` per key over `[RANGE 5 MINUTES]`",
        "SELECT k, AVG(v) AS x FROM s [RANGE 5 MINUTES] GROUP BY k",
        1,
        answers.means,
        _OVER.format(call="AVG(v)"),
        "k BIGINT, x DOUBLE",
        _each,
    ),
    BenchCase(
        "top",
        "`MAX` per key over `[RANGE 5 MINUTES]`",
        "SELECT k, MAX(v) AS x FROM s [RANGE 5 MINUTES] GROUP BY k",
        1,
        answers.tops,
        _OVER.format(call="MAX(v)"),
        "k BIGINT, x DOUBLE",
        _each,
    ),
    BenchCase(
        "join",
        "join of two streams on the key within 5 s",
        "SELECT s.k, s.v, u.v AS w FROM s [RANGE 5 SECONDS] JOIN u [RANGE 5 SECONDS] ON s.k = u.k",
        2,
        answers.pairs,
        "SELECT s.k, s.v, u.v AS w FROM s, u WHERE s.k = u.k"
        " AND s.`at` BETWEEN u.`at` - INTERVAL '5' SECOND AND u.`at` + INTERVAL '5' SECOND",
        "k BIGINT, v DOUBLE, w DOUBLE",
        answers.pairs_in_band,
    ),
    BenchCase(
        "count",
        "`COUNT` per key over `[RANGE 5 MINUTES SLIDE 1 MINUTE]`",
        "SELECT k, COUNT(*) AS x FROM s [RANGE 5 MINUTES SLIDE 1 MINUTE] GROUP BY k",
        1,
        answers.counts,
        "SELECT k, window_end, COUNT(*) FROM TABLE(HOP(TABLE s, DESCRIPTOR(`at`),"
        " INTERVAL '1' MINUTE, INTERVAL '5' MINUTE)) GROUP BY k, window_start, window_end",
        "k BIGINT, ending TIMESTAMP(3), x BIGINT",
        answers.windows_of_keys,
    ),
)
