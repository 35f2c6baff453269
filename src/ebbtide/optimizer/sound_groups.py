"""Groups whose aggregates do not fail, and beside their values what says that they would have.

Law: an aggregate takes NULL where what it takes of a row is an error, and is NULL where its value
does not fit; how many rows fail, and whether a value is missing, is told by columns that only
guards read.  What the groups show has the values of the aggregates as they were written.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from ebbtide.algebra.aggregates.bags import SEVERAL_ROWS
from ebbtide.algebra.aggregates.own import ERROR, OUTCOME_OF, VALUE
from ebbtide.algebra.call import AggregateCall, SortKey
from ebbtide.algebra.expression import (
    And,
    Case,
    Comparison,
    Expression,
    Fails,
    Field,
    IsNull,
    Literal,
    Not,
    Ref,
    Succeeds,
    Tried,
)
from ebbtide.algebra.failing import call_can_fail, can_fail, result_can_fail
from ebbtide.algebra.nullability import nullable
from ebbtide.algebra.quarantine import call_word, operator_word
from ebbtide.algebra.relation import Aggregate, Named, NamedCall, Relation
from ebbtide.core.types import BIGINT


@dataclass(frozen=True, slots=True)
class SoundGroups:
    """An aggregate that does not fail; ``shown`` are the columns of the one that does.

    ``failing`` is how many rows of a group fail, ``checks`` are errors where a value is missing.
    """

    plan: Aggregate
    shown: tuple[Named, ...]
    failing: Expression | None
    checks: tuple[Fails, ...]

    @property
    def is_wider(self) -> bool:
        """Whether it has other columns than it shows."""
        return tuple(Ref(column) for column in self.plan.schema) != tuple(
            named.expression for named in self.shown
        )


def sound_groups(node: Aggregate, below: Relation, row: tuple[Expression, ...]) -> SoundGroups:
    """The groups of a relation; the ``row`` is shown where an aggregate fails on it."""
    hidden = _Hidden(node)
    calls = tuple(map(hidden.call, node.calls))
    shown = (*(Ref(named.column) for named in node.keys), *hidden.values)
    failing = None
    if any(call_can_fail(named.call) for named in node.calls):
        taken_ = (part for named in node.calls for part in taken(named.call))
        fails = Not(Succeeds(operator_word(node), tuple(filter(can_fail, taken_)), row))
        failing = hidden.add("rows that fail", AggregateCall("COUNT", filter=fails))
    return SoundGroups(
        Aggregate(below, node.keys, (*calls, *hidden.calls)),
        tuple(map(Named, (column.name for column in node.schema), shown)),
        failing,
        tuple(hidden.checks),
    )


def taken(call: AggregateCall) -> tuple[Expression, ...]:
    """What an aggregate takes of a row: an error where that fails, in the order of asking."""
    parts = (*call.arguments, *sorted_by(call.order))
    if call.filter is None:
        return parts
    filtered = (Case(((call.filter, part),), Literal(None, part.type)) for part in parts)
    return (call.filter, *filtered)


def sorted_by(order: Iterable[SortKey]) -> tuple[Expression, ...]:
    """What an order is by."""
    return tuple(key.expression for key in order)


def no_value(call: AggregateCall, missing: Expression) -> Fails:
    """An error where an aggregate has no value."""
    if call.name == "SINGLE":
        return Fails(missing, call_word(call), "more-than-one-row", SEVERAL_ROWS)
    return Fails(missing, call_word(call), "overflow", f"{call.name} does not fit into {call.type}")


def outcome_of(call: AggregateCall) -> AggregateCall:
    """The value of an aggregate and the error that it raises, as a struct."""
    return replace(call, name=f"{OUTCOME_OF}{call.name}")


def raised(call: AggregateCall, outcome: Ref) -> Fails:
    """An error where the outcome of an aggregate has one."""
    error = Field(outcome, ERROR)
    return Fails(Not(IsNull(error)), call_word(call), "failed-aggregate", "it fails", error)


class _Hidden:
    """The aggregates that only guards read, and what the guards ask."""

    def __init__(self, node: Aggregate) -> None:
        self.names = {column.name.casefold() for column in node.schema}
        self.keyed = bool(node.keys)
        self.calls: list[NamedCall] = []
        self.checks: list[Fails] = []
        self.values: list[Expression] = []

    def add(self, name: str, call: AggregateCall) -> Ref:
        """A hidden aggregate, and its column."""
        while name.casefold() in self.names:
            name = f"{name}_"
        self.names.add(name.casefold())
        self.calls.append(NamedCall(name, call))
        return Ref(self.calls[-1].column)

    def call(self, named: NamedCall) -> NamedCall:
        """An aggregate that does not fail; where it has no value, a check does."""
        call = _tried(named.call)
        made = NamedCall(named.name, call)
        if call.function.own:
            made = NamedCall(named.name, outcome_of(call))
            self.checks.append(raised(named.call, Ref(made.column)))
            self.values.append(Field(Ref(made.column), VALUE))
            return made
        if result_can_fail(call):
            made = NamedCall(named.name, replace(call, name=f"TRY_{call.name}"))
            self.checks.append(no_value(named.call, self._is_missing(made, call)))
        self.values.append(Ref(made.column))
        return made

    def _is_missing(self, tried: NamedCall, call: AggregateCall) -> Expression:
        """Whether there is no value though there are rows."""
        missing: Expression = IsNull(Ref(tried.column))
        if call.name == "SINGLE":
            counted = self.add(f"rows of {tried.name}", AggregateCall("COUNT", filter=call.filter))
            return Comparison(">", counted, Literal(1, BIGINT))
        if self.keyed and call.filter is None and not nullable(call.arguments[0]):
            return missing
        counted = self.add(f"rows of {tried.name}", replace(call, name="COUNT", distinct=False))
        return And(missing, Comparison(">", counted, Literal(0, BIGINT)))


def _tried(call: AggregateCall) -> AggregateCall:
    """An aggregate that takes NULL where what it takes fails; such groups are left out."""

    def tried(part: Expression) -> Expression:
        return Tried(part) if can_fail(part) else part

    return replace(
        call,
        arguments=tuple(map(tried, call.arguments)),
        filter=None if call.filter is None else tried(call.filter),
        order=tuple(replace(key, expression=tried(key.expression)) for key in call.order),
    )
