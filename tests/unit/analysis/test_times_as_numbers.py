"""Conditions on times as numbers bound the times, and say nothing that is not so."""

from random import Random

import pytest

from ebbtide import Engine
from ebbtide.algebra.coercion import arithmetic, call, cast, compare
from ebbtide.algebra.expression import Expression, Literal, Ref
from ebbtide.analysis.formula.dnf import Dnf
from ebbtide.analysis.temporal.edge import time_columns
from ebbtide.analysis.temporal.predicates import holding
from ebbtide.core.schema import schema
from ebbtide.core.time import INF, SECOND
from ebbtide.core.types import BIGINT
from ebbtide.reference.scalar import evaluate

DECLARED = """
CREATE STREAM a (k BIGINT, at TIMESTAMP NOT NULL, PROGRESS FOR at AS at);
CREATE STREAM b (k BIGINT, at TIMESTAMP NOT NULL, PROGRESS FOR at AS at);
"""
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


@pytest.mark.parametrize("unit", ["UNIX_MICROS", "UNIX_MILLIS", "UNIX_SECONDS", "BIGINT"])
@pytest.mark.parametrize("op", ["<", "<=", ">", ">=", "="])
@pytest.mark.parametrize("by", [-2, 0, 3])
@pytest.mark.parametrize("turned", [False, True])
def test_what_is_said_of_a_difference_holds(unit: str, op: str, by: int, turned: bool) -> None:
    difference, constant = arithmetic("-", number(A, unit), number(B, unit)), Literal(by, BIGINT)
    sides = (constant, difference) if turned else (difference, constant)
    condition = compare(op, *sides)
    known = Dnf.of(holding(condition, T, VARIABLES))
    a, b = VARIABLES.values()
    assert min(known.dist(a, b), known.dist(b, a)) < INF
    dice, scale = Random(by), {"UNIX_MICROS": 1, "UNIX_MILLIS": 1000}.get(unit, SECOND)
    for _ in range(100):
        row = tuple(dice.randrange(-4 * scale, 4 * scale) for _ in T)
        if evaluate(condition, T, row):
            assert known.holds(dict(zip((a, b), row, strict=True))), row


@pytest.mark.parametrize(
    "condition",
    [
        "UNIX_SECONDS(b.at) BETWEEN UNIX_SECONDS(a.at) AND UNIX_SECONDS(a.at) + 10",
        "CAST(b.at AS BIGINT) BETWEEN CAST(a.at AS BIGINT) AND CAST(a.at AS BIGINT) + 10",
        "UNIX_SECONDS(b.at) - UNIX_SECONDS(a.at) BETWEEN 0 AND 10",
        "UNIX_MILLIS(b.at) - 10000 <= UNIX_MILLIS(a.at) AND 0 <= UNIX_MICROS(b.at)"
        " - UNIX_MICROS(a.at)",
    ],
)
def test_a_join_by_numbers_stores_a_window(condition: str) -> None:
    engine = Engine("nowhere", transport="local")
    engine.execute(DECLARED)
    query = engine.query(f"SELECT a.k FROM a JOIN b ON a.k = b.k AND {condition}")
    assert str(query.verdict.state).startswith("per window")


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
