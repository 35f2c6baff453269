"""NOW() in expressions: the phases of a row, in each of which nothing depends on the instant.

Law: at every instant exactly one phase of an expression holds for a row, and what the phase says
the expression is has then the value of the expression, NOW() being the instant.  A phase holds
where its guards are TRUE, from the latest of its ``starts`` to before the earliest of its ``ends``;
starts and ends are times that are there, not NULL.

    WHERE at > NOW() - d           |=================|at + d
    WHERE NOW() BETWEEN a AND b              a|======|b + 1 us
    WHERE NOW() < a OR NOW() >= b   =========|a   b|==========...

NOW() is understood in comparisons with times that do not depend on it: bare, moved by a duration,
on a grid, as a DATE or as a number.  All of these grow with NOW(), so a comparison has one
*threshold*, or two.  A comparison is TRUE, FALSE or unknown in a phase, and AND, OR, NOT, CASE and
all else around it are made of that.  NOW() anywhere else would be a value that changes at every
instant, and is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import chain
from typing import TypeGuard

from ebbtide.algebra.expression import (
    And,
    Arithmetic,
    Case,
    Cast,
    CeilTo,
    Comparison,
    Expression,
    FloorTo,
    InList,
    IsNull,
    Literal,
    Not,
    Or,
    Ref,
    SnapshotTime,
    Tried,
    conjuncts,
    depends_on_now,
)
from ebbtide.algebra.failing import can_fail
from ebbtide.algebra.nullability import nullable
from ebbtide.algebra.thresholds import thresholds
from ebbtide.core.tree import rewrite
from ebbtide.core.types import BOOLEAN
from ebbtide.errors import TemporalError

__all__ = ["Phase", "comparisons", "during", "one_by_one", "phases", "resolved", "turn_of"]

MAX_PHASES = 64

TRUE, FALSE, UNKNOWN = (Literal(value, BOOLEAN) for value in (True, False, None))


@dataclass(frozen=True, slots=True)
class Phase:
    """Part of a row's time, and what expressions are in it."""

    values: tuple[Expression, ...]
    starts: tuple[Expression, ...] = ()
    ends: tuple[Expression, ...] = ()
    guards: tuple[Expression, ...] = ()


def phases(*expressions: Expression) -> tuple[Phase, ...]:
    """The phases of several expressions together."""
    found = [Phase(())]
    for expression in expressions:
        found = _checked([_both(phase, more) for phase in found for more in _phases(expression)])
    return tuple(found)


def during(predicate: Expression) -> tuple[Phase, ...]:
    """The phases in which a predicate may be TRUE: it is if all guards are."""
    found = []
    for phase in phases(predicate):
        (value,) = phase.values
        if not _may_be_true(value):
            continue
        guards = phase.guards if value == TRUE else (*phase.guards, value)
        left = Phase((), phase.starts, phase.ends, guards)
        if not _is_empty(left):
            found.append(left)
    return tuple(found) or (Phase((), guards=(FALSE,)),)


def one_by_one(expression: Expression) -> Expression:
    """The expression, in which NOW() is compared with the times of a list one by one."""

    def step(node: Expression) -> Expression:
        if not (isinstance(node, InList) and _listed(node)):
            return node
        equal: list[Expression] = [*_pairs(node)]
        return reduce(Or, equal)

    return rewrite(expression, step)


def _listed(node: InList) -> bool:
    """Whether NOW() is compared with times in a list, or a time with NOW()s in it."""
    moving = [pair for pair in _pairs(node) if depends_on_now(pair)]
    return bool(moving) and all(thresholds(pair) is not None for pair in moving)


def _pairs(node: InList) -> list[Comparison]:
    return [Comparison("=", node.operand, each) for each in node.options]


def comparisons(expression: Expression) -> tuple[Expression, ...]:
    """The comparisons of NOW() with a time that an expression is made of."""
    if not depends_on_now(expression):
        return ()
    match expression:
        case Comparison() if thresholds(expression) is not None:
            return (expression,)
        case InList() if _listed(expression):
            return (expression,)
        case _:
            return tuple(found for child in expression.children for found in comparisons(child))


def turn_of(comparison: Comparison) -> Expression | None:
    """The time at which a comparison with NOW() turns: where it fails, the comparison does."""
    ends = thresholds(comparison)
    return None if ends is None else ends[0]


def _may_be_true(value: Expression) -> bool:
    match value:
        case And(left=left, right=right):
            return _may_be_true(left) and _may_be_true(right)
        case Or(left=left, right=right):
            return _may_be_true(left) or _may_be_true(right)
        case _:
            return value not in (FALSE, UNKNOWN)


def resolved(phase: Phase) -> tuple[Expression, ...]:
    """All that has to be TRUE of a row for its phase to be: guards, and ends that are there."""
    bounds = dict.fromkeys((*phase.starts, *phase.ends))
    return (*phase.guards, *(Not(IsNull(bound)) for bound in bounds if nullable(bound)))


# --- phases of expressions ---------------------------------------------------------------------


def _phases(expression: Expression) -> list[Phase]:
    if not depends_on_now(expression):
        return [Phase((expression,))]
    match expression:
        case And() | Or():
            return _logic(expression)
        case Case():
            return _cases(expression)
        case Comparison() if (ends := thresholds(expression)) is not None:
            return _compared(expression, *ends)
        case InList() if _listed(expression):
            return _phases(one_by_one(expression))
        case SnapshotTime():
            raise TemporalError(
                "now-as-value",
                "NOW() is a value here, and would change at every instant",
                detail="it can be compared with times, in a condition: its rows then come and go",
                hint="compare it with a time of the row, as in WHERE at > NOW() - INTERVAL 1 HOUR",
            )
        case _:
            return _rebuilt(expression)


def _rebuilt(expression: Expression) -> list[Phase]:
    """The phases of what an expression is made of, and the expression in each of them."""
    found = [Phase(())]
    for child in expression.children:
        parts = _phases(child)
        found = _checked([_both(phase, part) for phase in found for part in parts])
    return [_valued(phase, _simple(expression.with_children(phase.values))) for phase in found]


def _logic(expression: And | Or) -> list[Phase]:
    """The right side counts only where the left one does not decide."""
    decisive = FALSE if isinstance(expression, And) else TRUE
    found = []
    for left in _phases(expression.left):
        if left.values[0] == decisive:
            found.append(left)
            continue
        for right in _phases(expression.right):
            both = _both(left, right)
            found.append(_valued(both, _simple(type(expression)(*both.values))))
    return _checked(found)


def _cases(expression: Case) -> list[Phase]:
    """A branch counts where its condition does, and no branch before it."""
    if not expression.branches:
        return _phases(expression.otherwise)
    (condition, value), *rest = expression.branches
    otherwise = Case(tuple(rest), expression.otherwise) if rest else expression.otherwise
    found = []
    for phase in _phases(condition):
        decided = phase.values[0]
        if decided == TRUE:
            found += [_valued(_both(phase, part), part.values[0]) for part in _phases(value)]
        elif decided in (FALSE, UNKNOWN):
            found += [_valued(_both(phase, part), part.values[0]) for part in _phases(otherwise)]
        else:
            for one in _phases(value):
                for other in _phases(otherwise):
                    made = Case(((decided, one.values[0]),), other.values[0])
                    found.append(_valued(_both(_both(phase, one), other), made))
    return _checked(found)


_TURNS = {"<": (0,), ">=": (0,), "<=": (1,), ">": (1,)}
"""Which of the thresholds of a comparison it turns at; an equality does at both."""


def _compared(
    comparison: Comparison, first: Expression, second: Expression, op: str
) -> list[Phase]:
    """The phases of ``NOW() op x``, of which ``<`` turns at ``first`` and ``<=`` at ``second``.

    Where the time that NOW() is compared with is an error, so is the comparison, at all instants.
    """
    if can_fail(first) or can_fail(second):
        turns = _TURNS.get(op, (0, 1))
        absent = _unknown_or_error(
            [(first, second)[turn] for turn in turns], UNKNOWN if op != "<=>" else FALSE
        )
        known = _compared(comparison, Tried(first), Tried(second), op)
        return [*(phase for phase in known if not phase.guards), absent]
    match op:
        case "<" | ">=":
            turn = first
        case "<=" | ">":
            turn = second
        case _:
            equal = op in ("=", "<=>")
            found = [
                Phase((_truth(not equal),), (), (first,)),
                Phase((_truth(equal),), (first,), (second,)),
                Phase((_truth(not equal),), (second,), ()),
            ]
            return found + _unknown(first, FALSE if op == "<=>" else UNKNOWN)
    before = op in ("<", "<=")
    found = [Phase((_truth(before),), (), (turn,)), Phase((_truth(not before),), (turn,), ())]
    return found + _unknown(turn, UNKNOWN)


def _unknown(turn: Expression, value: Expression) -> list[Phase]:
    """What is where a threshold is NULL."""
    if not nullable(turn):
        return []
    needed = _needed(turn)
    absent = IsNull(needed[0] if needed is not None and len(needed) == 1 else turn)
    return [Phase((value,), (), (), (absent,))]


def _unknown_or_error(turns: Sequence[Expression], value: Expression) -> Phase:
    """What is where a threshold is NULL or fails: an error in the latter case."""
    equal: list[Expression] = [Comparison("=", turn, turn) for turn in turns]
    absent: list[Expression] = [IsNull(Tried(turn)) for turn in turns]
    fails = reduce(And, equal)
    found = fails if value == UNKNOWN else And(IsNull(fails), value)
    return Phase((found,), (), (), (reduce(Or, absent),))


def _needed(expression: Expression) -> tuple[Ref, ...] | None:
    """The columns that may be NULL of an expression that is NULL exactly if one of them is."""
    match expression:
        case Ref():
            return (expression,) if nullable(expression) else ()
        case Literal(value=value):
            return None if value is None else ()
        case Arithmetic(op="+" | "-") | FloorTo() | CeilTo():
            below = [_needed(child) for child in expression.children]
            if any(part is None for part in below):
                return None
            return tuple(dict.fromkeys(ref for part in below for ref in part or ()))
        case _:
            return None


def _is_empty(phase: Phase) -> bool:
    """Whether nothing can be in a phase: it ends where it begins, or has an end that is NULL."""
    bounds = (*phase.starts, *phase.ends)
    there = {part for bound in bounds for part in _there(bound)}
    return (
        bool({*phase.starts} & {*phase.ends})
        or any(isinstance(part, Literal) and part.value is None for part in there)
        or any(_absent(guard) in there for guard in phase.guards)
        or any(_only_fails(guard, phase.guards) for guard in phase.guards)
    )


def _only_fails(guard: Expression, others: Sequence[Expression]) -> bool:
    """Whether a guard is what is left of comparisons that fail, and is NULL if they do."""
    if not isinstance(guard, Tried):
        return False
    compared = {part.left for part in conjuncts(guard.operand) if _with_itself(part)}
    return any(absent and absent <= compared for absent in map(_tried, others))


def _with_itself(part: Expression) -> TypeGuard[Comparison]:
    return isinstance(part, Comparison) and part.op == "=" and part.left == part.right


def _tried(guard: Expression) -> set[Expression]:
    """The times of which one fails or is NULL where a guard is TRUE."""
    match guard:
        case IsNull(operand=Tried(operand=time)):
            return {time}
        case Or(left=left, right=right):
            one, other = _tried(left), _tried(right)
            return one | other if one and other else set()
        case _:
            return set()


def _absent(guard: Expression) -> Expression | None:
    """What is NULL where a guard is TRUE."""
    if isinstance(guard, Tried):
        return _absent(guard.operand)
    return guard.operand if isinstance(guard, IsNull) else None


def _there(bound: Expression) -> tuple[Expression, ...]:
    """What is not NULL where a bound is there."""
    if isinstance(bound, Tried):
        return (bound, *_there(bound.operand))
    return (bound, *(_needed(bound) or ()))


def _truth(value: bool) -> Literal:
    return TRUE if value else FALSE


def _both(one: Phase, other: Phase) -> Phase:
    """Where both phases are."""
    return Phase(
        one.values + other.values,
        _once(one.starts, other.starts),
        _once(one.ends, other.ends),
        _once(one.guards, other.guards),
    )


def _once(*parts: tuple[Expression, ...]) -> tuple[Expression, ...]:
    return tuple(dict.fromkeys(chain(*parts)))


def _valued(phase: Phase, value: Expression) -> Phase:
    return Phase((value,), phase.starts, phase.ends, phase.guards)


def _checked(made: list[Phase]) -> list[Phase]:
    found = [phase for phase in made if not _is_empty(phase)]
    if len(found) > MAX_PHASES:
        raise TemporalError(
            "too-many-phases",
            f"the conditions on NOW() cut the time of a row into more than {MAX_PHASES} parts",
            hint="leave some of them to a query around this one",
        )
    return found


def _simple(expression: Expression) -> Expression:
    """A truth value without the parts that are known."""
    match expression:
        case And(left=left, right=right):
            return _decided(left, right, FALSE, TRUE) or expression
        case Or(left=left, right=right):
            return _decided(left, right, TRUE, FALSE) or expression
        case Not(operand=Literal(value=bool(value))):
            return _truth(not value)
        case Not(operand=Literal()):
            return UNKNOWN
        case IsNull(operand=Literal(value=value)):
            return _truth(value is None)
        case Comparison(op="<=>", left=Literal(of=of) as left, right=Literal() as right) if (
            of == BOOLEAN
        ):
            return _truth(left.value is right.value)
        case Cast(operand=operand, to=to) if operand.type == to:
            return operand
        case Tried(operand=Literal() as value):
            return value
        case _:
            return expression


def _decided(
    left: Expression, right: Expression, decisive: Literal, neutral: Literal
) -> Expression | None:
    if decisive in (left, right):
        return decisive
    if left == neutral:
        return right
    if right == neutral or left == right == UNKNOWN:
        return left
    return None
