"""Aggregates that choose one row: MIN, MAX, ARG_MIN, ARG_MAX, FIRST, LAST, BOOL_AND, BOOL_OR.

None of them can be undone from its state: what was not chosen is not remembered.  So they fold into
the chosen row only where no row is ever taken back.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ebbtide.algebra.aggregates.function import AggregateFunction, Maker, Types, arity, refused
from ebbtide.core.folds import Fold
from ebbtide.core.types import BOOLEAN, BooleanType, Type
from ebbtide.core.values import Row, sort_key


def extreme(greatest: bool, name: str) -> Maker:
    def make(types: Types) -> AggregateFunction:
        (argument,) = arity(name, types, 1)
        return _best(argument, key=lambda row: sort_key(row[0]), greatest=greatest)

    return make


def arg_extreme(greatest: bool, name: str) -> Maker:
    """The first argument where the second is extreme; the first such row in the order."""

    def make(types: Types) -> AggregateFunction:
        argument, _ = arity(name, types, 2)

        def better(a: Row, b: Row) -> bool:
            mine, its = sort_key(a[1]), sort_key(b[1])
            if mine != its:
                return (mine > its) == greatest
            return bool(a[2] < b[2])

        return _chosen(argument, better, lambda row: row[1] is not None)

    return make


def first(types: Types) -> AggregateFunction:
    argument, *_ = arity("FIRST", types, 1)
    return _chosen(argument, lambda a, b: bool(a[1] < b[1]), lambda row: True)


def last(types: Types) -> AggregateFunction:
    argument, *_ = arity("LAST", types, 1)
    chosen = _chosen(argument, lambda a, b: bool(a[1] > b[1]), lambda row: True)
    # Of equal values DISTINCT keeps the first, which may come before the last of the others.
    return replace(chosen, idempotent=False)


def _best(type_: Type, key: Callable[[Row], Any], greatest: bool) -> AggregateFunction:
    def merge(a: Row | None, b: Row | None) -> Row | None:
        if a is None or b is None:
            return b if a is None else a
        return a if (key(a) >= key(b)) == greatest else b

    return AggregateFunction(
        type=type_,
        initial=None,
        accumulate=merge,
        merge=merge,
        result=lambda state: None if state is None else state[0],
        idempotent=True,
        fold=Fold.EXTREME,
    )


def _chosen(
    type_: Type, better: Callable[[Row, Row], bool], counts: Callable[[Row], bool]
) -> AggregateFunction:
    """The first argument of the best row; rows carry their place as the last value."""

    def merge(a: Row | None, b: Row | None) -> Row | None:
        if a is None or b is None:
            return b if a is None else a
        return b if better(b, a) else a

    return AggregateFunction(
        type=type_,
        initial=None,
        accumulate=lambda state, row: merge(state, row if counts(row) else None),
        merge=merge,
        result=lambda state: None if state is None else state[0],
        ordered=True,
        keeps_nulls=True,
        idempotent=True,
        fold=Fold.EXTREME,
    )


def truth(all_: bool, name: str) -> Maker:
    def make(types: Types) -> AggregateFunction:
        (argument,) = arity(name, types, 1)
        if not isinstance(argument, BooleanType):
            raise refused(name, argument)
        return _best(BOOLEAN, key=lambda row: row[0], greatest=not all_)

    return make
