"""How rows leave a relation: the four classes of monotonicity.

Law (papers 1, section 2.2, and 2, section 5.1), for inputs that only grow:

- *monotonic*: a row never leaves;
- *weakest*: every row stays equally long, so rows leave in the order in which they came;
- *weak*: how long a row stays is known when it comes; rows only ever gain time;
- *strict*: when a row leaves depends on later input, so that negative changes occur.

Static relations are monotonic.  An edge carries negative changes iff its class is strict.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum
from typing import assert_never

from ebbtide.algebra.combination import (
    AntiJoin,
    Difference,
    Intersection,
    Join,
    MaxUnion,
    Outer,
    Product,
    SemiJoin,
    StrictDifference,
    UnionAll,
)
from ebbtide.algebra.operators import Padding, operator
from ebbtide.algebra.phases import during
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
    Values,
)
from ebbtide.algebra.traits import KeepsClass
from ebbtide.algebra.window import (
    Dstream,
    Istream,
    Leaves,
    Rstream,
    Session,
    Window,
    WindowSpec,
)
from ebbtide.core.admission import Op, allowed_ops
from ebbtide.core.time import Duration
from ebbtide.core.tree import fold


class Class(IntEnum):
    """The classes, from the one that promises most to the one that promises nothing."""

    MONOTONIC = 1
    WEAKEST = 2
    WEAK = 3
    STRICT = 4

    def __str__(self) -> str:
        return {
            Class.MONOTONIC: "monotonic",
            Class.WEAKEST: "weakest non-monotonic",
            Class.WEAK: "weak non-monotonic",
            Class.STRICT: "strict non-monotonic",
        }[self]


@dataclass(frozen=True, slots=True)
class Monotonicity:
    """A class and the reason for it.

    Of a weakest relation also how long its rows stay; ``static`` is what never changes at all.
    """

    value: Class
    reason: str
    lifetime_us: Duration | None = None
    static: bool = False

    @property
    def has_negatives(self) -> bool:
        """Whether negative changes can occur."""
        return self.value is Class.STRICT

    def __str__(self) -> str:
        return f"{self.value}: {self.reason}"


def monotonicity(plan: Relation) -> Monotonicity:
    """The class of a plan's output."""
    return fold(plan, derive)


def derive(relation: Relation, below: tuple[Monotonicity, ...]) -> Monotonicity:
    """The class of a node from those of its inputs."""
    node = operator(relation)
    if isinstance(node, Filter | Map) and node.depends_on_now:
        return _through_now(node, below[0])
    if isinstance(node, KeepsClass):
        return below[0]
    if isinstance(node, Padding):
        return _padded(node, below)
    match node:
        case Stream():
            return _stream(node)
        case StaticTable() | Values():
            return _STATIC
        case ChangingTable() if _is_final(node):
            return Monotonicity(Class.WEAK, "a row stays until its own end")
        case ChangingTable():
            return _strict(f"a later operation may end a row of {node.declaration.name}")
        case Window():
            return _window(node.spec, below[0])
        case SemiJoin() | AntiJoin() if below[1].static:
            return below[0]
        case Difference() | StrictDifference() if below[1].static:
            return _weak(below, "a row stays as long as enough rows that are equal")
        case Distinct() | SemiJoin() | Intersection() | MaxUnion():
            return _weak(below, "a row stays as long as some row that supports it")
        case Product() | Join():
            return _joined(below)
        case UnionAll():
            return _united(below)
        case Aggregate():
            return _unless_static(below, "the next row of a group ends its value")
        case TopN():
            return _unless_static(below, "a better row takes the place of another")
        case Over():
            return _unless_static(below, "a row's frame changes with its neighbours")
        case Session():
            return _unless_static(below, "the next row may lengthen a session")
        case AntiJoin() | Difference() | StrictDifference():
            return _unless_static(below, "a row on the right ends one on the left")
        case Istream() | Dstream() | Rstream():
            return _streamed(node, below[0])
        case Recurrence():
            return _strict(f"a row of {node.name} may follow from one that is revised")
        case Recursion():
            return _recursive(node, below[0])
        case _:
            assert_never(node)


def _through_now(node: Filter | Map, below: Monotonicity) -> Monotonicity:
    """Conditions on NOW() end a row where the row itself says, or never."""
    if below.has_negatives:
        return below
    if isinstance(node, Filter) and not any(phase.ends for phase in during(node.predicate)):
        only_later = below.value in (Class.MONOTONIC, Class.WEAK)
        return replace(below, static=False) if only_later else _WEAK_BY_NOW
    return _WEAK_BY_NOW


def _padded(node: Padding, below: tuple[Monotonicity, ...]) -> Monotonicity:
    left, right = below
    match node.kept:
        case Outer.LEFT if right.static:
            return left
        case Outer.RIGHT if left.static:
            return right
        case _:
            return _unless_static(below, "a partner ends a row that had none")


def _is_final(node: ChangingTable) -> bool:
    """Whether rows of a table only come: no operation ends one before its own end."""
    return node.declaration.bag and Op.END not in allowed_ops(node.declaration)


def _stream(node: Stream) -> Monotonicity:
    name = node.declaration.name
    if node.declaration.append_only:
        return Monotonicity(Class.MONOTONIC, f"{name} only gets facts")
    return _strict(f"a fact of {name} may be deleted or replaced")


def _window(spec: WindowSpec, facts: Monotonicity) -> Monotonicity:
    if facts.has_negatives:
        return facts
    if spec.lifetime_us is not None:
        return Monotonicity(Class.WEAKEST, spec.stays, spec.lifetime_us)
    match spec.leaves:
        case Leaves.BY_ITSELF:
            return Monotonicity(Class.WEAK, spec.stays)
        case Leaves.BY_OTHERS:
            return _strict(spec.stays)
        case Leaves.NEVER:
            return Monotonicity(Class.MONOTONIC, spec.stays)


def _joined(below: tuple[Monotonicity, ...]) -> Monotonicity:
    left, right = below
    if left.static or right.static:
        return right if left.static else left
    return _weak(below, "a pair stays while both rows do")


def _united(below: tuple[Monotonicity, ...]) -> Monotonicity:
    left, right = below
    if left.value is right.value and left.lifetime_us == right.lifetime_us:
        return right if left.static else left
    return _weak(below, "rows of the two stay differently")


def _weak(below: tuple[Monotonicity, ...], reason: str) -> Monotonicity:
    worst = max(below, key=lambda one: (one.value, not one.static))
    extreme = worst.value in (Class.MONOTONIC, Class.STRICT)
    return worst if extreme else Monotonicity(Class.WEAK, reason)


def _unless_static(below: tuple[Monotonicity, ...], reason: str) -> Monotonicity:
    return _STATIC if all(one.static for one in below) else _strict(reason)


def _streamed(node: Istream | Dstream | Rstream, below: Monotonicity) -> Monotonicity:
    linear = Class.WEAK if isinstance(node, Rstream) else Class.MONOTONIC
    if below.value <= linear:
        return Monotonicity(Class.MONOTONIC, "what a growing relation showed is not taken back")
    return _strict("a row in the past may show that another did not come or go")


def _recursive(node: Recursion, below: Monotonicity) -> Monotonicity:
    """Rows that follow from rows that never leave never leave, if they do so in one round."""

    def growing(relation: Relation, inputs: tuple[Monotonicity, ...]) -> Monotonicity:
        is_own = isinstance(relation, Recurrence) and relation.name == node.name
        return _GROWING if is_own else derive(relation, inputs)

    optimistic = fold(node.input, growing)
    return optimistic if optimistic.value is Class.MONOTONIC else below


_GROWING = Monotonicity(Class.MONOTONIC, "what follows from facts that only come only comes")
_WEAK_BY_NOW = Monotonicity(Class.WEAK, "a row stays as long as its condition on NOW() says")


def _strict(reason: str) -> Monotonicity:
    return Monotonicity(Class.STRICT, reason)


_STATIC = Monotonicity(Class.MONOTONIC, "it never changes", static=True)
