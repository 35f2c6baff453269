"""A plan that leaves out the rows on which it fails, in place of one that fails.

Law: the plan that is made never fails where the one it is made of is quarantined, and has the same
rows as that; what is left out are the rows of its guards.  A guard is a filter on ``Succeeds``: it
lets a row pass on which no expression of the operator above is an error, and has the name of that
operator and the row for whoever writes down the others.  An aggregate is guarded by a count of the
rows on which it fails; that filter is an aggregate's own, of the form ``NOT Succeeds``.

A plan in which nothing can fail is left as it is.

| operator | guarded |
|---|---|
| filter, inner join | that no term that cannot fail is FALSE, a guard on the others, then all |
| equality of an inner join, comparison of an ASOF JOIN | a guard on each side's value, below it |
| all else that an ASOF JOIN asks | the nearest pair that is TRUE or fails, then a guard on it |
| projection, UNNEST, top-n, OVER | a guard on what they compute of a row, below them |
| sums and aggregates of your own of OVER | a guard on them, above it |
| aggregate | a guard on its keys; then the groups without a failing row; then one on its values |
| outer join | as an inner join, beside the rows of kept sides for which no pair is TRUE or fails |
| semi, anti join | by pairs that are TRUE, or that may be; those that fail are watched beside it |

``carry_errors`` has brought what fails in subqueries that are values to those who read it.

What is watched of a join inside of a recursion is watched over the facts of the recursion.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import assert_never

from ebbtide.algebra.aggregates.own import VALUE
from ebbtide.algebra.call import AggregateCall, SortKey
from ebbtide.algebra.combination import (
    AntiJoin,
    AsofJoin,
    Join,
    Outer,
    OuterJoin,
    Product,
    SemiJoin,
    UnionAll,
)
from ebbtide.algebra.expression import (
    And,
    Call,
    Comparison,
    Expression,
    Field,
    IsNull,
    Literal,
    Not,
    Or,
    Ref,
    Succeeds,
    Tried,
    conjunction,
    conjuncts,
    depends_on_now,
)
from ebbtide.algebra.failing import call_can_fail, can_fail, result_can_fail
from ebbtide.algebra.nullability import nullable
from ebbtide.algebra.operators import Source, operator
from ebbtide.algebra.quarantine import (
    OnError,
    compared,
    inputs_of,
    meets,
    operator_word,
    row_of,
    sides_of,
)
from ebbtide.algebra.ranking import NEIGHBOURS, NUMBERINGS, FrameCall, Over, TopN, over_column
from ebbtide.algebra.recursion import Recurrence, Recursion
from ebbtide.algebra.relation import (
    Aggregate,
    Alias,
    Distinct,
    Filter,
    Map,
    Named,
    Relation,
    Unnest,
)
from ebbtide.algebra.traits import Assigning, Counting, SameRows, Streaming
from ebbtide.algebra.window import Window
from ebbtide.core.schema import Schema
from ebbtide.core.tree import find, fold, rewrite
from ebbtide.core.types import BIGINT, BOOLEAN
from ebbtide.optimizer.sound_groups import no_value, outcome_of, raised, sound_groups, taken


@dataclass(frozen=True, slots=True)
class Guarded:
    """A plan that does not fail, and of which operator each of its operators is a part."""

    plan: Relation
    watched: tuple[Relation, ...] = ()
    """Plans beside it, of which nothing but what their guards leave out is wanted."""
    _origins: Mapping[int, Relation] = field(default_factory=dict, repr=False, compare=False)

    def origin(self, node: Relation) -> Relation:
        """The operator of the plan before that an operator of this one stands for."""
        return self._origins.get(id(node), node)


def guarded(plan: Relation, on_error: OnError = OnError.QUARANTINE) -> Guarded:
    """The plan that runs: as it is if failures fail the step, else with its guards."""
    if on_error is OnError.FAIL:
        return Guarded(plan)
    origins: dict[int, Relation] = {}
    watched: list[Relation] = []

    def step(node: Relation, below: tuple[Relation, ...]) -> Relation:
        same = all(a is b for a, b in zip(node.children, below, strict=True))
        rebuilt = node if same else node.with_children(below)
        made = _guarded(rebuilt)
        if isinstance(rebuilt, SemiJoin | AntiJoin) and made is not rebuilt:
            watched.append(_unpartnered(rebuilt))
        _note(made, node, {id(child) for child in below}, origins)
        return made

    made = fold(plan, step)
    beside = (_outside(part, made) for part in watched)
    return Guarded(made, tuple(dict.fromkeys(beside)), origins)


def _outside(part: Relation, plan: Relation) -> Relation:
    """What stands inside of a recursion of a plan, over the facts that the recursion has."""
    within = {own.name for around in find(part, Recursion) for own in find(around, Recurrence)}
    around = {node.name: node for node in find(plan, Recursion) if node.name not in within}

    def read(node: Relation) -> Relation:
        if not isinstance(node, Recurrence) or node.name not in around:
            return node
        facts = around[node.name]
        columns = zip(node.schema, facts.schema, strict=True)
        return Map(facts, tuple(Named(own.name, Ref(c), own.table) for own, c in columns))

    return rewrite(part, read)


def _note(made: Relation, node: Relation, below: set[int], origins: dict[int, Relation]) -> None:
    pending = [made]
    while pending:
        part = pending.pop()
        if id(part) not in below:
            origins[id(part)] = node
            pending.extend(part.children)


def _guarded(relation: Relation) -> Relation:
    node = operator(relation)
    if isinstance(node, Source | SameRows | Counting | Assigning | Streaming | Recursion):
        return node
    match node:
        case Filter():
            return _filter(node)
        case Map():
            return _map(node)
        case Unnest():
            return _over_sound(node, (node.array,))
        case TopN():
            return _over_sound(node, (*node.partition_by, *_keys(node.order_by)))
        case Over():
            return _over(node)
        case Aggregate():
            return _aggregate(node)
        case Join():
            return _join(node)
        case AsofJoin():
            return _asof(node)
        case SemiJoin() | AntiJoin():
            return _partnered(node)
        case OuterJoin():
            return _outer(node)
        case Distinct() | Product() | UnionAll() | Window():
            return node
        case _:
            assert_never(node)


# --- rows --------------------------------------------------------------------------------------


def _map(node: Map) -> Relation:
    """A projection of the rows on which it does not fail.

    A phase of a row that the guard has left nothing of is computed, too, if there is NOW() in it.
    """
    failing = tuple(named.expression for named in node.columns if can_fail(named.expression))
    if not failing:
        return node
    columns = (
        replace(named, expression=Tried(named.expression)) if _fails_at_times(named) else named
        for named in node.columns
    )
    return Map(_guard(node.input, node, failing), tuple(columns))


def _fails_at_times(named: Named) -> bool:
    return depends_on_now(named.expression) and can_fail(named.expression)


def _over_sound(node: Unnest | TopN | Over, expressions: tuple[Expression, ...]) -> Relation:
    """An operator on the rows on which none of its expressions fails."""
    sound = _sound(node.input, node, expressions)
    return node if sound is node.input else replace(node, input=sound)


def _sound(relation: Relation, node: Relation, expressions: Iterable[Expression]) -> Relation:
    """The rows of a relation on which none of an operator's expressions fails."""
    failing = tuple(expression for expression in expressions if _is_guarded(expression))
    return _guard(relation, node, failing) if failing else relation


def _guard(relation: Relation, node: Relation, failing: tuple[Expression, ...]) -> Relation:
    return Filter(relation, Succeeds(operator_word(node), failing, row_of(relation.schema)))


def _is_guarded(expression: Expression) -> bool:
    return can_fail(expression) and not depends_on_now(expression)


def _filter(node: Filter) -> Relation:
    terms = conjuncts(node.predicate)
    if not any(map(can_fail, terms)):
        return node
    first, last = _asked(terms, inputs_of(node))
    return _selected(Filter(node.input, conjunction(first)) if first else node.input, node, last)


def _join(node: Join) -> Relation:
    terms = conjuncts(node.predicate)
    if not any(map(can_fail, terms)):
        return node
    sides = {term: sides_of(term, node.left.schema, node.right.schema) for term in terms}
    equal = [both for both in sides.values() if both is not None]
    left = _sound(node.left, node, (one for one, _ in equal))
    right = _sound(node.right, node, (other for _, other in equal))
    joining = tuple(term for term in terms if sides[term] is not None)
    others = tuple(term for term in terms if sides[term] is None)
    if not any(map(can_fail, others)):
        return _pairs(left, right, terms)
    first, last = _asked(others, inputs_of(node))
    return _selected(_pairs(left, right, (*joining, *first)), node, last)


def _asof(node: AsofJoin) -> Relation:
    """The nearest pair that is TRUE or fails, and a guard on it.

    The sides of comparisons cannot fail any more by then, and a row without a partner has NULL for
    one of them.
    """
    terms = conjuncts(node.predicate)
    both = {term: compared(term, node.left.schema, node.right.schema) for term in terms}
    sides = [pair for pair in both.values() if pair is not None]
    left = _sound(node.left, node, (one for one, _ in sides))
    right = _sound(node.right, node, (*(other for _, other in sides), *_keys(node.order_by)))
    same = left is node.left and right is node.right
    sound = node if same else replace(node, left=left, right=right)
    if not sides or not any(_is_guarded(term) for term in terms if both[term] is None):
        return sound
    inputs = node.left.schema, node.right.schema
    safe = tuple(t for t in terms if both[t] is not None or not _is_guarded(t))
    rest = tuple(t for t in safe if not nullable(t) or meets(t, inputs))
    condition = conjunction(tuple(_settled(t, inputs) for t in terms if t not in rest))
    near = replace(sound, predicate=conjunction((*rest, _may_hold(condition))))
    absent: Expression = IsNull(sides[0][1])
    return _sound(near, node, (Or(absent, condition),))


def _asked(
    terms: tuple[Expression, ...], inputs: tuple[Schema, ...]
) -> tuple[tuple[Expression, ...], tuple[Expression, ...]]:
    """What is asked of a row before it is known whether terms fail on it, and what after.

    What comes first never fails, and says no where a term that does not fail is FALSE.
    """
    safe = tuple(term for term in terms if not can_fail(term))
    unsure = tuple(term for term in safe if nullable(term) and not meets(term, inputs))
    first = tuple(Or(term, IsNull(term)) if term in unsure else term for term in safe)
    last = tuple(term for term in terms if term in unsure or can_fail(term))
    return first, tuple(_settled(term, inputs) for term in last)


def _settled(term: Expression, inputs: tuple[Schema, ...]) -> Expression:
    """The term, and FALSE where rows do not meet by it because it is NULL."""
    decides = nullable(term) and meets(term, inputs)
    return Call("COALESCE", (term, Literal(False, BOOLEAN))) if decides else term


def _selected(relation: Relation, node: Relation, terms: tuple[Expression, ...]) -> Relation:
    """The rows for which all terms are TRUE; those on which one fails and none is FALSE are left
    out."""
    failing = tuple(filter(can_fail, terms))
    known = tuple(term for term in terms if term not in failing)
    condition = conjunction(failing)
    # A phase of a row that the guard has left nothing of is asked, too, if there is NOW() in it.
    asked = Tried(condition) if depends_on_now(condition) else condition
    found: Relation = Filter(_guard(relation, node, (condition,)), asked)
    return Filter(found, conjunction(known)) if known else found


def _over(node: Over) -> Relation:
    """Rows with the values of calls, but for those of which a call has none."""
    taken_ = (part for framed in node.calls for part in taken(framed.call))
    sound = _over_sound(node, (*taken_, *node.partition_by, *_keys(node.order_by)))
    assert isinstance(sound, Over)
    if not any(result_can_fail(framed.call) for framed in node.calls if _is_fold(framed.call)):
        return sound
    names = {column.name.casefold() for column in node.schema}
    calls: list[FrameCall] = []
    counts: list[FrameCall] = []
    checks: list[Expression] = []
    values: list[Expression] = []
    for framed in node.calls:
        call = framed.call
        if not _is_fold(call) or not result_can_fail(call):
            calls.append(framed)
        elif call.function.own:
            calls.append(FrameCall(framed.name, outcome_of(call)))
            checks.append(raised(call, Ref(over_column(calls[-1]))))
            values.append(Field(Ref(over_column(calls[-1])), VALUE))
            continue
        else:
            name = f"rows of {framed.name}"
            while name.casefold() in names:
                name = f"{name}_"
            names.add(name.casefold())
            calls.append(FrameCall(framed.name, replace(call, name=f"TRY_{call.name}")))
            counts.append(FrameCall(name, replace(call, name="COUNT", distinct=False)))
            counted = Comparison(">", Ref(over_column(counts[-1])), Literal(0, BIGINT))
            checks.append(no_value(call, And(IsNull(Ref(over_column(calls[-1]))), counted)))
        values.append(Ref(over_column(calls[-1])))
    found = Filter(
        replace(sound, calls=(*calls, *counts)),
        Succeeds(operator_word(node), tuple(checks), row_of(node.input.schema)),
    )
    shown = zip(node.schema, (*map(Ref, node.input.schema), *values), strict=True)
    return Map(found, tuple(Named(column.name, e, column.table) for column, e in shown))


def _is_fold(call: AggregateCall) -> bool:
    return call.name not in NUMBERINGS and call.name not in NEIGHBOURS


def _keys(order: tuple[SortKey, ...]) -> tuple[Expression, ...]:
    return tuple(key.expression for key in order)


# --- partners ----------------------------------------------------------------------------------


def _split(
    node: SemiJoin | AntiJoin | OuterJoin,
) -> tuple[tuple[Expression, ...], Expression | None]:
    """The terms by which pairs are looked for, and those that can fail and others as one."""
    terms = conjuncts(node.predicate)
    if not any(map(_is_guarded, terms)):
        return terms, None
    inputs = node.left.schema, node.right.schema
    safe = tuple(term for term in terms if not _is_guarded(term))
    rest = tuple(term for term in safe if not nullable(term) or meets(term, inputs))
    asked = tuple(_settled(term, inputs) for term in terms if term not in rest)
    return rest, conjunction(asked)


def _may_hold(condition: Expression) -> Expression:
    """Whether a condition is TRUE or an error."""
    return Or(Tried(condition), Not(Succeeds("", (condition,))))


def _partnered(node: SemiJoin | AntiJoin) -> Relation:
    """A semi join by pairs that are TRUE; an anti join by those that are or may be."""
    rest, condition = _split(node)
    if condition is None:
        return node
    known = Tried(condition) if isinstance(node, SemiJoin) else _may_hold(condition)
    return replace(node, predicate=conjunction((*rest, known)))


def _unpartnered(node: SemiJoin | AntiJoin) -> Relation:
    """The pairs of left rows that have no partner, under a guard: whether one has is an OR."""
    rest, condition = _split(node)
    assert condition is not None
    pairs = _pairs(node.left, node.right, rest)
    again, renamed = _renamed(node.right, {column.table for column in pairs.schema})
    partner = tuple(rewrite(term, renamed) for term in (*rest, Tried(condition)))
    return _sound(AntiJoin(pairs, again, conjunction(partner)), node, (condition,))


def _renamed(
    relation: Relation, used: set[str | None]
) -> tuple[Relation, Callable[[Expression], Expression]]:
    """A relation under other names, and what takes its columns to these."""
    name = "again"
    while name in used:
        name = f"{name}_"
    columns = [Ref(column) for column in relation.schema]
    named = tuple(Named(f"c{i}", column) for i, column in enumerate(columns))
    again = Alias(Map(relation, named), name)
    known = {c.column.identity: Ref(n) for c, n in zip(columns, again.schema, strict=True)}

    def moved(node: Expression) -> Expression:
        return known.get(node.column.identity, node) if isinstance(node, Ref) else node

    return again, moved


def _pairs(left: Relation, right: Relation, terms: tuple[Expression, ...]) -> Relation:
    return Join(left, right, conjunction(terms)) if terms else Product(left, right)


def _outer(node: OuterJoin) -> Relation:
    """The pairs that are TRUE, and of the kept sides the rows without one that is or may be."""
    rest, condition = _split(node)
    if condition is None:
        return node
    left, right = node.left, node.right
    sound = _sound(_pairs(left, right, rest), node, (condition,))
    found: Relation = Filter(sound, condition)
    partner = conjunction((*rest, _may_hold(condition)))
    if node.kept is not Outer.RIGHT:
        found = UnionAll(found, _padded(AntiJoin(left, right, partner), node))
    if node.kept is not Outer.LEFT:
        found = UnionAll(found, _padded(AntiJoin(right, left, partner), node))
    return found


def _padded(alone: AntiJoin, node: OuterJoin) -> Relation:
    """Rows of one side of an outer join, with NULL in the place of the other."""
    mine = {column.identity for column in alone.schema}
    return Map(
        alone,
        tuple(
            Named(f"c{i}", Ref(column) if column.identity in mine else Literal(None, column.type))
            for i, column in enumerate((*node.left.schema, *node.right.schema))
        ),
    )


# --- groups ------------------------------------------------------------------------------------


def _aggregate(node: Aggregate) -> Relation:
    below = _sound(node.input, node, (named.expression for named in node.keys))
    calls = [named.call for named in node.calls]
    if not any(call_can_fail(call) or result_can_fail(call) for call in calls):
        return node if below is node.input else replace(node, input=below)
    groups = sound_groups(node, below, row_of(below.schema))
    found: Relation = groups.plan
    if groups.failing is not None:
        found = Filter(found, Comparison("=", groups.failing, Literal(0, BIGINT)))
    if groups.checks:
        keys = tuple(Ref(named.column) for named in node.keys)
        found = Filter(found, Succeeds(operator_word(node), groups.checks, keys))
    return Map(found, groups.shown) if groups.is_wider else found
