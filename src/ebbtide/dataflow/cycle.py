"""The rounds of a recursion, inside a task.

Law: a round follows some of the recursion's rows: they come to the operators on the cycle, and what
these make of them comes back, later than they are.  It ends when all rows up to ``now`` have been
followed; then what was emitted and what the operators hold is what one step would have made of all
of it.

    from outside ──┐
                   v
    ┌──────> operators ──> recursion ──> up to now: followed in a later round, and emitted
    │                          │     └─> later than now: waits
    └────────── round ─────────┘

A step has so many rounds beyond the ``now`` before it, and no more: then it says how far it has
come, and is run again up to there; the next step goes on.  What a late row changes before that
``now`` is followed to its end.

While rounds go on, areas are staged in memory and forget nothing that the step can touch; at the
end they are written once, under the rules as they stand after the step.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from ebbtide.compile.physical import FromOperator
from ebbtide.dataflow.operations import Input, Take, TaskCycle, TaskOperator
from ebbtide.dataflow.shard import OpenOperator, Shard
from ebbtide.kernels.operators.recursion import Recursion, seeks_singly
from ebbtide.state.batch import cancel, concat, empty
from ebbtide.state.keep import Keep
from ebbtide.state.store import StagedStore

T = TypeVar("T")
NOTHING = Keep(())
ROUNDS = 10_000
"""How many rounds of a step go beyond ``now`` before it, at about a millisecond each."""


class Rounds:
    """A cycle at work in a shard; ``outside`` gives what an input takes from elsewhere."""

    def __init__(self, cycle: TaskCycle, shard: Shard, outside: Callable[[Take], Any]) -> None:
        self.cycle = cycle
        self.outside = outside
        self.staged = StagedStore(shard.store)
        self.empty: dict[int, Any] = {}
        self.open = {
            each.number: shard.opened(each.job, _schemas(each), self.staged)
            for each in (*cycle.members, cycle.recursion)
        }
        kernel = cycle.recursion.job.kernel
        assert isinstance(kernel, Recursion)
        self.kernel = kernel
        self.seeking = {each.number: self._seeking(each) for each in cycle.members}
        self.unstored: dict[int, list[Any]] = {each.number: [] for each in cycle.members}
        self.seen: dict[int, list[Any]] = {number: [] for number in cycle.seen}

    def run(self) -> tuple[dict[int, Any], list[str]]:
        """What the recursion emits in a step, and what operators on the cycle make that are seen;
        and what is said of all of them."""
        own_number = self.cycle.recursion.number
        own, kernel = self.open[own_number], self.kernel
        schema = self.cycle.recursion.inputs[0].schema
        waiting, followed = kernel.due(own.areas[0], own.times), empty(schema)
        later, emitted = [], []
        first, rounds = True, 0
        while first or followed.num_rows:
            rounds += self._is_ahead(followed)
            if rounds > ROUNDS:
                return {own_number: empty(schema), **self._made()}, [self._behind(followed)]
            new = self._round(followed, first)
            due, ahead = kernel.parted(new, own.times.now)
            later.append(ahead)
            followed, waiting = kernel.first(cancel(concat([waiting, due], schema)))
            emitted.append(followed)
            own.rows_in += new.num_rows
            first = False
        changes = cancel(concat(emitted, schema))
        own.rows_out += changes.num_rows
        made = {own_number: changes, **self._made()}
        return made, list(self._settled(cancel(concat(later, schema))))

    def _made(self) -> dict[int, Any]:
        """What the operators that are seen have made in all rounds."""
        return {
            number: cancel(concat(batches, batches[0].schema))
            for number, batches in self.seen.items()
        }

    def _is_ahead(self, followed: Any) -> bool:
        """Whether rows are all beyond the ``now`` before the step."""
        before = self.open[self.cycle.recursion.number].times.before
        return bool(followed.num_rows) and self.kernel.earliest(followed) > before

    def _behind(self, followed: Any) -> str:
        """Says up to which time all rows have been followed."""
        number, reached = self.cycle.recursion.number, self.kernel.earliest(followed) - 1
        return json.dumps({"behind": number, "reached": reached})

    def _round(self, followed: Any, first: bool) -> Any:
        """What follows from some rows; in the first round, from what comes from outside."""
        made = {self.cycle.recursion.number: followed}
        for member in self.cycle.members:
            inputs = tuple(self._taken(each, made, first) for each in member.inputs)
            made[member.number] = self._stepped(member, inputs, first)
            if member.number in self.seen:
                self.seen[member.number].append(made[member.number])
        return self._taken(self.cycle.recursion.inputs[0], made, first)

    def _stepped(self, member: TaskOperator, inputs: tuple[Any, ...], first: bool) -> Any:
        its, side = self.open[member.number], self.seeking[member.number]
        if first:
            return its.step(inputs, its.times.within)
        if not any(table.num_rows for table in inputs):
            return its.nothing
        return its.step(inputs, its.times.within) if side is None else self._sought(member, inputs)

    def _sought(self, member: TaskOperator, inputs: tuple[Any, ...]) -> Any:
        """The partners of rows that nothing else in the step looks for: these are stored last."""
        its, side = self.open[member.number], self.seeking[member.number]
        assert side is not None
        within, area = its.times.within, its.areas[side]
        keeps = _with(within.inputs, side, NOTHING)
        its.areas = _with(its.areas, side, replace(area, segments=()))
        changes = its.step(inputs, replace(within, inputs=keeps))
        its.areas = _with(its.areas, side, area)
        self.unstored[member.number].append(inputs[side])
        return changes

    def _seeking(self, member: TaskOperator) -> int | None:
        """The input that rows of the cycle come to, if they only look for partners from outside."""
        inside = {FromOperator(number) for number in self.open}
        sides = [
            side
            for side, each in enumerate(member.inputs)
            if any(take.origin in inside for take in each.takes)
        ]
        singly = len(sides) == 1 and seeks_singly(member.job.kernel, sides[0])
        return sides[0] if singly else None

    def _taken(self, taken: Input, made: dict[int, Any], first: bool) -> Any:
        batches = []
        for take in taken.takes:
            number = take.origin.operator if isinstance(take.origin, FromOperator) else None
            if number in made:
                batches += [take.piped(made[number])] if made[number].num_rows else []
            elif first:
                found = self.outside(take)
                batches += [] if found is None else [found]
        return cancel(concat(batches, taken.schema)) if batches else self._empty(taken.schema)

    def _empty(self, schema: Any) -> Any:
        found = self.empty.get(id(schema))
        if found is None:
            found = self.empty[id(schema)] = empty(schema)
        return found

    def _settled(self, later: Any) -> Iterator[str]:
        """Writes what the areas hold, and says where."""
        self.staged.settles = True
        for member in self.cycle.members:
            its, side = self.open[member.number], self.seeking[member.number]
            if side is not None and self.unstored[member.number]:
                keep, rows = its.times.inputs[side], self.unstored[member.number]
                more = cancel(concat(rows, member.inputs[side].schema))
                its.areas = _with(its.areas, side, its.areas[side].insert(more, keep=keep))
            changes = its.step(tuple(map(self._empty, _schemas(member))), its.times)
            assert not changes.num_rows, f"{member.job.name} makes something of nothing"
            yield self._described(its)
        own = self.open[self.cycle.recursion.number]
        own.areas = (self.kernel.left(later, own.areas[0], own.times.now),)
        yield self._described(own)

    def _described(self, its: OpenOperator) -> str:
        its.areas = tuple(area.settled() for area in its.areas)
        return its.described()


def reached(texts: Sequence[str]) -> dict[int, int]:
    """How far the recursions have come that did not come to ``now``, by their numbers."""
    found: dict[int, int] = {}
    for text in texts:
        if text.startswith('{"behind"'):
            said = json.loads(text)
            number, time = said["behind"], said["reached"]
            found[number] = min(time, found.get(number, time))
    return found


def _with(items: tuple[T, ...], place: int, item: T) -> tuple[T, ...]:
    """The items with another one in a place."""
    return (*items[:place], item, *items[place + 1 :])


def _schemas(operator: TaskOperator) -> tuple[Any, ...]:
    return tuple(each.schema for each in operator.inputs)
