"""Tumble: every fact, with the one section of its size in which its time lies."""

from ebbtide.algebra import Stream, Tumble
from ebbtide.core.declaration import StreamDeclaration
from ebbtide.core.schema import schema
from ebbtide.testing import answer

S = Stream(StreamDeclaration("s", schema(at="TIMESTAMP")))


def windows(facts: str) -> list[tuple]:
    return answer(Tumble(S, "at", 5), {"s": facts}).at(0)


def test_both_sides_of_a_boundary() -> None:
    """
    |---------|---------|---------|
    -5        0    4    5    9    10
    """
    assert windows("at\n4\n5\n9\n10") == [(4, 0, 5), (5, 5, 10), (9, 5, 10), (10, 10, 15)]


def test_sections_before_the_epoch() -> None:
    assert windows("at\n-1\n-5\n-6") == [(-6, -10, -5), (-5, -5, 0), (-1, -5, 0)]


def test_repetitions_stay_and_a_fact_without_a_time_goes() -> None:
    assert windows("at\n1\n1\nNULL") == [(1, 0, 5), (1, 0, 5)]


def test_the_windows_are_columns() -> None:
    assert Tumble(S, "at", 5).schema.names == ("at", "window_start", "window_end")
