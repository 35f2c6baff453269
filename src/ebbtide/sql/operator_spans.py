"""Where the operators of a plan stand in the text, kept beside the plan.

Law: plans are values without places: two that are equal may have been written differently.  An
operator is known here by its identity, so what is rewritten has no place of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ebbtide.algebra.relation import Relation
from ebbtide.core.tree import find
from ebbtide.errors import Span

__all__ = ["Written"]


@dataclass(slots=True)
class Written:
    """The places that have been noted; each holds its operator, so that none takes its identity."""

    places: dict[int, tuple[Relation, Span]] = field(default_factory=dict)

    def note(self, relation: Relation, span: Span) -> None:
        """Notes a place for the operators of a plan that have none yet."""
        for node in find(relation, Relation):
            self.places.setdefault(id(node), (node, span))

    def span(self, relation: Relation) -> Span | None:
        """The place of an operator."""
        found = self.places.get(id(relation))
        return None if found is None else found[1]
