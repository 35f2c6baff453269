"""Triggered: an operator that looks at the time only when it gets input.

Law: after a step in which its shard got input, what was emitted adds up to what the operator says,
at every instant up to ``now``; after any other step it is what it was after the last one.
State: that of the operator, when its segments end, and the ``now`` of the last step with input.
Emits: what the operator says, its segments without an end until input comes; then a segment that
has ended meanwhile is corrected from its true end on.
Forgets: what the operator forgets, when input comes.

    input       |         |                            |
    segments    |----)    |------)                           by the operator
    emitted     |---------|----------------------------|     what is seen until then

This is the input-triggered approach (ITA) of paper 2, section 4.1.  Shards get input each by
itself, so how many there are is part of the result.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import pyarrow as pa

from ebbtide.core.time import INF, NEG_INF, Instant
from ebbtide.kernels.kernel import Batch, Kernel, Result, Schema, Times
from ebbtide.kernels.operators.expire import Expire
from ebbtide.state.area import SweepArea
from ebbtide.state.batch import batch_schema, concat, negated, net
from ebbtide.state.columns import ints
from ebbtide.state.keep import After
from ebbtide.state.layout import Layout
from ebbtide.state.segment import ENDS


@dataclass(frozen=True, slots=True)
class Triggered:
    """Runs a kernel in steps that bring it something, and in the first one."""

    kernel: Kernel

    def output(self, inputs: tuple[Schema, ...]) -> Schema:
        """What the kernel emits."""
        return self.kernel.output(inputs)

    def areas(self, inputs: tuple[Schema, ...]) -> tuple[Layout, ...]:
        """The kernel's, the segments that are to end, and how far it has come."""
        (ending,) = Expire().areas((self.output(inputs),))
        reached = Layout("reached", batch_schema([pa.int64()]), ())
        return (*self.kernel.areas(inputs), ending, reached)

    def step(self, inputs: tuple[Batch, ...], areas: tuple[SweepArea, ...], times: Times) -> Result:
        """Nothing without input; else all that the kernel says by now."""
        *own, ending, reached = areas
        known = net(reached.query(None))
        before = times.before
        if known.num_rows:
            if not any(table.num_rows for table in inputs):
                nothing = self.output(tuple(table.schema for table in inputs)).empty_table()
                return Result(nothing, areas)
            before = int(ints(known, known.schema.names[0])[0])
        times = _since(before, times)
        result = self.kernel.step(inputs, tuple(own), times)
        sent = Expire().step((result.changes,), (ending,), times)
        come = concat([_at(times.now), negated(known)], reached.layout.schema)
        reached = reached.insert(net(come)).reorganize()
        return Result(sent.changes, (*result.areas, *sent.areas, reached))


def _since(before: Instant, times: Times) -> Times:
    """The frontiers of a step that begins earlier: what has ended since then is seen."""
    stored = tuple(keep.either((After(ENDS, before),)) for keep in times.stored)
    return replace(times, before=before, stored=stored)


def _at(now: Instant) -> Batch:
    columns = [pa.array([value], pa.int64()) for value in (now, NEG_INF, INF, 1)]
    return pa.Table.from_arrays(columns, schema=batch_schema([pa.int64()]))
