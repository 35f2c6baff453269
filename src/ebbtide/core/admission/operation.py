"""Arrivals that were admitted, and what becomes of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ebbtide.core.admission.arrival import Arrival, Op, Reason, Unused
from ebbtide.core.admission.refusal import key_of, times_of, value_of
from ebbtide.core.change import Change
from ebbtide.core.declaration import Declaration, TableDeclaration
from ebbtide.core.frontier import InputFrontier, Times
from ebbtide.core.time import NEG_INF, Instant
from ebbtide.core.values import Row, normalise, sort_key


@dataclass(frozen=True, slots=True)
class Operation:
    """An admitted arrival: what it is about, and its place among the operations of its key.

    ``number`` tells operations apart, and nothing else depends on it.  ``at`` is a table's: when
    the operation happens.
    """

    arrival: Arrival
    number: int
    key: Row
    times: Times
    order: tuple[Any, ...]
    at: Instant = NEG_INF

    @property
    def op(self) -> Op:
        """What is done; an arrival without a known operation is never admitted."""
        assert self.arrival.op is not None
        return self.arrival.op

    @property
    def row(self) -> Row:
        """The row as it arrived."""
        return self.arrival.row


@dataclass(frozen=True, slots=True)
class Outcome:
    """What has become of operations: the changes they make, and where each of them stands."""

    changes: tuple[Change, ...] = ()
    accepted: tuple[Operation, ...] = ()
    pending: tuple[Operation, ...] = ()
    unused: tuple[Unused, ...] = ()

    def __add__(self, other: Outcome) -> Outcome:
        return Outcome(
            self.changes + other.changes,
            self.accepted + other.accepted,
            self.pending + other.pending,
            self.unused + other.unused,
        )


NOTHING = Outcome()


def unused(operation: Operation, reason: Reason) -> Unused:
    """An operation that turned out to count for nothing."""
    return Unused(operation.arrival, reason)


def admitted(
    declaration: Declaration, frontier: InputFrontier, arrival: Arrival, number: int
) -> Operation:
    """The operation of an arrival that was not refused, by the frontier before its step."""
    key = tuple(normalise(value) for value in key_of(declaration, arrival.row))
    times = times_of(declaration, frontier, arrival)
    if not isinstance(declaration, TableDeclaration) or declaration.time is None:
        return Operation(arrival, number, key, times, (arrival.offset, number))
    at = value_of(declaration, arrival.row, declaration.time)
    sequence = None
    if declaration.sequence is not None:
        sequence = arrival.row[declaration.schema.position(declaration.sequence)]
    # Of a bag an end may take away what comes at its own instant.
    later = declaration.bag and arrival.op is Op.END
    later |= declaration.ends_first and arrival.op is not Op.END
    order = (at, sort_key(sequence), later, arrival.offset, number)
    return Operation(arrival, number, key, times, order, at)
