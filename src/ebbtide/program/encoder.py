"""The output of a view in an encoding, step by step.

Law: what a step sends depends on the changes of that step, on ``now`` before and after it, and
on what was sent before; so a step that comes again sends the same rows again.  Rows that end
are sent when ``now`` passes their end, whether or not the step has changes.

Who begins to take an encoding later than at the first step gets the snapshot of that step first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, assert_never

from ebbtide.core.change import Change
from ebbtide.core.codec import debezium, keyed, signed, spark, temporal, upsert
from ebbtide.core.codec.encoding import Encoding, OutputForm
from ebbtide.core.codec.feed import step_turns
from ebbtide.core.codec.keyed import Positive
from ebbtide.core.codec.signed import SIGNS
from ebbtide.core.codec.touching import coalesced, split
from ebbtide.core.file_name import file_name
from ebbtide.core.schema import Column, Schema
from ebbtide.core.time import MILLISECOND, NEG_INF, Instant, is_finite
from ebbtide.core.types import BIGINT, STRING, TIMESTAMP, StructType
from ebbtide.core.values import Row
from ebbtide.store.readers import View
from ebbtide.store.told import Told

STEP = Column("step", BIGINT, nullable=False)

_SIGN = Column("_sign", STRING, nullable=False)
_AT = Column("_at", TIMESTAMP)
_INTERVAL = (Column("valid_from", TIMESTAMP), Column("valid_to", TIMESTAMP))

_SOURCE = StructType(
    (
        ("connector", STRING),
        ("name", STRING),
        ("snapshot", STRING),
        ("ts_ms", BIGINT),
        ("ts_us", BIGINT),
    )
)


def added_columns(encoding: Encoding) -> tuple[Column, ...]:
    """What an encoding has beside the columns of the answer, but for the step."""
    match encoding:
        case Encoding.CHANGES:
            return (*_INTERVAL, Column("diff", BIGINT, nullable=False))
        case Encoding.TEMPORAL:
            return _INTERVAL
        case Encoding.POSITIVE_NEGATIVE:
            return (_SIGN, _AT)
        case Encoding.POSITIVE_TEMPORAL:
            return (_SIGN, Column("_from", TIMESTAMP), Column("_to", TIMESTAMP))
        case Encoding.UPSERT:
            return (Column("_op", STRING, nullable=False), _AT)
        case Encoding.CHANGE_TYPE:
            return (
                Column("_change_type", STRING, nullable=False),
                Column("_commit_version", BIGINT, nullable=False),
                Column("_commit_timestamp", TIMESTAMP),
            )
        case Encoding.DEBEZIUM:
            return ()
        case _:
            assert_never(encoding)


def encoded_schema(encoding: Encoding, answer: Schema) -> Schema:
    """The columns of an answer in an encoding."""
    if encoding is Encoding.DEBEZIUM:
        row = StructType(tuple((column.name, column.type) for column in answer))
        times = (Column("ts_ms", BIGINT), Column("ts_us", BIGINT))
        envelope = (Column("before", row), Column("after", row), Column("source", _SOURCE))
        return Schema((*envelope, Column("op", STRING, nullable=False), *times, STEP))
    return Schema((*answer.columns, *added_columns(encoding), STEP))


@dataclass(frozen=True, slots=True)
class Progressed:
    """How far an encoding has come: ``now``, the commits it has counted, and its files."""

    now: Instant = NEG_INF
    commits: int = 0
    files: tuple[Any, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """This as JSON has it."""
        return {"now": self.now, "commits": self.commits, "files": list(self.files)}

    @staticmethod
    def from_json(values: Mapping[str, Any]) -> Progressed:
        """What ``to_json`` gave."""
        return Progressed(values["now"], values["commits"], tuple(values["files"]))


@dataclass(frozen=True, slots=True)
class EncoderInput:
    """What an encoder is given in a step: its changes, and ``now`` before and after it.

    ``floor`` is the instant at which all that was said of the time before it is sent; ``first`` if
    the changes are the snapshot with which it begins.
    """

    number: int
    emitted: tuple[Change, ...]
    before: Instant
    now: Instant
    floor: Instant
    first: bool = False


@dataclass(frozen=True, slots=True)
class Encoder:
    """Encodes the output of a view; its state is a directory of the program's."""

    view: View
    output: OutputForm

    @property
    def name(self) -> str:
        """Its name among the encodings of the view."""
        return str(self.output)

    @property
    def told(self) -> Told:
        """What it keeps between steps."""
        directory = told_directory(self.view.root, self.view.name, self.name)
        keyed_ = self.output.encoding is Encoding.POSITIVE_TEMPORAL
        key = self._key if keyed_ else tuple(range(len(self.view.schema)))
        return Told(directory, self.view.schema, key, endless=keyed_)

    @property
    def _key(self) -> tuple[int, ...]:
        return tuple(self.view.schema.position(name) for name in self.output.key)

    @property
    def schema(self) -> Schema:
        """The columns of what it gives."""
        return encoded_schema(self.output.encoding, self.view.schema)

    def step(
        self, number: int, emitted: tuple[Change, ...], now: Instant, known: Progressed | None
    ) -> tuple[list[Row], Progressed]:
        """The rows of a step, and how far it has come with it."""
        encoding = self.output.encoding
        if encoding.has_intervals:
            return self._intervals(number, emitted, now), Progressed(now)
        so_far = known or Progressed()
        # After a rollback ``now`` is an earlier one; what was sent of the time since has passed.
        given = self._input(number, emitted, max(now, so_far.now), known)
        rows, commits = self._rows(given, so_far)
        files = self.told.after(so_far.files, given.emitted, given.now, number)
        return rows, Progressed(given.now, so_far.commits + commits, tuple(files))

    def _input(
        self, number: int, emitted: tuple[Change, ...], now: Instant, known: Progressed | None
    ) -> EncoderInput:
        if known is not None:
            floor = known.now if self.output.encoding.follows_now else NEG_INF
            return EncoderInput(number, emitted, known.now, now, floor)
        if number == 0:
            return EncoderInput(number, emitted, NEG_INF, now, NEG_INF)
        return EncoderInput(number, self.view.standing(number), now, now, now, first=True)

    def _intervals(self, step: int, emitted: tuple[Change, ...], now: Instant) -> list[Row]:
        """Changes with both their ends, joined and cut as they are to be."""
        if self.output.coalesce:
            emitted = coalesced(emitted)
        if self.output.split_us is not None:
            emitted = split(emitted, self.output.split_us, now)
        if self.output.encoding is Encoding.TEMPORAL:
            return [
                (*one.row, _time(one.interval.valid_from), _time(one.interval.valid_to), step)
                for one in temporal.of_step(emitted)
            ]
        return [(*c.row, _time(c.valid_from), _time(c.valid_to), c.diff, step) for c in emitted]

    def _rows(self, step: EncoderInput, known: Progressed) -> tuple[list[Row], int]:
        """The rows of a step, and how many commits they are."""
        if self.output.encoding is Encoding.POSITIVE_TEMPORAL:
            return self._keyed(step, known.files), 0
        told = self.told.moving(known.files, step.before, step.now)
        key = self._key or None
        turns = list(step_turns(told, step.emitted, step.before, step.now, step.floor, key))
        match self.output.encoding:
            case Encoding.POSITIVE_NEGATIVE:
                found: Iterable[Row] = (
                    (*one.row, SIGNS[one.sign], _time(one.at), step.number)
                    for turn in turns
                    for one in signed.moves(turn)
                )
            case Encoding.UPSERT:
                found = (
                    (*one.row, one.op, _time(one.at), step.number)
                    for turn in turns
                    for one in upsert.operations(turn)
                )
            case Encoding.CHANGE_TYPE:
                found = (
                    (*one.row, one.change_type, version, _time(turn.at), step.number)
                    for version, turn in enumerate(turns, known.commits)
                    for one in spark.commit(turn, version)
                )
            case Encoding.DEBEZIUM:
                found = (
                    self._envelope(one, step)
                    for turn in turns
                    for one in debezium.envelopes(turn, step.first)
                )
            case Encoding.CHANGES | Encoding.TEMPORAL | Encoding.POSITIVE_TEMPORAL:
                raise AssertionError("these have no turns")
            case _:
                assert_never(self.output.encoding)
        return list(found), len(turns)

    def _keyed(self, step: EncoderInput, files: Sequence[Any]) -> list[Row]:
        told = self.told.of_keys(files, step.emitted, step.before, step.now)
        tuples = keyed.of_step(told, step.emitted, step.floor, step.now, self._key)
        rows: list[Row] = []
        for one in tuples:
            if isinstance(one, Positive):
                ends = one.interval.valid_from, one.interval.valid_to
                rows.append((*one.row, SIGNS[1], *map(_time, ends), step.number))
            else:
                ends = one.at, one.at
                rows.append((*self._named(one.key), SIGNS[-1], *map(_time, ends), step.number))
        return rows

    def _named(self, key: Row) -> Row:
        """A row of which only the key is known."""
        values = dict(zip(self._key, key, strict=True))
        return tuple(values.get(i) for i in range(len(self.view.schema)))

    def _envelope(self, one: debezium.Envelope, step: EncoderInput) -> Row:
        us = _time(one.at)
        times = (None if us is None else us // MILLISECOND, us)
        source = ("ebbtide", self.view.name, str(step.first).lower(), *times)
        return (one.before, one.after, source, one.op, *times, step.number)


def told_directory(root: str, view: str, encoding: str) -> str:
    """Where an encoding of a view keeps what it needs, in the directory of a program."""
    return f"{root}/encoded/{file_name(f'{view} {encoding}')}"


def _time(t: Instant) -> Instant | None:
    """An instant; the ends of the line have none."""
    return t if is_finite(t) else None
