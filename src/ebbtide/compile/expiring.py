"""Where expiries travel as rows: Expire and Messages on the edges of a physical plan.

Law: operators and their kernels are those of the default; only what stands on the edges before them
differs.  An Expire, and the Messages that it listens to, run in the shard of whoever reads it.

    negative            rows ──> Expire ──> operator
    piggyback           rows ─┬──────────> Expire ──> operator
                              └─> Messages ─┘
    with join messages  pairs ─┬─────────> Expire ──> operator
                               └> Messages ─┘
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ebbtide.algebra.expression import Expression, Ref
from ebbtide.analysis.analysis import Node
from ebbtide.analysis.expiry import above_delayed, sees_expiry
from ebbtide.compile.kernel_choice import Chosen
from ebbtide.compile.physical import (
    KEEP_ALL,
    FromOperator,
    Operator,
    PlanEdge,
    Producer,
    StoreRule,
)
from ebbtide.compile.pipe import Pipe, source_pipe
from ebbtide.core.expiry import Expiry, Strategy
from ebbtide.core.schema import Column, Schema
from ebbtide.core.types import BIGINT, BOOLEAN
from ebbtide.kernels.operators.aggregate import Aggregate
from ebbtide.kernels.operators.expire import Expire
from ebbtide.kernels.operators.messages import Messages, PairSides
from ebbtide.kernels.operators.triggered import Triggered
from ebbtide.state.segment import ENDS

MESSAGE = Schema((Column("c0", BIGINT), Column("c1", BOOLEAN)))


@dataclass(frozen=True, slots=True)
class JoinedPairs:
    """The pairs of a join whose sides carry their ends: who makes them, and which of them count."""

    operator: int
    pipe: Pipe
    left: int
    keys: tuple[tuple[int, ...], ...]
    """For each key of the join, the places of a pair that hold it."""

    def reaches(self, keys: Sequence[Expression]) -> bool:
        """Whether rows by such keys are in the shard of their pair, or all in one."""
        output = self.pipe.schema
        return not keys or (
            bool(self.keys)
            and all(any(Ref(output[place]) in keys for place in places) for places in self.keys)
        )


def with_ends(chosen: Chosen) -> Chosen:
    """A join whose sides have the ends of their rows as a last column."""
    width = len(chosen.inputs[0].columns)
    end = Column("end", BIGINT)
    columns = [*chosen.output.columns]
    columns = [*columns[:width], end, *columns[width:], end]
    output = Schema(tuple(Column(f"c{i}", column.type) for i, column in enumerate(columns)))

    def moved(place: int | None) -> int | None:
        return place if place is None or place < width else place + 1

    carries = chosen.carries or ()
    return replace(
        chosen,
        output=output,
        kept=tuple(map(moved, chosen.kept or range(len(columns) - 2))),
        carries=tuple(tuple(p if p < width else p + 1 for p in places) for places in carries),
    )


def without_folds(chosen: Chosen, holds: bool) -> Chosen:
    """An aggregate of which rows that never end may yet be taken back."""
    kernel = chosen.kernel
    if isinstance(kernel, Aggregate) and kernel.folds and not holds:
        return replace(chosen, kernel=replace(kernel, folds=False))
    return chosen


def by_ends(node: Node, rule: StoreRule) -> StoreRule:
    """What is kept where negatives may come for any row: what has not ended when changes begin.

    A negative begins where its row ends, whatever other times the row has.
    """
    return StoreRule((((ENDS, node.begun),),), turning=rule.turning or 0)


def under_strategy(expiry: Expiry, node: Node, made: Operator, expires: bool) -> Operator:
    """An operator under the strategy of its view: what it keeps, sends, and when it runs.

    ``expires`` says whether its rows come through an Expire.
    """
    if made.static and expiry.strategy is not Strategy.INTERVAL:
        made = replace(
            made,
            static=False,
            rules=tuple(replace(rule, turning=0) for rule in made.rules),
        )
    if not expiry.compression and sees_expiry(node):
        made = replace(made, compresses=False)
    if expiry.strategy is Strategy.INPUT:
        if above_delayed(node):
            made = replace(made, rules=tuple(KEEP_ALL for _ in made.rules), emitted=KEEP_ALL)
        if sees_expiry(node):
            return replace(made, kernel=Triggered(made.kernel), by_instant=False)
        return made
    if not expires:
        return made
    rules = tuple(
        by_ends(node, rule) if input_.edge.is_snapshot else rule
        for input_, rule in zip(node.inputs, made.rules, strict=True)
    )
    return replace(made, rules=rules, emitted=by_ends(node, made.emitted))


def expire(
    name: str, producer: Producer, pipe: Pipe, keys: tuple[Expression, ...], number: int, told: bool
) -> tuple[Operator, PlanEdge]:
    """An Expire by its number, and the edge of its rows."""
    places = tuple(pipe.columns.index(key) for key in keys)
    inputs = (pipe.schema, MESSAGE) if told else (pipe.schema,)
    carries = tuple((place,) for place in places)
    operator = Operator(name, Expire(places, told), inputs, pipe.schema, carries)
    return operator, PlanEdge(producer, pipe, number, 0, keys)


def row_messages(
    name: str, producer: Producer, pipe: Pipe, keys: tuple[Expression, ...], number: int
) -> tuple[Operator, PlanEdge]:
    """Messages for rows by themselves, as far as nothing carries them, and the edge of the rows."""
    places = tuple(pipe.columns.index(key) for key in keys)
    operator = Operator(name, Messages(places, None, True), (pipe.schema,), MESSAGE)
    return operator, PlanEdge(producer, pipe, number, 0, keys)


def join_messages(
    name: str, pairs: JoinedPairs, carried: bool, number: int
) -> tuple[Operator, PlanEdge]:
    """Messages for the pairs of a join, and the edge of the pairs."""
    places = tuple(held[0] for held in pairs.keys)
    schema = pairs.pipe.schema
    kernel = Messages(places, PairSides(pairs.left), carried)
    keys = tuple(Ref(schema[place]) for place in places)
    producer = FromOperator(pairs.operator)
    return Operator(name, kernel, (schema,), MESSAGE), PlanEdge(
        producer, pairs.pipe, number, 0, keys
    )


def told(messages: int, number: int) -> PlanEdge:
    """The edge from Messages to the Expire that listens to them."""
    return PlanEdge(FromOperator(messages), source_pipe(MESSAGE), number, 1, (), aside=True)
