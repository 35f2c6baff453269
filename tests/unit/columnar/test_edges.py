"""Where types begin and end, columns and the reference agree: all pairs of edges, all functions."""

from itertools import product
from random import Random

import pytest

from ebbtide.algebra.arithmetic import arithmetic_type
from ebbtide.algebra.expression import (
    ARITHMETIC,
    COMPARISONS,
    Arithmetic,
    Call,
    Cast,
    Comparison,
    Expression,
    Literal,
    Ref,
)
from ebbtide.algebra.type_rules import can_cast
from ebbtide.core.schema import Column, Schema
from ebbtide.core.tree import rewrite
from ebbtide.core.types import INT, DecimalType
from ebbtide.errors import BindError
from scalars import Case, T
from scalars.columns import COUNTS, ZONES, check, edges
from scalars.tables import ALL

TYPES = [*(c.type for c in T if edges(c.type) and c.name != "n"), DecimalType(38, 10)]
PAIRS = list(product(TYPES, TYPES))


def _is_defined(sign, left, right) -> bool:
    try:
        arithmetic_type(sign, left, right)
    except BindError:
        return False
    return True


def _rows(*types):
    return list(product(*([*edges(type_), None] for type_ in types)))


@pytest.mark.parametrize("sign", ARITHMETIC)
def test_arithmetic(sign: str) -> None:
    for left, right in PAIRS:
        if _is_defined(sign, left, right):
            schema = Schema((Column("a", left), Column("b", right)))
            expression = Arithmetic(sign, Ref(schema[0]), Ref(schema[1]))
            check(expression, schema, _rows(left, right), "Europe/Berlin")


@pytest.mark.parametrize("zone", ZONES[:2])
def test_casts(zone: str) -> None:
    for source, target in PAIRS:
        if can_cast(source, target):
            schema = Schema((Column("a", source),))
            check(Cast(Ref(schema[0]), target), schema, _rows(source), zone)


@pytest.mark.parametrize("sign", COMPARISONS)
def test_comparisons(sign: str) -> None:
    for type_ in TYPES:
        schema = Schema((Column("a", type_), Column("b", type_)))
        check(Comparison(sign, Ref(schema[0]), Ref(schema[1])), schema, _rows(type_, type_))


@pytest.mark.parametrize("case", ALL, ids=str)
def test_other_operands(case: Case) -> None:
    """The expression of a case with edges in the places of its operands, some as columns."""
    random = Random(str(case))
    columns: list[Column] = []

    def moved(node: Expression) -> Expression:
        if isinstance(node, Call) and node.name in COUNTS:
            count = Literal(random.choice([-1, 0, 3, 6]), INT)
            return Call(node.name, (node.arguments[0], count, *node.arguments[2:]))
        if not isinstance(node, Literal | Ref) or not edges(node.type) or random.random() < 0.2:
            return node
        if random.random() < 0.25:
            return Literal(random.choice(edges(node.type)), node.type)
        columns.append(Column(f"x{len(columns)}", node.type))
        return Ref(columns[-1])

    expression = rewrite(case.expression, moved)
    schema = Schema((*T, *columns))
    rows = [
        tuple(random.choice([*edges(column.type), None]) for column in schema) for _ in range(20)
    ]
    check(expression, schema, rows, random.choice(ZONES))
