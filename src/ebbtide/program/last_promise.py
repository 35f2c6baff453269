"""What a promise that no row comes any more would make endless.

Law: RSTREAM says a row at every multiple of its period up to ``now``.  A row that never ends
it would say without end, so where it may have such rows, ``now`` must not come to the end of time.
"""

from __future__ import annotations

from collections.abc import Iterable

from ebbtide.algebra.window import Rstream
from ebbtide.analysis.size import may_last
from ebbtide.compile.lowering import Lowered
from ebbtide.errors import QueryError


def refuse_endless(programs: Iterable[Lowered]) -> None:
    """Refuses the promise if some RSTREAM of a program may have rows that never end."""
    for program in programs:
        for name, node in program.nodes.items():
            if isinstance(node.relation, Rstream) and may_last(node.inputs[0].edge):
                raise QueryError(
                    "endless-rstream",
                    f'RSTREAM of "{name.partition(".")[0]}" may have rows that never end, and '
                    "would say them without end",
                    detail="now would come to the end of time",
                    hint='advance("bids", at="2026-01-01 00:05:00")',
                )
