"""A time outside of the calendar, moved by NULL days, was an error instead of NULL."""

import pyarrow as pa
import pytest

from ebbtide.algebra.expression import Call, Ref
from ebbtide.columnar import Columnar
from ebbtide.core.schema import schema
from ebbtide.core.time import INF

S = schema(t="TIMESTAMP", n="INT")


@pytest.mark.parametrize("name", ["DATE_ADD", "DATE_SUB", "ADD_MONTHS"])
def test_it_is_null(name: str) -> None:
    table = pa.table({"t": pa.array([INF], pa.int64()), "n": pa.nulls(1, pa.int32())})
    moved = Columnar(Call(name, (Ref(S[0]), Ref(S[1]))), S)
    assert moved(table).to_pylist() == [None]
