"""Rows that can meet nobody do not enter a join (paper 5, section 6 and footnote 28).

Law: the plan means the same.  What a join's condition says of the rows of one side alone holds for
every row of it that has a partner; the others contribute to no pair, so on a side of which only
pairs count a filter takes them away, and they are not stored.  What is kept without a partner is
left alone.

Three things say something of one side:

- a term of the condition about this side alone: ``ON a.k = b.k AND b.v < 3`` of a LEFT JOIN;
- a condition on the other side's columns that are equal to those of this one:
  ``a.k = b.k``, where ``b.k = 5``;
- the times, by the distances that condition and conditions of the other side imply:
  ``b.at BETWEEN a.begins AND a.ends`` needs ``a.begins <= a.ends``.

Which rows fail is part of the meaning: where the condition can fail, or the filter, there is none.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

from ebbtide.algebra.combination import AntiJoin, Join, Outer, OuterJoin, SemiJoin
from ebbtide.algebra.expression import (
    Arithmetic,
    Comparison,
    Expression,
    Literal,
    Ref,
    conjunction,
    conjuncts,
    depends_on_now,
)
from ebbtide.algebra.failing import can_fail
from ebbtide.algebra.quarantine import OnError, sides_of
from ebbtide.algebra.relation import Alias, Filter, Map, Relation, View
from ebbtide.algebra.window import Window
from ebbtide.analysis.formula.dnf import NOTHING_KNOWN, Dnf
from ebbtide.analysis.formula.formula import Formula, both, compare
from ebbtide.analysis.formula.terms import ZERO, Const, Var
from ebbtide.analysis.temporal.predicates import holding
from ebbtide.core.schema import Schema
from ebbtide.core.time import INF, NEG_INF, Duration
from ebbtide.core.tree import find, rewrite
from ebbtide.core.types import INTERVAL, TIMESTAMP, DoubleType

Meeting: TypeAlias = Join | SemiJoin | AntiJoin | OuterJoin
Terms: TypeAlias = tuple[Expression, ...]
Identity: TypeAlias = tuple[str | None, str]
Names: TypeAlias = dict[Identity, Ref]
"""Columns by those that they stand for."""


def filter_irrelevant(plan: Relation, on_error: OnError = OnError.QUARANTINE) -> Relation:
    """The plan with filters on the inputs of joins, for the rows that can have a partner."""
    return rewrite(plan, partial(_filtered, on_error))


def added(plan: Relation, on_error: OnError = OnError.QUARANTINE) -> Iterator[Filter]:
    """What the rule adds to the inputs of a plan's joins, each on the input that it stands on."""
    filtered = filter_irrelevant(plan, on_error)
    for before, after in zip(_meetings(plan), _meetings(filtered), strict=True):
        for old, new in ((before.left, after.left), (before.right, after.right)):
            known = conjuncts(old.predicate) if isinstance(old, Filter) else ()
            terms = conjuncts(new.predicate) if isinstance(new, Filter) else ()
            more = tuple(term for term in terms if term not in known)
            if more and isinstance(new, Filter):
                yield Filter(new.input, conjunction(more))


def _meetings(plan: Relation) -> Iterator[Meeting]:
    return (node for node in find(plan, Relation) if isinstance(node, Meeting))


def _filtered(on_error: OnError, node: Relation) -> Relation:
    if not isinstance(node, Meeting) or depends_on_now(node.predicate):
        return node
    if on_error is OnError.QUARANTINE and can_fail(node.predicate):
        return node
    # What is found of one side may say more of the other.
    while (restricted := _once(node)) is not node:
        node = restricted
    return node


def _once(node: Meeting) -> Meeting:
    left, right = node.left, node.right
    if _only_pairs_of_left(node):
        left = _restricted(left, _Side(node.predicate, left, right).terms())
    if _only_pairs_of_right(node):
        right = _restricted(right, _Side(node.predicate, right, left).terms())
    same = left is node.left and right is node.right
    return node if same else replace(node, left=left, right=right)


def _only_pairs_of_left(node: Meeting) -> bool:
    is_outer = isinstance(node, OuterJoin) and node.kept is not Outer.RIGHT
    return not is_outer and not isinstance(node, AntiJoin)


def _only_pairs_of_right(node: Meeting) -> bool:
    return not isinstance(node, OuterJoin) or node.kept is Outer.LEFT


def _restricted(relation: Relation, terms: Terms) -> Relation:
    match relation:
        case _ if not terms:
            return relation
        case Filter():
            return Filter(relation.input, conjunction((*conjuncts(relation.predicate), *terms)))
        case _:
            return Filter(relation, conjunction(terms))


@dataclass(frozen=True, slots=True)
class _Side:
    """One side of a join, of which only rows with a partner count."""

    predicate: Expression
    mine: Relation
    other: Relation

    def terms(self) -> Terms:
        """What is true of every row of this side that has a partner, and is not known of it yet."""
        known = _conditions(self.mine)
        found = [*self._own(), *self._equal()]
        new = [t for i, t in enumerate(found) if t not in known and t not in found[:i]]
        return (*(t for t in new if not can_fail(t)), *self._by_time((*known, *new)))

    def _own(self) -> Iterator[Expression]:
        """Terms of the condition about this side alone."""
        for term in conjuncts(self.predicate):
            if _is_about(term, self.mine.schema):
                yield term

    def _equal(self) -> Iterator[Expression]:
        """Conditions on columns of the other side that are equal to columns of this one."""
        equal = dict(self._equalities())
        for term in _conditions(self.other):
            refs = [ref.column.identity for ref in find(term, Ref)]
            if refs and all(identity in equal for identity in refs):
                yield rewrite(term, partial(_exchanged, equal))

    def _equalities(self) -> Iterator[tuple[Identity, Ref]]:
        for term in conjuncts(self.predicate):
            match sides_of(term, self.mine.schema, self.other.schema):
                case (Ref() as one, Ref() as another) if _is_exact(one, another):
                    yield another.column.identity, one
                case _:
                    pass

    def _by_time(self, known: Terms) -> Iterator[Expression]:
        """Bounds between times of this side, and of each, that follow from what all times say."""
        schema = self.mine.schema + self.other.schema
        times = {i: Var("", str(i)) for i, c in enumerate(schema) if c.type == TIMESTAMP}
        given = (self.predicate, *known, *_conditions(self.other))
        facts = NOTHING_KNOWN.where(both(*(holding(term, schema, times) for term in given)))
        if not facts.cases:
            return
        said = NOTHING_KNOWN.where(both(*(holding(term, schema, times) for term in known)))
        own = {i: v for i, v in times.items() if i < len(self.mine.schema) and _is_there(v, facts)}
        for formula, term in _bounds(own, facts, self.mine.schema):
            if not said.implies(formula) and not can_fail(term):
                said = said.where(formula)
                yield term


def _bounds(
    times: dict[int, Var], facts: Dnf, schema: Schema
) -> Iterator[tuple[Formula, Expression]]:
    for i, u in times.items():
        for j, v in times.items():
            by = facts.dist(u, v)
            if i != j and NEG_INF < by < INF:
                later = _shifted(Ref(schema[i]), by)
                yield compare(v, "<=", u + by), Comparison("<=", Ref(schema[j]), later)
    for i, v in times.items():
        last, first = facts.dist(ZERO, v), facts.dist(v, ZERO)
        if NEG_INF < last < INF:
            bound = Comparison("<=", Ref(schema[i]), Literal(last, TIMESTAMP))
            yield compare(v, "<=", Const(last)), bound
        if NEG_INF < first < INF:
            bound = Comparison(">=", Ref(schema[i]), Literal(-first, TIMESTAMP))
            yield compare(v, ">=", Const(-first)), bound


def _shifted(time: Ref, by: Duration) -> Expression:
    if not by:
        return time
    return Arithmetic("+" if by > 0 else "-", time, Literal(abs(by), INTERVAL))


def _is_there(time: Var, facts: Dnf) -> bool:
    """Whether a time is not NULL in any row that has a partner."""
    return all(case.is_there(time) and time in case.variables for case in facts.cases)


def _conditions(relation: Relation) -> Terms:
    """Conditions that all rows of a relation satisfy, and that cannot fail."""
    match relation:
        case Filter():
            terms = conjuncts(relation.predicate)
            fit = tuple(t for t in terms if not depends_on_now(t) and not can_fail(t))
            return (*_conditions(relation.input), *fit)
        case Alias() | View() | Window():
            pairs = zip(relation.input.schema, relation.schema, strict=True)
            return _renamed(relation.input, {a.identity: Ref(b) for a, b in pairs})
        case Map():
            named = ((n.expression, Ref(n.column)) for n in relation.columns)
            refs = {a.column.identity: b for a, b in named if isinstance(a, Ref)}
            return _renamed(relation.input, refs)
        case _:
            return ()


def _renamed(relation: Relation, names: Names) -> Terms:
    """Conditions of a relation under other names, as far as their columns have some."""
    return tuple(
        rewrite(term, partial(_exchanged, names))
        for term in _conditions(relation)
        if all(ref.column.identity in names for ref in find(term, Ref))
    )


def _exchanged(names: Names, part: Expression) -> Expression:
    return names.get(part.column.identity, part) if isinstance(part, Ref) else part


def _is_exact(one: Ref, another: Ref) -> bool:
    """Whether equal values are the same in every expression: zeros of doubles are not."""
    return one.column.type == another.column.type and not isinstance(one.column.type, DoubleType)


def _is_about(term: Expression, schema: Schema) -> bool:
    refs = [ref.column.identity for ref in find(term, Ref)]
    return bool(refs) and {*refs} <= {column.identity for column in schema}
