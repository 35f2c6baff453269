"""The laws of an aggregate, for those who add one of their own.

Law (``ebbtide.algebra.aggregates.function``): over any bag of rows the result does not depend on
the order; ``merge`` of two bags' states is the state of their union; ``retract`` undoes
``accumulate``; and a state that was built upon is still what it was.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

from ebbtide.algebra.aggregates import AggregateFunction
from ebbtide.core.values import Row, Value, normalise


def check_aggregate(
    function: AggregateFunction,
    rows: Sequence[Row],
    same: Callable[[Value, Value], bool] | None = None,
) -> None:
    """Fails unless the five functions obey their laws on a bag of rows.

    Rows are the arguments' values; those of an ordered aggregate end with their place.  ``same``
    says when two results are equal, for aggregates that round.
    """
    __tracebackhide__ = True
    # As items of tuples, because NaN is NaN there.
    agree = same or (lambda a, b: (a,) == (b,))
    rows = list(rows)
    whole = _state(function, rows)
    expected = normalise(function.result(whole))

    def assert_same(law: str, state: Any, wanted: Value = expected) -> None:
        __tracebackhide__ = True
        found = normalise(function.result(state))
        if not agree(found, wanted):
            raise AssertionError(f"{law}: {found!r} instead of {wanted!r}, over {rows!r}")

    assert_same("another order changes the result", _state(function, rows[::-1]))
    for i in range(len(rows) + 1):
        first, second = _state(function, rows[:i]), _state(function, rows[i:])
        assert_same("another order changes the result", _state(function, rows[i:] + rows[:i]))
        assert_same("merging two parts is not the whole", function.merge(first, second))
        assert_same("merging two parts depends on their order", function.merge(second, first))
    for i, row in enumerate(rows):
        rest = _state(function, rows[:i] + rows[i + 1 :])
        if function.retract is not None:
            wanted = normalise(function.result(rest))
            assert_same("retracting leaves a trace", function.retract(whole, row), wanted)
        assert_same("what was left out cannot come back", function.accumulate(rest, row))
    assert_same("a state has changed while others were built upon it", whole)


def _state(function: AggregateFunction, rows: Sequence[Row]) -> Any:
    return reduce(function.accumulate, rows, function.initial)
