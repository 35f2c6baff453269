"""DATE_TRUNC looked at the time before the unit, and left the range of times at its beginning.

A unit that there is none of gives NULL for every time; the first millisecond begins before all
times, so it is an overflow.
"""

import pyarrow as pa
import pytest

from ebbtide.algebra.expression import Call, Literal
from ebbtide.columnar import Columnar
from ebbtide.core.schema import Schema
from ebbtide.core.time import NEG_INF
from ebbtide.core.types import STRING, TIMESTAMP
from ebbtide.errors import EvaluationError
from ebbtide.reference.scalar import evaluate

ONE_ROW = pa.table([pa.nulls(1)], names=["unused"])


def truncated(unit: str) -> Call:
    """The beginning of a unit at the beginning of time."""
    return Call("DATE_TRUNC", (Literal(unit, STRING), Literal(NEG_INF, TIMESTAMP)))


def test_a_unit_that_is_none_is_null() -> None:
    assert evaluate(truncated("DECADE"), Schema(()), ()) is None
    assert Columnar(truncated("DECADE"), Schema(()))(ONE_ROW).to_pylist() == [None]


def test_no_time_is_before_all_times() -> None:
    with pytest.raises(EvaluationError, match="overflow"):
        evaluate(truncated("MILLISECOND"), Schema(()), ())
    with pytest.raises(EvaluationError, match="overflow"):
        Columnar(truncated("MILLISECOND"), Schema(()))(ONE_ROW)
