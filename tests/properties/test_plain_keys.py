"""Plain keys: what many keys come to at once is what the ledgers say of each, step by step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Any
from unittest.mock import patch

import numpy as np
from hypothesis import event, given
from hypothesis import strategies as st

from ebbtide.core.admission import (
    UNUSED_COLUMNS,
    Arrival,
    Op,
    Step,
    UnusedRow,
    admit,
    allowed_ops,
    begin,
)
from ebbtide.core.admission.refusal import refusal, times_of
from ebbtide.core.change import Change, consolidate
from ebbtide.core.codec.encoding import Encoding
from ebbtide.core.declaration import (
    Declaration,
    Late,
    Promise,
    StreamDeclaration,
    TableDeclaration,
)
from ebbtide.core.frontier import InputFrontier, first_frontier
from ebbtide.core.schema import schema
from ebbtide.core.time import INF, NEG_INF
from ebbtide.kernels.admission import kernel as admission
from ebbtide.kernels.admission.kernel import Admission, split
from ebbtide.kernels.admission.plain_keys import Plain, ends_by_itself, plain_keys
from ebbtide.kernels.kernel import Times
from ebbtide.spark.entry import arrival_schema
from ebbtide.spark.types import arrow_type
from ebbtide.state.area import SweepArea
from ebbtide.state.batch import batch_schema, from_changes, to_changes
from ebbtide.state.keep import ALWAYS

COLUMNS = schema(id="BIGINT", at="TIMESTAMP", seen="TIMESTAMP", seq="BIGINT", v="DOUBLE")
TEXTS = len(UNUSED_COLUMNS)


def table(delay: int, retain: int, life: int | None, sequence: bool) -> Declaration:
    return TableDeclaration(
        "t", COLUMNS, ("id",), time="at", sequence="seq" if sequence else None, lifetime_us=life,
        promises=(Promise("at", delay),), retain_us=retain, late=Late.REVISE,
    )  # fmt: skip


def bounded(delay: int, retain: int, life: int | None, sequence: bool) -> Declaration:
    """A table whose rows say themselves until when they are valid."""
    return replace(table(delay, retain, life, sequence), until="seen")


def bag(delay: int, retain: int, life: int | None, sequence: bool) -> Declaration:
    """A table without a key, of whose equal rows an end takes one away."""
    return replace(table(delay, retain, life, sequence), key=("id", "v"), until="seen", bag=True)


def summed(delay: int, retain: int, life: int | None, sequence: bool) -> Declaration:
    """A table of changes, in whose column ``seq`` stands how many more or fewer rows there are."""
    plain = replace(bag(delay, retain, None, False), op="seq", encoding=Encoding.CHANGES)
    assert plain.row_schema.names == ("id", "at", "v")
    return plain


def temporal(delay: int, retain: int, life: int | None, sequence: bool) -> Declaration:
    """A table of rows with both their ends, of which none is taken back."""
    return replace(bag(delay, retain, None, False), encoding=Encoding.TEMPORAL)


def committed(delay: int, retain: int, life: int | None, sequence: bool) -> Declaration:
    """A table that is read from commits of Spark's, in which ends come first."""
    return replace(table(delay, retain, life, sequence), encoding=Encoding.CHANGE_TYPE)


def stream(delay: int, retain: int, life: int | None, sequence: bool) -> Declaration:
    return StreamDeclaration(
        "s", COLUMNS, ("id",), (Promise("at", delay),), retain, Late.REVISE, append_only=False
    )


def stamped(delay: int, retain: int, life: int | None, sequence: bool) -> Declaration:
    """A stream whose key has its time."""
    return replace(stream(delay, retain, life, sequence), key=("id", "at"))


def twofold(delay: int, retain: int, life: int | None, sequence: bool) -> Declaration:
    """A stream with two times that progress, each on its own."""
    promises = (Promise("at", delay), Promise("seen", 2 * delay))
    declared = stream(delay, retain, life, sequence)
    return replace(declared, promises=promises, key=("id", "at", "seen") if sequence else ("id",))


def history(random: Random, declaration: Declaration, steps: int) -> list[list[Arrival]]:
    """Arrivals of some steps: mostly what is usual, of few keys, with some delay."""
    ops = sorted(allowed_ops(declaration), key=lambda op: op.value)
    usual = [op for op in ops if op in (Op.INSERT, Op.UPSERT)] * 6
    usual += [Op.END] * (Op.END in ops) * 2
    places = iter(range(10**6))
    told = [
        [_arrival(random, random.choice([*ops, *usual]), 3 * step, next(places))
         for _ in range(random.randint(0, 8))]
        for step in range(steps)
    ]  # fmt: skip
    if isinstance(declaration, TableDeclaration) and declaration.summed:
        return [[_counted(random, arrival) for arrival in step] for step in told]
    return told


def _counted(random: Random, arrival: Arrival) -> Arrival:
    """The arrival of a change, with how many more or fewer rows there are."""
    count = random.choice((1, 1, 2)) * (-1 if arrival.op is Op.END else 1)
    key, at, seen, _, value = arrival.row
    return replace(arrival, row=(key % 2, at, seen, count, value))


def _arrival(random: Random, op: Op, low: int, place: int) -> Arrival:
    at, seen = (random.randint(max(0, low - back), low + 4) for back in (3, 20))
    seen = random.choice((seen, at + random.randint(0, 6), None))
    row = (random.randint(0, 5), at, seen, random.choice((None, 0, 1)), random.choice((0.0, 1.5)))
    return Arrival(op, row, place)


def arrivals(rows: Sequence[Arrival], schema: Any) -> Any:
    """Rows as an admission takes them."""
    changes = [
        Change((*a.row, a.op.value if a.op else None, a.offset, None), NEG_INF, INF) for a in rows
    ]
    return from_changes(changes, schema)


class Kernel:
    """An admission between steps."""

    def __init__(self, declaration: Declaration) -> None:
        self.schema = batch_schema([arrow_type(c.type) for c in arrival_schema(declaration)])
        self.kernel = Admission(declaration, 0)
        (layout,) = self.kernel.areas((self.schema,))
        self.area = SweepArea(layout)

    def step(
        self, rows: Sequence[Arrival], before: InputFrontier, after: InputFrontier
    ) -> tuple[Any, Any]:
        """The net changes of a step: of what is used, and of what is not."""
        kernel, arrived = self.kernel.between(before, after), arrivals(rows, self.schema)
        result = kernel.step((arrived,), (self.area,), Times(NEG_INF, NEG_INF, (ALWAYS,)))
        (self.area,) = result.areas
        used, unused = (consolidate(to_changes(part)) for part in split(result.changes))
        return used, unused

    @property
    def stored(self) -> Any:
        return consolidate(to_changes(self.area.query(None)))


def none_is_plain(declaration: Declaration, operations: Any, *rest: Any) -> Plain:
    found = plain_keys(declaration, operations, *rest)
    nobody = np.zeros(operations.num_rows, np.bool_)
    return Plain(nobody, nobody, found.emitted.slice(0, 0))


@given(
    make=st.sampled_from(
        (table, bounded, bag, summed, temporal, committed, stream, stamped, twofold)
    ),
    seed=st.integers(0, 2**32),
    steps=st.integers(1, 6),
    delay=st.integers(0, 4),
    retain=st.sampled_from((0, 2, 6)),
    life=st.sampled_from((None, None, 1, 3)),
    sequence=st.booleans(),
)
def test_what_is_plain_is_what_the_ledgers_say(
    make: Any, seed: int, steps: int, delay: int, retain: int, life: int | None, sequence: bool
) -> None:
    declaration = make(delay, retain, life, sequence)
    quick, slow = Kernel(declaration), Kernel(declaration)
    accepted = begin(declaration)
    used: tuple[Change, ...] = ()
    unused: tuple[Change, ...] = ()
    frontier = first_frontier(declaration)
    for arrivals in history(Random(seed), declaration, steps):
        rows = [a for a in arrivals if refusal(declaration, frontier, a) is None]
        after = frontier.commit([times_of(declaration, frontier, a) for a in rows])
        told = quick.step(rows, frontier, after)
        with patch.object(admission, "plain_keys", none_is_plain):
            assert told == slow.step(rows, frontier, after)
        assert quick.stored == slow.stored
        accepted = admit(accepted, Step(tuple(arrivals)))
        plain_rows = (Change(c.row[:-TEXTS], c.valid_from, c.valid_to, c.diff) for c in told[0])
        used = consolidate((*used, *plain_rows))
        assert used == consolidate(accepted.accepted)
        unused = consolidate((*unused, *told[1]))
        reasons = Counter(row.reason.value for row in accepted.outcome.unused)
        counted = Counter[str]()
        for change in unused:
            counted[UnusedRow(*change.row[-TEXTS:]).reason] += change.diff
        assert counted == reasons
        if ends_by_itself(declaration):
            horizon = after["at"].horizon
            upserts = [c for c in quick.stored if c.row[len(COLUMNS)] == Op.UPSERT.value]
            assert all(c.valid_to > horizon for c in upserts), "a version has ended, and is there"
        frontier = after
    event(f"{make.__name__}: {'some' if used else 'nothing'}")


def test_most_keys_are_plain() -> None:
    declaration = table(1, 0, None, sequence=False)
    kernel = Kernel(declaration)
    rows = [Arrival(Op.UPSERT, (i % 7, i, 0, None, 1.0), i) for i in range(40)]
    rows.append(Arrival(Op.DELETE, (3, 39, 0, None, None), 40))
    operations = from_changes(
        [Change((*a.row, a.op.value, a.offset, None), NEG_INF, INF) for a in rows if a.op],
        kernel.schema,
    )
    chosen = plain_keys(declaration, operations, 0, first_frontier(declaration)).chosen
    assert {a.row[0] for a, plain in zip(rows, chosen, strict=True) if not plain} == {3}
    assert sum(chosen) == 34


def test_an_older_time_that_promises_nothing_does_not_keep_an_operation() -> None:
    """A delete without its fact is told when the horizon passes it, whatever else its row says."""
    declaration = stream(0, 0, None, sequence=False)
    kernel, first = Kernel(declaration), first_frontier(declaration)
    second = first.commit([(10, 1)])
    third = second.commit([(30, 1)])
    rows = [Arrival(Op.REPLACE, (1, 20, 5, None, 1.0), 0)]
    assert kernel.step(rows, first, second) == ((), ())
    _, unused = kernel.step([], second, third)
    assert [UnusedRow(*change.row[-TEXTS:]).reason for change in unused] == ["no-positive"]
    assert kernel.stored == ()
