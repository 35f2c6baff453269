"""ISTREAM, DSTREAM and RSTREAM against the reference."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.kernels.harness import WAYS, Case, Input, Way, judge

from ebbtide.algebra import window as logical
from ebbtide.core.schema import schema
from ebbtide.kernels.operators.dstream import Dstream
from ebbtide.kernels.operators.istream import Istream
from ebbtide.kernels.operators.rstream import Rstream


def _row(random: Random) -> tuple[Any, ...]:
    return (random.choice((0, 1, None)), random.choice("ab"))


RELATION = Input(schema(k="BIGINT", s="STRING"), _row)
BEGUN = replace(RELATION, begun=True)


@given(way=WAYS)
def test_oracle_istream(way: Way) -> None:
    judge(Case(logical.Istream(RELATION.node), Istream(), (RELATION,), ((0, 1),)), way)


@given(way=WAYS)
def test_oracle_dstream(way: Way) -> None:
    judge(Case(logical.Dstream(RELATION.node), Dstream(), (RELATION,), ((0, 1),)), way)


@given(every=st.sampled_from((1, 2, 5)), way=WAYS)
def test_oracle_rstream(every: int, way: Way) -> None:
    node = logical.Rstream(RELATION.node, every)
    judge(Case(node, Rstream(every), (RELATION,), ((),)), way)


@given(every=st.sampled_from((1, 2, 5)), way=WAYS)
def test_oracle_rstream_in_shards(every: int, way: Way) -> None:
    node = logical.Rstream(BEGUN.node, every)
    judge(Case(node, Rstream(every), (BEGUN,), ((0, 1),)), way)
