"""Operators that deal with time: windows, window functions on facts, and the way back to streams.

A window turns facts into a relation: each fact is valid over an interval that its time and the
window fix.  TUMBLE, HOP, SESSION and CUMULATE are functions on facts that say which windows a
fact belongs to.  ISTREAM, DSTREAM and RSTREAM turn a relation into facts again.

For a fact at ts (grids start at the epoch):

    [RANGE d]            ts|=====================|ts+d
    [RANGE d SLIDE s]       |CEIL(ts TO s) =========|CEIL(ts+d TO s)
    [FIXED d]            ts|======|FLOOR(ts TO d)+d
    [ROWS n]             ts|===========|ts of the n-th row after it
    [SESSION g]          ts|================|g after the last fact of its session
    [NOW]                ts|ts+1
    [UNBOUNDED]          ts|=====================================...
    [ALWAYS]          ...============================================...
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from enum import Enum
from typing import Any, ClassVar, TypeAlias, get_args

from ebbtide.algebra.relation import Relation
from ebbtide.core.schema import Column, Schema
from ebbtide.core.time import Duration
from ebbtide.core.types import TIMESTAMP, TimestampType
from ebbtide.errors import BindError

INSTANT = "instant"
_ON_THE_GRID = "a row stays until a known point of the grid"


class Unit(Enum):
    """What an amount of a window counts."""

    TIME = "time"
    ROWS = "rows"


@dataclass(frozen=True, slots=True)
class Amount:
    """An amount in the text of a window: the word before it, and what it counts.

    The first one follows the name of the window; the others have words and may be left out.
    """

    unit: Unit
    word: str = ""


@dataclass(frozen=True, slots=True)
class Syntax:
    """How a window is written: ``[PARTITION BY k NAME amount WORD amount]``."""

    name: str
    amounts: tuple[Amount, ...] = ()
    partitioned: bool = False


class Leaves(Enum):
    """How the rows of a window leave it."""

    BY_ITSELF = "at an instant that no later row brings nearer"
    BY_OTHERS = "when other rows come"
    NEVER = "never"


class WindowKind:
    """What all windows have: their syntax, how rows leave them, and how long a row ``stays``.

    The fields of a window are its amounts in the order of its syntax, then what it is partitioned
    by.  From this its text is read and written, and how much it holds is known.
    """

    __slots__ = ()

    syntax: ClassVar[Syntax]
    leaves: ClassVar[Leaves] = Leaves.BY_ITSELF

    @property
    def lifetime_us(self) -> Duration | None:
        """How long every row stays, if that is the same for all."""
        return None

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns by which facts are told apart before they are put in order."""
        return tuple(getattr(self, "partition_by", ()))


def _length(name: str, *others: str) -> Syntax:
    return Syntax(name, (Amount(Unit.TIME), *(Amount(Unit.TIME, word) for word in others)))


@dataclass(frozen=True, slots=True)
class Range(WindowKind):
    """Valid for ``size_us`` from the fact's time on; with a slide, seen on its grid only."""

    size_us: Duration
    slide_us: Duration | None = None

    syntax: ClassVar[Syntax] = _length("RANGE", "SLIDE")

    def __post_init__(self) -> None:
        _positive("RANGE", self.size_us)
        if self.slide_us is not None:
            _positive("SLIDE", self.slide_us)

    @property
    def lifetime_us(self) -> Duration | None:
        """The range, if the grid does not cut it."""
        return self.size_us if self.slide_us is None else None

    @property
    def stays(self) -> str:
        """For the range, or until a point of the grid."""
        return "every row stays for the range" if self.slide_us is None else _ON_THE_GRID


@dataclass(frozen=True, slots=True)
class Fixed(WindowKind):
    """Valid until the end of the section of ``size_us`` that the fact's time lies in."""

    size_us: Duration

    syntax: ClassVar[Syntax] = _length("FIXED")
    stays: ClassVar[str] = _ON_THE_GRID

    def __post_init__(self) -> None:
        _positive("FIXED", self.size_us)


MOST_ROWS = 1 << 53
"""The numbers of rows are exact up to here, whatever is added to them."""


@dataclass(frozen=True, slots=True)
class Rows(WindowKind):
    """Valid until ``count`` rows follow in the order (time, key, all columns), per partition.

    With a slide, what that shows at the last row whose number is a multiple of ``slide``.
    """

    count: int
    slide: int | None = None
    partition_by: tuple[str, ...] = ()

    syntax: ClassVar[Syntax] = Syntax(
        "ROWS", (Amount(Unit.ROWS), Amount(Unit.ROWS, "SLIDE")), partitioned=True
    )
    leaves: ClassVar[Leaves] = Leaves.BY_OTHERS
    stays: ClassVar[str] = "the rows that follow end a row"

    def __post_init__(self) -> None:
        _countable("ROWS", self.count)
        if self.slide is not None:
            _countable("SLIDE", self.slide)


@dataclass(frozen=True, slots=True)
class Sessions(WindowKind):
    """Valid until the end of the fact's session, which is that of the operator ``Session``."""

    gap_us: Duration
    partition_by: tuple[str, ...] = ()

    syntax: ClassVar[Syntax] = Syntax("SESSION", (Amount(Unit.TIME),), partitioned=True)
    stays: ClassVar[str] = "a row stays until its session ends, which later rows only put off"

    def __post_init__(self) -> None:
        _positive("SESSION", self.gap_us)


@dataclass(frozen=True, slots=True)
class Now(WindowKind):
    """Valid at the fact's instant alone."""

    syntax: ClassVar[Syntax] = Syntax("NOW")
    stays: ClassVar[str] = "every row stays for an instant"

    @property
    def lifetime_us(self) -> Duration | None:
        """An instant."""
        return 1


@dataclass(frozen=True, slots=True)
class Unbounded(WindowKind):
    """Valid from the fact's time on, for ever."""

    syntax: ClassVar[Syntax] = Syntax("UNBOUNDED")
    leaves: ClassVar[Leaves] = Leaves.NEVER
    stays: ClassVar[str] = "every row stays for ever"


@dataclass(frozen=True, slots=True)
class Always(WindowKind):
    """Valid at every instant, those before the fact included, as the rows of a static table."""

    syntax: ClassVar[Syntax] = Syntax("ALWAYS")
    leaves: ClassVar[Leaves] = Leaves.NEVER
    stays: ClassVar[str] = "every row stays for ever"


LinearWindow: TypeAlias = Range | Fixed | Now | Unbounded | Always
"""Windows in which each fact is valid over an interval of its own, whatever others there are."""

WindowSpec: TypeAlias = LinearWindow | Rows | Sessions

WINDOWS: dict[str, type[WindowSpec]] = {kind.syntax.name: kind for kind in get_args(WindowSpec)}
"""The windows by the names that they are written with."""


def amounts_of(spec: WindowSpec) -> tuple[int | None, ...]:
    """The amounts of a window in the order of its syntax; None for one that is left out."""
    values = (getattr(spec, part.name) for part in fields(spec) if part.name != "partition_by")
    return tuple(values)


def window_of(name: str, amounts: Sequence[int], keys: tuple[str, ...]) -> WindowSpec:
    """The window of that name with these amounts, of which the last may be left out."""
    kind: Any = WINDOWS[name]
    made: WindowSpec = kind(*amounts, **({"partition_by": keys} if keys else {}))
    return made


@dataclass(frozen=True, slots=True)
class Window(Relation):
    """The facts that the window shows at the instant.

    ``on`` is the facts' time, ``key`` their primary key; a fact without a time is in no window.
    """

    input: Relation
    spec: WindowSpec
    on: str
    key: tuple[str, ...] = ()

    def _derive(self) -> Schema:
        _check_time(self.input.schema, self.on)
        for name in self.key:
            self.input.schema.column(name)
        for name in self.spec.keys:
            self.input.schema.column(name)
        return self.input.schema


@dataclass(frozen=True, slots=True)
class Tumble(Relation):
    """Every fact, with the one section of ``size_us`` in which its time lies.

    Sections begin ``offset_us`` after the multiples of their size.
    """

    input: Relation
    on: str
    size_us: Duration
    offset_us: Duration = 0

    def _derive(self) -> Schema:
        _positive("TUMBLE", self.size_us)
        _within("TUMBLE", self.offset_us, self.size_us)
        return _with_window(self.input.schema, self.on)


@dataclass(frozen=True, slots=True)
class Hop(Relation):
    """Every fact, once for each window of ``size_us``, beginning on the grid of ``slide_us``, in
    which its time lies.

    The grid lies ``offset_us`` after the multiples of the slide.
    """

    input: Relation
    on: str
    slide_us: Duration
    size_us: Duration
    offset_us: Duration = 0

    def _derive(self) -> Schema:
        _positive("HOP", self.slide_us)
        _positive("HOP", self.size_us)
        _within("HOP", self.offset_us, self.slide_us)
        return _with_window(self.input.schema, self.on)


@dataclass(frozen=True, slots=True)
class Session(Relation):
    """Every fact, with the session of its partition in which its time lies.

    Each fact opens ``[ts, ts + gap)``; intervals that overlap or touch are one session.
    """

    input: Relation
    on: str
    gap_us: Duration
    partition_by: tuple[str, ...] = ()

    def _derive(self) -> Schema:
        _positive("SESSION", self.gap_us)
        for name in self.partition_by:
            self.input.schema.column(name)
        return _with_window(self.input.schema, self.on)


@dataclass(frozen=True, slots=True)
class Cumulate(Relation):
    """Every fact, once for each window that begins with its section of ``size_us`` and ends at a
    multiple of ``step_us`` after the fact, within the section.

    Sections begin, and steps are counted, from ``offset_us`` after the multiples of the size.
    """

    input: Relation
    on: str
    step_us: Duration
    size_us: Duration
    offset_us: Duration = 0

    def _derive(self) -> Schema:
        _positive("CUMULATE", self.step_us)
        _positive("CUMULATE", self.size_us)
        if self.size_us % self.step_us:
            raise BindError("bad-window", "the size of CUMULATE must be a multiple of its step")
        _within("CUMULATE", self.offset_us, self.size_us)
        return _with_window(self.input.schema, self.on)


@dataclass(frozen=True, slots=True)
class Istream(Relation):
    """The facts that a row came, and when: as often as it is there more than an instant before."""

    input: Relation

    def _derive(self) -> Schema:
        return _with_instant(self.input.schema)


@dataclass(frozen=True, slots=True)
class Dstream(Relation):
    """The facts that a row went, and when: as often as it is there less than an instant before."""

    input: Relation

    def _derive(self) -> Schema:
        return _with_instant(self.input.schema)


@dataclass(frozen=True, slots=True)
class Rstream(Relation):
    """The facts that a row was there at a multiple of ``every_us``, and when.

    It begins where the input first changes: before that nothing has been seen.
    """

    input: Relation
    every_us: Duration

    def _derive(self) -> Schema:
        _positive("EVERY", self.every_us)
        return _with_instant(self.input.schema)


def _with_window(schema: Schema, on: str) -> Schema:
    _check_time(schema, on)
    return schema + Schema(
        (Column("window_start", TIMESTAMP, False), Column("window_end", TIMESTAMP, False))
    )


def _with_instant(schema: Schema) -> Schema:
    return schema + Schema((Column(INSTANT, TIMESTAMP, False),))


def _check_time(schema: Schema, on: str) -> None:
    column = schema.column(on)
    if not isinstance(column.type, TimestampType):
        raise BindError(
            "not-a-time",
            f'a window stands on a TIMESTAMP, and "{on}" is {column.type}',
        )


def _positive(name: str, amount: int) -> None:
    if amount <= 0:
        raise BindError("bad-window", f"{name} must be greater than zero, not {amount}")


def _countable(name: str, rows: int) -> None:
    _positive(name, rows)
    if rows > MOST_ROWS:
        raise BindError(
            "bad-count",
            f"{name} counts no further than {MOST_ROWS:,} rows",
            hint="[UNBOUNDED] keeps all rows",
        )


def _within(name: str, offset: int, grid: int) -> None:
    if not 0 <= offset < grid:
        raise BindError("bad-window", f"the offset of {name} lies within its grid")
