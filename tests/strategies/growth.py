"""How a random plan grows: what a builder of one operator may ask for.

A ``Growth`` draws inputs of a wanted kind, gives columns names that clash with nothing, and keeps
operators that multiply rows from standing on each other more than twice, because the naive
evaluator looks at every pair.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, TypeVar

from hypothesis import strategies as st

from ebbtide.algebra.expression import Expression, Literal, Ref
from ebbtide.algebra.kind import Kind
from ebbtide.algebra.relation import Alias, Map, Named, Relation
from ebbtide.core.schema import Schema
from ebbtide.core.types import TIMESTAMP, Type
from strategies.expressions import (
    choose,
    expression_from,
    is_nested,
    predicate_from,
)
from strategies.sources import Source

T = TypeVar("T")


@dataclass(frozen=True)
class Growth:
    """Where in a plan a builder stands."""

    draw: st.DrawFn
    sources: tuple[Source, ...]
    kind: Kind
    depth: int
    multiply: int
    plant: Callable[[Growth], Relation]

    def choose(self, options: Sequence[T]) -> T:
        """One of the options."""
        return choose(self.draw, options)

    def input(self, kind: Kind | None = None, multiply: int | None = None) -> Relation:
        """A smaller plan, of this one's kind unless another is wanted."""
        return self.plant(
            replace(
                self,
                kind=kind or self.kind,
                depth=self.depth - 1,
                multiply=self.multiply if multiply is None else multiply,
            )
        )

    def inputs(self) -> tuple[Relation, Relation]:
        """Two plans whose columns have different table names."""
        left = self.input(multiply=self.multiply - 1)
        right = self.input(multiply=0)
        return Alias(plain(left), "l"), Alias(plain(right), "r")

    def expression(self, schema: Schema, type_: Type) -> Expression:
        """An expression of a type."""
        return expression_from(self.draw, schema, type_)

    def predicate(self, schema: Schema, depth: int = 1) -> Expression:
        """A condition on a row."""
        return predicate_from(self.draw, schema, depth)

    def columns(self, schema: Schema, least: int, most: int) -> list[Expression]:
        """Some columns of a schema that can be compared, each at most once."""
        left: list[Expression] = [Ref(column) for column in schema]
        found: list[Expression] = []
        for _ in range(min(self.number(least, most), len(left))):
            found.append(self.choose(left))
            left.remove(found[-1])
        return found

    def number(self, least: int, most: int) -> int:
        """A number from the least to the most."""
        return self.choose(range(least, most + 1))


Builder: TypeAlias = Callable[[Growth], Relation]


def plain(plan: Relation, *taken: str) -> Relation:
    """The plan with column names that are all different, and none of those taken."""
    names = [name.casefold() for name in plan.schema.names]
    if len(set(names)) == len(names) and not set(names) & set(taken):
        return plan
    return Map(plan, tuple(Named(f"c{i}", Ref(column)) for i, column in enumerate(plan.schema)))


def narrow(growth: Growth, plan: Relation) -> Relation:
    """One or two columns of a plan, so that its rows are often equal."""
    kept = [column for column in plan.schema if not is_nested(column.type)] or [plan.schema[0]]
    chosen = growth.columns(Schema(tuple(kept)), 1, 2)
    return Map(plan, tuple(Named(f"c{i}", column) for i, column in enumerate(chosen)))


def conformed(growth: Growth, plan: Relation, to: Schema) -> Relation:
    """A plan with the types of a schema, column by column."""
    return Map(
        plan,
        tuple(
            Named(f"c{i}", growth.expression(plan.schema, column.type))
            for i, column in enumerate(to)
        ),
    )


def timed(growth: Growth, plan: Relation, *taken: str) -> tuple[Relation, str]:
    """A plan with a TIMESTAMP column, and that column's name."""
    plan = plain(plan, *taken)
    times = [column.name for column in plan.schema if column.type == TIMESTAMP]
    if times:
        return plan, growth.choose(times)
    kept = [Named(f"c{i}", Ref(column)) for i, column in enumerate(plan.schema)]
    clock = Named("at", Literal(growth.number(0, 10), TIMESTAMP))
    return Map(plan, (*kept, clock)), "at"


def unused(schema: Schema, stem: str) -> str:
    """A column name that a schema does not have yet."""
    taken = {name.casefold() for name in schema.names}
    return next(name for i in range(len(taken) + 1) if (name := f"{stem}{i}") not in taken)
