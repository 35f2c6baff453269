"""The statements of the language, as values.

A statement is a frozen dataclass; what it holds of queries and expressions are nodes of sqlglot
(see the package's docstring).  Two statements are equal if they say the same; where they stood in
the text is in their spans, which do not count.

    Statement = CreateStream | CreateTable | CreateView | InsertInto | Query
              | Explain | Show | Drop

Nothing here knows whether a name exists or a type fits.
"""

from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from sqlglot import exp

from ebbtide.algebra.emission import Emit
from ebbtide.algebra.quarantine import OnError
from ebbtide.core.codec.encoding import OutputForm
from ebbtide.core.declaration import Late, Way
from ebbtide.core.expiry import Expiry
from ebbtide.core.types import Type
from ebbtide.errors import Span

__all__ = [
    "NOTHING_SAID",
    "AnswerOptions",
    "ColumnDefinition",
    "CreateStream",
    "CreateTable",
    "CreateView",
    "Drop",
    "Emit",
    "EntryKind",
    "Explain",
    "FilesClause",
    "InsertInto",
    "Name",
    "Period",
    "Progress",
    "Query",
    "Show",
    "Statement",
]


@dataclass(frozen=True, slots=True)
class Name:
    """A name as it was written, without its quotes."""

    text: str
    span: Span = field(compare=False, repr=False)

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Period:
    """A fixed length of time."""

    us: int
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ColumnDefinition:
    """A column of a declared stream or table."""

    name: Name
    type: Type
    nullable: bool
    comment: str | None
    span: Span = field(compare=False, repr=False)
    arrival: bool = False


@dataclass(frozen=True, slots=True)
class Progress:
    """PROGRESS FOR attribute AS attribute - delay."""

    attribute: Name
    delay_us: int
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class FilesClause:
    """FROM FILES 'path' FORMAT format OPTIONS (key 'value', ...); the format in lower case."""

    path: str
    format: Name
    options: tuple[tuple[str, str], ...]
    span: Span = field(compare=False, repr=False)


class EntryKind(Enum):
    """What the catalog holds."""

    STREAM = "STREAM"
    TABLE = "TABLE"
    VIEW = "VIEW"
    QUERY = "QUERY"


@dataclass(frozen=True, slots=True)
class SampleClause:
    """SAMPLE 10 PERCENT, with BY IMPACT, perhaps OF a column, and with SEED."""

    per_million: int
    by_impact: bool
    impact: Name | None
    seed: int
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class HistogramClause:
    """AS HISTOGRAM, perhaps OF columns, and EVERY so long."""

    of: tuple[Name, ...]
    every: Period | None
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ArchiveClause:
    """ARCHIVE 30 DAYS, and what is archived in the place of all rows."""

    length: Period
    summary: SampleClause | HistogramClause | None = None


@dataclass(frozen=True, slots=True)
class AnswerOptions:
    """What a query or a view says of how its answer is given; None leaves it open."""

    emit: Emit | None = None
    allow_unbounded_state: bool = False
    on_error: OnError | None = None


NOTHING_SAID = AnswerOptions()


@dataclass(frozen=True, slots=True)
class Query:
    """A query, how its answer is given, how its changes are written, how its rows expire, and
    whether their lineage is kept."""

    body: exp.Expr
    answer: AnswerOptions
    output: OutputForm
    expiry: Expiry
    lineage: bool
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class CreateStream:
    """CREATE STREAM name (columns, PRIMARY KEY (key), PROGRESS ...) and its clauses."""

    name: Name
    columns: tuple[ColumnDefinition, ...]
    key: tuple[Name, ...]
    progress: tuple[Progress, ...]
    files: FilesClause | None
    op: Name | None
    append_only: bool
    lifetime: Period | Name | None
    archive: ArchiveClause | None
    revise: Period | None
    replay: Way | None
    retain: Period | None
    late: Late | None
    idle_after: Period | None
    not_beyond: Period | None
    or_replace: bool
    if_not_exists: bool
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class CreateTable:
    """CREATE TABLE name (columns, PRIMARY KEY (key), PROGRESS ...) and its clauses."""

    name: Name
    columns: tuple[ColumnDefinition, ...]
    key: tuple[Name, ...]
    progress: tuple[Progress, ...]
    files: FilesClause | None
    time: Name | None
    op: Name | None
    sequence: Name | None
    lifetime: Period | Name | None
    encoding: Name | None
    retain: Period | None
    late: Late | None
    idle_after: Period | None
    not_beyond: Period | None
    or_replace: bool
    if_not_exists: bool
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class CreateView:
    """CREATE VIEW name (columns, PROGRESS FOR progress) KEEP CHANGES keep AS body answer; None
    where nothing is declared."""

    name: Name
    columns: tuple[Name, ...] | None
    progress: tuple[Name, ...] | None
    keep: Period | None
    body: exp.Expr
    answer: AnswerOptions
    or_replace: bool
    if_not_exists: bool
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class InsertInto:
    """INSERT INTO target (columns) query; without columns, None."""

    target: Name
    columns: tuple[Name, ...] | None
    query: Query
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Explain:
    """EXPLAIN query, EXPLAIN VERBOSE query, or EXPLAIN JSON query."""

    query: Query
    json: bool
    verbose: bool
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Show:
    """SHOW STREAMS, TABLES, VIEWS or QUERIES."""

    kind: EntryKind
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Drop:
    """DROP STREAM, TABLE or VIEW name."""

    kind: EntryKind
    name: Name
    if_exists: bool
    span: Span = field(compare=False, repr=False)


Statement: TypeAlias = (
    CreateStream | CreateTable | CreateView | InsertInto | Query | Explain | Show | Drop
)
