"""A query as a value that can be explained, started and read."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ebbtide.algebra.kind import Kind, kind
from ebbtide.algebra.quarantine import ERRORS, SHOWN_ERRORS
from ebbtide.algebra.relation import Relation
from ebbtide.analysis import Analysis, Verdict, check
from ebbtide.analysis.monotonicity import Monotonicity
from ebbtide.core.attribute_names import SpeltAsInPython
from ebbtide.core.declaration import Declaration
from ebbtide.core.html import facts_html
from ebbtide.core.output_name import errors_name
from ebbtide.core.schema import Schema
from ebbtide.core.time import Instant, instant, is_finite
from ebbtide.engine.arguments import rates_of, typed
from ebbtide.engine.building import check_built, explained_built
from ebbtide.engine.measured import measured_rates
from ebbtide.errors import QueryError, Span, TemporalError
from ebbtide.optimizer import guarded, optimise, skipped, written
from ebbtide.plan_text.plan_tree import plan_tree
from ebbtide.sql.bound import BoundQuery

if TYPE_CHECKING:
    from ebbtide.engine.engine import Engine
    from ebbtide.engine.explanation import RowExplanation
    from ebbtide.program.run import Run
    from ebbtide.store.readers import View


class Query(SpeltAsInPython):
    """A query of an engine: parsed, bound and analysed; nothing of it runs until it is started."""

    def __init__(
        self, engine: Engine, name: str, text: str, bound: BoundQuery, replaces: bool = False
    ) -> None:
        self.engine = engine
        self.name = name
        self.text = text
        self.bound = bound
        self.replaces = replaces

    def __repr__(self) -> str:
        return f"Query({self.name!r}, {' '.join(self.text.split())!r})"

    def _repr_html_(self) -> str:
        return facts_html(
            f"Query {self.name}",
            [
                ("SQL", self.sql),
                ("columns", self.schema),
                ("final", self.verdict.finality),
                ("state", self.verdict.state),
            ],
        )

    @property
    def sql(self) -> str:
        """The query as SQL again, from its plan."""
        return self.bound.sql

    @property
    def tree(self) -> str:
        """The plan as a tree, a line per operator."""
        return plan_tree(self.bound.plan)

    @property
    def schema(self) -> Schema:
        """The columns of the answer."""
        return self.bound.schema

    @cached_property
    def analysis(self) -> Analysis:
        """What is proved about the query; one that may not run is refused."""
        bound = self.bound
        plan = optimise(bound.plan, bound.on_error)
        runs = guarded(plan, bound.on_error)

        def place(node: Relation) -> Span | None:
            return bound.written.span(written(bound.plan, plan, runs.origin(node)))

        allowed, watched = bound.allow_unbounded, runs.watched
        try:
            analysis = check(runs.plan, bound.emit, allowed, place, watched, bound.expiry)
        except TemporalError as error:
            raise self._of_view(error) from None
        if bound.lineage:
            from ebbtide.engine.lineage_archive import lineage_analysis

            analysis = replace(analysis, lineage=lineage_analysis(bound))
        check_built(self.name, analysis)
        return analysis

    def _of_view(self, error: TemporalError) -> TemporalError:
        """An error about what a view asks for says how to ask for less."""
        if error.code != "never-final" or self.bound.of_views.emit is not self.bound.emit:
            return error
        hint = f"write EMIT CHANGES, or {error.hint}" if error.hint else "write EMIT CHANGES"
        detail = f"a view that it reads has EMIT {self.bound.emit.value}; {error.detail}"
        return TemporalError(error.code, error.message, detail=detail, hint=hint, span=error.span)

    @property
    def key(self) -> tuple[str, ...] | None:
        """The columns that tell the rows of every snapshot apart, the fewest of them."""
        return self.analysis.key

    @property
    def verdict(self) -> Verdict:
        """When answers are final, and how much state they need."""
        return self.analysis.verdict

    @property
    def monotonicity(self) -> Monotonicity:
        """How rows leave the answer, and why."""
        return self.analysis.monotonicity

    def explain(
        self,
        json: bool = False,
        *,
        verbose: bool = False,
        rates: Mapping[str, float] | None = None,
    ) -> str:
        """How fresh and how final the answer is, and how much is kept for it.

        With ``rates``, rows a second by source, in rows and bytes; once the query has run, with
        those that it has seen.  ``verbose`` adds what is proved about every operator; ``json`` is
        all of it for programs.
        """
        rates = self._measured() if rates is None else rates_of(rates)
        irrelevant = skipped(self.bound.plan, self.bound.on_error)
        explanation = explained_built(self.analysis, rates, irrelevant)
        if json:
            return explanation.json
        return explanation.verbose if verbose else explanation.text

    def _measured(self) -> dict[str, float]:
        """The rates that the query has seen; none before it has run."""
        there = os.path.isdir(self.engine.location)
        return measured_rates(self.engine.root_of(self.name)) if there else {}

    def start(self, **options: Any) -> Run:
        """Starts the query as a program of its own, or goes on where it stopped."""
        return self.engine.start(self, **options)

    @property
    def view(self) -> View:
        """What the query has left in the directory of its program."""
        from ebbtide.store.readers import View

        emit = self.bound.emit
        return View(self.engine.root_of(self.name), self.name, self.schema, emit.needs_finality)

    def snapshot(
        self,
        at: int | str | datetime | None = None,
        as_of: int | str | datetime | None = None,
        *,
        strict: bool = False,
    ) -> Any:
        """The rows that are valid at an instant, or now: as said after the last step, or as of an
        earlier one, which is a number, or a time for the last step that was taken by then.

        Of a run that has failed they are those of its last good step: there is a warning, or with
        ``strict`` an error.  With ``strict`` it is also an error if rows were left out at that
        instant because an expression fails on them.
        """
        self.engine.check_run(self.name, strict)
        moment = None if at is None else instant(at, self.engine.zone)
        step = self._step(as_of)
        if strict:
            self.check_errors(moment, step)
        return self.engine.host.snapshot(self.view, moment, step)

    def to_pandas(
        self,
        at: int | str | datetime | None = None,
        as_of: int | str | datetime | None = None,
        *,
        strict: bool = False,
    ) -> Any:
        """The same rows as ``snapshot``, in order, as a DataFrame of pandas; no job of Spark's."""
        from ebbtide.local.host import rows_table

        self.engine.check_run(self.name, strict)
        moment = None if at is None else instant(at, self.engine.zone)
        step = self._step(as_of)
        if strict:
            self.check_errors(moment, step)
        view = self.view
        return rows_table(view.schema, view.snapshot(moment, step)).to_pandas()

    def files(self) -> list[str]:
        """The paths of Parquet files that together have the rows of now, after the last step.

        They are written if that step has none yet, by this process, whoever runs the query; they
        never change, and stay for ten minutes after they were last asked for.
        """
        from ebbtide.store.answer_files import files

        self.engine.check_run(self.name, strict=False)
        return files(self.view)

    @property
    def live_file(self) -> str:
        """Where a run that was started with ``live=True`` keeps the rows of now, as Parquet.

        Open it once, and read the open file: a step may replace it at any time.
        """
        from ebbtide.store.answer_files import live_path

        return live_path(self.view)

    def errors(
        self,
        at: int | str | datetime | None = None,
        as_of: int | str | datetime | None = None,
    ) -> Any:
        """The rows that the query left out because an expression fails on them, at an instant.

        Each has the operator, the first of its expressions that fails, the row as JSON, the error,
        and from when to when that is so.  Under ON ERROR FAIL there are none: the step fails.
        """
        self.engine.check_run(self.name, strict=False)
        moment = None if at is None else instant(at, self.engine.zone)
        found = self.left_out.valid(moment, self._step(as_of))
        rows = [(*c.row, _time(c.valid_from), _time(c.valid_to)) for c in found]
        copies = [row for row, c in zip(rows, found, strict=True) for _ in range(c.diff)]
        return self.engine.host.rows(SHOWN_ERRORS, copies)

    def check_errors(self, moment: int | None, step: int | None) -> None:
        """Refuses an answer from which rows were left out."""
        found = self.left_out.snapshot(moment, step)
        if found:
            operator, expression, row, error = found[0]
            raise QueryError(
                "rows-left-out",
                f'"{self.name}" has left out {len(found)} row{"s" * (len(found) > 1)} on which '
                "expressions fail",
                detail=f"the first is {row}, on which the {operator} fails: {expression}: {error}",
                hint="errors() of the query has them; without strict the others are the answer",
            )

    @property
    def left_out(self) -> View:
        """What the query has left out, in the directory of its program."""
        from ebbtide.store.readers import View

        return View(self.engine.root_of(self.name), errors_name(self.name), ERRORS)

    def lineage(
        self,
        at: int | str | datetime | None = None,
        as_of: int | str | datetime | None = None,
    ) -> Any:
        """The rows of ``snapshot``, each with the first and the last time of the rows of every
        stream that it is made of; NULL where there are none.

        It is stored for queries that ask for it: ``WITH (lineage = TRUE)``.
        """
        from ebbtide.engine.lineage_archive import lineage_view

        self.engine.check_run(self.name, strict=False)
        moment = None if at is None else instant(at, self.engine.zone)
        view = lineage_view(self.engine.root_of(self.name), self.name, self.bound)
        return self.engine.host.snapshot(view, moment, self._step(as_of))

    def changes(self, since: int | None = None) -> Any:
        """The changes so far, or those of the steps after ``since``, each with its reason."""
        from ebbtide.store.time_travel import check_since

        if since is not None:
            typed("since", since, int, "changes(since=0)")
        self.engine.check_run(self.name, strict=False)
        view = self.view
        return self.engine.host.changes(view, check_since(view, since))

    def diff(
        self,
        a: int | str | datetime,
        b: int | str | datetime | None = None,
        *,
        later: bool = False,
    ) -> Any:
        """What is said as of ``b``, or now, and was not said as of ``a``: +1, and -1 turned around.

        It is about the instants up to ``now`` as of ``a``: what has been corrected since.  With
        ``later`` it has also what was said of instants after that.
        """
        from ebbtide.local.host import changes_table
        from ebbtide.store.time_travel import diff

        self.engine.check_run(self.name, strict=False)
        view = self.view
        first, last = (self._step(moment) for moment in (a, b))
        if first is None:
            raise QueryError(
                "wrong-type",
                "diff needs a step or a time to begin with",
                hint="diff(0), or diff('2026-01-01 00:00:00')",
            )
        is_fact = kind(self.bound.plan) is Kind.FACT
        found = diff(view, first, view.last if last is None else last, later or is_fact)
        return self.engine.host.shown(changes_table(view.schema, found))

    def why(
        self,
        row: Any = None,
        at: int | str | datetime | None = None,
        as_of: int | str | datetime | None = None,
        *,
        where: str | None = None,
        before: bool = False,
    ) -> RowExplanation:
        """The inputs that a row of the answer comes from, through every operator.

        ``row`` is a tuple of all columns, or a dictionary of some; ``where`` is a condition as SQL.
        With ``before`` it is also said what was there until that row was said, and why.
        """
        from ebbtide.engine.explanation import Question

        self.engine.check_run(self.name, strict=False)
        moment = None if at is None else instant(at, self.engine.zone)
        question = Question(
            self.view, self.engine.location, self.bound.plan, self.key, self.engine.zone
        )
        return question.answer(row, moment, self._step(as_of), where, before)

    def replay(
        self,
        changes: Sequence[tuple[Any, ...]],
        between: tuple[Any, Any] | None = None,
    ) -> Any:
        """The difference that corrections would make to the answer, if they came now; nothing
        comes, and the query goes on as it is.

        Each of the ``changes`` is the name of a source and a row, and then what it does, if that is
        no insert: ``("bids", row)``, ``("bids", row, "delete")``.  What lies outside of ``between``
        two instants is left out.
        """
        from ebbtide.engine.what_if import WhatIf, clipped, corrections, span_of
        from ebbtide.local.host import changes_table

        zone = self.engine.zone
        start, end = span_of(between, zone)
        rows = corrections(map(self._correction, changes), zone)
        found = WhatIf(self.engine.location, self.view, rows).difference()
        return self.engine.host.shown(changes_table(self.view.schema, clipped(found, start, end)))

    def approximate(self, at: int | str | datetime | None = None, *, level: float = 0.95) -> Any:
        """What the answer at an instant, or now, would be if rows that came too late had counted,
        estimated from the approximate archives of its streams; the answer stays as it is.

        Sums, counts and means of a sample have two more columns, between which the value over all
        rows lies with the probability ``level``; NULL if fewer than 30 rows were sampled.
        """
        from ebbtide.engine.approximation import Approximating
        from ebbtide.local.host import rows_table

        self.engine.check_run(self.name, strict=False)
        zone = self.engine.zone
        moment = None if at is None else instant(at, zone)
        asked = Approximating(self.view, self.engine.location, self.bound.plan, zone)
        found = asked.answer(moment, level)
        return self.engine.host.shown(rows_table(found.schema, found.rows))

    def _correction(self, change: Any) -> tuple[Declaration, Any, str | None]:
        if not isinstance(change, tuple) or len(change) not in (2, 3):
            raise QueryError(
                "wrong-type",
                f"a change cannot be {change!r}: it is not a source, a row and what it does",
                hint='replay([("bids", (1, 2.0, "2026-01-01 00:00:00"), "insert")])',
            )
        source, row, *op = change
        example = 'replay([("bids", row)])'
        entry = self.engine.definitions.source(typed("source", source, str, example))
        return entry.declaration, row, op[0] if op else None

    def _step(self, as_of: int | str | datetime | None) -> int | None:
        """The step that a number or a time stands for."""
        from ebbtide.store.time_travel import step_at, step_named

        if as_of is None:
            return None
        if isinstance(as_of, int) and not isinstance(as_of, bool):
            return step_named(self.view, as_of)
        return step_at(self.view, instant(as_of, self.engine.zone))


def _time(end: Instant) -> Instant | None:
    """An end of an interval as a value; the ends of the line have none."""
    return end if is_finite(end) else None
