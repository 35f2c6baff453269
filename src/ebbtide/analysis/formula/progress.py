"""Progress values: how far an output has come, as an expression of how far its inputs have.

Law: a value is a monotone function of the progress of the inputs; ``evaluate`` is that function.
It is ``inf`` where nothing is waited for, and ``-inf`` where no progress of the inputs is enough.
The constructors ``slowest`` and ``fastest`` leave out whatever another part makes idle.

These are the results of paper 5's propagation functions (definition 25).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias, cast

from ebbtide.analysis.formula.printing import plus
from ebbtide.core.time import INF, NEG_INF, Duration, Instant, format_instant, shift
from ebbtide.core.tree import Node, find, fold


@dataclass(frozen=True, slots=True, order=True)
class Bound:
    """What progress is promised for: an attribute of a stream."""

    stream: str
    attribute: str

    def __str__(self) -> str:
        return f"{self.stream}.{self.attribute}"


@dataclass(frozen=True, slots=True)
class Value(Node):
    """A progress value; the subclasses in this module are all there are."""

    def __str__(self) -> str:
        return fold(self, _text)


Value.family = Value


@dataclass(frozen=True, slots=True)
class Limit(Value):
    """An end of the line of time."""

    instant: Instant


ALWAYS = Limit(INF)
NEVER = Limit(NEG_INF)


@dataclass(frozen=True, slots=True)
class Progress(Value):
    """``progress(of) + by``."""

    of: Bound
    by: Duration = 0


@dataclass(frozen=True, slots=True)
class Slowest(Value):
    """The smallest of the values."""

    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Fastest(Value):
    """The largest of the values."""

    values: tuple[Value, ...]


AnyValue: TypeAlias = Limit | Progress | Slowest | Fastest


def slowest(values: Iterable[Value]) -> Value:
    """The smallest of the values; ``ALWAYS`` if there are none.

    >>> bids = Bound("bids", "at")
    >>> str(slowest([Progress(bids), Progress(bids, -2), ALWAYS]))
    'progress(bids.at) - 2 us'
    """
    kept = _kept(Slowest, values, at_most)
    return kept[0] if len(kept) == 1 else Slowest(kept) if kept else ALWAYS


def fastest(values: Iterable[Value]) -> Value:
    """The largest of the values; ``NEVER`` if there are none."""
    kept = _kept(Fastest, values, lambda a, b: at_most(b, a))
    return kept[0] if len(kept) == 1 else Fastest(kept) if kept else NEVER


def at_most(a: Value, b: Value) -> bool:
    """Whether the structure of two values shows that the first never exceeds the second."""
    match a, b:
        case Limit(instant), _ if instant == NEG_INF:
            return True
        case _, Limit(instant) if instant == INF:
            return True
        case Progress(of, by), Progress(other, most):
            return of == other and by <= most
        case Fastest(values), _:
            return all(at_most(value, b) for value in values)
        case _, Slowest(values):
            return all(at_most(a, value) for value in values)
        case Slowest(values), _ if any(at_most(value, b) for value in values):
            return True
        case _, Fastest(values):
            return any(at_most(a, value) for value in values)
        case _:
            return False


def shifted(value: Value, by: Duration) -> Value:
    """The value moved by a duration; the ends of the line stay."""
    return substituted(value, lambda progress: Progress(progress.of, progress.by + by))


def substituted(value: Value, replacement: Callable[[Progress], Value]) -> Value:
    """The value over other inputs: of a view, for instance, over those of the view's query."""

    def step(node: Value, below: tuple[Value, ...]) -> Value:
        match cast(AnyValue, node):
            case Limit():
                return node
            case Progress() as progress:
                return replacement(progress)
            case Slowest():
                return slowest(below)
            case Fastest():
                return fastest(below)

    return fold(value, step)


def bounds_of(value: Value) -> frozenset[Bound]:
    """The attributes whose progress the value depends on."""
    return frozenset(progress.of for progress in find(value, Progress))


def evaluate(value: Value, progress: Mapping[Bound, Instant]) -> Instant:
    """The value for given progress of the inputs.

    >>> bids, asks = Bound("bids", "at"), Bound("asks", "at")
    >>> evaluate(slowest([Progress(bids, -2), Progress(asks)]), {bids: 10, asks: 9})
    8
    """

    def step(node: Value, below: tuple[Instant, ...]) -> Instant:
        match cast(AnyValue, node):
            case Limit(instant):
                return instant
            case Progress(of, by):
                return shift(progress[of], by)
            case Slowest():
                return min(below)
            case Fastest():
                return max(below)

    return fold(value, step)


def _kept(
    kind: type[Slowest] | type[Fastest],
    values: Iterable[Value],
    decides: Callable[[Value, Value], bool],
) -> tuple[Value, ...]:
    """The values, without nesting, that no other one makes idle; the first of equal ones stays."""
    kept: list[Value] = []
    for value in values:
        for member in value.values if isinstance(value, kind) else (value,):
            if not any(decides(other, member) for other in kept):
                kept = [other for other in kept if not decides(member, other)]
                kept.append(member)
    neutral = ALWAYS if kind is Slowest else NEVER
    return tuple(value for value in kept if value != neutral)


def _text(node: Value, below: tuple[str, ...]) -> str:
    match cast(AnyValue, node):
        case Limit(instant):
            return format_instant(instant)
        case Progress(of, by):
            return plus(f"progress({of})", by)
        case Slowest():
            return f"min({', '.join(below)})"
        case Fastest():
            return f"max({', '.join(below)})"
