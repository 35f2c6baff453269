"""The rules of a kernel's areas, where nothing is known but horizons.

Every change of an input that comes later begins after its horizon; facts have a time after it.
"""

from __future__ import annotations

from collections.abc import Sequence

from ebbtide.core.time import NEG_INF, Instant
from ebbtide.kernels.kernel import Kernel, Times
from ebbtide.kernels.operators.anti_join import AntiJoin
from ebbtide.kernels.operators.asof_join import AsofJoin
from ebbtide.kernels.operators.dstream import Dstream
from ebbtide.kernels.operators.istream import Istream
from ebbtide.kernels.operators.join import Join
from ebbtide.kernels.operators.outer_join import OuterJoin
from ebbtide.kernels.operators.rstream import Rstream
from ebbtide.kernels.operators.semi_join import SemiJoin
from ebbtide.kernels.windows.row_window import Rows
from ebbtide.kernels.windows.session import Session
from ebbtide.state.keep import ended_by


def times_of(
    kernel: Kernel,
    before: Instant,
    now: Instant,
    horizons: Sequence[Instant],
    owner: bool = True,
) -> Times:
    """The times of a step, with the rules that follow from horizons alone."""
    least = min(horizons, default=NEG_INF)
    seen = min(least, max(now, NEG_INF + 1) - 1)
    match getattr(kernel, "kernel", kernel):
        case Join():
            released = (horizons[1], horizons[0])
        case SemiJoin() | AntiJoin() | AsofJoin():
            released = (horizons[1], least)
        case OuterJoin(keeps_left=left, keeps_right=right):
            released = (
                least if right else horizons[1],
                least if left else horizons[0],
            )
        case Rows() | Session():
            released = tuple(horizons)
        case Istream() | Dstream():
            released = (min(least, now),)
        case Rstream():
            released = (max(seen, NEG_INF + 1) - 1,)
        case _:
            released = tuple(seen for _ in horizons)
    return Times(before, now, tuple(map(ended_by, released)), output=ended_by(seen), owner=owner)
