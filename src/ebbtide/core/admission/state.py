"""The state of one input, and the one function that moves it: ``admit``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TypeAlias

from ebbtide.core.admission.arrival import Arrival, Step, Unused
from ebbtide.core.admission.facts import FactLedger
from ebbtide.core.admission.operation import Operation, Outcome, admitted
from ebbtide.core.admission.refusal import refusal, stamped
from ebbtide.core.admission.sums import SumLedger
from ebbtide.core.admission.versions import VersionLedger
from ebbtide.core.change import Change, consolidate
from ebbtide.core.declaration import Declaration, TableDeclaration
from ebbtide.core.frontier import InputFrontier, first_frontier

Ledger: TypeAlias = FactLedger | VersionLedger | SumLedger
"""What has become of all operations on an input."""


@dataclass(frozen=True, slots=True)
class Admission:
    """All that has arrived at an input, and how far the input has come.

    Lists of arrivals are in the order of their offsets.
    """

    declaration: Declaration
    frontier: InputFrontier
    ledger: Ledger
    refused: tuple[Unused, ...] = ()
    admitted: int = 0

    @property
    def outcome(self) -> Outcome:
        """What has become of the operations that were admitted."""
        return self.ledger.outcome(self.frontier)

    @property
    def accepted(self) -> tuple[Change, ...]:
        """The accepted input, consolidated: facts of a stream, versions of a table."""
        return consolidate(self.outcome.changes)

    @property
    def contributing(self) -> tuple[Arrival, ...]:
        """The arrivals of which the accepted input is made, cancelled ones among them."""
        return _in_order(operation.arrival for operation in self.outcome.accepted)

    @property
    def pending(self) -> tuple[Arrival, ...]:
        """The negatives whose positive has not come, but still may."""
        return _in_order(operation.arrival for operation in self.outcome.pending)

    @property
    def unused(self) -> tuple[Unused, ...]:
        """The arrivals that count for nothing, each with its reason."""
        unused = (*self.refused, *self.outcome.unused)
        return tuple(sorted(unused, key=lambda row: row.arrival.offset))


def begin(declaration: Declaration, replays: bool = False) -> Admission:
    """An input at which nothing has arrived; where it ``replays``, its archive counts."""
    return Admission(declaration, first_frontier(declaration, replays), ledger_of(declaration))


def ledger_of(declaration: Declaration, operations: Iterable[Operation] = ()) -> Ledger:
    """The ledger of an input, with operations that were admitted before."""
    told = tuple(operations)
    if not isinstance(declaration, TableDeclaration) or declaration.static:
        return FactLedger(declaration, told)
    if declaration.summed:
        return SumLedger(declaration, told)
    return VersionLedger(declaration, told)


def admit(state: Admission, step: Step) -> Admission:
    """The input after a step.

    Arrivals are judged by the frontier before the step, at the step's reading of the clock; the
    frontier moves when all have been judged.
    """
    declaration = state.declaration
    frontier = state.frontier.read(step.clock)
    operations: list[Operation] = []
    refused: list[Unused] = []
    for arrival in step.arrivals:
        arrival = stamped(declaration, frontier, arrival)
        reason = refusal(declaration, frontier, arrival)
        if reason is None:
            number = state.admitted + len(operations)
            operations.append(admitted(declaration, frontier, arrival, number))
        else:
            refused.append(Unused(arrival, reason))
    after = frontier.commit([operation.times for operation in operations], step.advance)
    return replace(
        state,
        frontier=after,
        ledger=state.ledger.admit(operations, frontier, after),
        refused=(*state.refused, *refused),
        admitted=state.admitted + len(operations),
    )


def replay(declaration: Declaration, steps: Iterable[Step]) -> Admission:
    """The input after all the steps, from nothing."""
    state = begin(declaration)
    for step in steps:
        state = admit(state, step)
    return state


def _in_order(arrivals: Iterable[Arrival]) -> tuple[Arrival, ...]:
    return tuple(sorted(arrivals, key=lambda arrival: arrival.offset))
