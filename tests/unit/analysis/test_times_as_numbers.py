"""Conditions on times as numbers bound the times, and say nothing that is not so."""

from random import Random

import pytest

from ebbtide.algebra.coercion import arithmetic, call, cast, compare
from ebbtide.algebra.expression import Expression, Literal, Ref
from ebbtide.analysis.formula.dnf import Dnf
from ebbtide.analysis.temporal.edge import time_columns
from ebbtide.analysis.temporal.predicates import holding
from ebbtide.core.schema import schema
from ebbtide.core.time import INF, SECOND
from ebbtide.core.types import BIGINT
from ebbtide.reference.scalar import evaluate

T = schema(a="TIMESTAMP", b="TIMESTAMP")
A, B = (Ref(column) for column in T)
VARIABLES = time_columns(T)


def number(time: Expression, unit: str) -> Expression:
    return cast(time, BIGINT) if unit == "BIGINT" else call(unit, (time,))


def moved(count: Expression, by: int) -> Expression:
    return arithmetic("-" if by < 0 else "+", count, Literal(abs(by), BIGINT))


@pytest.mark.parametrize("unit", ["UNIX_MICROS", "UNIX_MILLIS", "UNIX_SECONDS", "BIGINT"])
@pytest.mark.parametrize("op", ["<", "<=", ">", ">=", "="])
@pytest.mark.parametrize("by", [-2, 0, 3])
def test_what_is_said_holds_of_every_pair_of_times(unit: str, op: str, by: int) -> None:
    condition = compare(op, number(A, unit), moved(number(B, unit), by))
    known = Dnf.of(holding(condition, T, VARIABLES))
    a, b = VARIABLES.values()
    assert min(known.dist(a, b), known.dist(b, a)) < INF
    dice, scale = Random(by), {"UNIX_MICROS": 1, "UNIX_MILLIS": 1000}.get(unit, SECOND)
    for _ in range(300):
        row = tuple(dice.randrange(-4 * scale, 4 * scale) for _ in T)
        if evaluate(condition, T, row):
            assert known.holds(dict(zip((a, b), row, strict=True))), row


def test_a_number_is_a_time_again() -> None:
    later = call("TIMESTAMP_SECONDS", (moved(number(A, "UNIX_SECONDS"), 5),))
    known = Dnf.of(holding(compare("<", B, later), T, VARIABLES))
    a, b = VARIABLES.values()
    assert known.dist(a, b) == 5 * SECOND - 1


def test_numbers_of_different_units_say_nothing() -> None:
    condition = compare("<", number(A, "UNIX_SECONDS"), number(B, "UNIX_MILLIS"))
    known = Dnf.of(holding(condition, T, VARIABLES))
    a, b = VARIABLES.values()
    assert known.dist(a, b) == known.dist(b, a) == INF
