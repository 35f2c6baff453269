"""An error is a value: what decides without it, what is not reached, and what it costs."""

from __future__ import annotations

import pyarrow as pa
import pytest

from ebbtide.algebra import coercion
from ebbtide.algebra.expression import (
    And,
    Arithmetic,
    Call,
    Case,
    Cast,
    Comparison,
    Expression,
    FloorTo,
    InList,
    IsNull,
    Literal,
    Not,
    Or,
    Ref,
)
from ebbtide.columnar import Columnar
from ebbtide.core.schema import schema
from ebbtide.core.types import BIGINT, BOOLEAN, INT, STRING
from ebbtide.errors import EvaluationError

S = schema(i="BIGINT", o="BOOLEAN", s="STRING", t="TIMESTAMP")
NUMBER, TRUTH, TEXT = (Ref(S.column(name)) for name in ("i", "o", "s"))
ROWS = pa.table(
    {
        "i": pa.array([0, 1, None], pa.int64()),
        "o": pa.array([False, True, None]),
        "s": pa.array(["x", "1", None]),
        "t": pa.array([0, 1, 2], pa.int64()),
    }
)
FAILS_ON_ZERO = Arithmetic("/", Literal(1, BIGINT), NUMBER)
BAD = Comparison("=", FAILS_ON_ZERO, FAILS_ON_ZERO)
"""TRUE where i is 1, NULL where it is NULL, and a division by zero on the first row."""


def codes(expression: Expression) -> list[object]:
    """The values of an expression, and the code of the error where it fails."""
    evaluated = Columnar(expression, S).evaluate(ROWS)
    if evaluated.failures is None:
        return list(evaluated.values.to_pylist())
    errors = [evaluated.failures.at(row) for row in range(ROWS.num_rows)]
    pairs = zip(evaluated.values.to_pylist(), errors, strict=True)
    return [value if error is None else error.code for value, error in pairs]


ZERO = "division-by-zero"


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (BAD, [ZERO, True, None]),
        (And(BAD, TRUTH), [False, True, None]),
        (And(TRUTH, BAD), [False, True, None]),
        (Or(BAD, TRUTH), [ZERO, True, None]),
        (Or(BAD, Not(TRUTH)), [True, True, None]),
        (Or(Not(TRUTH), BAD), [True, True, None]),
        (And(BAD, Literal(None, BOOLEAN)), [ZERO, None, None]),
        (And(BAD, Literal(False, BOOLEAN)), [False, False, False]),
        (Not(BAD), [ZERO, False, None]),
        (IsNull(BAD), [ZERO, False, True]),
        (Comparison("<=>", BAD, Literal(None, BOOLEAN)), [ZERO, False, True]),
        (Case(((TRUTH, BAD),), Literal(False, BOOLEAN)), [False, True, False]),
        (Case(((BAD, TRUTH),), Literal(False, BOOLEAN)), [ZERO, True, False]),
        (Case(((Not(TRUTH), TRUTH), (BAD, TRUTH)), TRUTH), [False, True, None]),
        (Call("COALESCE", (TRUTH, BAD)), [False, True, None]),
        (Call("COALESCE", (BAD, TRUTH)), [ZERO, True, None]),
        (Call("GREATEST", (TRUTH, BAD)), [ZERO, True, None]),
        (InList(TRUTH, (BAD, Literal(False, BOOLEAN))), [True, True, None]),
        (InList(TRUTH, (BAD, Literal(True, BOOLEAN))), [ZERO, True, None]),
        (InList(BAD, (TRUTH,)), [ZERO, True, None]),
        (Call("ARRAY", (BAD,)), [ZERO, [True], [None]]),
        (Cast(TEXT, INT), ["bad-cast", 1, None]),
        (Cast(TEXT, INT, safe=True), [None, 1, None]),
    ],
    ids=str,
)
def test_what_counts(expression: Expression, expected: list[object]) -> None:
    assert codes(expression) == expected


def test_of_several_errors_the_first_in_the_text_counts() -> None:
    cast = Cast(TEXT, BIGINT)
    assert codes(Comparison("=", coercion.cast(cast, FAILS_ON_ZERO.type), FAILS_ON_ZERO))[0] == (
        "bad-cast"
    )
    assert codes(Comparison("=", FAILS_ON_ZERO, coercion.cast(cast, FAILS_ON_ZERO.type)))[0] == ZERO


def test_a_constant_that_fails_does_so_on_every_row_and_on_none_of_no_rows() -> None:
    bad = Cast(Literal("x", STRING), INT)
    assert codes(bad) == ["bad-cast"] * 3
    assert codes(And(TRUTH, Comparison("=", bad, bad))) == [False, "bad-cast", "bad-cast"]
    assert Columnar(bad, S).evaluate(ROWS.slice(0, 0)).failures is None


def test_an_error_names_the_expression_and_what_to_write() -> None:
    with pytest.raises(EvaluationError) as caught:
        Columnar(Cast(TEXT, INT), S)(ROWS)
    assert caught.value.message.startswith("CAST(s AS INT): 'x'")
    assert caught.value.hint == "TRY_CAST(s AS INT)"
    with pytest.raises(EvaluationError) as caught:
        Columnar(FAILS_ON_ZERO, S)(ROWS)
    assert caught.value.hint == "NULLIF(i, 0)"


def test_a_column_is_not_copied() -> None:
    values = Columnar(NUMBER, S)(ROWS)
    assert values.buffers()[1].address == ROWS["i"].chunk(0).buffers()[1].address


def test_columns_in_pieces_and_further_columns() -> None:
    pieces = pa.concat_tables([ROWS, ROWS]).append_column("further", pa.nulls(6))
    assert Columnar(TRUTH, S)(pieces).to_pylist() == [False, True, None] * 2
    assert Columnar(FloorTo(Ref(S.column("t")), 2), S)(pieces).to_pylist() == [0, 0, 2] * 2


def test_depth_does_not_matter() -> None:
    deep: Expression = NUMBER
    for _ in range(2000):
        deep = Arithmetic("+", deep, Literal(1, BIGINT))
    assert Columnar(deep, S)(ROWS).to_pylist() == [2000, 2001, None]
