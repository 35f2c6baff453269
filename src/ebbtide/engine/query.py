"""A query as a value that can be explained, started and read."""

from __future__ import annotations

from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ebbtide.algebra.relation import Relation
from ebbtide.analysis import Analysis, Verdict, check, explain
from ebbtide.analysis.monotonicity import Monotonicity
from ebbtide.core.schema import Schema
from ebbtide.core.time import instant
from ebbtide.errors import Span
from ebbtide.optimizer import optimise, written
from ebbtide.plan_text.plan_tree import plan_tree
from ebbtide.sql.bound import BoundQuery

if TYPE_CHECKING:
    from ebbtide.engine.engine import Engine
    from ebbtide.program.run import Run
    from ebbtide.store.readers import View


class Query:
    """A query of an engine: parsed, bound and analysed; nothing of it runs until it is started."""

    def __init__(self, engine: Engine, name: str, text: str, bound: BoundQuery) -> None:
        self.engine = engine
        self.name = name
        self.text = text
        self.bound = bound

    def __repr__(self) -> str:
        return f"Query({self.name!r}, {self.sql!r})"

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
        plan = optimise(bound.plan)

        def place(node: Relation) -> Span | None:
            return bound.written.span(written(bound.plan, plan, node))

        return check(plan, bound.emit, bound.allow_unbounded, place)

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

    def explain(self, json: bool = False) -> str:
        """The verdict, and what is proved about every operator, as text or as JSON."""
        explanation = explain(optimise(self.bound.plan), self.bound.emit)
        return explanation.json if json else explanation.text

    def start(self, **options: Any) -> Run:
        """Starts the query as a program of its own, or goes on where it stopped."""
        return self.engine.start(self, **options)

    @property
    def view(self) -> View:
        """What the query has left in the directory of its program."""
        from ebbtide.store.readers import View

        emit = self.bound.emit
        return View(self.engine.root_of(self.name), self.name, self.schema, emit.needs_finality)

    def snapshot(self, at: int | str | datetime | None = None, step: int | None = None) -> Any:
        """The rows that are valid at an instant, or now: as said after a step, or the last one."""
        moment = None if at is None else instant(at, self.engine.zone)
        return self.engine.host.snapshot(self.view, moment, step)

    def changes(self, since: int | None = None) -> Any:
        """The changes so far, or those of the steps after ``since``."""
        return self.engine.host.changes(self.view, since)
