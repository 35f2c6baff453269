"""Every operator that looks at one instant alone, on multisets: plain SQL.

Law: the definitions (1) to (8) and (11) to (15) of paper 4, section 3, where SQL agrees with them,
and SQL where it does not: a predicate that is unknown selects nothing, and a semi join does not
multiply.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import assert_never

from ebbtide.algebra.combination import (
    AntiJoin,
    AsofJoin,
    Difference,
    Intersection,
    Join,
    MaxUnion,
    Outer,
    OuterJoin,
    Product,
    SemiJoin,
    StrictDifference,
    UnionAll,
)
from ebbtide.algebra.expression import Expression
from ebbtide.algebra.operators import Pointwise
from ebbtide.algebra.ranking import Over, TopN
from ebbtide.algebra.relation import Aggregate, Alias, Distinct, Filter, Map, View
from ebbtide.algebra.window import Cumulate, Hop, Session, Tumble
from ebbtide.core.change import Multiset
from ebbtide.core.schema import Schema
from ebbtide.core.values import Row, normalise
from ebbtide.reference.aggregation import aggregate
from ebbtide.reference.ordering import place
from ebbtide.reference.ranking import framed, top
from ebbtide.reference.scalar import evaluate
from ebbtide.reference.windows import assigned


def operate(node: Pointwise, inputs: tuple[Multiset, ...]) -> Multiset:
    """The operator's output on snapshots of its inputs."""
    match node:
        case View() | Alias():
            return inputs[0]
        case Filter():
            return _filter(node, inputs[0])
        case Map():
            return _map(node, inputs[0])
        case Distinct():
            return Counter(dict.fromkeys(inputs[0], 1))
        case Aggregate():
            return aggregate(node, inputs[0])
        case TopN():
            return top(node, inputs[0])
        case Over():
            return framed(node, inputs[0])
        case Tumble() | Hop() | Session() | Cumulate():
            return assigned(node, inputs[0])
        case Product():
            return _pairs(inputs[0], inputs[1])
        case Join():
            return _join(node, inputs[0], inputs[1])
        case SemiJoin():
            return _partnered(node, inputs[0], inputs[1], True)
        case AntiJoin():
            return _partnered(node, inputs[0], inputs[1], False)
        case OuterJoin():
            return _outer(node, inputs[0], inputs[1])
        case AsofJoin():
            return _asof(node, inputs[0], inputs[1])
        case UnionAll():
            return inputs[0] + inputs[1]
        case MaxUnion():
            return inputs[0] | inputs[1]
        case Difference():
            return inputs[0] - inputs[1]
        case StrictDifference():
            return Counter({row: 1 for row in inputs[0] if row not in inputs[1]})
        case Intersection():
            common = inputs[0] & inputs[1]
            return common if node.all else Counter(dict.fromkeys(common, 1))
        case _:
            assert_never(node)


def _filter(node: Filter, rows: Multiset) -> Multiset:
    schema = node.input.schema
    return Counter({row: n for row, n in rows.items() if _holds(node.predicate, schema, row)})


def _map(node: Map, rows: Multiset) -> Multiset:
    schema = node.input.schema
    result: Multiset = Counter()
    for row, multiplicity in rows.items():
        values = (evaluate(named.expression, schema, row) for named in node.columns)
        result[tuple(normalise(value) for value in values)] += multiplicity
    return result


def _pairs(left: Multiset, right: Multiset) -> Multiset:
    return Counter({a + b: m * n for a, m in left.items() for b, n in right.items()})


def _join(node: Join | OuterJoin, left: Multiset, right: Multiset) -> Multiset:
    schema = node.left.schema + node.right.schema
    pairs = _pairs(left, right)
    return Counter({row: n for row, n in pairs.items() if _holds(node.predicate, schema, row)})


def _partnered(
    node: SemiJoin | AntiJoin, left: Multiset, right: Multiset, wanted: bool
) -> Multiset:
    schema = node.left.schema + node.right.schema
    return Counter(
        {
            row: n
            for row, n in left.items()
            if any(_holds(node.predicate, schema, row + other) for other in right) is wanted
        }
    )


def _asof(node: AsofJoin, left: Multiset, right: Multiset) -> Multiset:
    schema = node.left.schema + node.right.schema
    in_order = sorted(right, key=place(node.order_by, node.right.schema))
    padding = (None,) * len(node.right.schema) if node.pads else None
    result: Multiset = Counter()
    for row, n in left.items():
        near = (other for other in in_order if _holds(node.predicate, schema, row + other))
        partner = next(near, padding)
        if partner is not None:
            result[row + partner] += n
    return result


def _outer(node: OuterJoin, left: Multiset, right: Multiset) -> Multiset:
    schema = node.left.schema + node.right.schema

    def matched(a: Row, b: Row) -> bool:
        return _holds(node.predicate, schema, a + b)

    def alone() -> Iterator[tuple[Row, int]]:
        if node.kept is not Outer.RIGHT:
            padding = (None,) * len(node.right.schema)
            for row, n in left.items():
                if not any(matched(row, other) for other in right):
                    yield row + padding, n
        if node.kept is not Outer.LEFT:
            padding = (None,) * len(node.left.schema)
            for row, n in right.items():
                if not any(matched(other, row) for other in left):
                    yield padding + row, n

    result = _join(node, left, right)
    for row, multiplicity in alone():
        result[row] += multiplicity
    return result


def _holds(predicate: Expression, schema: Schema, row: Row) -> bool:
    return evaluate(predicate, schema, row) is True
