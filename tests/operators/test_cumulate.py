"""Cumulate: every fact, once for each growing window of its section that holds it."""

import pytest

from ebbtide.algebra import Cumulate, Stream
from ebbtide.core.declaration import StreamDeclaration
from ebbtide.core.schema import schema
from ebbtide.errors import BindError
from ebbtide.testing import answer

S = Stream(StreamDeclaration("s", schema(at="TIMESTAMP")))


def windows(facts: str) -> list[tuple]:
    return answer(Cumulate(S, "at", 2, 6), {"s": facts}).at(0)


def test_windows_grow_from_the_start_of_the_section() -> None:
    """Step 2, size 6.

    0 |====|2
    0 |=========|4
    0 |==============|6
    1 is in all three, 2 in the last two, 5 in the last
    """
    assert windows("at\n1") == [(1, 0, 2), (1, 0, 4), (1, 0, 6)]
    assert windows("at\n2") == [(2, 0, 4), (2, 0, 6)]
    assert windows("at\n5\n6") == [(5, 0, 6), (6, 6, 8), (6, 6, 10), (6, 6, 12)]


def test_the_size_is_a_multiple_of_the_step() -> None:
    with pytest.raises(BindError, match="multiple of its step"):
        Cumulate(S, "at", 4, 6)
