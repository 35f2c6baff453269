"""OuterJoin: the join, and the rows without a partner of the sides that are kept.

Law: at every instant, the pairs that meet the condition, and each row of a kept side that has no
partner, with NULLs for the columns of the other.  The pairs are bilinear (see ``join``), the rest
is linear in the kept side (see ``coverage``).
State: the rows of both sides that changes to come can meet.
Emits: each pair once, with the whole common interval; each kept row over the stretches in which
no partner is there, known as they are now.  What is emitted does not depend on ``now``.  A row of
a kept side with a NULL in its key has no partner ever, and passes as it is, padded.
Forgets: by the rules of its inputs: a row of one side once no change of the other to come can meet
it; if the other side is kept, once it covers none of its rows either, new or stored.

    left              |----------------)
    right     |-----------)   |--------------)
    pairs             |===)   |========)
    left kept             |===)
    right kept|=======)                |=====)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from ebbtide.kernels.condition import (
    Condition,
    Side,
    hashed,
    joined_schema,
    keyless,
    partners,
)
from ebbtide.kernels.kernel import Batch, Result, Schema, Times, settled
from ebbtide.kernels.operators.join import paired
from ebbtide.kernels.sweeps.coverage import changed
from ebbtide.state.area import SweepArea
from ebbtide.state.batch import DIFF, FROM, TO, concat, net, payload, row_types
from ebbtide.state.layout import Layout


@dataclass(frozen=True, slots=True)
class OuterJoin:
    """Keeps the rows of one side or of both.

    Without key columns the side that is not kept is broadcast; if both are, it runs in one shard.
    """

    condition: Condition
    keeps_left: bool
    keeps_right: bool

    def output(self, inputs: tuple[Schema, ...]) -> Schema:
        """The columns of both sides."""
        return joined_schema(*inputs)

    def areas(self, inputs: tuple[Schema, ...]) -> tuple[Layout, ...]:
        """The rows of each side."""
        return self.condition.layouts(inputs)

    def step(self, inputs: tuple[Batch, ...], areas: tuple[SweepArea, ...], times: Times) -> Result:
        """The pairs that have come and gone, and what that leaves alone."""
        areas = times.seen(areas)
        new = (
            hashed(inputs[0], self.condition.left),
            hashed(inputs[1], self.condition.right),
        )
        # The partners of a kept row are read wherever it, or one of them, changes.
        left = Side(new[0], partners(areas[0], *(new if self.keeps_right else new[1:])))
        right = Side(new[1], partners(areas[1], *(new if self.keeps_left else new[:1])))
        parts = [paired(self.condition, left, right), *self._alone(inputs, left, right)]
        stored = tuple(
            settled(area, found.changes, keep, found.hashes)
            for area, found, keep in zip(areas, new, times.inputs, strict=True)
        )
        return Result(net(concat(parts, parts[0].schema)), stored)

    def _alone(self, inputs: tuple[Batch, ...], left: Side, right: Side) -> list[Batch]:
        condition, schemas = self.condition, (inputs[0].schema, inputs[1].schema)
        parts = []
        if self.keeps_left:
            parts += [
                padded(rows, schemas, 0)
                for rows in (
                    changed(condition, left, right, partnered=False),
                    keyless(inputs[0], condition.left),
                )
            ]
        if self.keeps_right:
            parts += [
                padded(rows, schemas, 1)
                for rows in (
                    changed(condition, right, left, partnered=False, flip=True),
                    keyless(inputs[1], condition.right),
                )
            ]
        return parts


def padded(rows: Batch, schemas: tuple[Schema, Schema], side: int) -> Any:
    """Rows of one side with NULLs for the columns of the other."""
    mine = [rows.column(i) for i in payload(rows)]
    nulls = [pa.nulls(rows.num_rows, type_) for type_ in row_types(schemas[1 - side])]
    times = [rows.column(name) for name in (FROM, TO, DIFF)]
    columns = [*mine, *nulls] if side == 0 else [*nulls, *mine]
    return pa.Table.from_arrays([*columns, *times], schema=joined_schema(*schemas))
