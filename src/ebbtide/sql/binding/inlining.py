"""How large a plan may get by the names in it.

Law: a view, and a query in WITH, is a part of the plan once for each time that it is named, so a
chain of them in which each names the one before twice is twice as large with every link.  What
names bring is counted as they are bound, and refused before it is built.
"""

from __future__ import annotations

from dataclasses import dataclass

from ebbtide.algebra.relation import Relation
from ebbtide.core.tree import find
from ebbtide.errors import BindError


@dataclass(slots=True)
class Inlined:
    """The operators that names have brought into the plans of a statement so far.

    Without a ``limit`` there is nothing to count.
    """

    limit: int | None = None
    operators: int = 0

    def add(self, name: str, plan: Relation) -> None:
        """Counts the plan that a name stands for."""
        if self.limit is None:
            return
        self.operators += sum(1 for _ in find(plan, Relation))
        if self.operators > self.limit:
            raise BindError(
                "plan-too-large",
                f'with "{name}" the statement has more than {self.limit:,} operators',
                detail="what a name stands for is a part of the plan each time that it is named",
                hint="name it less often, or set EBBTIDE_MAX_OPERATORS to more than "
                f"{self.operators}",
            )
