"""The constructors that insert casts."""

from decimal import Decimal

import pytest

from ebbtide.algebra import coercion
from ebbtide.algebra.expression import Call, Cast, Expression, InList, Literal, literal
from ebbtide.algebra.forms import FORM_MAKERS, OWN_MAKERS
from ebbtide.algebra.functions import ALIASES, FORMS, FUNCTIONS, canonical, function
from ebbtide.algebra.printing import sql
from ebbtide.core.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    INT,
    INTERVAL,
    NULL,
    STRING,
    TIMESTAMP,
    TINYINT,
    DecimalType,
)
from ebbtide.errors import BindError
from scalars import at, col, const, day, dec, f, op, to


class TestConstants:
    """A constant is not cast: it becomes a constant of the wanted type."""

    @pytest.mark.parametrize(
        ("expression", "constant"),
        [
            (op(col("b"), ">", 5), Literal(5, BIGINT)),
            (op(col("f"), ">", 5), Literal(5.0, DOUBLE)),
            (op(col("f"), ">", dec("0.1")), Literal(0.1, DOUBLE)),
            (op(col("d"), ">", 5), Literal(Decimal("5.00"), DecimalType(5, 2))),
            (op(col("i"), "=", None), Literal(None, INT)),
            (op(col("ts"), ">", "2020-01-02"), Literal(at("2020-01-02 00:00:00"), TIMESTAMP)),
            (op(col("ts"), ">", day("2020-01-02")), Literal(at("2020-01-02 00:00:00"), TIMESTAMP)),
            (op(col("dt"), ">", "2020-01-02"), Literal(day("2020-01-02"), DATE)),
            (op(col("o"), "=", "true"), Literal(True, BOOLEAN)),
            (op(col("d"), "*", 5), Literal(Decimal(5), DecimalType(1, 0))),
        ],
        ids=lambda value: sql(value),
    )
    def test_beside_a_column(self, expression: Expression, constant: Literal) -> None:
        assert expression.children[1] == constant
        assert not isinstance(expression.children[0], Cast)

    def test_a_column_is_widened_by_a_cast(self) -> None:
        assert op(col("i"), "=", const(5, "BIGINT")).children[0] == Cast(col("i"), BIGINT)

    def test_one_that_has_no_counterpart_is_refused_at_once(self) -> None:
        with pytest.raises(BindError, match="'soon' is not a TIMESTAMP"):
            op(col("ts"), ">", "soon")

    @pytest.mark.parametrize(
        ("value", "type_", "expected"),
        [
            (5, "BIGINT", Literal(5, BIGINT)),
            ("5", "INT", Literal(5, INT)),
            (None, "INT", Literal(None, INT)),
            (dec("1.50"), "DECIMAL(10, 2)", Literal(dec("1.50"), DecimalType(10, 2))),
            (day("2020-01-02"), "TIMESTAMP", Literal(at("2020-01-02 00:00:00"), TIMESTAMP)),
            (5, "STRING", Literal("5", STRING)),
        ],
    )
    def test_an_exact_cast_of_one_is_one(self, value, type_, expected) -> None:
        assert to(value, type_) == expected

    @pytest.mark.parametrize(
        ("value", "type_"),
        [(1.5, "INT"), ("x", "INT"), (300, "TINYINT"), (dec("1.25"), "DECIMAL(2, 1)")],
    )
    def test_a_cast_that_rounds_or_fails_waits_for_its_turn(self, value, type_) -> None:
        assert isinstance(to(value, type_), Cast)

    def test_the_opposite_of_one_is_one(self) -> None:
        assert coercion.negate(const(5)) == const(-5)
        assert coercion.negate(const(None)) == coercion.negate(Literal(None, DOUBLE))

    def test_arrays_and_structs_of_them_are_ones(self) -> None:
        assert f("ARRAY", 1, const(2, "BIGINT")) == const((1, 2), "ARRAY<BIGINT>")
        assert f("NAMED_STRUCT", "a", 1) == const((1,), "STRUCT<a: INT>")


class TestOperators:
    def test_boolean_operators_take_null_and_text(self) -> None:
        assert sql(coercion.and_(col("o"), const(None))) == "o AND CAST(NULL AS BOOLEAN)"
        assert sql(coercion.or_(col("o"), col("s"))) == "o OR CAST(s AS BOOLEAN)"
        assert sql(coercion.not_(const("no"))) == "NOT FALSE"

    def test_between_compares_twice(self) -> None:
        between = coercion.between(col("b"), const(1), const(2))
        assert sql(between) == "b >= 1L AND b <= 2L"

    def test_in_has_one_type_for_all(self) -> None:
        found = coercion.in_list(col("i"), (const(1), const(dec("2.5"))))
        assert isinstance(found, InList)
        assert {found.operand.type, *(o.type for o in found.options)} == {DecimalType(11, 1)}

    def test_a_case_without_else_is_null_of_its_type(self) -> None:
        case = coercion.case(((col("o"), const(1)), (const(None), const(2))))
        assert case.children[-1] == Literal(None, INT)
        assert case.children[2] == Literal(None, BOOLEAN)

    def test_a_time_is_taken_for_an_instant(self) -> None:
        assert coercion.as_timestamp(col("ts")) == col("ts")
        assert coercion.as_timestamp(col("dt")) == Cast(col("dt"), TIMESTAMP)
        assert coercion.as_timestamp(const(None)) == Literal(None, TIMESTAMP)

    def test_a_cast_to_the_own_type_is_none(self) -> None:
        assert to(col("i"), "INT") == col("i")
        assert to(col("i"), "INT", safe=True) == col("i")


REFUSED = {
    "addition of texts": (
        lambda: op("1", "+", "2"),
        "CAST('1' AS DOUBLE) + CAST('2' AS DOUBLE)",
    ),
    "a number to an instant": (lambda: op(col("ts"), "+", 5), "5 * INTERVAL 1 SECOND"),
    "a duration to a text": (lambda: op(col("s"), "+", col("iv")), "CAST(s AS TIMESTAMP)"),
    "DIV of doubles": (lambda: op(col("f"), "DIV", 2), "FLOOR(f / 2)"),
    "a truth value to a number": (lambda: op(col("o"), "+", 1), None),
    "comparison with a truth value": (lambda: op(col("i"), "=", col("o")), "CAST(o AS INT)"),
    "comparison with an instant": (
        lambda: op(col("i"), "=", col("ts")),
        "TIMESTAMP_MILLIS(i) takes it for milliseconds since 1970, "
        "TIMESTAMP_SECONDS(i) for seconds",
    ),
    "an option": (lambda: coercion.in_list(col("i"), (const(True),)), None),
    "a branch": (lambda: coercion.case(((col("o"), col("i")),), col("ts")), None),
    "a condition": (lambda: coercion.case(((col("i"), col("i")),)), None),
    "a text for a condition": (lambda: coercion.case(((col("s"), col("i")),)), None),
    "a pattern": (lambda: coercion.like(col("a"), const("x")), None),
    "NOT": (lambda: coercion.not_(col("i")), None),
    "a minus": (lambda: coercion.negate(col("o")), None),
    "an instant": (lambda: coercion.as_timestamp(col("i")), None),
    "a cast": (lambda: to(col("dt"), "INT"), None),
    "an argument": (lambda: f("UPPER", col("a")), "UPPER(text)"),
    "arguments of different types": (lambda: f("GREATEST", col("i"), col("s")), None),
    "the digits of ROUND": (lambda: f("ROUND", col("d"), col("i")), None),
    "a name of a field": (lambda: f("NAMED_STRUCT", col("s"), 1), None),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_meaning_is_refused(name: str) -> None:
    build, hint = REFUSED[name]
    with pytest.raises(BindError) as caught:
        build()
    assert caught.value.code == "type-mismatch"
    assert caught.value.hint == hint


class TestCalls:
    def test_names_are_known_in_any_case_and_by_aliases(self) -> None:
        assert f("substr", "tide", 2) == f("SUBSTRING", "tide", 2)

    def test_an_unknown_name_has_near_matches(self) -> None:
        with pytest.raises(BindError) as caught:
            f("SUBSTRNG", "tide", 2)
        assert caught.value.code == "unknown-function"
        assert caught.value.hint == "SUBSTRING"

    def test_a_name_that_is_near_nothing(self) -> None:
        with pytest.raises(BindError) as caught:
            canonical("qqqqqq")
        assert caught.value.hint is None

    def test_a_call_has_the_name_of_the_library(self) -> None:
        with pytest.raises(BindError) as caught:
            Call("SUBSTR", (literal("tide"), literal(2)))
        assert caught.value.hint == "SUBSTRING"

    @pytest.mark.parametrize(
        "build",
        [
            lambda: f("UPPER"),
            lambda: f("UPPER", "a", "b"),
            lambda: f("GREATEST", 1),
            lambda: f("COALESCE"),
            lambda: f("IF", True, 1),
            lambda: f("NULLIF", 1),
            lambda: f("NVL2", 1),
            lambda: f("MOD", 1),
            lambda: f("EXTRACT", "DAY"),
            lambda: f("NAMED_STRUCT", "a"),
            lambda: f("TO_DATE"),
            lambda: f("CONCAT_WS"),
            lambda: f("PMOD", 1),
            lambda: f("BIT_AND", 1),
            lambda: f("ARRAY_CONTAINS", 1),
        ],
    )
    def test_the_number_of_arguments_is_checked(self, build) -> None:
        with pytest.raises(BindError) as caught:
            build()
        assert caught.value.code == "wrong-arguments"
        assert caught.value.hint is not None
        assert caught.value.hint.endswith(")")

    def test_extract_knows_its_fields(self) -> None:
        with pytest.raises(BindError, match="unknown-field"):
            f("EXTRACT", "EPOCH", col("ts"))

    def test_a_call_takes_only_what_needs_no_cast(self) -> None:
        with pytest.raises(BindError) as caught:
            Call("UPPER", (literal(5),))
        assert caught.value.detail == "it takes (STRING)"

    def test_fields_have_the_names_of_their_columns(self) -> None:
        assert str(f("STRUCT", col("i"), 1).type) == "STRUCT<i: INT, col2: INT>"

    def test_rounding_a_decimal_has_the_digits_that_are_left(self) -> None:
        assert f("ROUND", col("d"), 1).type == DecimalType(5, 1)
        assert f("ROUND", col("d"), 3).type == DecimalType(6, 2)


class TestLibrary:
    def test_no_alias_hides_a_function(self) -> None:
        assert not set(ALIASES) & {*FUNCTIONS, *FORMS}
        assert set(ALIASES.values()) <= {*FUNCTIONS, *FORMS}

    def test_no_form_hides_a_function(self) -> None:
        assert not set(FORMS) & set(FUNCTIONS)

    def test_every_form_is_made_and_every_maker_has_a_name(self) -> None:
        assert set(FORM_MAKERS) == set(FORMS)
        assert set(OWN_MAKERS) <= set(FUNCTIONS)

    def test_names_are_in_upper_case(self) -> None:
        assert all(name == name.upper() for name in (*FUNCTIONS, *FORMS, *ALIASES))

    def test_adapting_twice_changes_nothing(self) -> None:
        types = (
            NULL,
            TINYINT,
            BIGINT,
            DOUBLE,
            DecimalType(5, 2),
            STRING,
            DATE,
            TIMESTAMP,
            INTERVAL,
        )
        tried = 0
        for name in FUNCTIONS:
            for first in types:
                for rest in ((), (STRING,), (INT,), (first,), (INT, INT), (STRING, STRING)):
                    try:
                        adapted = function(name).adapt((first, *rest))
                    except BindError:
                        continue
                    assert function(name).adapt(adapted) == adapted, (name, first, rest)
                    function(name).result_type(adapted)
                    tried += 1
        assert tried > 1000
