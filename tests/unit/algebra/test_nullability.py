"""Whether an expression can be NULL."""

import pytest

from ebbtide.algebra.expression import Call, Field, Item, Ref
from ebbtide.algebra.nullability import nullable
from ebbtide.core.schema import Column
from ebbtide.core.types import INT, STRING, ArrayType, StructType
from ebbtide.reference.scalar import evaluate
from scalars import ROW, Fails, T, col, const, f, op, to
from scalars.tables import ALL

SURE = Ref(Column("k", INT, nullable=False))
ITEMS = Ref(Column("items", ArrayType(INT), nullable=False))
PARTS = Ref(Column("parts", StructType((("a", INT),)), nullable=False))


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (SURE, False),
        (col("i"), True),
        (op(SURE, "+", 1), False),
        (op(SURE, "+", col("i")), True),
        (op(SURE, "<=>", col("i")), False),
        (f("COALESCE", col("i"), SURE), False),
        (f("GREATEST", col("i"), SURE), False),
        (f("LEAST", col("i"), col("b")), True),
        (f("ARRAY", col("i")), False),
        (f("STRUCT", col("i")), False),
        (f("CONCAT_WS", ",", col("s")), False),
        (f("CONCAT_WS", col("s"), "a"), True),
        (f("LN", SURE), True),
        (f("UNHEX", "00"), True),
        (f("ELEMENT_AT", ITEMS, 1), True),
        (Item(ITEMS, const(0)), True),
        (Field(PARTS, "a"), True),
        (to(SURE, "STRING"), False),
        (to(SURE, "TINYINT", safe=True), True),
        (f("IF", col("o"), SURE, 2), False),
        (f("NULLIF", SURE, 2), True),
        (f("NVL", col("i"), SURE), False),
    ],
    ids=str,
)
def test_nullable(expression, expected) -> None:
    assert nullable(expression) is expected


def test_what_is_null_can_be() -> None:
    for case in ALL:
        if not isinstance(case.expected, Fails) and evaluate(case.expression, T, ROW) is None:
            assert nullable(case.expression), str(case)


def test_a_call_of_constants() -> None:
    assert not nullable(Call("UPPER", (const("a"),)))
    assert Call("UPPER", (const("a"),)).type == STRING
