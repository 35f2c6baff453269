"""Which queries can run under which expiry strategy, and what that costs.

Law: what is accepted here runs, and its state is bounded where the verdict says so, unless
unbounded state was allowed.  Under ``input`` an operator says late what has expired, at an instant
that may lie before every horizon; so whatever reads it forgets nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ebbtide.algebra.combination import Join, Product, UnionAll
from ebbtide.algebra.emission import Emit
from ebbtide.algebra.operators import Source, operator
from ebbtide.algebra.recursion import Recurrence, Recursion
from ebbtide.algebra.relation import ChangingTable, Filter, Map, Relation
from ebbtide.algebra.traits import SameRows, Stateless, Streaming
from ebbtide.algebra.window import Always, Unbounded, Window
from ebbtide.analysis import advice
from ebbtide.analysis.formula.progress import NEVER
from ebbtide.analysis.keep_rules import ByTime
from ebbtide.core.expiry import Expiry, Strategy
from ebbtide.errors import QueryError, TemporalError, UnsupportedError

if TYPE_CHECKING:
    from ebbtide.analysis.analysis import Node


def passes_ends(relation: Relation) -> bool:
    """Whether an operator treats rows or pairs one by one, so that it need not see them expire."""
    return isinstance(operator(relation), Stateless | Join | Product)


def sees_expiry(node: Node) -> bool:
    """Whether what an operator says changes as the rows of its inputs expire."""
    relation = operator(node.relation)
    if passes_ends(node.relation) or isinstance(relation, Window):
        return False
    return node.edge.is_snapshot and any(below.edge.is_snapshot for below in node.inputs)


def carries_ends(node: Node, expiry: Expiry) -> bool:
    """Whether rows of a node have ends after ``now``, where expiries travel as rows."""
    relation = operator(node.relation)
    if isinstance(relation, Window):
        return not isinstance(relation.spec, Unbounded | Always)
    if isinstance(relation, Filter | Map) and relation.depends_on_now:
        return True
    if isinstance(relation, Source):
        return isinstance(relation, ChangingTable)
    below = any(carries_ends(each, expiry) for each in node.inputs)
    passes = is_piped(relation) or (sends_messages(expiry) and passes_ends(relation))
    return below and passes


def sends_messages(expiry: Expiry) -> bool:
    """Whether rows keep their ends until they come to whoever has to see them expire."""
    return expiry.strategy is Strategy.PIGGYBACK or expiry.join_message


def is_piped(relation: Relation) -> bool:
    """Whether an operator is part of an edge: its rows are those of its inputs, one by one."""
    return isinstance(relation, Filter | Map | SameRows | UnionAll)


def expired_inputs(node: Node, expiry: Expiry) -> tuple[int, ...]:
    """The inputs of an operator of which it is sent, one by one or in messages, what expires."""
    relation = operator(node.relation)
    if is_piped(relation) or (sends_messages(expiry) and passes_ends(relation)):
        return ()
    return tuple(
        place
        for place, below in enumerate(node.inputs)
        if below.edge.is_snapshot and carries_ends(below, expiry)
    )


def how_expired(below: Node, expiry: Expiry) -> str:
    """How it is sent that rows of an input have expired."""
    messages = expiry.join_message and _joins(below)
    what = "a message for all pairs of a row in their shard" if messages else "a negative each"
    carried = expiry.strategy is Strategy.PIGGYBACK
    return f"{what}, unless a positive change carries the time" if carried else what


def _joins(node: Node) -> bool:
    relation = operator(node.relation)
    if is_piped(relation):
        return any(map(_joins, node.inputs))
    return isinstance(relation, Join | Product)


def above_delayed(node: Node) -> bool:
    """Whether an operator reads one that says late, under ``input``, what has expired."""
    return any(sees_expiry(below) or above_delayed(below) for below in node.inputs)


def check_expiry(root: Node, expiry: Expiry, emit: Emit, allow_unbounded: bool) -> None:
    """Refuses a query that cannot run under a strategy."""
    if expiry.strategy is Strategy.INTERVAL:
        return
    if emit is not Emit.CHANGES:
        raise QueryError(
            "expiry-final",
            f"EMIT {emit.value} goes by the ends of rows, which expiry "
            f"{expiry.strategy.value} does not send along",
            hint="EMIT CHANGES, or expiry = 'interval'",
        )
    for node in root.walk():
        relation = operator(node.relation)
        if isinstance(relation, Streaming | Recursion | Recurrence):
            name = type(relation).__name__.upper()
            raise UnsupportedError(
                "expiry-strategy",
                f"{name} runs under expiry interval alone",
                hint=f"leave out expiry = '{expiry.strategy.value}'",
            )
        if not allow_unbounded and _grows(node, expiry.strategy):
            raise TemporalError(
                "unbounded-state",
                f"under expiry {expiry.strategy.value} {advice.keeper(node)} would keep every row "
                "for ever",
                detail="what it reads may end long after the fact"
                if expiry.strategy is Strategy.INPUT
                else "nothing bounds when changes to come begin",
                hint="ALLOW UNBOUNDED STATE, or expiry = 'interval'",
            )


def _grows(node: Node, strategy: Strategy) -> bool:
    """Whether a strategy keeps for ever what the default forgets."""
    bounded = any(isinstance(k.rule, ByTime) and not k.rule.is_unbounded for k in node.kept)
    if not bounded or not any(below.edge.is_snapshot for below in node.inputs):
        return False
    return above_delayed(node) if strategy is Strategy.INPUT else node.begun == NEVER
