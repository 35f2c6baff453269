"""Hop: every fact, once for each window on the grid in which its time lies."""

from ebbtide.algebra import Hop, Stream
from ebbtide.core.declaration import StreamDeclaration
from ebbtide.core.schema import schema
from ebbtide.testing import answer

S = Stream(StreamDeclaration("s", schema(at="TIMESTAMP")))


def windows(slide: int, size: int, facts: str) -> list[tuple]:
    return answer(Hop(S, "at", slide, size), {"s": facts}).at(0)


def test_overlapping_windows() -> None:
    """Size 10, every 5.

    -5 |-------------------|5
               0 |-------------------|10
                        5 |-------------------|15
    at         4 is in the first two, 5 in the last two
    """
    assert windows(5, 10, "at\n4") == [(4, -5, 5), (4, 0, 10)]
    assert windows(5, 10, "at\n5") == [(5, 0, 10), (5, 5, 15)]


def test_windows_with_gaps_between_them() -> None:
    """Size 2, every 5: 1 is in [0, 2), 2 to 4 are in none."""
    assert windows(5, 2, "at\n1\n2\n4\n5") == [(1, 0, 2), (5, 5, 7)]
