"""Which columns of a relation somebody reads.

Law: an operator's answer does not depend on the columns of its inputs that are not named here.
Columns are named by position, since aliases give them other names.

This is no rewrite of the plan.  What a store's rule names has to be kept as well, and that is known
only when the plan has been analysed; and a plan without a column has fewer keys and fewer times, so
what is proved of it would be less.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias, assert_never

from ebbtide.algebra.call import AggregateCall
from ebbtide.algebra.combination import (
    AntiJoin,
    Difference,
    Intersection,
    Join,
    MaxUnion,
    Product,
    SemiJoin,
    StrictDifference,
    UnionAll,
)
from ebbtide.algebra.expression import Expression, Ref, depends_on_now
from ebbtide.algebra.operators import Padding, operator
from ebbtide.algebra.ranking import Over, TopN
from ebbtide.algebra.recursion import Recurrence, Recursion
from ebbtide.algebra.relation import (
    Aggregate,
    ChangingTable,
    Distinct,
    Filter,
    Map,
    Relation,
    StaticTable,
    Stream,
    Unnest,
    Values,
)
from ebbtide.algebra.traits import SameRows
from ebbtide.algebra.window import (
    Cumulate,
    Dstream,
    Hop,
    Istream,
    LinearWindow,
    Rstream,
    Session,
    Tumble,
    Window,
)
from ebbtide.core.schema import Schema
from ebbtide.core.tree import find

Reads: TypeAlias = frozenset[int]


def all_reads(relation: Relation) -> Reads:
    """All columns of a relation."""
    return frozenset(range(len(relation.schema)))


def reads_below(relation: Relation, reads: Reads) -> tuple[Reads, ...]:
    """What is read of each input of an operator, of whose columns ``reads`` are read."""
    node = operator(relation)
    if isinstance(node, SameRows):
        return (reads,)
    if isinstance(node, Padding):
        return all_reads(node.left), all_reads(node.right)
    match node:
        case Filter():
            return (reads | _in((node.predicate,), node.input.schema),)
        case Map():
            # A column with NOW() in it cuts the time of a row, whoever reads it.
            moving = (
                named.expression for named in node.columns if depends_on_now(named.expression)
            )
            chosen = (node.columns[i].expression for i in sorted(reads))
            return (_in((*chosen, *moving), node.input.schema),)
        case Unnest():
            width = len(node.input.schema)
            own = frozenset(place for place in reads if place < width)
            return (own | _in((node.array,), node.input.schema),)
        case Window() if isinstance(node.spec, LinearWindow):
            return (reads | {node.input.schema.position(node.on)},)
        case UnionAll():
            return reads, reads
        case Product() | Join():
            return _of_sides(node, joined_reads(node, reads))
        case Aggregate() if not any(call.call.function.ordered for call in node.calls):
            keys = [named.expression for named in node.keys]
            called = [e for named in node.calls for e in _of_call(named.call)]
            return (_in((*keys, *called), node.input.schema),)
        case Stream() | StaticTable() | ChangingTable() | Values() | Recurrence():
            return ()
        case Aggregate() | Window() | Distinct() | TopN() | Over() | Recursion():
            return (all_reads(node.input),)
        case Tumble() | Hop() | Cumulate():
            return (assigning_reads(node, reads),)
        case Session() | Istream() | Dstream() | Rstream():
            return (all_reads(node.input),)
        case SemiJoin() | AntiJoin():
            return all_reads(node.left), all_reads(node.right)
        case MaxUnion() | Difference() | StrictDifference() | Intersection():
            return all_reads(node.left), all_reads(node.right)
        case _:
            assert_never(node)


def assigning_reads(node: Tumble | Hop | Cumulate, reads: Reads) -> Reads:
    """What is read below windows on facts: of each fact, and the time that its windows are of."""
    schema = node.input.schema
    inside = frozenset(place for place in reads if place < len(schema))
    return inside | {schema.position(node.on)}


def joined_reads(node: Product | Join, reads: Reads) -> Reads:
    """What is read of both sides together, the condition included."""
    return reads | _in((node.predicate,), node.schema) if isinstance(node, Join) else reads


def _of_sides(node: Product | Join, reads: Reads) -> tuple[Reads, Reads]:
    width = len(node.left.schema)
    left = frozenset(i for i in reads if i < width)
    return left, frozenset(i - width for i in reads if i >= width)


def _of_call(call: AggregateCall) -> tuple[Expression, ...]:
    filters = () if call.filter is None else (call.filter,)
    return (*call.arguments, *filters, *(key.expression for key in call.order))


def _in(expressions: Iterable[Expression], schema: Schema) -> Reads:
    refs = (ref for expression in expressions for ref in find(expression, Ref))
    return frozenset(schema.index(ref.column) for ref in refs)
