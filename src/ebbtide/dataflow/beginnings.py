"""Which parts of a program cannot have had any input yet.

Law: a part has had none if nothing that has come so far can pass the pipes that lead to it: its
source is new, or nothing has come of it, or a condition asks for a time after all that have come;
or it is fed by parts that have had none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TypeAlias

from ebbtide.algebra.expression import And, Comparison, Expression, Literal, Ref
from ebbtide.compile.physical import FromOperator, FromSource, PlanEdge
from ebbtide.core.declaration import Declaration, TableDeclaration
from ebbtide.core.time import NEG_INF, Instant
from ebbtide.core.types import TimestampType
from ebbtide.dataflow.plan import Dataflow
from ebbtide.kernels.admission.kernel import Admission

Newest: TypeAlias = Mapping[tuple[str, str], Instant]
"""The latest time that has come, by the folded names of a source and of its attribute."""

_TURNED = {"<": ">", "<=": ">="}


def untouched(
    flow: Dataflow, carried: AbstractSet[str], newest: Newest, known: AbstractSet[str]
) -> frozenset[str]:
    """The names of operators, and of what is written of views, that have had no input.

    ``carried`` are operators that may have had some, ``known`` the sources that may have brought
    rows before.
    """
    names = frozenset(name.casefold() for name in known)
    return frozenset(_Looking(flow, frozenset(carried), newest, names).found())


@dataclass(frozen=True, slots=True)
class _Looking:
    flow: Dataflow
    carried: frozenset[str]
    newest: Newest
    known: frozenset[str]

    def found(self) -> Iterator[str]:
        physical, stages = self.flow.lowered.physical, self.flow.lowered.stages
        for number, operator in enumerate(physical.operators):
            if self._is_quiet(number):
                yield operator.name
        for output, stage, name in self.flow.written():
            edges = [
                edge
                for number, edge in enumerate(physical.edges)
                if edge.consumer == ~output and stages.of_edge[number] == stage
            ]
            if all(map(self._brings_nothing, edges)):
                yield name

    def _is_quiet(self, number: int) -> bool:
        physical = self.flow.lowered.physical
        if physical.operators[number].name in self.carried:
            return False
        edges = [edge for edge in physical.edges if edge.consumer == number]
        return all(map(self._brings_nothing, edges))

    def _brings_nothing(self, edge: PlanEdge) -> bool:
        lowered = self.flow.lowered
        match edge.producer:
            case FromSource(number):
                if number in dict(lowered.given):
                    return False
                return self._is_later(lowered.declarations[number], edge)
            case FromOperator(number):
                kernel = lowered.physical.operators[number].kernel
                if isinstance(kernel, Admission) and self._is_later(kernel.declaration, edge):
                    return True
                return self._is_quiet(number)

    def _is_later(self, declaration: Declaration, edge: PlanEdge) -> bool:
        name = declaration.name.casefold()
        static = isinstance(declaration, TableDeclaration) and declaration.static
        if static:
            return False
        if name not in self.known:
            return True
        times = [
            column.name.casefold()
            for column in declaration.schema
            if isinstance(column.type, TimestampType)
        ]
        if declaration.promises and all(
            self.newest.get((name, p.attribute.casefold()), NEG_INF) == NEG_INF
            for p in declaration.promises
        ):
            return True
        bounds = (bound for each in edge.pipe.conditions for bound in _bounds(each))
        return any(
            attribute in times and first > self.newest.get((name, attribute), NEG_INF)
            for attribute, first in bounds
        )


def _bounds(condition: Expression) -> Iterator[tuple[str, Instant]]:
    """Columns of times, each with the first instant that a condition lets pass."""
    match condition:
        case And():
            for part in condition.children:
                yield from _bounds(part)
        case Comparison(op, Ref(column), Literal(int() as value, TimestampType())):
            if op in (">", ">="):
                yield column.name.casefold(), value + (op == ">")
        case Comparison(op, Literal(int() as value, TimestampType()), Ref(column)):
            if op in _TURNED:
                yield column.name.casefold(), value + (_TURNED[op] == ">")
        case _:
            return
