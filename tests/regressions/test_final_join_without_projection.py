"""What waits under EMIT FINAL is the answer, whatever operator makes it.

A join that no projection follows was asked for the indexes of its inputs in place of the answer's.
"""

from ebbtide.algebra.combination import Join
from ebbtide.algebra.emission import Emit
from ebbtide.algebra.expression import Comparison
from ebbtide.algebra.relation import Alias, ChangingTable
from ebbtide.analysis import analyse
from ebbtide.core.declaration import Promise, TableDeclaration
from ebbtide.core.schema import schema

PRICES = ChangingTable(
    TableDeclaration(
        "prices",
        schema(item="BIGINT", since="TIMESTAMP"),
        key=("item",),
        time="since",
        promises=(Promise("since"),),
    )
)


def test_a_join_is_held_as_a_whole() -> None:
    left, right = Alias(PRICES, "l"), Alias(PRICES, "r")
    join = Join(left, right, Comparison("=", left.ref("item"), right.ref("item")))
    (held,) = analyse(join, Emit.FINAL).held
    assert str(held.rule) == "keep while to > progress(prices.since) + 1 us"
    assert str(held.indexes) == "by to, row"
