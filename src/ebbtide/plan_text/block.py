"""The operators of one SELECT, taken apart into its clauses.

Law: the clauses are found in the order in which the binder stacks them; what does not fit is left
in ``source``, to be a query in FROM.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ebbtide.algebra.combination import (
    AntiJoin,
    Difference,
    Intersection,
    MaxUnion,
    SemiJoin,
    StrictDifference,
    UnionAll,
)
from ebbtide.algebra.expression import Expression, Ref
from ebbtide.algebra.ranking import Over, TopN
from ebbtide.algebra.relation import Aggregate, Distinct, Filter, Map, Named, Relation, Values


@dataclass(slots=True)
class Block:
    """The clauses of a SELECT, each None or empty where there is none."""

    source: Relation
    columns: tuple[Named, ...] = ()
    where: Expression | None = None
    semis: tuple[SemiJoin | AntiJoin, ...] = ()
    aggregate: Aggregate | None = None
    having: Expression | None = None
    overs: tuple[Over, ...] = ()
    numbered: tuple[TopN, ...] = ()
    limit: TopN | None = None
    distinct: bool = False

    @property
    def has_source(self) -> bool:
        """Whether there is a FROM."""
        return not is_nothing(self.source)


def is_nothing(plan: Relation) -> bool:
    """Whether a plan is one row without columns, as a SELECT without FROM has it."""
    return isinstance(plan, Values) and not plan.columns and plan.rows == ((),)


def rows_of(plan: Relation) -> Block:
    """FROM and WHERE of a plan that has no SELECT list."""
    return _rows(plan, Block(plan))


def block_of(plan: Relation) -> Block | None:
    """The SELECT that a plan is, or None."""
    limit = None
    if isinstance(plan, TopN) and is_limit(plan) and isinstance(plan.input, Distinct):
        limit, plan = plan, plan.input
    distinct = isinstance(plan, Distinct)
    if isinstance(plan, Distinct):
        plan = plan.input
    if not isinstance(plan, Map):
        return None
    block = Block(plan.input, plan.columns, limit=limit, distinct=distinct)
    return _rows(_upper(plan.input, block), block)


def is_limit(node: TopN) -> bool:
    """Whether a TopN is ORDER BY ... LIMIT of a whole query."""
    return node.number_as is None and not node.partition_by


def _upper(plan: Relation, block: Block) -> Relation:
    """Takes off what stands above WHERE."""
    if isinstance(plan, TopN) and is_limit(plan) and not block.distinct:
        block.limit, plan = plan, plan.input
    while isinstance(plan, TopN) and plan.number_as is not None:
        block.numbered = (plan, *block.numbered)
        plan = plan.input
    while isinstance(plan, Over):
        block.overs = (plan, *block.overs)
        plan = plan.input
    if isinstance(plan, Filter) and isinstance(plan.input, Aggregate):
        block.having, plan = plan.predicate, plan.input
    if isinstance(plan, Aggregate):
        block.aggregate, plan = plan, plan.input
    return plan


def _rows(plan: Relation, block: Block) -> Block:
    """Takes off WHERE."""
    while isinstance(plan, SemiJoin | AntiJoin):
        block.semis = (plan, *block.semis)
        plan = plan.left
    if isinstance(plan, Filter):
        block.where, plan = plan.predicate, plan.input
    block.source = plan
    return block


# --- names of columns --------------------------------------------------------------------------


def listed(plan: Relation) -> Map:
    """A SELECT of every column of a plan that is none, each under a name of its own."""
    columns: list[Named] = []
    for column in plan.schema:
        name, taken = column.name, {named.name.casefold() for named in columns}
        while name.casefold() in taken:
            name = f"{name}_"
        columns.append(Named(name, Ref(column)))
    return Map(plan, tuple(columns))


def as_one_table(plan: Relation) -> Relation:
    """A query in FROM whose columns are told apart by their names, whatever table they are of."""
    if len({column.name.casefold() for column in plan.schema}) == len(plan.schema):
        return plan
    match plan:
        case Distinct():
            return Distinct(listed(plan.input))
        case UnionAll() | MaxUnion() | Difference() | StrictDifference() | Intersection():
            return replace(plan, left=listed(plan.left), right=listed(plan.right))
        case _:
            return listed(plan)


# --- numbers -----------------------------------------------------------------------------------


def numbers(plan: Relation) -> list[tuple[TopN, str]]:
    """The TopN that limit a query in FROM, each with the column that shows its number."""
    block = block_of(plan)
    return [] if block is None else [(top, _shown(top, block) or "") for top in block.numbered]


def _shown(top: TopN, block: Block) -> str | None:
    for named in block.columns:
        expression = named.expression
        made = isinstance(expression, Ref) and expression.column.table is None
        if made and isinstance(expression, Ref) and expression.column.name == top.number_as:
            return named.name
    return None


def with_numbers(plan: Relation) -> Relation:
    """A query in FROM that shows every number by which it is limited."""
    block = block_of(plan)
    if block is None or not isinstance(plan, Map):
        return plan
    missing = [top.number_as for top in block.numbered if _shown(top, block) is None]
    refs = [Named(name, Ref(plan.input.schema.column(name))) for name in missing if name]
    return replace(plan, columns=(*plan.columns, *refs)) if refs else plan
