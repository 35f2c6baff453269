"""What a statement has become once its names and types are known.

BoundQuery      a plan, and how its answer is emitted
BoundInsert     a plan that feeds a stream or a table
BoundExplain    a query to be explained
BoundShow       names from the catalog
Declared        another catalog
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from ebbtide.algebra.emission import answer_schema
from ebbtide.algebra.kind import Kind
from ebbtide.algebra.quarantine import OnError
from ebbtide.algebra.relation import Relation
from ebbtide.core.codec.encoding import AS_EMITTED, OutputForm
from ebbtide.core.declaration import Declaration
from ebbtide.core.expiry import BY_INTERVAL, Expiry
from ebbtide.core.schema import Schema
from ebbtide.plan_text.output_sql import output_sql
from ebbtide.plan_text.plan_sql import plan_sql
from ebbtide.sql.catalog import Catalog
from ebbtide.sql.operator_spans import Written
from ebbtide.sql.syntax import NOTHING_SAID, AnswerOptions, Emit

__all__ = ["Bound", "BoundExplain", "BoundInsert", "BoundQuery", "BoundShow", "Declared"]


@dataclass(frozen=True, slots=True)
class BoundQuery:
    """A query: its plan, what it emits, whether unbounded state is allowed, what becomes of rows on
    which it fails, how its changes are written for sinks that do not say it themselves, how its
    rows expire, its places, how its answer would be given if it did not say so itself, and whether
    the lineage of its rows is kept."""

    plan: Relation
    emit: Emit = Emit.CHANGES
    allow_unbounded: bool = False
    kind: Kind = Kind.STATIC
    on_error: OnError = OnError.QUARANTINE
    output: OutputForm = AS_EMITTED
    expiry: Expiry = BY_INTERVAL
    written: Written = field(default_factory=Written, compare=False, repr=False)
    of_views: AnswerOptions = NOTHING_SAID
    lineage: bool = False

    @property
    def schema(self) -> Schema:
        """The columns of the answer."""
        return answer_schema(self.plan.schema, self.emit)

    @property
    def sql(self) -> str:
        """The query as SQL again."""
        return f"{self._emitted}{output_sql(self.output, self.expiry, self.lineage)}"

    @property
    def asked(self) -> str:
        """The same without how its changes are written, which alters no answer."""
        return f"{self._emitted}{output_sql(AS_EMITTED, self.expiry, self.lineage)}"

    @property
    def _emitted(self) -> str:
        changes = self.emit is Emit.CHANGES and self.of_views.emit in (None, self.emit)
        emit = "" if changes else f" EMIT {self.emit.value}"
        allow = " ALLOW UNBOUNDED STATE" if self.allow_unbounded else ""
        kept = self.on_error is OnError.QUARANTINE and self.of_views.on_error is not OnError.FAIL
        fails = "" if kept else f" ON ERROR {self.on_error.value}"
        return f"{plan_sql(self.plan)}{emit}{allow}{fails}"


@dataclass(frozen=True, slots=True)
class BoundInsert:
    """A query whose answer feeds a stream or a table; its columns are named as those are."""

    target: Declaration
    query: BoundQuery


@dataclass(frozen=True, slots=True)
class BoundExplain:
    """A query to be explained: as text, with all that is proved, or as JSON."""

    query: BoundQuery
    json: bool = False
    verbose: bool = False


@dataclass(frozen=True, slots=True)
class BoundShow:
    """The names of one kind, in the order of declaration; of queries, the engine knows them."""

    kind: str
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Declared:
    """The catalog after CREATE or DROP; a view that says how its answer is given, as a query."""

    catalog: Catalog
    view: BoundQuery | None = None


Bound: TypeAlias = BoundQuery | BoundInsert | BoundExplain | BoundShow | Declared
