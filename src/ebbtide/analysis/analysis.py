"""Everything that is proved about a plan, node by node.

Law: what is proved is about the plan as it is given, which has to be the one that runs: rules are
applied before.  The paths of nodes and of what they store are those of that plan.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from ebbtide.algebra.recursion import Recursion
from ebbtide.algebra.relation import Alias, Filter, Map, Relation, View
from ebbtide.analysis import keys as keys_
from ebbtide.analysis import monotonicity as monotonicity_
from ebbtide.analysis import size as size_
from ebbtide.analysis.finality import Finality, finality, passed_on
from ebbtide.analysis.formula.progress import NEVER, Bound, Value
from ebbtide.analysis.keep import Kept, kept_inputs
from ebbtide.analysis.keep_rules import ByTime
from ebbtide.analysis.keys import Keys
from ebbtide.analysis.monotonicity import Monotonicity
from ebbtide.analysis.output_keep import begun, kept_output
from ebbtide.analysis.size import Size, size_of_phases
from ebbtide.analysis.stores import Store, stores_of
from ebbtide.analysis.temporal.derivation import derive as derive_temporal
from ebbtide.analysis.temporal.edge import Edge
from ebbtide.analysis.temporal.recursion import Solution, Solutions, edges_of, solutions_of
from ebbtide.analysis.temporal.sources import corrections, retentions
from ebbtide.core.time import Duration
from ebbtide.core.tree import fold

Path: TypeAlias = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Node:
    """What is proved about one node of a plan, and about those below it."""

    relation: Relation
    inputs: tuple[Node, ...]
    edge: Edge
    keys: Keys
    monotonicity: Monotonicity
    size: Size
    finality: Finality
    kept: tuple[Kept, ...] = ()
    stores: tuple[Store, ...] = ()
    emitted: ByTime | None = None
    """The rule of what the operator keeps of its own output, if it does."""
    begun: Value = NEVER
    """What every change to come of the inputs begins after."""
    solution: Solution | None = None
    """What is proved of a recursion."""
    path: Path = ()

    @property
    def id(self) -> str:
        """The operator's name while the plan stays: what it is, and where it stands."""
        return f"{type(self.relation).__name__.lower()}@{'.'.join(map(str, self.path))}"

    def walk(self) -> Iterator[Node]:
        """This node and all below it, the root first."""
        pending = [self]
        while pending:
            node = pending.pop()
            yield node
            pending.extend(reversed(node.inputs))


def examine(plan: Relation) -> Node:
    """What is proved about every node of a plan, as it stands."""
    retain, lag, solved = retentions(plan), corrections(plan), solutions_of(plan)
    root = fold(plan, lambda node, below: _node(node, below, retain, lag, solved))
    return _placed(root, ())


def _node(
    relation: Relation,
    below: tuple[Node, ...],
    retain: Mapping[Bound, Duration],
    lag: Mapping[Bound, Duration],
    solved: Solutions,
) -> Node:
    edges = tuple(node.edge for node in below)
    edge = derive_temporal(relation, edges, edges_of(solved))
    keys = keys_.derive(relation, tuple(node.keys for node in below))
    monotonicity = monotonicity_.derive(relation, tuple(node.monotonicity for node in below))
    size = size_.derive(relation, tuple(node.size for node in below))
    if isinstance(relation, Filter | Map) and relation.depends_on_now:
        size = size_of_phases(relation, edge, below[0].size, size)
    kept = kept_inputs(relation, edges, retain)
    final = finality(edge, monotonicity, lag)
    if isinstance(relation, Map | Alias | Filter | View):
        final = passed_on(final, below[0].finality)
    node = Node(relation, below, edge, keys, monotonicity, size, final)
    return replace(
        node,
        kept=kept,
        stores=stores_of(relation, below, kept),
        emitted=kept_output(relation, edge, edges, retain),
        begun=begun(edges, retain),
        solution=solved[relation.name] if isinstance(relation, Recursion) else None,
    )


def _placed(node: Node, path: Path) -> Node:
    inputs = tuple(_placed(below, (*path, i)) for i, below in enumerate(node.inputs))
    return replace(node, inputs=inputs, path=path)
