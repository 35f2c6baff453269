"""The greatest and the least of several values, NULLs left out."""

from __future__ import annotations

from functools import reduce
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ebbtide.columnar.arrays import is_scalar
from ebbtide.columnar.comparison import compared
from ebbtide.columnar.signature import Context, Implementation


def _extreme(op: str) -> Implementation:
    def compute(context: Context, *operands: Any) -> Any:
        present = [o for o in operands if not is_scalar(o) or o.is_valid]
        if pa.types.is_null(present[0].type):
            return present[0]

        def better(best: Any, other: Any) -> Any:
            if is_scalar(best) and is_scalar(other):
                best = pa.repeat(best, 1)
                found = pc.if_else(compared(op, context.type, other, best), other, best)
                return found[0]
            wins = compared(op, context.type, other, best)
            # Where one is NULL the other is taken.
            return pc.coalesce(pc.if_else(wins, other, best), best, other)

        return reduce(better, present)

    return compute


CHOICES: dict[str, Implementation] = {"GREATEST": _extreme(">"), "LEAST": _extreme("<")}
