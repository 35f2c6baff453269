"""Temporal facts of a recursion: that it moves forward, by how much, and how far it has come.

Law: what a row of the recursion follows from, rows of its own among them, is what a change of it
would come from: partners, members of its group, rows whose absence it asks for.  The stream bounds
of an edge speak of just these, so a recurrence is given a bound of its own, and its distance from
the time of a new row is what a round gains.  It has to be more than nothing.

    recurrence   at          bounded(at, rule)            rows of the round before
    new row      at + 1 s    progress(rule) + 1 s         a gain of 1 s

As every round gains, the greatest solution of the equations of progress is what comes of the
bounds from outside alone.  A row that is there already but later than ``now`` is yet to come for
whoever reads the recursion; so no bound leads further than the source's own time, which ``now`` has
reached.

What is known of the times of a row are bounds that hold in what enters from outside, and in every
row that follows from rows in which they hold.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import permutations
from typing import TypeAlias

from ebbtide.algebra.combination import AntiJoin, Outer, OuterJoin, SemiJoin
from ebbtide.algebra.kind import Kind
from ebbtide.algebra.operators import operator
from ebbtide.algebra.recursion import Recurrence, Recursion
from ebbtide.algebra.relation import Aggregate, Distinct, Relation
from ebbtide.algebra.traits import Followed
from ebbtide.analysis.formula.dnf import NO_ROWS, NOTHING_KNOWN, Dnf
from ebbtide.analysis.formula.formula import both, compare
from ebbtide.analysis.formula.printing import duration_text
from ebbtide.analysis.formula.progress import (
    NEVER,
    Bound,
    Fastest,
    Limit,
    Progress,
    Slowest,
    Value,
    evaluate,
)
from ebbtide.analysis.formula.streambound import STATIC, Bounded, StreamBound, propagated
from ebbtide.analysis.formula.terms import Var
from ebbtide.analysis.temporal.derivation import derive
from ebbtide.analysis.temporal.edge import HIDDEN, Edge, allowing_nulls, made, time_columns
from ebbtide.core.schema import Schema
from ebbtide.core.time import INF, NEG_INF, Duration
from ebbtide.core.tree import find, fold
from ebbtide.errors import TemporalError, UnsupportedError


@dataclass(frozen=True, slots=True)
class Solution:
    """What is proved of a recursion.

    A round gains at least ``gain_us``.  A ``linear`` recursion follows each of its rows by itself,
    or by pairs: it may follow all that it has at once, and nothing is derived twice.
    """

    edge: Edge
    gain_us: Duration
    linear: bool
    enters: tuple[Bound, ...]
    """The bounds of what enters from outside."""


Solutions: TypeAlias = Mapping[str, Solution]

_Facts: TypeAlias = dict[tuple[Var, Var], Duration]
"""Differences: how much later the second of two times is at most."""


def solutions_of(plan: Relation) -> Solutions:
    """What is proved of every recursion of a plan, by its name; one that may not be is refused."""
    known: dict[str, Solution] = {}
    nodes = list(find(plan, Recursion))
    linear = {node.name: _followed(node) for node in nodes}
    for node in reversed(nodes):
        if node.name not in known:
            known[node.name] = _Solving(node, linear[node.name], dict(known)).solution()
    return known


def edges_of(solutions: Solutions) -> Mapping[str, Edge]:
    """What is known on the edges of recursions."""
    return {name: solution.edge for name, solution in solutions.items()}


@dataclass(frozen=True, slots=True)
class _Solving:
    """A recursion whose equations are being solved."""

    node: Recursion
    linear: bool
    known: Solutions
    own: Bound = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "own", Bound(self.node.name, self.node.on))

    def solution(self) -> Solution:
        facts = self._facts()
        waits = StreamBound.of(Bounded(self._time(self._schema), self.own))
        edge = self._round(facts, waits)
        inside = [c for c in edge.bounds.clauses if all(a.bound == self.own for a in c)]
        outside = [c for c in edge.bounds.clauses if c not in inside]
        on = self._time(self.node.schema)
        gain = propagated(on, edge.facts, StreamBound(tuple(inside)))
        gain_us = evaluate(gain, {self.own: 0})
        if gain_us < 1:
            raise self._not_later(gain_us)
        enters = propagated(on, edge.facts, StreamBound(tuple(outside)))
        return self._solved(facts, enters, gain_us)

    @property
    def _schema(self) -> Schema:
        """The columns of the recurrence; those of the recursion, if nothing follows from it."""
        own = (leaf for leaf in find(self.node.input, Recurrence) if leaf.name == self.node.name)
        return next((leaf.schema for leaf in own), self.node.schema)

    def _time(self, schema: Schema) -> Var:
        return time_columns(schema)[self.node.place]

    def _round(self, facts: Dnf, waits: StreamBound) -> Edge:
        """What is known of new rows, if that is known of those that they follow from."""
        schema = self._schema
        leaf = Edge(schema, Kind.FACT, allowing_nulls(facts, schema), waits)
        edges = {**edges_of(self.known), self.node.name: leaf}
        return fold(self.node.input, lambda node, below: derive(node, below, edges))

    def _facts(self) -> Dnf:
        """Differences that hold in what enters, and that every round preserves."""
        schema = self._schema
        times = [v for place, v in time_columns(schema).items() if not schema[place].nullable]
        entering = self._round(NO_ROWS, STATIC).facts
        pairs = {(a, b): entering.dist(a, b) for a, b in permutations(times, 2)}
        found = {pair: most for pair, most in pairs.items() if NEG_INF < most < INF}
        while True:
            facts = _all_of(found)
            after = self._round(facts, STATIC).facts
            kept = {(a, b): most for (a, b), most in found.items() if after.dist(a, b) <= most}
            if kept == found:
                return facts
            found = kept

    def _solved(self, facts: Dnf, enters: Value, gain_us: Duration) -> Solution:
        schema, on = self.node.schema, self._time(self.node.schema)
        known = allowing_nulls(facts, schema)
        terms = _least(enters)
        if terms is None:
            never = Edge(schema, Kind.FACT, known, StreamBound(((),)))
            return Solution(never, gain_us, self.linear, ())
        hidden = {
            bound: Var(f"{HIDDEN}enters:{self.node.name}", str(bound)) for bound in sorted(terms)
        }
        cases, waits = NO_ROWS if terms else known, STATIC
        for bound, variable in hidden.items():
            since = known.where(compare(variable, "<=", on - min(terms[bound], 0)))
            cases = cases.either(since.ignoring(set(hidden.values()) - {variable}))
            waits = waits.conjoin(StreamBound.of(Bounded(variable, bound)))
        edge = made(schema, Kind.FACT, cases, waits)
        return Solution(edge, gain_us, self.linear, tuple(hidden))

    def _not_later(self, gain_us: Duration) -> TemporalError:
        name, on = self.node.name, self.node.on
        detail = f'nothing is known of how "{on}" of a new row lies to that of what it follows from'
        if gain_us > NEG_INF:
            least = f"may be {duration_text(-gain_us)} earlier" if gain_us else "may be the same"
            detail = f'"{on}" of a new row {least}'
        return TemporalError(
            "recursion-not-later",
            f'"{name}" is fed by a query that reads it, and new rows need not be later than those'
            " that they follow from",
            detail=detail,
            hint=f"let {on} grow, as in {on} + INTERVAL 1 SECOND, or add a condition on it",
        )


def _least(value: Value) -> dict[Bound, Duration] | None:
    """Bounds, moved by durations, the least of which a value reaches; None if it never moves."""
    match value:
        case Limit():
            return None if value == NEVER else {}
        case Progress(of, by):
            return {of: by}
        case Fastest(values):
            parts = (_least(part) for part in values)
            return next((part for part in parts if part is not None), None)
        case Slowest(values):
            found: dict[Bound, Duration] = {}
            for part in map(_least, values):
                if part is None:
                    return None
                found |= {bound: min(by, found.get(bound, by)) for bound, by in part.items()}
            return found
        case _:
            raise AssertionError(value)


def _all_of(facts: _Facts) -> Dnf:
    return NOTHING_KNOWN.where(
        both(*(compare(b, "<=", a + most) for (a, b), most in sorted(facts.items(), key=str)))
    )


def _followed(node: Recursion) -> bool:
    """Whether a recursion is linear in its rows; one that cannot be run is refused."""
    linear = True

    def step(relation: Relation, below: tuple[bool, ...]) -> bool:
        nonlocal linear
        if isinstance(relation, Recurrence):
            return relation.name == node.name
        if not any(below):
            return False
        inside = operator(relation)
        if not isinstance(inside, Followed):
            raise UnsupportedError(
                "recursion-not-built",
                f'"{node.name}" is fed by a query that reads it through {_word(inside)}, '
                "which cannot be run yet",
                hint="follow rows through WHERE, projections, UNION ALL, joins, EXISTS, GROUP BY "
                "and DISTINCT alone",
            )
        linear = linear and _is_linear(inside, below)
        return True

    fold(node.input, step)
    return linear


def _word(node: Relation) -> str:
    return "a recursion of its own" if isinstance(node, Recursion) else type(node).__name__


def _is_linear(node: Followed, below: tuple[bool, ...]) -> bool:
    if isinstance(node, SemiJoin | AntiJoin):
        return not below[1]
    if isinstance(node, OuterJoin):
        return below == (True, False) and node.kept is Outer.LEFT
    return not isinstance(node, Aggregate | Distinct)
