"""How many windows a row may be put in.

Law: a query in which HOP or CUMULATE puts a row in more windows than the limit is refused before
anything of it runs: each of them is a row of its own.
"""

from __future__ import annotations

from collections.abc import Iterator

from ebbtide.algebra.relation import Relation
from ebbtide.algebra.window import Cumulate, Hop
from ebbtide.core.time import format_duration
from ebbtide.core.tree import find
from ebbtide.errors import QueryError


def check_windows(plan: Relation, limit: int) -> None:
    """Refuses a plan whose windows multiply a row beyond the limit."""
    for name, size, slide in _windows(plan):
        count = -(-size // slide)
        if count > limit:
            raise QueryError(
                "too-many-windows",
                f"{name} puts every row in {count:,} windows",
                detail=f"windows of {format_duration(size)} every {format_duration(slide)}; "
                f"at most {limit:,} are allowed",
                hint="[RANGE d] is the window at every instant, in one row; or set "
                "EBBTIDE_MAX_WINDOWS",
            )


def _windows(plan: Relation) -> Iterator[tuple[str, int, int]]:
    """The sizes of windows, and how far they are apart."""
    for hop in find(plan, Hop):
        yield "HOP", hop.size_us, hop.slide_us
    for cumulate in find(plan, Cumulate):
        yield "CUMULATE", cumulate.size_us, cumulate.step_us
