"""Session: every fact, with the session of its partition in which its time lies."""

from ebbtide.algebra import Session, Stream
from ebbtide.core.declaration import StreamDeclaration
from ebbtide.core.schema import schema
from ebbtide.testing import answer

S = Stream(StreamDeclaration("s", schema(k="INT", at="TIMESTAMP")))


def sessions(facts: str, *partition: str) -> list[tuple]:
    return answer(Session(S, "at", 5, partition), {"s": facts}).at(0)


def test_touching_sessions_merge() -> None:
    """Gap 5: 0 and 5 touch, 5 and 11 do not.

    0 |=========|5
              5 |=========|10
                            11 |=========|16
    """
    assert sessions("k | at\n1 | 0\n1 | 5\n1 | 11") == [
        (1, 0, 0, 10),
        (1, 5, 0, 10),
        (1, 11, 11, 16),
    ]


def test_a_late_fact_joins_two_sessions() -> None:
    apart = "k | at\n1 | 0\n1 | 8"
    assert sessions(apart) == [(1, 0, 0, 5), (1, 8, 8, 13)]
    assert sessions(apart + "\n1 | 4") == [(1, 0, 0, 13), (1, 4, 0, 13), (1, 8, 0, 13)]


def test_partitions_have_sessions_of_their_own() -> None:
    facts = "k | at\n1 | 0\n2 | 4\n1 | 8\nNULL | 0"
    assert sessions(facts, "k") == [
        (None, 0, 0, 5),
        (1, 0, 0, 5),
        (1, 8, 8, 13),
        (2, 4, 4, 9),
    ]


def test_a_fact_without_a_time_has_no_session() -> None:
    assert sessions("k | at\n1 | NULL") == []
