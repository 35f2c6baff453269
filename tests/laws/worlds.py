"""Relations, conditions and data for equations between plans.

An equation is written for any relations and conditions: conditions are drawn over a template and
put on a relation by the positions of its columns.
"""

from collections.abc import Callable
from dataclasses import dataclass

from hypothesis import strategies as st

from ebbtide.algebra import Alias, Comparison, Expression, Filter, Map, Named, Ref, Relation, Stream
from ebbtide.core.change import Change
from ebbtide.core.declaration import StreamDeclaration
from ebbtide.core.schema import Schema, schema
from ebbtide.core.tree import rewrite
from ebbtide.reference import evaluate
from ebbtide.testing import assert_snapshot_equal, relation
from laws import Law
from strategies import (
    expressions,
    facts,
    join_predicates,
    predicates,
    relations,
)

ROW = schema(x="BIGINT", y="BOOLEAN")
PAIR = ROW.qualified("l") + ROW.qualified("r")
FACT = schema(x="BIGINT", y="BOOLEAN", at="TIMESTAMP")

# So few that they are often there twice, and on both sides.
FEW_ROWS = st.sampled_from([(x, y) for x in (0, 1, None) for y in (True, None)])

A, B, C = (Alias(relation(name, x="BIGINT", y="BOOLEAN"), name) for name in "abc")
S, R = (Stream(StreamDeclaration(name, FACT)) for name in "sr")

NOW = 45


@dataclass(frozen=True)
class World:
    """What an equation is about: relations a, b, c, streams s, r, conditions and a map."""

    data: dict[str, tuple[Change, ...]]
    p: Expression
    q: Expression
    theta: Expression
    f: tuple[Expression, ...]


def worlds(relations_: str = "abc", streams: str = "", max_changes: int = 12):
    """Worlds with data for some of the relations and streams."""
    data = {name: relations(ROW, max_changes, of=FEW_ROWS) for name in relations_}
    data |= {name: facts(FACT, max_changes) for name in streams}
    return st.builds(
        World,
        st.fixed_dictionaries(data),
        predicates(ROW),
        predicates(ROW),
        join_predicates(ROW.qualified("l"), ROW.qualified("r")),
        st.tuples(expressions(ROW, ROW[0].type), expressions(ROW, ROW[1].type)),
    )


def on(template: Expression, of: Schema, target: Schema, first: int = 0) -> Expression:
    """A template's expression on the columns of a relation, from a position on."""

    def moved(node: Expression) -> Expression:
        return Ref(target[first + of.index(node.column)]) if isinstance(node, Ref) else node

    return rewrite(template, moved)


def where(below: Relation, condition: Expression, first: int = 0) -> Relation:
    """The rows of a relation for which a condition over `ROW` holds."""
    return Filter(below, on(condition, ROW, below.schema, first))


def mapped(below: Relation, terms: tuple[Expression, ...], keep: tuple[str, ...] = ()) -> Relation:
    """The values of terms over `ROW`, and columns that are kept as they are."""
    made = [Named(f"m{i}", on(term, ROW, below.schema)) for i, term in enumerate(terms)]
    return Map(below, (*made, *(Named(name, below.ref(name)) for name in keep)))


def matching(world: World, left: Relation, right: Relation) -> Expression:
    """The world's condition on pairs, on a pair of relations."""
    return on(world.theta, PAIR, left.schema + right.schema)


def equal(left: Relation, right: Relation) -> Expression:
    """That the first columns are equal."""
    return Comparison("=", Ref(left.schema[0]), Ref(right.schema[0]))


def columns(below: Relation, *order: int) -> Relation:
    """Some columns of a relation, under plain names."""
    return Map(below, tuple(Named(f"m{i}", Ref(below.schema[at])) for i, at in enumerate(order)))


Equation = Callable[[World], tuple[Relation, Relation]]


def equation(name: str, sides: Equation, over=None, effort: float = 0.4) -> Law:
    """The law that two plans mean the same relation."""

    def check(world: World) -> None:
        left, right = sides(world)
        assert [c.type for c in left.schema] == [c.type for c in right.schema]
        assert_snapshot_equal(
            evaluate(left, world.data, NOW), evaluate(right, world.data, NOW), schema=right.schema
        )

    return Law(name, worlds() if over is None else over, check, effort)
