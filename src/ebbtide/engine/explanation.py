"""Why a row is in an answer: what it comes from, since when it is said, what was said before.

Law: the inputs are those of ``lineage.why``, on what the program had accepted after the step.  It
is exact or refused: where the rows of a source are not kept, that is said, and nothing is guessed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, tzinfo
from typing import Any

from ebbtide.algebra.identifiers import identifier
from ebbtide.algebra.quarantine import ERRORS
from ebbtide.algebra.relation import ChangingTable, Relation, StaticTable, Stream
from ebbtide.core.change import Change, facts, minus
from ebbtide.core.declaration import Declaration, TableDeclaration
from ebbtide.core.output_name import errors_name
from ebbtide.core.schema import Schema
from ebbtide.core.text import write
from ebbtide.core.time import INF, Instant, format_instant, instant, is_finite, to_datetime
from ebbtide.core.tree import find
from ebbtide.core.types import TimestampType
from ebbtide.core.values import Row
from ebbtide.engine.accepted_input import accepted_input
from ebbtide.errors import QueryError, StateError
from ebbtide.lineage import Cause, Lineage, needed_since, why
from ebbtide.lineage.snapshots import Snapshots
from ebbtide.optimizer import unfailing
from ebbtide.sql.binder import bind
from ebbtide.sql.bound import BoundQuery
from ebbtide.sql.catalog import Catalog, TableEntry
from ebbtide.sql.parser import parse
from ebbtide.store.readers import View
from ebbtide.store.time_travel import grounds

_CLOSE = 1e-9
"""How far a DOUBLE of the answer may be from that of the lineage, relatively."""


@dataclass(frozen=True, slots=True)
class RowExplanation:
    """A row of an answer at an instant, as of a step, and what it comes from.

    ``since`` is the step that said it last, for the ``reason`` of its change.  If that was asked
    for, ``before`` explains what was said until then, and ``changed`` are those of the inputs of
    either that the step accepted or took back.
    """

    view: str
    schema: Schema
    row: Row
    at: Instant
    step: int
    since: int
    reason: str
    lineage: Lineage
    sources: Mapping[str, Declaration]
    before: tuple[RowExplanation, ...] = ()
    changed: tuple[tuple[str, Change], ...] = ()
    zone: tzinfo = UTC

    @property
    def inputs(self) -> list[dict[str, Any]]:
        """The inputs that are named: source, role, validity, copies, and the row by its columns."""
        return [
            {
                "source": cause.source,
                "role": cause.role.value,
                "row": self._by_column(cause),
                "valid_from": _shown(cause.change.valid_from),
                "valid_to": _shown(cause.change.valid_to),
                "copies": cause.change.diff,
            }
            for cause in self.lineage.causes
        ]

    @property
    def absences(self) -> list[str]:
        """What was not there, and had to be so."""
        return [f"no row of {a.relation} met {a.condition}" for a in self.lineage.absences]

    def _by_column(self, cause: Cause) -> dict[str, Any]:
        columns = zip(self.sources[cause.source].row_schema, cause.change.row, strict=True)
        return {
            column.name: _shown(value) if isinstance(column.type, TimestampType) else value
            for column, value in columns
        }

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> Iterator[str]:
        """What is said, line by line."""
        yield f"{_text(self.schema, self.row, self.zone)} of {self.view}"
        yield f"at {format_instant(self.at, self.zone)}, as of step {self.step}"
        yield f"said since step {self.since} ({self.reason})"
        for cause in self.lineage.causes:
            schema = self.sources[cause.source].row_schema
            row = _text(schema, cause.change.row, self.zone)
            times = f" {cause.change.diff} times" if cause.change.diff > 1 else ""
            yield f"  {cause.role.value:8} {cause.source} {row}{times}"
        for absence in self.absences:
            yield f"  absence  {absence}"
        if not self.lineage.causes and not self.lineage.absences:
            yield "  no input: it is there over nothing"
        for source, change in self.changed:
            row = _text(self.sources[source].row_schema, change.row, self.zone)
            yield f"changed by step {self.since}: {'+' if change.diff > 0 else '-'} {source} {row}"
        for version in self.before:
            yield "before that:"
            yield from (f"  {line}" for line in version.lines())


@dataclass(frozen=True, slots=True)
class Question:
    """A question about a row of a view: its plan and key, and where its inputs are.

    ``zone`` is for times that are written without one.
    """

    view: View
    location: str
    plan: Relation
    key: Sequence[str] | None
    zone: tzinfo = UTC

    def answer(
        self,
        asked: Any = None,
        at: Instant | None = None,
        step: int | None = None,
        where: str | None = None,
        before: bool = False,
    ) -> RowExplanation:
        """Why the one row is there that is asked about: by its values, by a condition, or both."""
        last = self.view.last if step is None else step
        now = self.view.now(last)
        moment = now if at is None else at
        if moment > now:
            raise QueryError(
                "after-now",
                f'"{self.view.name}" has come to {format_instant(now, self.zone)}, and '
                f"{format_instant(moment, self.zone)} is later",
                hint="ask about an instant up to then",
            )
        rows = self.view.snapshot(moment, last)
        if where is not None:
            rows = rows_where(self.view, rows, where)
        found = chosen_rows(self.view, rows, asked, self.zone)
        if not found:
            raise self._no_such_row(moment, last)
        return explain_row(self, only(self.view, found, self.zone), moment, last, before)

    def _no_such_row(self, at: Instant, step: int) -> QueryError:
        """The error of whoever asks about a row that is not there; others that fail may be why."""
        view = self.view
        failed = len(View(view.root, errors_name(view.name), ERRORS).snapshot(at, step))
        detail = (
            f"expressions fail on {failed} row{'s' * (failed > 1)} then, which it leaves out with "
            "the groups that they are in"
        )
        hint = "snapshot(at=...) shows the rows of an instant"
        return QueryError(
            "no-such-row",
            f'"{view.name}" has no such row then',
            detail=detail if failed else None,
            hint=f"{hint}, errors(at=...) those that it leaves out" if failed else hint,
        )


def explain_row(
    question: Question, row: Row, at: Instant, step: int, before: bool = False
) -> RowExplanation:
    """Why a row of a view is there at an instant, as of a step."""
    view, plan = question.view, unfailing(question.plan)
    sources = {declaration.name: declaration for declaration in declarations_of(plan)}
    inputs = _inputs(question, sources, step, at)
    now = view.now(step)
    there = Snapshots.of(plan, inputs, now).rows(plan, at)
    exact = next((other for other in there if _is_close(other, row)), None)
    if exact is None:
        raise StateError(
            "other-input",
            f'the rows that "{view.name}" has accepted do not give the row that it says',
            detail=_text(view.schema, row, question.zone),
            hint="ebbtide verify looks for what is damaged in the location",
        )
    lineage = why(plan, inputs, exact, at, now)
    since, reason = _since(view, row, at, step)
    earlier: tuple[RowExplanation, ...] = ()
    changed: tuple[tuple[str, Change], ...] = ()
    if before and since > 0:
        replaced = _replaced(view, row, at, since, question.key)
        earlier = tuple(explain_row(question, other, at, since - 1) for other in replaced)
        named = [lineage, *(e.lineage for e in earlier)]
        changed = _changed(question, sources, since, at, named)
    return RowExplanation(
        view=view.name,
        schema=view.schema,
        row=row,
        at=at,
        step=step,
        since=since,
        reason=reason,
        lineage=lineage,
        sources=sources,
        before=earlier,
        changed=changed,
        zone=question.zone,
    )


def _inputs(
    question: Question, sources: Mapping[str, Declaration], step: int, at: Instant
) -> Mapping[str, tuple[Change, ...]]:
    """What was accepted of the sources after a step; refused where it is not kept."""
    view = question.view
    since = needed_since(question.plan, at)
    accepted = accepted_input(question.location, view.root, sources.values(), step, since)
    for name, reason in accepted.missing.items():
        raise StateError(
            "input-not-kept",
            f'why a row is in "{view.name}" cannot be said: the rows of "{name}" are not kept',
            detail=reason,
            hint="CREATE STREAM ... ARCHIVE 30 DAYS keeps them from the first start on",
        )
    return accepted.changes


def declarations_of(plan: Relation) -> list[Declaration]:
    """The sources of a plan, each once."""
    nodes: list[Stream | StaticTable | ChangingTable] = [
        *find(plan, Stream),
        *find(plan, StaticTable),
        *find(plan, ChangingTable),
    ]
    return list({node.declaration.name: node.declaration for node in nodes}.values())


def _is_close(one: Row, other: Row) -> bool:
    """Whether two rows are the same, DOUBLEs but for the last bits; finality counts for nothing."""
    return all(
        a == b
        or a is b
        or (isinstance(a, float) and isinstance(b, float) and math.isclose(a, b, rel_tol=_CLOSE))
        for a, b in zip(one, other[: len(one)], strict=True)
    )


def _since(view: View, row: Row, at: Instant, step: int) -> tuple[int, str]:
    """The last step up to one that said a row of an instant, and why."""
    known = grounds(view)
    said = [
        (number, change)
        for number, change in view.changes()
        if number <= step and change.diff > 0 and change.row == row and _holds(change, at)
    ]
    if not said:
        return step, "input"
    number, change = said[-1]
    ground = known.get(number)
    if ground is None:
        return number, "summed up"
    return number, "revision" if ground.revises(change) else ground.otherwise(change)


def _changed(
    question: Question,
    sources: Mapping[str, Declaration],
    step: int,
    at: Instant,
    named: Sequence[Lineage],
) -> tuple[tuple[str, Change], ...]:
    """What a step accepted or took back of the rows that are named."""
    known = {(cause.source, cause.change.row) for lineage in named for cause in lineage.causes}
    before, after = (_inputs(question, sources, s, at) for s in (step - 1, step))
    return tuple(
        (name, change)
        for name in sources
        for change in minus(after[name], before[name])
        if (name, change.row) in known
    )


def _shown(t: Any) -> Any:
    """An instant as a time in UTC; the ends of the line have none."""
    return to_datetime(t) if t is not None and is_finite(t) else None


def _holds(change: Change, at: Instant) -> bool:
    return change.valid_from <= at < change.valid_to


def _replaced(
    view: View, row: Row, at: Instant, since: int, key: Sequence[str] | None
) -> list[Row]:
    """What was said in the place of a row before the step that said it: of the same key, or what
    that step took back."""
    before = view.snapshot(at, since - 1)
    if key is not None:
        places = [view.schema.position(name) for name in key]
        return [o for o in before if o != row and all(o[i] == row[i] for i in places)]
    taken = [
        change.row
        for number, change in view.changes()
        if number == since and change.diff < 0 and _holds(change, at)
    ]
    return [other for other in dict.fromkeys(before) if other in taken and other != row]


def rows_where(view: View, rows: Sequence[Row], condition: str) -> list[Row]:
    """The rows of an answer for which a condition, as SQL, holds."""
    declaration = TableDeclaration(view.name, view.schema.qualified(None))
    catalog = Catalog((TableEntry(declaration),))
    statement = f"SELECT * FROM {identifier(view.name)} WHERE {condition}"
    bound = bind(parse(statement)[0], catalog)
    assert isinstance(bound, BoundQuery)
    found = Snapshots({view.name: facts(dict.fromkeys(rows))}, INF).rows(bound.plan, 0)
    return [row for row in dict.fromkeys(rows) if row in found]


def chosen_rows(view: View, rows: Sequence[Row], asked: Any, zone: tzinfo) -> list[Row]:
    """The rows of an answer that are asked about: a row, or columns with their values."""
    if isinstance(asked, Mapping):
        wanted = {view.schema.position(name): value for name, value in asked.items()}
    elif asked is None:
        wanted = {}
    elif isinstance(asked, list | tuple) and len(asked) == len(view.schema):
        wanted = dict(enumerate(asked))
    else:
        raise QueryError(
            "wrong-type",
            f"a row cannot be {asked!r}",
            hint=f"why({{{view.schema.names[0]!r}: ...}}), or a tuple of all columns",
        )
    told = {i: _value(view.schema, i, value, zone) for i, value in wanted.items()}
    return list({row: None for row in rows if all(_same(row[i], v) for i, v in told.items())})


def only(view: View, rows: Sequence[Row], zone: tzinfo) -> Row:
    """The only row; several are refused."""
    if len(rows) > 1:
        raise QueryError(
            "several-rows",
            f'"{view.name}" has {len(rows)} such rows then',
            detail="; ".join(_text(view.schema, row, zone) for row in rows[:3]),
            hint="name more columns, so that it is one",
        )
    return rows[0]


def _value(schema: Schema, place: int, value: Any, zone: tzinfo) -> Any:
    timed = isinstance(schema[place].type, TimestampType)
    return instant(value, zone) if timed and value is not None else value


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, int | float):
        return math.isclose(one, other, rel_tol=_CLOSE)
    return bool(one == other)


def _text(schema: Schema, row: Row, zone: tzinfo) -> str:
    cells = (
        f"{column.name}={'NULL' if value is None else write(value, column.type, zone)}"
        for column, value in zip(schema, row, strict=False)
    )
    return f"({', '.join(cells)})"
