"""What a user promises about an input: keys, progress, retention, and what to do with late rows.

These are values; ``frontier`` and ``admission`` act on them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from decimal import Decimal
from enum import Enum
from typing import TypeAlias

from ebbtide.core.codec.encoding import Encoding
from ebbtide.core.schema import Schema
from ebbtide.core.time import INF, Duration, Instant, shift
from ebbtide.core.types import DecimalType, DoubleType, IntegerType, TimestampType, Type
from ebbtide.core.values import Row
from ebbtide.errors import QueryError

LATER = {"later": True}
"""Marks a field that came to declarations later: where it says nothing, it is not written down."""


class Late(Enum):
    """What becomes of a row that comes after its promise."""

    REVISE = "REVISE"
    QUARANTINE = "QUARANTINE"


class Way(Enum):
    """How rows that operators have forgotten are replayed.

    ``ALL`` runs all again that came since a version before them; ``MINIMAL`` what has a part in the
    answers that they change; and ``DIRECT`` nothing, where a row changes an answer by itself.
    """

    ALL = "ALL"
    MINIMAL = "MINIMAL"
    DIRECT = "DIRECT"


@dataclass(frozen=True, slots=True)
class Promise:
    """``PROGRESS FOR attribute AS attribute - delay``: no later row is older than that.

    An ``arrival`` is a column that no source gives, declared ``attribute TIMESTAMP ARRIVAL``: it
    has the step's reading of the clock, and the clock alone moves its progress.
    """

    attribute: str
    delay_us: Duration = 0
    arrival: bool = field(default=False, metadata=LATER)


@dataclass(frozen=True, slots=True)
class RowSample:
    """``SAMPLE 10 PERCENT``: an archive has so much of the rows, by a hash of each and a seed.

    By the ``impact`` of a column, rows with larger values are chosen with greater probability.
    """

    per_million: int
    impact: str | None = None
    seed: int = 0

    @property
    def part(self) -> float:
        """The part of all rows that is kept, on average."""
        return self.per_million / 1_000_000

    @property
    def percent(self) -> Decimal:
        """The same in percent."""
        return (Decimal(self.per_million) / 10_000).normalize()


@dataclass(frozen=True, slots=True)
class Histogram:
    """``AS HISTOGRAM``: an archive has how many rows there are in each bin.

    A bin is a span of ``every_us`` of the times that progress, and a narrow range of each of the
    columns ``of``; all other columns are as they are.
    """

    of: tuple[str, ...]
    every_us: Duration


TAKEN = 0
"""The weight of a row of a sample that is taken back, whatever it was kept with."""

Summary: TypeAlias = RowSample | Histogram
"""What an archive has in the place of all rows."""


@dataclass(frozen=True, slots=True)
class StreamDeclaration:
    """A stream of facts.

    ``op`` names the column that says insert, delete or replace, where the source has one.
    A stream is ``append_only`` if no fact of it can be deleted or replaced.  Where nothing else is
    said, its facts are shown for ``lifetime_us``, or until the time in their column ``until``.
    ``archive_us`` is how far behind its progress the rows that it accepts are archived; None if
    they are not.  Rows that are to be replayed wait until its progress comes to the next multiple
    of ``revise_us``, or if that is ``INF`` until they are asked for; None if they do not wait.
    With a ``summary`` the archive has less than all rows, and nothing is replayed from it exactly.
    ``replay`` is the way in which they are replayed where it can be done; None is the one that
    reads less.
    """

    name: str
    schema: Schema
    key: tuple[str, ...] = ()
    promises: tuple[Promise, ...] = ()
    retain_us: Duration = 0
    late: Late = Late.REVISE
    idle_after_us: Duration | None = None
    not_beyond_us: Duration | None = None
    op: str | None = None
    append_only: bool = True
    lifetime_us: Duration | None = field(default=None, metadata=LATER)
    until: str | None = field(default=None, metadata=LATER)
    archive_us: Duration | None = field(default=None, metadata=LATER)
    revise_us: Duration | None = field(default=None, metadata=LATER)
    summary: Summary | None = field(default=None, metadata=LATER)
    replay: Way | None = field(default=None, metadata=LATER)

    def __post_init__(self) -> None:
        _check(self.name, self.schema, self.key, self.promises)
        if self.archive_us is not None and not self.promises:
            raise QueryError(
                "archive-needs-progress",
                f'stream "{self.name}" has no progress by which its archive would age',
                hint="declare PROGRESS FOR one of its time attributes",
            )
        if self.revise_us is not None and self.archive_us is None:
            raise QueryError(
                "revise-needs-archive",
                f'stream "{self.name}" has no archive from which it could be revised later',
                hint="declare ARCHIVE, and how far it is to reach: ARCHIVE 30 DAYS",
            )
        if self.summary is not None:
            _check_summary(self.name, self.schema, self.summary, self.revise_us)
        if self.replay is not None:
            _check_replay(self.name, self.replay, self.archive_us, self.summary)
        if self.until is not None:
            _check_time(self.name, self.schema, self.until)
        if arrivals_of(self) and not self.append_only:
            raise deletable_arrival(self.name, arrivals_of(self)[0])
        if not self.key and not self.append_only:
            raise QueryError(
                "key-needed",
                f'stream "{self.name}" has no key to delete or replace facts by',
                hint="declare a PRIMARY KEY",
            )

    @property
    def row_schema(self) -> Schema:
        """The columns of a fact: what arrives, without its operation; keys and times are there."""
        times = tuple(promise.attribute for promise in self.promises)
        return _rows(self.schema, self.key + times, self.op)

    @property
    def approximate_us(self) -> Duration:
        """How far behind its progress rows come into approximations; 0 if there are none."""
        return 0 if self.summary is None else self.archive_us or 0

    @property
    def defers(self) -> bool:
        """Whether rows wait before they are replayed."""
        return self.revise_us is not None

    @property
    def archive_has_keys(self) -> bool:
        """Whether its archive knows the key of every row that may still be replaced: equal keys
        have equal times, and it reaches as far as rows are accepted."""
        if self.archive_us is None or self.summary is not None or self.defers:
            return False
        times = {p.attribute.casefold() for p in self.promises if not p.arrival}
        in_key = times <= {name.casefold() for name in self.key}
        return bool(times) and in_key and self.archive_us >= self.kept_us

    @property
    def kept_us(self) -> Duration:
        """How far behind its progress late rows revise what operators still keep."""
        return self.retain_us if self.late is Late.REVISE else 0

    @property
    def time(self) -> str | None:
        """The attribute that windows stand on by default: the first that rows make progress."""
        own = (promise.attribute for promise in self.promises if not promise.arrival)
        return next(own, None)


@dataclass(frozen=True, slots=True)
class TableDeclaration:
    """A table: static if it has no ``time``, else changed by keyed operations.

    ``time``, ``op`` and ``sequence`` name columns of what arrives: when a version begins, what
    is done, and the order of operations at one instant.  No version lives past ``lifetime_us``, nor
    past the time in its column ``until``; NULL there is no bound.  Rows that are ``enveloped`` come
    as Debezium's envelopes, from which operation and time are taken.  A table ``only_upserts`` if
    nothing can name another operation: neither a column nor who feeds it.
    """

    name: str
    schema: Schema
    key: tuple[str, ...] = ()
    time: str | None = None
    op: str | None = None
    sequence: str | None = None
    lifetime_us: Duration | None = None
    promises: tuple[Promise, ...] = ()
    retain_us: Duration = 0
    late: Late = Late.REVISE
    idle_after_us: Duration | None = None
    not_beyond_us: Duration | None = None
    until: str | None = field(default=None, metadata=LATER)
    encoding: Encoding | None = field(default=None, metadata=LATER)
    bag: bool = field(default=False, metadata=LATER)
    only_upserts: bool = field(default=False, metadata=LATER)

    def __post_init__(self) -> None:
        _check(self.name, self.schema, self.key, self.promises)
        if self.until is not None:
            _check_time(self.name, self.schema, self.until)
        if self.time is not None:
            _check_time(self.name, self.schema, self.time)
            if not self.key:
                raise QueryError(
                    "key-needed",
                    f'changing table "{self.name}" needs a key',
                    hint="declare a PRIMARY KEY",
                )

    @property
    def row_schema(self) -> Schema:
        """The columns of a row: what arrives, without operation and sequence; keys are there.

        Where changes are summed, no row has an end of its own, for later changes may move it.
        """
        times = () if self.time is None else (self.time,)
        required = times if self.bag else self.key + times
        hidden = self.until if self.summed else None
        return _rows(self.schema, required, self.op, self.sequence, hidden)

    @property
    def archive_has_keys(self) -> bool:
        """Never: a table has no archive."""
        return False

    @property
    def static(self) -> bool:
        """Whether the table holds at every instant as it is."""
        return self.time is None

    @property
    def enveloped(self) -> bool:
        """Whether rows come in Debezium's envelopes, from which operation and time are taken."""
        return self.encoding is Encoding.DEBEZIUM

    @property
    def summed(self) -> bool:
        """Whether what arrives are changes, each with its interval, of which the table is the sum;
        the column of the operation then says how many more or fewer rows there are."""
        return self.encoding is Encoding.CHANGES

    @property
    def ends_first(self) -> bool:
        """Whether, of operations at one place of the order, ends come first: within a commit of
        Spark's the order of rows means nothing."""
        return self.encoding is Encoding.CHANGE_TYPE and not self.bag

    def end_of(self, begin: Instant, row: Row) -> Instant:
        """When a version ends that nothing ends before, by when it begins and by its row."""
        end = INF if self.lifetime_us is None else shift(begin, self.lifetime_us)
        if self.until is None:
            return end
        until: Instant | None = row[self.schema.position(self.until)]
        return end if until is None else min(end, until)


def bag_key(schema: Schema, *left_out: str | None) -> tuple[str, ...]:
    """What tells the kinds of rows apart in a bag: all columns but those that are left out."""
    out = {name.casefold() for name in left_out if name is not None}
    return tuple(name for name in schema.names if name.casefold() not in out)


Declaration: TypeAlias = StreamDeclaration | TableDeclaration


def arrivals_of(declaration: Declaration) -> tuple[str, ...]:
    """The columns that hold when a row came."""
    return tuple(promise.attribute for promise in declaration.promises if promise.arrival)


def deletable_arrival(stream: str, column: str) -> QueryError:
    """What is said of an arrival in a stream whose facts can be deleted."""
    return QueryError(
        "arrival-not-append-only",
        f'facts of "{stream}" can be deleted, so its ARRIVAL "{column}" would not progress',
        detail="what is deleted came long ago, and no clock says that it stays",
        hint="declare it APPEND ONLY, or leave out ARRIVAL",
    )


def given_schema(declaration: Declaration) -> Schema:
    """The columns that the source itself gives: all but those of arrival."""
    made = {declaration.schema.column(name) for name in arrivals_of(declaration)}
    return Schema(tuple(column for column in declaration.schema if column not in made))


def _rows(schema: Schema, required: tuple[str, ...], *left_out: str | None) -> Schema:
    never_null = {schema.column(name) for name in required}
    hidden = {schema.column(name) for name in left_out if name is not None}
    return Schema(
        tuple(
            replace(column, nullable=False) if column in never_null else column
            for column in schema
            if column not in hidden
        )
    )


def _check(name: str, schema: Schema, key: tuple[str, ...], promises: tuple[Promise, ...]) -> None:
    for column in key:
        schema.column(column)
    for promise in promises:
        _check_time(name, schema, promise.attribute)
        if promise.delay_us < 0:
            raise QueryError(
                "negative-delay",
                f'the promise for "{promise.attribute}" of "{name}" lies in the future',
                hint=f"write {promise.attribute} - INTERVAL 0 SECONDS or more",
            )


def _check_replay(
    name: str, way: Way, archive_us: Duration | None, summary: Summary | None
) -> None:
    if archive_us is None:
        raise QueryError(
            "replay-needs-archive",
            f'stream "{name}" has no archive from which it could be replayed',
            hint="declare ARCHIVE, and how far it is to reach: ARCHIVE 30 DAYS",
        )
    if summary is not None:
        raise QueryError(
            "replay-needs-archive",
            f'stream "{name}" has no archive of all its rows from which it could be replayed',
            detail="what comes of an approximate archive is a relation beside the answer",
            hint=f"leave out REPLAY {way.value}, or SAMPLE and AS HISTOGRAM",
        )


def _check_summary(name: str, schema: Schema, summary: Summary, revise_us: Duration | None) -> None:
    if revise_us is not None:
        raise QueryError(
            "revise-needs-archive",
            f'stream "{name}" has no archive of all its rows from which it could be revised later',
            detail="what comes of an approximate archive is a relation beside the answer",
            hint="leave out REVISE, or SAMPLE and AS HISTOGRAM",
        )
    if isinstance(summary, RowSample) and not 0 < summary.per_million < 1_000_000:
        raise QueryError(
            "bad-sample",
            f'"{name}" cannot have a sample of {summary.percent:f} percent',
            hint="SAMPLE 10 PERCENT, or any part above 0 and below 100",
        )
    measures = summary.of if isinstance(summary, Histogram) else (summary.impact,)
    for column in measures:
        if column is not None and not is_measure(schema.column(column).type):
            raise QueryError(
                "not-a-measure",
                f'"{column}" of "{name}" is {schema.column(column).type}, not a number',
                hint="name a column of numbers",
            )


def is_measure(type_: Type) -> bool:
    """Whether values of a type are numbers."""
    return isinstance(type_, IntegerType | DoubleType | DecimalType)


def _check_time(name: str, schema: Schema, attribute: str) -> None:
    column = schema.column(attribute)
    if not isinstance(column.type, TimestampType):
        raise QueryError(
            "not-a-time",
            f'"{attribute}" of "{name}" is {column.type}, not TIMESTAMP',
            hint=f"declare {attribute} TIMESTAMP",
        )
