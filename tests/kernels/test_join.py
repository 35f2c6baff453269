"""Joins of every kind against the reference, with and without equality and residual predicates."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import pyarrow.compute as pc
from hypothesis import given
from hypothesis import strategies as st
from tests.kernels.harness import WAYS, Case, Input, Way, judge

from ebbtide.algebra import combination as logical
from ebbtide.algebra.call import SortKey
from ebbtide.algebra.combination import AsofJoin as AsofJoinNode
from ebbtide.algebra.expression import Comparison, Expression, conjunction
from ebbtide.algebra.relation import Alias
from ebbtide.core.schema import schema
from ebbtide.kernels.condition import Condition
from ebbtide.kernels.operators.anti_join import AntiJoin
from ebbtide.kernels.operators.asof_join import AsofJoin
from ebbtide.kernels.operators.join import Join
from ebbtide.kernels.operators.outer_join import OuterJoin
from ebbtide.kernels.operators.semi_join import SemiJoin
from ebbtide.kernels.ordering import SortColumn

SCHEMA = schema(k="BIGINT", s="STRING", v="BIGINT")


def _row(random: Random) -> tuple[Any, ...]:
    key = None if random.random() < 0.15 else random.randint(0, 2)
    return (key, random.choice(("a", "b", None)), random.choice((0, 1, 2, None)))


SIDE = Input(SCHEMA, _row)
LEFT, RIGHT = Alias(SIDE.node, "l"), Alias(SIDE.node, "r")


def _less(rows: Any) -> Any:
    return pc.less(rows.column(2), rows.column(5))


def _compared(op: str, column: str) -> Expression:
    return Comparison(op, LEFT.ref(f"l.{column}"), RIGHT.ref(f"r.{column}"))


CONDITIONS = {
    "one key": (Condition((0,), (0,)), (_compared("=", "k"),)),
    "two keys": (Condition((0, 1), (0, 1)), (_compared("=", "k"), _compared("=", "s"))),
    "key and residual": (
        Condition((0,), (0,), _less),
        (_compared("=", "k"), _compared("<", "v")),
    ),
    "no key": (Condition((), (), _less), (_compared("<", "v"),)),
    "all pairs": (Condition(), ()),
}


def case(name: str, node: Any, kernel: Any) -> Case:
    condition, terms = CONDITIONS[name]
    return Case(
        node(LEFT, RIGHT, conjunction(terms)),
        kernel(condition),
        (SIDE, SIDE),
        (condition.left, condition.right),
    )


OUTER = {
    logical.Outer.LEFT: (True, False),
    logical.Outer.RIGHT: (False, True),
    logical.Outer.FULL: (True, True),
}


@given(name=st.sampled_from(sorted(CONDITIONS)), way=WAYS)
def test_oracle_join(name: str, way: Way) -> None:
    judge(case(name, logical.Join, Join), way)


@given(name=st.sampled_from(sorted(CONDITIONS)), way=WAYS)
def test_oracle_semi_join(name: str, way: Way) -> None:
    judge(case(name, logical.SemiJoin, SemiJoin), way)


@given(name=st.sampled_from(sorted(CONDITIONS)), way=WAYS)
def test_oracle_anti_join(name: str, way: Way) -> None:
    judge(case(name, logical.AntiJoin, AntiJoin), way)


@given(
    name=st.sampled_from(sorted(CONDITIONS)), kept=st.sampled_from(list(logical.Outer)), way=WAYS
)
def test_oracle_outer_join(name: str, kept: logical.Outer, way: Way) -> None:
    def node(left: Any, right: Any, predicate: Expression) -> Any:
        return logical.OuterJoin(left, right, predicate, kept)

    judge(case(name, node, lambda condition: OuterJoin(condition, *OUTER[kept])), way)


@given(
    name=st.sampled_from(sorted(CONDITIONS)),
    latest=st.booleans(),
    pads=st.booleans(),
    way=WAYS,
)
def test_oracle_asof_join(name: str, latest: bool, pads: bool, way: Way) -> None:
    def node(left: Any, right: Any, predicate: Expression) -> Any:
        order = (SortKey(RIGHT.ref("r.v"), descending=latest),)
        return AsofJoinNode(left, right, predicate, order, pads)

    order = (SortColumn(2, latest, not latest),)
    judge(case(name, node, lambda condition: AsofJoin(condition, order, pads)), way)


@given(
    name=st.sampled_from(("no key", "all pairs")),
    kind=st.sampled_from(("join", "semi", "anti", "left")),
    way=WAYS,
)
def test_oracle_broadcast_of_the_right_side(name: str, kind: str, way: Way) -> None:
    def left(mine: Any, other: Any, predicate: Expression) -> Any:
        return logical.OuterJoin(mine, other, predicate, logical.Outer.LEFT)

    node, kernel = {
        "join": (logical.Join, Join),
        "semi": (logical.SemiJoin, SemiJoin),
        "anti": (logical.AntiJoin, AntiJoin),
        "left": (left, lambda condition: OuterJoin(condition, True, False)),
    }[kind]
    judge(replace(case(name, node, kernel), exchange=((0, 1, 2), None)), way)
