"""Paper 1, StreamAPAS: positive temporal and negative tuples, and the distinct of figure 5.

The drawing is not in the text. The prose gives two positive temporal tuples with the same value 2,
`[2, 4)` and `[3, 5)`, of different primary keys, and a negative tuple at 4: only the key says which
of the two it ends, and that makes a difference.
"""

import pytest

from ebbtide.algebra import Distinct, Map, Named, Relation
from ebbtide.testing import answer, relation

TUPLES = relation("t", pk="INT", value="INT")
POSITIVES = """
    time   | diff | pk | value
    [2, 4) | +1   | 1  | 2
    [3, 5) | +1   | 2  | 2
"""


def distinct_values() -> Relation:
    """DISTINCT on the value, as DST_Attr."""
    return Distinct(Map(TUPLES, (Named("value", TUPLES.ref("value")),)))


def test_when_one_ends_another_takes_over() -> None:
    """The result goes on from the end of the first to the end of the next.

    t          2    3    4    5
    2 (pk 1)   |=========|
    2 (pk 2)        |=========|
    distinct   |==============|
    """
    got = answer(distinct_values(), {"t": POSITIVES})
    got.shows("time | value\n[2, 5) | 2")
    assert (got.at(1), got.at(2), got.at(4), got.at(5)) == ([], [(2,)], [(2,)], [])


@pytest.mark.parametrize(
    ("negative", "until"),
    [
        # pk 2 has its upper bound at 5 and is ended at 4, a positive tuple of [3, 4) remains
        ("[4, 5) | -1 | 2 | 2", 4),
        # pk 1 has ended by itself at 4; nothing is left to take back, and pk 2 goes on
        ("", 5),
    ],
)
def test_which_tuple_is_ended_makes_a_difference(negative: str, until: int) -> None:
    got = answer(distinct_values(), {"t": f"{POSITIVES}\n{negative}"})
    got.shows(f"time | value\n[2, {until}) | 2")


def test_an_earlier_negative_tuple_of_either_key() -> None:
    """At 3, where both are there: ending pk 1 changes nothing in the result, ending pk 2 does.

    t              2    3    4    5
    pk 1 ended     |====|
    pk 2                |=========|
    distinct       |==============|

    pk 1           |=========|
    pk 2 ended          (never was)
    distinct       |=========|
    """
    first = answer(distinct_values(), {"t": f"{POSITIVES}\n[3, 4) | -1 | 1 | 2"})
    second = answer(distinct_values(), {"t": f"{POSITIVES}\n[3, 5) | -1 | 2 | 2"})
    first.shows("time | value\n[2, 5) | 2")
    second.shows("time | value\n[2, 4) | 2")


def test_other_values_are_not_touched() -> None:
    others = f"{POSITIVES}\n[0, 9) | +1 | 3 | 7\n[4, 9) | -1 | 3 | 7"
    got = answer(distinct_values(), {"t": others})
    got.shows("time | value\n[0, 4) | 7\n[2, 5) | 2")
