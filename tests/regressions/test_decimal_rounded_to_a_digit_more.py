"""A decimal that has a digit more when it is rounded was 0: Arrow does not notice that."""

from decimal import Decimal

import pyarrow as pa
import pytest

from ebbtide.algebra.expression import Call, Cast, Ref
from ebbtide.columnar import Columnar
from ebbtide.core.schema import Column, Schema
from ebbtide.core.types import DecimalType
from ebbtide.errors import EvaluationError


def cast(value: str, given: DecimalType, to: DecimalType) -> object:
    """The value of a column of one row as another decimal."""
    schema = Schema((Column("x", given),))
    table = pa.table({"x": pa.array([Decimal(value)], pa.decimal128(given.precision, given.scale))})
    return Columnar(Cast(Ref(schema[0]), to), schema)(table).to_pylist()[0]


def test_it_is_an_overflow_where_the_digit_is_one_too_many() -> None:
    with pytest.raises(EvaluationError, match="overflow"):
        cast("999.99", DecimalType(5, 2), DecimalType(4, 1))


def test_it_is_the_number_where_there_is_room() -> None:
    assert cast("999.99", DecimalType(5, 2), DecimalType(5, 1)) == Decimal("1000.0")
    nines = "9" * 28 + "." + "9" * 10
    assert cast(nines, DecimalType(38, 10), DecimalType(31, 2)) == Decimal("1" + "0" * 28)


@pytest.mark.parametrize(("name", "expected"), [("CEIL", "10"), ("FLOOR", "9")])
def test_whole_numbers_around_it(name: str, expected: str) -> None:
    schema = Schema((Column("x", DecimalType(3, 2)),))
    table = pa.table({"x": pa.array([Decimal("9.99")], pa.decimal128(3, 2))})
    assert Columnar(Call(name, (Ref(schema[0]),)), schema)(table).to_pylist() == [Decimal(expected)]
