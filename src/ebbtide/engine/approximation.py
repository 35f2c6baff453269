"""Approximations: what a view would say if rows that came too late had counted.

Law: nothing of the answer changes.  The inputs are the summaries that archives have in the place
of all rows, and the rows that are unused because of them (reason ``approximated``), each of which
counts once and for itself; where a source is archived whole, or was fed by hand, all its rows.
What an archive has left behind is refused, and not guessed (paper 3, section 4.3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, tzinfo
from typing import Any

from ebbtide.algebra.relation import Relation
from ebbtide.compile.physical import archive_name
from ebbtide.core.admission import Op, Reason
from ebbtide.core.declaration import Declaration, Histogram, RowSample, StreamDeclaration
from ebbtide.core.row_text import read_row
from ebbtide.core.schema import Column, Schema
from ebbtide.core.time import Instant, format_instant
from ebbtide.core.types import DOUBLE
from ebbtide.core.values import Row, row_key
from ebbtide.engine.accepted_input import accepted_input, kept_records, reaches
from ebbtide.engine.estimation import Estimate, Weighed, estimates
from ebbtide.engine.explanation import declarations_of
from ebbtide.errors import QueryError, StateError
from ebbtide.lineage import Needed, needed_since
from ebbtide.store.input_archive import WeighedRow, summarised_input
from ebbtide.store.journal import Journal
from ebbtide.store.readers import View, unused

LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class Approximation:
    """What a view would say: its columns, those of intervals behind them, and the rows."""

    schema: Schema
    rows: list[Row]


@dataclass(frozen=True, slots=True)
class Approximating:
    """A view whose inputs are summarised: its plan, and where its program is."""

    view: View
    location: str
    plan: Relation
    zone: tzinfo = UTC

    def answer(self, at: Instant | None = None, level: float = LEVEL) -> Approximation:
        """What the view would say of an instant, or of now."""
        if not 0 < level < 1:
            raise QueryError(
                "wrong-type",
                f"the level cannot be {level!r}: it is a probability",
                hint="level=0.95",
            )
        now = self.view.now()
        moment = now if at is None else at
        if moment > now:
            raise QueryError(
                "after-now",
                f'"{self.view.name}" has come to {format_instant(now, self.zone)}, and '
                f"{format_instant(moment, self.zone)} is later",
                hint="ask about an instant up to then",
            )
        inputs = self._inputs(moment)
        places, found = estimates(self.plan, inputs, moment, now, level)
        schema = with_intervals(self.view.schema, places)
        return Approximation(schema, sorted(map(_flat, found), key=row_key))

    def _inputs(self, at: Instant) -> Weighed:
        since = needed_since(self.plan, at)
        sources = declarations_of(self.plan)
        summarised = {d.name: d for d in sources if _is_summarised(d)}
        if not summarised:
            raise QueryError(
                "not-approximated",
                f'"{self.view.name}" reads no stream whose archive is approximate',
                hint="CREATE STREAM ... ARCHIVE 30 DAYS SAMPLE 10 PERCENT; snapshot() is exact",
            )
        others = [d for d in sources if d.name not in summarised]
        root = self.view.root
        exact = accepted_input(self.location, root, others, self.view.last, since)
        for name, reason in exact.missing.items():
            raise self._not_kept(name, reason)
        found = {
            name: self._summary(declaration, since.get(name))
            for name, declaration in summarised.items()
            if isinstance(declaration, StreamDeclaration)
        }
        sampled = frozenset(
            name
            for name, declaration in summarised.items()
            if isinstance(declaration, StreamDeclaration)
            and isinstance(declaration.summary, RowSample)
        )
        return Weighed(found, exact.changes, sampled)

    def _summary(self, declaration: StreamDeclaration, needed: Needed) -> list[WeighedRow]:
        root, name = self.view.root, archive_name(declaration.name)
        latest = Journal(root).latest()
        found = None
        if latest is not None:
            found = summarised_input(root, latest, declaration, name, needed)
        if found is None:
            raise self._not_kept(declaration.name, "nothing of it has been archived yet")
        if not reaches(found.floors, needed, declaration, kept_records(root)):
            raise self._not_kept(
                declaration.name, "rows have left its archive on which the answer may depend"
            )
        return corrected(declaration, found.rows, _approximated(root, declaration))

    def _not_kept(self, source: str, reason: str) -> StateError:
        return StateError(
            "input-not-kept",
            f'"{self.view.name}" cannot be approximated: the rows of "{source}" are not kept',
            detail=reason,
            hint="ask about a later instant, or archive more: ARCHIVE 30 DAYS SAMPLE 10 PERCENT",
        )


def _is_summarised(declaration: Declaration) -> bool:
    return isinstance(declaration, StreamDeclaration) and declaration.summary is not None


def _approximated(root: str, declaration: StreamDeclaration) -> list[tuple[Op, Row]]:
    """The rows that came too late, in the order of their steps, as far as there is one."""
    found = []
    for told, _ in unused(root, declaration.name):
        if told.reason == Reason.APPROXIMATED.value:
            given = read_row(declaration.schema, told.row)
            places = (declaration.schema.position(c.name) for c in declaration.row_schema)
            found.append((Op(told.op), tuple(given[place] for place in places)))
    return found


def corrected(
    declaration: StreamDeclaration,
    rows: Sequence[WeighedRow],
    corrections: Sequence[tuple[Op, Row]],
) -> list[WeighedRow]:
    """A summary with rows that came too late: each counts once, for itself.

    Deletes and replacements take what the summary has of their key; in a histogram, where nobody
    knows what it was, a row from the middle of those that it may have been.
    """
    keys = [declaration.row_schema.position(name) for name in declaration.key]
    result = list(rows)
    by_key: dict[Row, WeighedRow] = {}
    if not isinstance(declaration.summary, Histogram):
        by_key = {tuple(each.row[i] for i in keys): each for each in rows} if keys else {}
    for op, row in corrections:
        key = tuple(row[i] for i in keys)
        known = by_key.pop(key, None)
        if op is Op.INSERT and known is not None:
            by_key[key] = known
            continue
        if known is not None:
            result.remove(known)
        elif op is not Op.INSERT:
            result = _without_one(declaration, result, row)
        if op.carries_row:
            added = WeighedRow(row, 1, 1)
            result.append(added)
            if keys:
                by_key[key] = added
    return result


def _without_one(
    declaration: StreamDeclaration, rows: list[WeighedRow], row: Row
) -> list[WeighedRow]:
    """A histogram with a row less in the bins of a key; a sample did not have the row."""
    summary, schema = declaration.summary, declaration.row_schema
    if not isinstance(summary, Histogram):
        return rows
    every = summary.every_us
    times = {schema.position(promise.attribute) for promise in declaration.promises}
    measures = [schema.position(name) for name in summary.of]
    key = [schema.position(name) for name in declaration.key]

    def at(place: int) -> Any:
        return row[place] // every * every + every // 2 if place in times else row[place]

    bins = [each for each in rows if all(each.row[i] == at(i) for i in key) and each.copies]
    if not bins:
        return rows
    bins.sort(key=lambda each: row_key(tuple(each.row[i] for i in measures)))
    middle, before = sum(each.copies for each in bins) // 2, 0
    for each in bins:
        before += each.copies
        if before > middle:
            chosen = each
            break
    place = rows.index(chosen)
    less = [replace(chosen, copies=chosen.copies - 1)] if chosen.copies > 1 else []
    return [*rows[:place], *less, *rows[place + 1 :]]


def with_intervals(schema: Schema, places: Sequence[int]) -> Schema:
    """The columns of an answer, and two for each that has an interval."""
    names = {name.casefold() for name in schema.names}
    columns = list(schema.columns)
    for place in places:
        for end in ("low", "high"):
            name = f"{schema[place].name}_{end}"
            while name.casefold() in names:
                name += "_"
            names.add(name.casefold())
            columns.append(Column(name, DOUBLE))
    return Schema(tuple(columns))


def _flat(estimate: Estimate) -> Row:
    ends = ((None, None) if each is None else each for each in estimate.intervals)
    return (*estimate.row, *(end for pair in ends for end in pair))


__all__ = ["LEVEL", "Approximating", "Approximation", "corrected"]
