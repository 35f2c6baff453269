"""The reference's values of scalar expressions, case by case."""

import math
from datetime import timedelta, timezone

import pytest

from ebbtide.algebra.expression import Cast, CeilTo, FloorTo, Literal, Ref
from ebbtide.algebra.functions import FUNCTIONS
from ebbtide.core.schema import Column, Schema
from ebbtide.core.time import INF, MINUTE
from ebbtide.core.types import DOUBLE, INT, TIMESTAMP, admits
from ebbtide.errors import EvaluationError, InternalError
from ebbtide.reference.functions import EVALUATIONS
from ebbtide.reference.scalar import evaluate, evaluator
from scalars import ROW, Case, Fails, T, at, col, const, f, names, op, same, time, to
from scalars.tables import ALL


@pytest.mark.parametrize("case", ALL, ids=str)
def test_value(case: Case) -> None:
    if isinstance(case.expected, Fails):
        with pytest.raises(EvaluationError) as caught:
            evaluate(case.expression, T, ROW)
        assert caught.value.code == case.expected.code
        return
    value = evaluate(case.expression, T, ROW)
    if case.near:
        assert value == pytest.approx(case.expected, rel=1e-15)
    else:
        assert same(value, case.expected), value
    assert admits(case.expression.type, value)


def test_every_function_has_an_evaluation_and_the_other_way_round() -> None:
    assert {*EVALUATIONS, "COALESCE"} == set(FUNCTIONS)


def test_every_function_has_a_case() -> None:
    assert set(FUNCTIONS) - names(ALL) == set()


def test_every_strict_function_has_a_null_of_null() -> None:
    for function in FUNCTIONS.values():
        if function.strict:
            for case in ALL:
                assert _null_of_null(case, function.name)


def _null_of_null(case: Case, name: str) -> bool:
    from ebbtide.algebra.expression import Call

    call = case.expression
    if not isinstance(call, Call) or call.name != name:
        return True
    for place, argument in enumerate(call.arguments):
        nulled = Call(
            name,
            (
                *call.arguments[:place],
                Literal(None, argument.type),
                *call.arguments[place + 1 :],
            ),
        )
        if evaluate(nulled, T, ROW) is not None:
            return False
    return True


class TestErrors:
    def test_an_error_names_the_expression_and_what_to_write(self) -> None:
        with pytest.raises(EvaluationError) as caught:
            evaluate(op(1, "+", op(col("i"), "/", op(col("i"), "-", 3))), T, ROW)
        assert str(caught.value) == (
            "error[division-by-zero]: i / (i - 3): division by zero\nhint: NULLIF(i - 3, 0)"
        )

    def test_a_cast_says_what_did_not_fit(self) -> None:
        with pytest.raises(EvaluationError) as caught:
            evaluate(Cast(const("x"), INT), T, ROW)
        assert str(caught.value) == (
            "error[bad-cast]: CAST('x' AS INT): 'x' is not an INT\nhint: TRY_CAST('x' AS INT)"
        )

    def test_a_column_that_is_not_there(self) -> None:
        with pytest.raises(InternalError):
            evaluate(Ref(Column("z", INT)), T, ROW)

    def test_a_failing_operand_of_try_cast_still_fails(self) -> None:
        with pytest.raises(EvaluationError, match="division"):
            evaluate(Cast(op(1, "/", op(col("i"), "-", 3)), INT, safe=True), T, ROW)


class TestGrid:
    @pytest.mark.parametrize(
        ("node", "expected"),
        [
            (FloorTo(col("ts"), 15 * MINUTE), at("2020-01-02 03:00:00")),
            (CeilTo(col("ts"), 15 * MINUTE), at("2020-01-02 03:15:00")),
            (FloorTo(time("1969-12-31 23:59:59"), 15 * MINUTE), at("1969-12-31 23:45:00")),
            (CeilTo(time("2020-01-02 03:00:00"), 15 * MINUTE), at("2020-01-02 03:00:00")),
            (FloorTo(Literal(None, TIMESTAMP), MINUTE), None),
            (FloorTo(Literal(INF, TIMESTAMP), MINUTE), INF),
        ],
    )
    def test_rounding_to_a_grid(self, node, expected) -> None:
        assert evaluate(node, T, ROW) == expected

    def test_no_grid_point_after_the_last(self) -> None:
        with pytest.raises(EvaluationError, match="overflow"):
            evaluate(CeilTo(Literal(INF - 1, TIMESTAMP), MINUTE), T, ROW)


class TestZone:
    east = timezone(timedelta(hours=2))

    @pytest.mark.parametrize(
        ("expression", "expected"),
        [
            (f("HOUR", col("ts")), 5),
            (f("DAY", time("2020-01-01 23:00:00")), 2),
            (f("DATE_TRUNC", "DAY", time("2020-01-01 23:00:00")), at("2020-01-01 22:00:00")),
            (f("DATE_FORMAT", col("ts"), "HH:mm XXX X Z"), "05:04 +02:00 +02 +0200"),
            (to(col("ts"), "STRING"), "2020-01-02 05:04:05.5"),
            (to(col("dt"), "TIMESTAMP"), at("2020-01-30 22:00:00")),
            (Cast(const("2020-01-02 03:00:00"), TIMESTAMP), at("2020-01-02 01:00:00")),
            (f("TO_TIMESTAMP", "2020", "yyyy"), at("2019-12-31 22:00:00")),
            (op(col("dt"), "+", col("iv")), at("2020-01-31 22:00:01")),
        ],
    )
    def test_the_calendar_is_that_of_the_zone(self, expression, expected) -> None:
        assert evaluate(expression, T, ROW, self.east) == expected


def test_bytes_that_are_no_text_become_marks_of_it() -> None:
    assert evaluate(to(b"\xff\x61", "STRING"), T, ROW) == "\ufffda"


def test_an_evaluator_is_made_once_for_many_rows() -> None:
    known = evaluator(op(col("i"), "+", 1), T)
    assert [known((0, 0, i)) for i in range(3)] == [1, 2, 3]


def test_columns_of_two_tables_are_told_apart() -> None:
    columns = Schema((Column("k", INT, table="a"), Column("k", INT, table="b")))
    assert evaluate(op(Ref(columns[0]), "-", Ref(columns[1])), columns, (5, 3)) == 2


def test_there_is_no_negative_zero() -> None:
    value = evaluate(op(Literal(-1.0, DOUBLE), "*", 0.0), T, ROW)
    assert math.copysign(1, value) == 1
