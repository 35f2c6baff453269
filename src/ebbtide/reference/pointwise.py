"""Every operator that looks at one instant alone, on multisets: plain SQL.

Law: the definitions (1) to (8) and (11) to (15) of paper 4, section 3, where SQL agrees with them,
and SQL where it does not: a predicate that is unknown selects nothing, and a semi join does not
multiply.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
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
from ebbtide.algebra.expression import conjuncts
from ebbtide.algebra.operators import Pointwise
from ebbtide.algebra.quarantine import compared, inputs_of, sides_of
from ebbtide.algebra.ranking import Over, TopN
from ebbtide.algebra.relation import Aggregate, Alias, Distinct, Filter, Map, Unnest, View
from ebbtide.algebra.window import Cumulate, Hop, Session, Tumble
from ebbtide.core.change import Multiset
from ebbtide.core.schema import Schema
from ebbtide.core.values import Row, normalise
from ebbtide.errors import EvaluationError
from ebbtide.reference.aggregation import aggregate
from ebbtide.reference.ordering import place
from ebbtide.reference.quarantine import LeftOut, Raised, judged, sound
from ebbtide.reference.ranking import framed, top
from ebbtide.reference.scalar import evaluate
from ebbtide.reference.windows import assigned


def operate(
    node: Pointwise, inputs: tuple[Multiset, ...], left_out: LeftOut | None = None
) -> Multiset:
    """The operator's output on snapshots of its inputs.

    What it leaves out because an expression fails goes to ``left_out``; without that it is raised.
    """
    out = Raised() if left_out is None else left_out
    match node:
        case View() | Alias():
            return inputs[0]
        case Filter():
            return _selected(node, node.input.schema, inputs[0], out)
        case Map():
            return _map(node, inputs[0], out)
        case Unnest():
            return _unnest(node, inputs[0], out)
        case Distinct():
            return Counter(dict.fromkeys(inputs[0], 1))
        case Aggregate():
            return aggregate(node, inputs[0], out)
        case TopN():
            return top(node, inputs[0], out)
        case Over():
            return framed(node, inputs[0], out)
        case Tumble() | Hop() | Session() | Cumulate():
            return assigned(node, inputs[0])
        case Product():
            return _pairs(inputs[0], inputs[1])
        case Join():
            return _join(node, inputs[0], inputs[1], out)
        case SemiJoin():
            return _partnered(node, inputs[0], inputs[1], True, out)
        case AntiJoin():
            return _partnered(node, inputs[0], inputs[1], False, out)
        case OuterJoin():
            return _outer(node, inputs[0], inputs[1], out)
        case AsofJoin():
            return _asof(node, inputs[0], inputs[1], out)
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


def _selected(
    node: Filter | Join | OuterJoin, schema: Schema, rows: Multiset, out: LeftOut
) -> Multiset:
    """The rows of which the predicate is TRUE."""
    kept: Multiset = Counter()
    inputs = _inputs(node)
    for row, copies in rows.items():
        found = judged(node.predicate, schema, row, inputs)
        if isinstance(found, EvaluationError):
            out.add(node, schema, row, found, copies)
        elif found:
            kept[row] = copies
    return kept


def _inputs(node: Filter | Join | SemiJoin | AntiJoin | OuterJoin) -> tuple[Schema, ...]:
    """The inputs whose rows meet by a condition."""
    if isinstance(node, Filter | Join):
        return inputs_of(node)
    return node.left.schema, node.right.schema


def _map(node: Map, rows: Multiset, out: LeftOut) -> Multiset:
    schema = node.input.schema
    columns = tuple(named.expression for named in node.columns)
    result: Multiset = Counter()
    for row, multiplicity in sound(node, columns, schema, rows, out).items():
        values = (evaluate(expression, schema, row) for expression in columns)
        result[tuple(normalise(value) for value in values)] += multiplicity
    return result


def _unnest(node: Unnest, rows: Multiset, out: LeftOut) -> Multiset:
    schema = node.input.schema
    result: Multiset = Counter()
    for row, multiplicity in sound(node, (node.array,), schema, rows, out).items():
        items = evaluate(node.array, schema, row) or ()
        shown: list[Row] = [(item, place) for place, item in enumerate(items, 1)]
        if not shown and node.pads:
            shown = [(None, None)]
        for added in shown:
            result[(*row, *(added[:1] if node.place is None else added))] += multiplicity
    return result


def _pairs(left: Multiset, right: Multiset) -> Multiset:
    return Counter({a + b: m * n for a, m in left.items() for b, n in right.items()})


def _join(
    node: Join | OuterJoin, left: Multiset, right: Multiset, out: LeftOut | None = None
) -> Multiset:
    schema, told = node.left.schema + node.right.schema, out or Raised()
    if isinstance(node, Join):
        equal = [
            sides_of(t, node.left.schema, node.right.schema) for t in conjuncts(node.predicate)
        ]
        sides = [both for both in equal if both is not None]
        left = sound(node, tuple(one for one, _ in sides), node.left.schema, left, told)
        right = sound(node, tuple(other for _, other in sides), node.right.schema, right, told)
    return _selected(node, schema, _pairs(left, right), told)


def _partnered(
    node: SemiJoin | AntiJoin, left: Multiset, right: Multiset, wanted: bool, out: LeftOut
) -> Multiset:
    """The left rows that have a partner, or those that have none.

    Whether one has is an OR over the pairs: where none is TRUE and some fail, it is an error.
    """
    schema, inputs = node.left.schema + node.right.schema, _inputs(node)
    result: Multiset = Counter()
    for row, copies in left.items():
        found = {other: judged(node.predicate, schema, row + other, inputs) for other in right}
        failed = {other: e for other, e in found.items() if isinstance(e, EvaluationError)}
        partnered = any(truth is True for truth in found.values())
        if failed and not partnered:
            for other, error in failed.items():
                out.add(node, schema, row + other, error, copies * right[other])
        elif partnered is wanted:
            result[row] = copies
    return result


def _asof(node: AsofJoin, left: Multiset, right: Multiset, out: LeftOut) -> Multiset:
    """Of an ASOF JOIN the order and the sides of its comparisons may fail on a row, and all else
    that it asks on a pair: the first pair that is TRUE or fails decides."""
    schema = node.left.schema + node.right.schema
    orders = tuple(key.expression for key in node.order_by)
    both = [compared(t, node.left.schema, node.right.schema) for t in conjuncts(node.predicate)]
    sides = [pair for pair in both if pair is not None]
    left = sound(node, tuple(one for one, _ in sides), node.left.schema, left, out)
    asked = (*(other for _, other in sides), *orders)
    right = sound(node, asked, node.right.schema, right, out)
    in_order = sorted(right, key=place(node.order_by, node.right.schema))
    padding = (None,) * len(node.right.schema) if node.pads else None
    both_sides = node.left.schema, node.right.schema
    result: Multiset = Counter()
    for row, n in left.items():
        found = (
            (other, judged(node.predicate, schema, row + other, both_sides)) for other in in_order
        )
        partner, truth = next((pair for pair in found if pair[1] is not False), (padding, False))
        if isinstance(truth, EvaluationError):
            assert partner is not None
            out.add(node, schema, row + partner, truth, n)
        elif partner is not None:
            result[row + partner] += n
    return result


def _outer(node: OuterJoin, left: Multiset, right: Multiset, out: LeftOut) -> Multiset:
    """The pairs, and the rows of the kept sides without a partner that is one or may be one."""
    schema, inputs = node.left.schema + node.right.schema, _inputs(node)

    def alone(pairs: Iterable[Row]) -> bool:
        return all(judged(node.predicate, schema, pair, inputs) is False for pair in pairs)

    result = _join(node, left, right, out)
    if node.kept is not Outer.RIGHT:
        padding = (None,) * len(node.right.schema)
        for row, n in left.items():
            if alone(row + other for other in right):
                result[row + padding] += n
    if node.kept is not Outer.LEFT:
        padding = (None,) * len(node.left.schema)
        for row, n in right.items():
            if alone(other + row for other in left):
                result[padding + row] += n
    return result
