"""What a random query tells in an encoding, and a table reads in it, is the same relation.

The table is that of another engine, which is stopped and started between any two steps, and whose
process is gone before some file operation of a step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import assume, event, given, note, settings
from hypothesis import strategies as st
from tests.crashes import Killed, killed_before
from tests.final_law import ended, without_late
from tests.histories import Fed, declarations_of, history
from tests.in_process import InProcess
from tests.law import QUERIES, analysed
from tests.properties.test_encoded_output import Said

from ebbtide import Engine
from ebbtide.algebra.emission import Emit
from ebbtide.algebra.identifiers import identifier
from ebbtide.algebra.relation import Relation
from ebbtide.analysis import When, analyse
from ebbtide.compile.lowering import lower
from ebbtide.config import Config
from ebbtide.core.change import Change, consolidate, until
from ebbtide.core.codec.encoding import Encoding, OutputForm
from ebbtide.core.schema import Schema
from ebbtide.engine.query import Query
from ebbtide.errors import EvaluationError
from ebbtide.program.encoder import Encoder, Progressed
from ebbtide.sql.binding.encodings import READABLE
from ebbtide.store.readers import View

_CASES = {"quick": 8, "ci": 12, "long": 1500}[Config.from_environment().profile]

EXACT = (Encoding.CHANGES, Encoding.POSITIVE_NEGATIVE)
"""What is said of the past is told as it is."""

UNKEYED = (*EXACT, Encoding.CHANGE_TYPE)

TOLD = sorted((encoding for encoding in READABLE if encoding is not Encoding.TEMPORAL), key=str)


def named(plan: Relation) -> bool:
    """Whether a query can be declared as a table."""
    return len(set(plan.schema.names)) == len(plan.schema)


def is_final(plan: Relation) -> bool:
    """Whether the rows of a query are final at some time, and end then."""
    analysis = analysed(plan)
    return analysis.root.edge.is_snapshot and analysis.verdict.finality.when is not When.NEVER


@settings(max_examples=_CASES)
@given(QUERIES.filter(named), st.integers(0, 2**32), st.sampled_from(TOLD))
def test_what_is_told_is_what_is_read(plan: Relation, seed: int, encoding: Encoding) -> None:
    random = Random(seed)
    steps = history(random, declarations_of(plan), 4)
    note(f"{encoding}: {steps}")
    event(encoding.value)
    candidates = [key for key in analysed(plan).keys.candidates if key]
    key = tuple(plan.schema[i].name for i in sorted(candidates[0])) if candidates else ()
    if encoding in EXACT:
        key = ()
    assume(key or encoding in UNKEYED)
    try:
        check(plan, steps, OutputForm(encoding, key), random)
    except EvaluationError:
        event("fails")


def check(
    plan: Relation, steps: Sequence[Mapping[str, Fed]], output: OutputForm, random: Random
) -> None:
    """Tells every step of a plan to a table, and compares the two."""
    said = Said()
    with TemporaryDirectory() as root:
        engine = InProcess(lower({"q": analysed(plan)}), f"{root}/told", 2)
        encoder = Encoder(View(engine.root, "q", plan.schema), output)
        mirror = Mirror(f"{root}/read", plan.schema, output, random)
        reached: Progressed | None = None
        for fed in steps:
            manifest = engine.step(fed)
            emitted, now = engine.emitted(manifest), manifest.record.nows["q"]
            rows, reached = encoder.step(manifest.version, emitted, now, reached)
            said.take(emitted, now)
            assume(not output.key or said.is_unique(plan.schema, output.key))
            named = [dict(zip(encoder.schema.names, row, strict=True)) for row in rows]
            assume(all(is_readable(row, output, plan.schema) for row in named))
            mirrored = mirror.read(named)
            expected = said.changes if output.encoding in EXACT else said.passed
            assert consolidate(until(mirrored, now)) == consolidate(until(expected, now))


@settings(max_examples=_CASES // 3)
@given(QUERIES.filter(named).filter(is_final), st.integers(0, 2**32))
def test_what_is_final_is_what_is_read(plan: Relation, seed: int) -> None:
    """Temporal tuples: rows with both their ends, of which none is taken back."""
    random, declarations = Random(seed), declarations_of(plan)
    steps = without_late(history(random, declarations, 4), declarations)
    steps = [*steps, *ended(declarations, 100)]
    output = OutputForm(Encoding.TEMPORAL)
    told: list[Change] = []
    with TemporaryDirectory() as root:
        engine = InProcess(lower({"q": analyse(plan, Emit.FINAL)}), f"{root}/told", 2)
        encoder = Encoder(View(engine.root, "q", plan.schema), output)
        mirror = Mirror(f"{root}/read", plan.schema, output, random)
        for fed in steps:
            try:
                manifest = engine.step(fed)
            except EvaluationError:
                return event("fails")
            marked = engine.emitted(manifest)
            emitted = tuple(Change(c.row[:-1], c.valid_from, c.valid_to, c.diff) for c in marked)
            rows, _ = encoder.step(manifest.version, emitted, manifest.record.nows["q"], None)
            named = [dict(zip(encoder.schema.names, row, strict=True)) for row in rows]
            assume(all(is_readable(row, output, plan.schema) for row in named))
            told += emitted
            assert consolidate(mirror.read(named)) == consolidate(told)
    event("rows were final" if told else "nothing was final")


def is_readable(row: Mapping[str, Any], output: OutputForm, schema: Schema) -> bool:
    """A table has no row without a time or with a NULL in its key; they are unused there."""
    time = "ts_us" if output.encoding is Encoding.DEBEZIUM else READABLE[output.encoding].time
    values = row
    if output.encoding is Encoding.DEBEZIUM:
        inner = row["before"] if row["after"] is None else row["after"]
        values = dict(zip(schema.names, inner, strict=True))
    return row[time] is not None and all(values[name] is not None for name in output.key)


class Mirror:
    """A table of another engine, in a process that ends after every step, and in some."""

    def __init__(self, location: str, schema: Schema, output: OutputForm, random: Random) -> None:
        self.location, self.schema, self.output, self.random = location, schema, output, random

    def read(self, rows: list[dict[str, Any]]) -> list[Change]:
        """All that the table has ever shown, after more rows have come."""
        if self.output.encoding is Encoding.DEBEZIUM:
            rows = [_plain(row, self.schema) for row in rows]
        query = self._started()
        query.engine.feed("mirror", rows)
        if self.random.random() < 0.5:
            try:
                with killed_before(self.random.randrange(25)):
                    query.engine.step()
            except Killed:
                event("killed")
            query.engine.stop()
            query = self._started()
        query.engine.step()
        shown = [change for _, change in query.view.changes()]
        assert query.engine.late("mirror").num_rows == 0
        assert query.engine.pending("mirror").num_rows == 0
        query.engine.stop()
        return shown

    def _started(self) -> Query:
        columns = ", ".join(f"{identifier(c.name)} {c.type.sql}" for c in self.schema)
        key = ", ".join(map(identifier, self.output.key))
        key = f", PRIMARY KEY ({key})" if key else ""
        time = READABLE[self.output.encoding].time
        engine = Engine(self.location, transport="local")
        engine.execute(
            f"CREATE TABLE mirror ({columns}{key}, PROGRESS FOR {time} AS {time}) "
            f"ENCODING '{self.output.encoding.value}' RETAIN 1 DAY"
        )
        selected = ", ".join(map(identifier, self.schema.names))
        query = engine.query(f"SELECT {selected} FROM mirror", "mirrored")
        query.start()
        return query


def _plain(row: dict[str, Any], schema: Schema) -> dict[str, Any]:
    """An envelope as JSON would have it: with names, and without what is not read."""
    sides = {
        side: None if row[side] is None else dict(zip(schema.names, row[side], strict=True))
        for side in ("before", "after")
    }
    return {**sides, "op": row["op"], "ts_us": row["ts_us"]}
