"""The equalities of a join's condition, which an exchange can use, and the rest of it."""

from __future__ import annotations

from dataclasses import dataclass

from ebbtide.algebra.expression import Comparison, Expression, Ref, conjunction, conjuncts
from ebbtide.core.schema import Schema
from ebbtide.core.tree import find


@dataclass(frozen=True, slots=True)
class Split:
    """``left[i] = right[i]`` for all i, and ``rest``: together the whole condition."""

    left: tuple[Expression, ...] = ()
    right: tuple[Expression, ...] = ()
    rest: tuple[Expression, ...] = ()

    @property
    def residual(self) -> Expression:
        """The rest as one condition."""
        return conjunction(self.rest)


def split_condition(predicate: Expression | None, left: Schema, right: Schema) -> Split:
    """The equalities between an expression of one side and one of the other, and the rest."""
    keys: list[tuple[Expression, Expression]] = []
    rest: list[Expression] = []
    for term in () if predicate is None else conjuncts(predicate):
        pair = _equality(term, left, right)
        if pair is None:
            rest.append(term)
        else:
            keys.append(pair)
    return Split(tuple(a for a, _ in keys), tuple(b for _, b in keys), tuple(rest))


def _equality(
    term: Expression, left: Schema, right: Schema
) -> tuple[Expression, Expression] | None:
    match term:
        case Comparison(op="=", left=a, right=b):
            if _is_of(a, left) and _is_of(b, right):
                return a, b
            if _is_of(a, right) and _is_of(b, left):
                return b, a
        case _:
            pass
    return None


def _is_of(expression: Expression, schema: Schema) -> bool:
    known = {column.identity for column in schema}
    refs = [ref.column.identity for ref in find(expression, Ref)]
    return bool(refs) and all(identity in known for identity in refs)
