"""A plan run step by step, by the reference alone.

Law: the sum of what the steps emit is the plan's output on all input so far, for every cut into
steps.  With a rule for forgetting, it is a judge of that rule: each operator holds only what the
rule keeps of its inputs, and emits the difference that new changes make on what it holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

from ebbtide.algebra.operators import Source, operator
from ebbtide.algebra.recursion import Recurrence
from ebbtide.algebra.relation import Relation, Values
from ebbtide.core.change import Change, consolidate, fact, minus
from ebbtide.core.time import NEG_INF, Instant
from ebbtide.reference import apply

Changes: TypeAlias = tuple[Change, ...]
Path: TypeAlias = tuple[int, ...]
Keep: TypeAlias = Callable[[Path, Relation, tuple[Changes, ...]], tuple[Changes, ...]]
"""What an operator keeps of its stored inputs; the path leads to it from the root."""


def keep_all(path: Path, node: Relation, stored: tuple[Changes, ...]) -> tuple[Changes, ...]:
    """Forgets nothing."""
    return stored


class Simulation:
    """The state of a plan between steps."""

    def __init__(self, plan: Relation) -> None:
        self.plan = plan
        self.now: Instant = NEG_INF
        self._stored: dict[Path, tuple[Changes, ...]] = {}
        self._started = False

    def step(
        self, arrived: Mapping[str, Iterable[Change]], now: Instant, keep: Keep = keep_all
    ) -> Changes:
        """Takes the changes of each source, moves to ``now``, and gives the output's changes.

        ``keep`` is asked after the step, so it may look at frontiers that the step moved.
        """
        output = self._run(self.plan, (), arrived, now, keep)
        self.now, self._started = now, True
        return output

    @property
    def stored(self) -> int:
        """How many changes all operators hold."""
        return sum(len(changes) for inputs in self._stored.values() for changes in inputs)

    def _run(
        self,
        relation: Relation,
        path: Path,
        arrived: Mapping[str, Iterable[Change]],
        now: Instant,
        keep: Keep,
    ) -> Changes:
        node = operator(relation)
        if isinstance(node, Values):
            return () if self._started else consolidate(fact(row) for row in node.rows)
        if isinstance(node, Recurrence):
            raise NotImplementedError("a recursion is not run step by step here")
        if isinstance(node, Source):
            return consolidate(arrived.get(node.declaration.name, ()))
        deltas = [
            self._run(child, (*path, i), arrived, now, keep)
            for i, child in enumerate(node.children)
        ]
        before = self._stored.get(path, ((),) * len(deltas))
        after = tuple(consolidate((*old, *new)) for old, new in zip(before, deltas, strict=True))
        emitted = apply(node, before, self.now) if self._started else ()
        self._stored[path] = keep(path, relation, after)
        return minus(apply(node, after, now), emitted)
