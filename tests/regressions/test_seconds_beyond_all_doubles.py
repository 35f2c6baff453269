"""A number of seconds whose microseconds are no finite double was no error of ours.

Python raised that infinity is no integer; it is an overflow, as for every other time out of range.
"""

import pyarrow as pa
import pytest

from ebbtide.algebra.expression import Call, Cast, Literal
from ebbtide.columnar import Columnar
from ebbtide.core.schema import Schema
from ebbtide.core.types import DOUBLE, TIMESTAMP
from ebbtide.errors import EvaluationError
from ebbtide.reference.scalar import evaluate

SECONDS = Literal(1e305, DOUBLE)


@pytest.mark.parametrize(
    "expression", [Cast(SECONDS, TIMESTAMP), Call("TIMESTAMP_SECONDS", (SECONDS,))], ids=str
)
def test_it_is_an_overflow(expression) -> None:
    with pytest.raises(EvaluationError, match="overflow"):
        evaluate(expression, Schema(()), ())
    with pytest.raises(EvaluationError, match="overflow"):
        Columnar(expression, Schema(()))(pa.table([pa.nulls(1)], names=["unused"]))
