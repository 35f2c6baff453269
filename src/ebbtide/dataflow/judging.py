"""Which of the rows that arrive count, on Arrow columns.

Law: a row is refused for the first reason that ``ebbtide.core.admission`` would give, judged by the
frontier before the step; a refused row goes to the unused rows and moves no frontier.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ebbtide.compile.arrival import MALFORMED, OFFSET, OP, arrival_schema
from ebbtide.core.admission import FILE, Op, Reason, UnusedRow, allowed_ops
from ebbtide.core.admission.refusal import clock_needed
from ebbtide.core.declaration import (
    Declaration,
    StreamDeclaration,
    TableDeclaration,
    arrivals_of,
)
from ebbtide.core.frontier import InputFrontier
from ebbtide.core.row_text import row_text
from ebbtide.core.schema import Column
from ebbtide.dataflow.observation import Observed
from ebbtide.store.record import Came


@dataclass(frozen=True, slots=True)
class Judged:
    """The rows of a source: those that count, what is said of the others, what all showed.

    ``old`` are those among the first that are to be replayed; None if there are none.
    """

    accepted: Any
    refused: list[str]
    observed: Observed
    old: Any = None


def judge(declaration: Declaration, frontier: InputFrontier, rows: Any) -> Judged:
    """The rows that arrived of a source, stamped with the clock and judged by its frontier."""
    rows = stamped(declaration, frontier, rows)
    judging = _Judging(declaration, frontier, rows)
    refused = np.zeros(rows.num_rows, bool)
    said: list[str] = []
    for reason, mask in judging.tests():
        new = mask & ~refused
        refused |= new
        said += judging.texts(reason, np.flatnonzero(new))
    accepted = rows.filter(pa.array(~refused)) if refused.any() else rows
    old = _Judging(declaration, frontier, accepted).old()
    counted = accepted
    if old is not None and isinstance(declaration, StreamDeclaration) and declaration.defers:
        # What waits is not accepted yet.
        counted = accepted.filter(pa.array(~old))
    observed = _Judging(declaration, frontier, counted).observed(rows)
    return Judged(accepted, said, observed, old)


def stamped(declaration: Declaration, frontier: InputFrontier, rows: Any) -> Any:
    """The rows with the step's reading of the clock in their columns of arrival."""
    for name in arrivals_of(declaration) if rows.num_rows else ():
        if frontier.clock is None:
            raise clock_needed(f'"{name}" of "{declaration.name}" is an ARRIVAL')
        place = declaration.schema.position(name)
        reading = pa.repeat(pa.scalar(frontier.clock, pa.int64()), rows.num_rows)
        rows = rows.set_column(place, rows.schema.field(place).name, reading)
    return rows


@dataclass(frozen=True, slots=True)
class _Judging:
    declaration: Declaration
    frontier: InputFrontier
    rows: Any

    def tests(self) -> Iterator[tuple[Reason, Any]]:
        """Every reason in the order in which it is looked for, and the rows that it holds for."""
        declaration = self.declaration
        deciding = [promise.attribute for promise in declaration.promises]
        if isinstance(declaration, TableDeclaration) and declaration.time is not None:
            deciding.append(declaration.time)
        times = [self._of(name) for name in dict.fromkeys(deciding)]
        op = self._known(OP)
        allowed = pa.array(sorted(word.value for word in allowed_ops(declaration)), pa.string())
        whole = ~_true(pc.is_in(op, pa.array([Op.DELETE.value, Op.END.value])))
        malformed = _true(self._known(MALFORMED).is_valid())
        yield Reason.UNREADABLE, malformed & _true(pc.equal(op, FILE))
        yield Reason.MALFORMED, malformed
        yield Reason.UNKNOWN_OP, _true(pc.and_(op.is_valid(), pc.invert(pc.is_in(op, allowed))))
        yield Reason.NULL_TIME, self._any(_true(time.is_null()) for time in times)
        bag = isinstance(declaration, TableDeclaration) and declaration.bag
        keys = (self._of(name) for name in (() if bag else declaration.key))
        yield Reason.NULL_KEY, self._any(_true(key.is_null()) for key in keys)
        required = (self._of(c.name) for c in declaration.schema if not c.nullable)
        yield Reason.MALFORMED, self._any(whole & _true(value.is_null()) for value in required)
        limit = self.frontier.latest_allowed(declaration.not_beyond_us)
        if limit is not None:
            yield Reason.BEYOND, self._any(_true(pc.greater(time, limit)) for time in times)
        lines = self.frontier.progressing
        late = self._any(_true(pc.less_equal(self._of(li.attribute), li.horizon)) for li in lines)
        settling = self.frontier.settling
        if late.any() and settling and all(line.approximate_us for line in settling):
            gone = (
                _true(pc.less_equal(self._of(li.attribute), li.approximated)) for li in settling
            )
            yield Reason.APPROXIMATED, late & ~self._any(gone)
        yield Reason.LATE, late

    def old(self) -> Any:
        """The rows that operators have forgotten."""
        lines = [line for line in self.frontier.progressing if line.horizon < line.forgotten]
        if not lines:
            return None
        old = self._any(_true(pc.less_equal(self._of(li.attribute), li.forgotten)) for li in lines)
        return old if old.any() else None

    def observed(self, arrived: Any) -> Observed:
        """What these rows, of all that arrived, show."""
        lines = self.frontier.progressing
        late = self._any(_true(pc.less_equal(self._of(li.attribute), li.progress)) for li in lines)
        time = self.declaration.time
        oldest = None if time is None else pc.min(self._of(time)).as_py()
        times = tuple(pc.max(self._of(li.attribute)).as_py() for li in self.frontier.lines)
        place = None
        if self.declaration.key:
            offsets = arrived.column(arrival_schema(self.declaration).index(OFFSET))
            place = pc.max(offsets).as_py()
        return Observed(Came(self.rows.num_rows, int(late.sum()), oldest), times, place)

    def texts(self, reason: Reason, places: Any) -> list[str]:
        """What is said of some rows, each as a list in JSON."""
        if not len(places):
            return []
        schema = self.declaration.schema
        chosen = self.rows.take(pa.array(places))
        columns = [chosen.column(i).to_pylist() for i in range(len(schema))]
        ops = self._known(OP).take(pa.array(places)).to_pylist()
        malformed = self._known(MALFORMED).take(pa.array(places)).to_pylist()
        said = []
        for values, op, text in zip(zip(*columns, strict=True), ops, malformed, strict=True):
            told = row_text(schema, values) if text is None else text
            word = Op.INSERT.value if op is None else op
            said.append(UnusedRow(self.declaration.name, reason.value, told, word).json)
        return said

    def _of(self, name: str) -> Any:
        return self.rows.column(self.declaration.schema.position(name)).combine_chunks()

    def _known(self, column: Column) -> Any:
        return self.rows.column(arrival_schema(self.declaration).index(column)).combine_chunks()

    def _any(self, masks: Iterator[Any]) -> Any:
        result = np.zeros(self.rows.num_rows, bool)
        for mask in masks:
            result |= mask
        return result


def _true(column: Any) -> Any:
    return np.asarray(pc.fill_null(column, False))
