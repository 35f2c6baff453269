"""What a random query tells in an encoding, and a table reads in it, is the same relation.

The table is that of another engine, which is stopped and started between any two steps.
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
from tests.properties.test_encoded_output import Said

from ebbtide import Engine
from ebbtide.algebra.identifiers import identifier
from ebbtide.algebra.relation import Relation
from ebbtide.compile.lowering import lower
from ebbtide.config import Config
from ebbtide.core.change import Change, consolidate, until
from ebbtide.core.codec.encoding import Encoding, OutputForm
from ebbtide.core.schema import Schema
from ebbtide.errors import EvaluationError
from ebbtide.program.encoder import Encoder, Progressed
from ebbtide.sql.binding.encodings import READABLE
from ebbtide.store.readers import View

_CASES = {"quick": 8, "ci": 30, "long": 1000}[Config.from_environment().profile]


def named(plan: Relation) -> bool:
    """Whether a query can be declared as a table."""
    return len(set(plan.schema.names)) == len(plan.schema)


@settings(max_examples=_CASES)
@given(QUERIES.filter(named), st.integers(0, 2**32), st.sampled_from(sorted(READABLE, key=str)))
def test_what_is_told_is_what_is_read(plan: Relation, seed: int, encoding: Encoding) -> None:
    steps = history(Random(seed), declarations_of(plan), 4)
    note(f"{encoding}: {steps}")
    event(encoding.value)
    candidates = [key for key in analysed(plan).keys.candidates if key]
    key = tuple(plan.schema[i].name for i in sorted(candidates[0])) if candidates else ()
    if encoding is Encoding.POSITIVE_NEGATIVE:
        key = ()
    assume(key or encoding in (Encoding.POSITIVE_NEGATIVE, Encoding.CHANGE_TYPE))
    try:
        check(plan, steps, OutputForm(encoding, key))
    except EvaluationError:
        event("fails")


def check(plan: Relation, steps: Sequence[Mapping[str, Fed]], output: OutputForm) -> None:
    """Tells every step of a plan to a table, and compares the two."""
    said, mirrored = Said(), list[Change]()
    with TemporaryDirectory() as root:
        engine = InProcess(lower({"q": analysed(plan)}), f"{root}/told", 2)
        encoder = Encoder(View(engine.root, "q", plan.schema), output)
        reached: Progressed | None = None
        for fed in steps:
            manifest = engine.step(fed)
            emitted, now = engine.emitted(manifest), manifest.record.nows["q"]
            rows, reached = encoder.step(manifest.version, emitted, now, reached)
            said.take(emitted, now)
            assume(not output.key or said.is_unique(plan.schema, output.key))
            named = [dict(zip(encoder.schema.names, row, strict=True)) for row in rows]
            assume(all(is_readable(row, output, plan.schema) for row in named))
            mirrored += read(f"{root}/read", plan.schema, output, named)
            exact = output.encoding is Encoding.POSITIVE_NEGATIVE
            expected = said.changes if exact else said.passed
            assert consolidate(until(mirrored, now)) == consolidate(until(expected, now))


def is_readable(row: Mapping[str, Any], output: OutputForm, schema: Schema) -> bool:
    """A table has no row without a time or with a NULL in its key; they are unused there."""
    time = "ts_us" if output.encoding is Encoding.DEBEZIUM else READABLE[output.encoding].time
    values = row
    if output.encoding is Encoding.DEBEZIUM:
        inner = row["before"] if row["after"] is None else row["after"]
        values = dict(zip(schema.names, inner, strict=True))
    return row[time] is not None and all(values[name] is not None for name in output.key)


def read(
    location: str, schema: Schema, output: OutputForm, rows: list[dict[str, Any]]
) -> list[Change]:
    """What a table makes of more rows, in an engine that is started for them."""
    columns = ", ".join(f"{identifier(c.name)} {c.type.sql}" for c in schema)
    key = ", ".join(map(identifier, output.key))
    key = f", PRIMARY KEY ({key})" if key else ""
    time = READABLE[output.encoding].time
    engine = Engine(location, transport="local")
    engine.execute(
        f"CREATE TABLE mirror ({columns}{key}, PROGRESS FOR {time} AS {time}) "
        f"ENCODING '{output.encoding.value}' RETAIN 1 DAY"
    )
    selected = ", ".join(map(identifier, schema.names))
    query = engine.query(f"SELECT {selected} FROM mirror", "mirrored")
    query.start()
    if output.encoding is Encoding.DEBEZIUM:
        rows = [_plain(row, schema) for row in rows]
    engine.feed("mirror", rows)
    manifest = engine.step()["mirrored"]
    emitted = query.view.emitted(manifest.record)
    assert engine.late("mirror").num_rows == 0
    engine.stop()
    return list(emitted)


def _plain(row: dict[str, Any], schema: Schema) -> dict[str, Any]:
    """An envelope as JSON would have it: with names, and without what is not read."""
    sides = {
        side: None if row[side] is None else dict(zip(schema.names, row[side], strict=True))
        for side in ("before", "after")
    }
    return {**sides, "op": row["op"], "ts_us": row["ts_us"]}
