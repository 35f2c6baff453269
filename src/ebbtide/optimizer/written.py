"""From the plan that runs back to the one that was written, to show faults where they were made.

Law: the operators that are no filters are the same in both plans, in the same order.
"""

from __future__ import annotations

from collections.abc import Iterator

from ebbtide.algebra.relation import Filter, Relation
from ebbtide.core.tree import find


def written(plan: Relation, optimised: Relation, node: Relation) -> Relation:
    """What an operator of the optimised plan was in the plan; the whole of it for a filter."""
    pairs = zip(_lasting(optimised), _lasting(plan), strict=True)
    return next((before for after, before in pairs if after is node), plan)


def _lasting(plan: Relation) -> Iterator[Relation]:
    return (node for node in find(plan, Relation) if not isinstance(node, Filter))
