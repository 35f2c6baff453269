"""What one arrival and the frontier decide: whether the arrival can count at all.

Law: the answer depends on the arrival, on the frontier before its step and on the clock of its
step, never on other arrivals.  An arrival that is not refused moves the frontier, whatever
becomes of it later (it may turn out a duplicate, or a negative without its positive): so
progress, and with it lateness, does not depend on the order of arrival.
"""

from __future__ import annotations

from dataclasses import replace

from ebbtide.core.admission.arrival import Arrival, Reason, allowed_ops
from ebbtide.core.declaration import Declaration, TableDeclaration, arrivals_of
from ebbtide.core.frontier import InputFrontier, Times
from ebbtide.core.time import Instant, is_finite
from ebbtide.core.types import admits
from ebbtide.core.values import Row
from ebbtide.errors import QueryError


def refusal(declaration: Declaration, frontier: InputFrontier, arrival: Arrival) -> Reason | None:
    """Why an arrival cannot count whatever else comes, or None if it may."""
    if arrival.op not in allowed_ops(declaration):
        return Reason.UNKNOWN_OP
    if len(arrival.row) != len(declaration.schema):
        return Reason.MALFORMED
    deciding = [value_of(declaration, arrival.row, name) for name in _deciding(declaration)]
    if None in deciding:
        return Reason.NULL_TIME
    if not _is_bag(declaration) and None in key_of(declaration, arrival.row):
        return Reason.NULL_KEY
    # The ends of the line are no instants, so nothing happens at them.
    if not _has_types(declaration, arrival) or not all(map(is_finite, deciding)):
        return Reason.MALFORMED
    if any(_is_beyond(declaration, frontier, t) for t in deciding):
        return Reason.BEYOND
    times = times_of(declaration, frontier, arrival)
    if not frontier.accepts(times):
        return Reason.APPROXIMATED if frontier.approximates(times) else Reason.LATE
    return None


def stamped(declaration: Declaration, frontier: InputFrontier, arrival: Arrival) -> Arrival:
    """The arrival with the step's reading of the clock in its columns of arrival."""
    names = arrivals_of(declaration)
    if not names or len(arrival.row) != len(declaration.schema):
        return arrival
    if frontier.clock is None:
        raise clock_needed(f'"{names[0]}" of "{declaration.name}" is an ARRIVAL')
    row = list(arrival.row)
    for name in names:
        row[declaration.schema.position(name)] = frontier.clock
    return replace(arrival, row=tuple(row))


def clock_needed(why: str) -> QueryError:
    """What is said where a step should have read the clock, and has not."""
    return QueryError(
        "clock-needed",
        f"{why}, but no clock was read",
        hint="give the step a reading of the clock",
    )


def _is_bag(declaration: Declaration) -> bool:
    return isinstance(declaration, TableDeclaration) and declaration.bag


def value_of(declaration: Declaration, row: Row, name: str) -> Instant:
    """The value of the column of that name, which holds a time."""
    value: Instant = row[declaration.schema.position(name)]
    return value


def key_of(declaration: Declaration, row: Row) -> Row:
    """The values of a row's key columns."""
    return tuple(row[declaration.schema.position(name)] for name in declaration.key)


def times_of(declaration: Declaration, frontier: InputFrontier, arrival: Arrival) -> Times:
    """The times of an arrival by which the lines of the frontier move, or None where one has none.

    Of a negative only the times count that say what it is about; the rest is payload.
    """
    deciding = {name.casefold() for name in _deciding(declaration)}
    whole = arrival.op is not None and arrival.op.carries_row
    times: list[Instant | None] = []
    for line in frontier.lines:
        counts = whole or line.attribute.casefold() in deciding
        t = value_of(declaration, arrival.row, line.attribute) if counts else None
        times.append(t if t is not None and is_finite(t) else None)
    return tuple(times)


def _deciding(declaration: Declaration) -> list[str]:
    """The time attributes that decide: those that progress, and the one of a table's versions."""
    names = [promise.attribute for promise in declaration.promises]
    if isinstance(declaration, TableDeclaration) and declaration.time is not None:
        names.append(declaration.time)
    return names


def _has_types(declaration: Declaration, arrival: Arrival) -> bool:
    needed = {name.casefold() for name in (*declaration.key, *_deciding(declaration))}
    if isinstance(declaration, TableDeclaration) and declaration.sequence is not None:
        needed.add(declaration.sequence.casefold())
    whole = arrival.op is not None and arrival.op.carries_row
    return all(
        admits(column.type, value) and (column.nullable or value is not None)
        for column, value in zip(declaration.schema, arrival.row, strict=True)
        if whole or column.name.casefold() in needed
    )


def _is_beyond(declaration: Declaration, frontier: InputFrontier, t: Instant) -> bool:
    if declaration.not_beyond_us is not None and frontier.clock is None:
        raise clock_needed(f'"{declaration.name}" is NOT BEYOND the clock')
    last = frontier.latest_allowed(declaration.not_beyond_us)
    return last is not None and t > last
