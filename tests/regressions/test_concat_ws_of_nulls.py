"""CONCAT_WS lost the rows on which all texts are NULL: Arrow leaves them out as it skips NULLs."""

import pyarrow as pa

from ebbtide.algebra.expression import Call, Literal, Ref
from ebbtide.columnar import Columnar
from ebbtide.core.schema import schema
from ebbtide.core.types import STRING

S = schema(a="STRING", b="STRING")


def test_such_a_row_is_an_empty_text() -> None:
    joined = Columnar(Call("CONCAT_WS", (Literal("-", STRING), Ref(S[0]), Ref(S[1]))), S)
    table = pa.table({"a": pa.array(["x", None, None]), "b": pa.array(["y", "z", None])})
    assert joined(table).to_pylist() == ["x-y", "z", ""]
