"""IN, ANY and EXISTS as conditions of WHERE and HAVING: semi joins, and with NOT anti joins.

Law: `x NOT IN (q)` is unknown, and so selects nothing, if `x` or some row of `q` is NULL: the
predicate of its anti join is TRUE also where the comparison is unknown; so it is with NOT before
`x < ANY (q)`.  What depends on the
subquery alone is a condition in it, all else joins it to the query around.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp

from ebbtide.algebra.coercion import call, compare
from ebbtide.algebra.combination import AntiJoin, SemiJoin
from ebbtide.algebra.expression import Expression, Ref, conjunction
from ebbtide.algebra.nullability import nullable
from ebbtide.algebra.relation import Relation
from ebbtide.core.tree import find
from ebbtide.sql import nodes
from ebbtide.sql.binding.environment import Environment
from ebbtide.sql.binding.scope import tables_of
from ebbtide.sql.binding.subqueries import TRUE, Above, BindInner, operands

__all__ = ["Semi", "semi_join"]


@dataclass(frozen=True, slots=True)
class Semi:
    """A condition that rows of a subquery fulfil, or that none does."""

    relation: Relation
    predicate: Expression
    negated: bool
    node: exp.Expr

    def onto(self, left: Relation, above: Above) -> Relation:
        """The block without the rows that do not fulfil the condition."""
        predicate = above(self.predicate, self.node)
        if self.negated:
            return AntiJoin(left, self.relation, predicate)
        return SemiJoin(left, self.relation, predicate)


def semi_join(
    node: exp.Exists | exp.In | nodes.Quantified, negated: bool, env: Environment, bind: BindInner
) -> Semi:
    """IN, ANY or EXISTS as a condition of WHERE or HAVING."""
    query = node.this if isinstance(node, exp.Exists) else node.args["query"]
    inner = bind(query, env, value=False)
    terms: list[Expression] = []
    if not isinstance(node, exp.Exists):
        op = node.args["op"] if isinstance(node, nodes.Quantified) else "="
        here = replace(env, correlated=False)
        for x, y in zip(operands(node, inner, here), inner.items, strict=True):
            term = compare(op, x, y)
            maybe = negated and nullable(term)
            terms.append(call("COALESCE", (term, TRUE)) if maybe else term)
    outer = env.scope.plan_tables
    local = [term for term in terms if not _depends(term, outer)]
    joining = [term for term in terms if _depends(term, outer)]
    predicate = conjunction((*joining, *inner.outer_terms))
    return Semi(inner.relation(tuple(local)), predicate, negated, node)


def _depends(term: Expression, outer: frozenset[str]) -> bool:
    """Whether a term says something of the query around: of its sources, or of its aggregates."""
    made = any(ref.column.table is None for ref in find(term, Ref))
    return made or bool(tables_of(term) & outer)
