"""Which types go together, against what Spark answered."""

from itertools import product

import pytest

from ebbtide.algebra.type_rules import can_cast, can_coerce, common_type
from ebbtide.core.types import INT, STRING, ArrayType, StructType
from scalars import T
from scalars.questions import questions, recorded

TYPES = [column.type for column in T]

# Where Ebbtide deliberately has another type than Spark, or refuses, and why.
DELIBERATE = {
    "s + iv": "a text plus a duration is a text again in Spark",
    "iv + s": "the same",
    "s - iv": "the same",
    "NULL / d": "in Spark a DOUBLE, although d / NULL is a DECIMAL",
    "LPAD(x, 5)": "bytes are padded as text, also without a pad",
    "TO_TIMESTAMP(x, 'dd/MM/yyyy H:m')": "only a text is read by a pattern",
    "TO_TIMESTAMP(o, 'dd/MM/yyyy H:m')": "the same",
    "TO_TIMESTAMP(iv, 'dd/MM/yyyy H:m')": "the same",
    "EXTRACT(SECOND FROM iv)": "a duration has no fields",
}


def test_the_types_are_those_that_spark_answered() -> None:
    known = recorded()
    asked = questions()
    assert set(asked) == set(known), "ask Spark again: python -m scalars.spark"
    differing = {
        text: (question.own, known[text])
        for text, question in asked.items()
        if question.own != known[text]
    }
    assert {text: types for text, types in differing.items() if text not in DELIBERATE} == {}
    assert set(DELIBERATE) <= set(differing)


@pytest.mark.parametrize(("left", "right"), [*product(TYPES, TYPES)], ids=str)
def test_the_common_type_is_common(left, right) -> None:
    common = common_type(left, right)
    assert common == common_type(right, left)
    if common is not None:
        assert common_type(common, left) == common
        assert can_cast(left, common)
        assert can_cast(right, common)


@pytest.mark.parametrize(("left", "right"), [*product(TYPES, TYPES)], ids=str)
def test_what_is_coerced_can_be_cast(left, right) -> None:
    if can_coerce(left, right):
        assert can_cast(left, right)


def test_structs_go_together_field_by_field() -> None:
    left = StructType((("a", INT), ("b", STRING)))
    right = StructType((("A", INT), ("B", INT)))
    assert str(common_type(left, right)) == "STRUCT<a: INT, b: BIGINT>"
    assert common_type(left, StructType((("a", INT),))) is None
    assert common_type(left, StructType((("a", ArrayType(INT)), ("b", STRING)))) is None
    assert not can_cast(left, StructType((("a", INT),)))
