"""Assertions about relations, with failures that show where in time and in which rows.

Law: two sets of changes are the same relation iff all their snapshots are equal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from ebbtide.core.change import Change, Multiset, end_points, snapshot, until
from ebbtide.core.schema import Schema
from ebbtide.core.time import INF, Instant
from ebbtide.core.values import Row, row_key
from ebbtide.testing.cells import in_iso, time_to_text
from ebbtide.testing.tables import grid, row_to_text


def assert_snapshot_equal(
    actual: Iterable[Change],
    expected: Iterable[Change],
    now: Instant = INF,
    schema: Schema | None = None,
) -> None:
    """Fails unless all snapshots up to ``now`` are equal; shows the first that is not.

    With a ``schema`` the rows are shown as a table with the names of the columns.
    """
    __tracebackhide__ = True
    actual, expected = until(actual, now), until(expected, now)
    points = end_points(actual, expected)
    differing = [t for t in points if snapshot(actual, t) != snapshot(expected, t)]
    if not differing:
        return
    first = differing[0]
    end = next((t for t in points if t > first and t not in differing), None)
    iso = in_iso(points)
    until_when = "" if end is None else f", until {time_to_text(end, iso)}"
    raise AssertionError(
        f"the relations first differ at {time_to_text(first, iso)}{until_when}:\n\n"
        f"{_side_by_side(snapshot(actual, first), snapshot(expected, first), schema, iso)}"
    )


def assert_snapshot(
    changes: Iterable[Change], at: Instant, rows: Iterable[Row], schema: Schema | None = None
) -> None:
    """Fails unless the snapshot at an instant has just these rows."""
    __tracebackhide__ = True
    actual, expected = snapshot(changes, at), Counter(rows)
    iso = in_iso([at])
    if actual != expected:
        raise AssertionError(
            f"the snapshot at {time_to_text(at, iso)} is another:\n\n"
            f"{_side_by_side(actual, expected, schema, iso)}"
        )


def _side_by_side(actual: Multiset, expected: Multiset, schema: Schema | None, iso: bool) -> str:
    names = ["row"] if schema is None else list(map(str, schema))
    lines = [["", *names, "expected", "actual"]]
    for row in sorted({*actual, *expected}, key=row_key):
        mark = "" if actual[row] == expected[row] else ">"
        cells = [repr(row)] if schema is None else row_to_text(row, schema, iso)
        lines.append([mark, *cells, str(expected[row]), str(actual[row])])
    return grid(lines)
