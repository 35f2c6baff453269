"""TopN: the rows of each partition with the wanted numbers in an order."""

from ebbtide.algebra import Ranking, SortKey, TopN
from ebbtide.testing import answer, relation

T = relation("t", k="STRING", x="INT")
BEST = (SortKey(T.ref("x"), descending=True),)
DATA = """
    time    | k   | x
    [0, 20) | 'a' | 1
    [5, 15) | 'a' | 3
    [8, 12) | 'a' | 2
    [0, 20) | 'b' | 9
"""


def test_the_best_of_each_partition() -> None:
    """
    a 1     |===|       |=========|      shown while fewer than two are better
    a 3         |=============|
    a 2            |====|
            0   5  8    12    15  20
    """
    got = answer(TopN(T, 2, BEST, (T.ref("k"),)), {"t": DATA})
    nine = ("b", 9)
    assert got.around(5) == ([("a", 1), nine], [("a", 1), ("a", 3), nine])
    assert got.around(8) == ([("a", 1), ("a", 3), nine], [("a", 2), ("a", 3), nine])
    assert got.around(12) == ([("a", 2), ("a", 3), nine], [("a", 1), ("a", 3), nine])
    assert got.around(15) == ([("a", 1), ("a", 3), nine], [("a", 1), nine])


def test_pages() -> None:
    got = answer(TopN(T, 2, BEST, offset=1), {"t": DATA})
    assert got.at(8) == [("a", 2), ("a", 3)]
    assert answer(TopN(T, 0, BEST), {"t": DATA}).changes == ()


PEERS = "k | x\n'a' | 2\n'b' | 2\n'c' | 1\n'd' | NULL"


def test_ties_are_broken_by_all_columns_or_kept() -> None:
    def numbered(ranking: Ranking, count: int) -> list:
        plan = TopN(T, count, BEST, ranking=ranking, number_as="n")
        return answer(plan, {"t": PEERS}).at(0)

    assert numbered(Ranking.ROW_NUMBER, 1) == [("a", 2, 1)]
    assert numbered(Ranking.RANK, 2) == [("a", 2, 1), ("b", 2, 1)]
    assert numbered(Ranking.DENSE_RANK, 2) == [("a", 2, 1), ("b", 2, 1), ("c", 1, 2)]


def test_nulls_are_last_in_a_descending_order_unless_told() -> None:
    assert answer(TopN(T, 1, BEST), {"t": PEERS}).at(0) == [("a", 2)]
    first = (SortKey(T.ref("x"), descending=True, nulls_first=True),)
    assert answer(TopN(T, 1, first), {"t": PEERS}).at(0) == [("d", None)]


def test_equal_rows_are_different_rows() -> None:
    twice = "k | x\n'a' | 2\n'a' | 2\n'a' | 1"
    assert answer(TopN(T, 2, BEST), {"t": twice}).at(0) == [("a", 2), ("a", 2)]
