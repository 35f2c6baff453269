"""The output of random queries in every encoding, step by step, gives back the relation.

Two laws, by how an encoding tells of the past: exact ones sum up to all that was said; those that
follow ``now`` sum up, at each instant, to what was said of it by the step after ``now`` passed it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import assume, event, given, note, settings
from hypothesis import strategies as st
from tests.histories import Fed, declarations_of, history
from tests.in_process import InProcess
from tests.law import QUERIES, analysed

from ebbtide.algebra.relation import Relation
from ebbtide.compile.lowering import lower
from ebbtide.config import Config
from ebbtide.core.change import Change, consolidate, restrict, until
from ebbtide.core.codec import debezium, keyed, signed, spark, upsert
from ebbtide.core.codec.debezium import Envelope
from ebbtide.core.codec.encoding import Encoding, OutputForm
from ebbtide.core.codec.keyed import KeyedTuple, Negative, Positive
from ebbtide.core.codec.relation import repeated, unique
from ebbtide.core.codec.signed import SIGNS, SignedTuple
from ebbtide.core.codec.spark import SparkChange
from ebbtide.core.codec.touching import coalesced, split
from ebbtide.core.codec.upsert import KeyedChange
from ebbtide.core.interval import Interval
from ebbtide.core.schema import Schema
from ebbtide.core.time import INF, NEG_INF, Instant
from ebbtide.core.values import Row
from ebbtide.errors import EvaluationError, QueryError
from ebbtide.program.encoder import Encoder, Progressed
from ebbtide.store.readers import View

_CASES = {"quick": 15, "ci": 24, "long": 3000}[Config.from_environment().profile]

DIFFS = {sign: diff for diff, sign in SIGNS.items()}

TOLD = tuple(encoding for encoding in Encoding if not encoding.has_intervals)


class Said:
    """What a view has said so far, and what of each instant when ``now`` had passed it."""

    def __init__(self) -> None:
        self.changes: list[Change] = []
        self.passed: list[Change] = []
        self.now: Instant = NEG_INF
        self.first = True

    def take(self, emitted: Sequence[Change], now: Instant) -> None:
        """One more step: what it says of the time from the old ``now`` on replaces what stood."""
        self.changes += emitted
        before = self.now if not self.first else NEG_INF
        earlier = restrict(self.passed, Interval(NEG_INF, before)) if before > NEG_INF else ()
        later = restrict(self.changes, Interval(before, INF))
        self.passed = [*earlier, *later]
        self.now, self.first = now, False

    def is_unique(self, schema: Schema, key: Sequence[str]) -> bool:
        """Whether a key tells apart the rows of every snapshot."""
        try:
            unique(repeated(self.changes), tuple(map(schema.position, key)), QueryError)
        except QueryError:
            return False
        return True


@settings(max_examples=_CASES)
@given(QUERIES, st.integers(0, 2**32), st.sampled_from(TOLD), st.sampled_from([1, 2]))
def test_every_encoding_gives_back_what_was_said(
    plan: Relation, seed: int, encoding: Encoding, shards: int
) -> None:
    assume(len(set(plan.schema.names)) == len(plan.schema))  # as in every query that is bound
    keys = analysed(plan).keys.candidates
    key = tuple(plan.schema[i].name for i in sorted(keys[0])) if keys else ()
    if encoding.needs_key and not key:
        return
    steps = history(Random(seed), declarations_of(plan), 5)
    note(f"{encoding} by {key}: {steps}")
    event(encoding.value)
    try:
        check(plan, steps, OutputForm(encoding, key), shards)
    except EvaluationError:
        event("fails")


def check(
    plan: Relation, steps: Sequence[Mapping[str, Fed]], output: OutputForm, shards: int
) -> None:
    """Runs a plan, encodes every step, and reads back all that was told."""
    said, rows = Said(), list[Row]()
    with TemporaryDirectory() as root:
        engine = InProcess(lower({"q": analysed(plan)}), root, shards)
        encoder = Encoder(View(root, "q", plan.schema), output)
        reached: Progressed | None = None
        for fed in steps:
            manifest = engine.step(fed)
            emitted, now = engine.emitted(manifest), manifest.record.nows["q"]
            told, after = encoder.step(manifest.version, emitted, now, reached)
            # After a crash before the step was noted, in another process.
            again = Encoder(encoder.view, output).step(manifest.version, emitted, now, reached)
            assert again == (told, after)
            encoder.told.remove_but(after.files)
            reached = after
            said.take(emitted, now)
            rows += told
            if output.key and not said.is_unique(encoder.view.schema, output.key):
                return  # a key is promised among the facts above the horizon alone
            back = decoded(rows, output, plan)
            exact = output.encoding is Encoding.POSITIVE_NEGATIVE
            expected = said.changes if exact else said.passed
            assert consolidate(until(back, now)) == consolidate(until(expected, now))


def decoded(rows: Sequence[Row], output: OutputForm, plan: Relation) -> tuple[Change, ...]:
    """The relation of all that was told."""
    width = len(plan.schema)
    key = tuple(plan.schema.position(name) for name in output.key)
    match output.encoding:
        case Encoding.POSITIVE_NEGATIVE:
            return consolidate(
                Change(row[:width], at(row[width + 1]), INF, DIFFS[row[width]]) for row in rows
            )
        case Encoding.UPSERT:
            told = [KeyedChange(row[width], row[:width], at(row[width + 1])) for row in rows]
            return upsert.decode(told, key)
        case Encoding.CHANGE_TYPE:
            return spark.decode(
                SparkChange(row[:width], row[width], row[width + 1], at(row[width + 2]))
                for row in rows
            )
        case Encoding.DEBEZIUM:
            return debezium.decode(Envelope(row[3], row[0], row[1], at(row[5])) for row in rows)
        case _:
            return keyed.decode([keyed_tuple(row, width, key) for row in rows], key)


def keyed_tuple(row: Row, width: int, key: tuple[int, ...]) -> KeyedTuple:
    """A positive or negative tuple as it was told."""
    if row[width] == "-":
        return Negative(tuple(row[i] for i in key), at(row[width + 1]))
    end = INF if row[width + 2] is None else row[width + 2]
    return Positive(row[:width], Interval(at(row[width + 1]), end))


def at(value: Any) -> Instant:
    """An instant as it was told."""
    return NEG_INF if value is None else value


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 20), st.integers(1, 9)), max_size=9),
    st.integers(1, 7),
    st.booleans(),
)
def test_changes_that_are_joined_and_cut_say_the_same(
    pieces: list[tuple[int, int, int]], every: int, forever: bool
) -> None:
    changes = [Change((row,), start, start + length) for row, start, length in pieces]
    changes += [Change((9,), 3, INF)] if forever else []
    joined = coalesced(changes)
    assert consolidate(joined) == consolidate(changes)
    ends = {(change.row, change.valid_to) for change in joined}
    assert not any((change.row, change.valid_from) in ends for change in joined)
    cut = split(changes, every, 25)
    assert consolidate(cut) == consolidate(changes)
    assert all(c.valid_to - c.valid_from <= every or c.valid_to == INF for c in cut)


def test_signed_tuples_of_a_step_are_those_of_the_codec() -> None:
    changes = [Change((1,), 1, 5), Change((2,), 3, INF)]
    assert signed.encode(changes) == (
        SignedTuple(1, (1,), 1),
        SignedTuple(1, (2,), 3),
        SignedTuple(-1, (1,), 5),
    )
