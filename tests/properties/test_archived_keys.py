"""Keys with the time in them: what becomes of them is what the naive admission says, step by step,
whether all that was said of them is stored or the archive has the rows that came once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from random import Random
from typing import Any
from unittest.mock import patch

import numpy as np
from hypothesis import event, given
from hypothesis import strategies as st
from tests.properties.test_plain_keys import arrivals

from ebbtide.compile.arrival import arrival_schema
from ebbtide.core.admission import UNUSED_COLUMNS, Arrival, Op, Step, UnusedRow, admit, begin
from ebbtide.core.admission.refusal import refusal, times_of
from ebbtide.core.change import Change, consolidate
from ebbtide.core.declaration import Late, Promise, StreamDeclaration
from ebbtide.core.frontier import InputFrontier, first_frontier
from ebbtide.core.schema import schema
from ebbtide.core.time import NEG_INF, shift
from ebbtide.kernels.admission.kernel import Admission, split
from ebbtide.kernels.kernel import Times
from ebbtide.kernels.operators.input_archive import InputArchive
from ebbtide.state import area as areas
from ebbtide.state import writing
from ebbtide.state.area import SweepArea
from ebbtide.state.batch import batch_schema, from_changes, key_hash, net, to_changes
from ebbtide.state.keep import After, Keep
from ebbtide.state.types import arrow_type

TEXTS = len(UNUSED_COLUMNS)
OPS = (Op.INSERT, Op.INSERT, Op.INSERT, Op.DELETE, Op.REPLACE)


def quotes(delay: int, retain: int, archive: int, two: bool) -> StreamDeclaration:
    """A stream whose key has its time; there may be ``two`` of them that progress."""
    promises = (Promise("at", delay), Promise("seen", delay + 1))[: 1 + two]
    return StreamDeclaration(
        "s",
        schema(id="BIGINT", op="STRING", at="TIMESTAMP", seen="TIMESTAMP", v="DOUBLE"),
        ("seen", "id", "at") if two else ("at", "id"),
        promises,
        retain,
        Late.REVISE,
        op="op",
        append_only=False,
        archive_us=archive,
    )


def history(random: Random, steps: int) -> list[list[Arrival]]:
    """Arrivals of few keys, many of them far behind."""
    places = iter(range(10**6))

    def arrival(step: int) -> Arrival:
        at, seen = (max(0, 2 * step + random.randint(-9, 2)) for _ in range(2))
        op = random.choice(OPS)
        row = (random.randint(0, 1), op.value, at, seen // 4, random.choice((0.0, -0.0, 1.5)))
        return Arrival(op, row, next(places))

    return [[arrival(step) for _ in range(random.randint(0, 7))] for step in range(steps)]


class Kernels:
    """An admission between steps, and the archive behind it, which it reads or does not."""

    def __init__(self, declaration: StreamDeclaration, reads: bool) -> None:
        self.declaration, self.reads, self.number = declaration, reads, 0
        given = batch_schema([arrow_type(c.type) for c in arrival_schema(declaration)])
        row = declaration.row_schema
        self.given, self.rows = given, batch_schema([arrow_type(c.type) for c in row])
        self.admission = Admission(declaration, 0)
        self.archiving = InputArchive(0, None, tuple(map(row.position, declaration.key)))
        self.area = SweepArea(self.admission.areas((given,))[0])
        self.archive = SweepArea(self.archiving.areas((self.rows,))[0])

    def step(
        self, rows: Sequence[Arrival], before: InputFrontier, after: InputFrontier
    ) -> tuple[Any, Any]:
        """The net changes of a step: of what is used, and of what is not."""
        kernel = self.admission.between(before, after)
        read = (self.archive,) if self.reads else ()
        times = Times(NEG_INF, NEG_INF, (self._keep(after),), step=self.number)
        result = kernel.step((arrivals(rows, self.given),), (self.area, *read), times)
        (self.area,) = result.areas
        used, unused = (to_changes(part) for part in split(result.changes))
        plain = [Change(c.row[:-TEXTS], c.valid_from, c.valid_to, c.diff) for c in used]
        archived = from_changes(plain, self.rows)
        (self.archive,) = self.archiving.step((archived,), (self.archive,), times).areas
        self.number += 1
        return consolidate(plain), consolidate(unused)

    def _keep(self, after: InputFrontier) -> Keep:
        row, length = self.declaration.row_schema, self.declaration.archive_us or 0
        return Keep(
            tuple(
                (After(row.position(line.attribute), shift(line.progress, -length)),)
                for line in after.settling
            )
        )

    @property
    def stored(self) -> tuple[Change, ...]:
        return consolidate(to_changes(self.area.query(None)))


def coarse(table: Any, columns: Sequence[int]) -> Any:
    """Hashes that many keys share."""
    return key_hash(table, columns) >> np.uint64(62) << np.uint64(62)


@given(
    seed=st.integers(0, 2**32),
    steps=st.integers(1, 9),
    delay=st.integers(0, 3),
    retain=st.integers(0, 2),
    more=st.integers(0, 6),
    two=st.booleans(),
    collide=st.booleans(),
)
def test_the_archive_knows_what_would_be_stored(
    seed: int, steps: int, delay: int, retain: int, more: int, two: bool, collide: bool
) -> None:
    declaration = quotes(delay, retain, retain + more, two)
    assert declaration.archive_has_keys
    with ExitStack() as stack:
        for module in (areas, writing) if collide else ():
            stack.enter_context(patch.object(module, "key_hash", coarse))
        _run(declaration, history(Random(seed), steps))


def _run(declaration: StreamDeclaration, told: Sequence[Sequence[Arrival]]) -> None:
    reading, storing = Kernels(declaration, True), Kernels(declaration, False)
    accepted, used, unused = begin(declaration, True), (), ()  # type: Any, Any, Any
    frontier = first_frontier(declaration, True)
    for came in told:
        rows = [a for a in came if refusal(declaration, frontier, a) is None]
        after = frontier.commit([times_of(declaration, frontier, a) for a in rows])
        says = reading.step(rows, frontier, after)
        assert says == storing.step(rows, frontier, after)
        accepted = admit(accepted, Step(tuple(came)))
        used, unused = consolidate((*used, *says[0])), consolidate((*unused, *says[1]))
        assert used == consolidate(accepted.accepted)
        counted = Counter[str]()
        for change in unused:
            counted[UnusedRow(*change.row[-TEXTS:]).reason] += change.diff
        assert counted == Counter(row.reason.value for row in accepted.outcome.unused)
        assert (
            len(accepted.pending) == len(_pending(reading, after)) == len(_pending(storing, after))
        )
        alone = Counter(_key(declaration, change) for change in reading.stored)
        inserts = {
            _key(declaration, c)
            for c in reading.stored
            if c.row[len(declaration.schema)] == "insert"
        }
        assert all(alone[key] > 1 for key in inserts), "a row that came once is stored twice"
        frontier = after
    event(f"{'something' if reading.stored else 'nothing'} is stored")


def _pending(kernels: Kernels, frontier: InputFrontier) -> list[Arrival]:
    return kernels.admission.pending(net(kernels.area.query(None)), frontier)


def _key(declaration: StreamDeclaration, change: Change) -> tuple[Any, ...]:
    return tuple(change.row[declaration.schema.position(name)] for name in declaration.key)


def test_only_an_archive_that_reaches_far_enough_has_keys() -> None:
    assert quotes(1, 2, 2, True).archive_has_keys
    assert not quotes(1, 3, 2, False).archive_has_keys, "rows are accepted that it has dropped"
